/// Why a predicate or an expression cannot be evaluated.
public struct FetchPredicateError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, with the part that it is about.
  public enum Reason: Hashable, Sendable {
    /// The right side of `MATCHES` is no regular expression that Swift understands.
    case pattern(String, message: String)
    /// The right side of `BETWEEN` is a list, but not one of two values.
    case bounds(count: Int)
    /// Parts within parts, further than ``PredicateEvaluator/maximumDepth``.
    case depth(maximum: Int)
    /// A function has no answer for its arguments, or for their number.
    case function(FetchExpression.Function, message: String)
    /// An expression of a kind that is not evaluated on rows; see ``PredicateEvaluator``.
    case unsupported(FetchExpression)
    /// Variables for which no value was given.
    case missingVariables([String])
  }

  /// What is wrong.
  public var reason: Reason

  /// - Parameter reason: what is wrong.
  public init(_ reason: Reason) { self.reason = reason }

  public var description: String {
    switch reason {
    case .pattern(let pattern, let message):
      "the pattern \(FormatLanguage.quoted(pattern)) of MATCHES cannot be used: \(message)"
    case .bounds(let count):
      "BETWEEN needs a list of the smallest and the largest value, but its list has \(count)"
    case .depth(let maximum):
      "the predicate is nested more than \(maximum) deep; join its parts with && or || in one chain, "
        + "or use IN with a list"
    case .function(let function, let message):
      "the function \(function.rawValue) has no answer: \(message)"
    case .unsupported(let expression):
      "\(expression) cannot be evaluated here, where there is nobody to ask for it: key paths with "
        + "@count at their end, lists, arithmetic, functions and TERNARY can be"
    case .missingVariables(let names):
      "no value was given for \(names.map { "$" + $0 }.joined(separator: ", "))"
    }
  }
}
