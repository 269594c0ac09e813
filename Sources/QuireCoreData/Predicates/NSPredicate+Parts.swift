import Foundation
import Quire
import QuireModel

extension NSPredicate {
  /// A predicate of Quire's as comparisons and compounds, for a store that translates it.
  static func typed(_ predicate: FetchPredicate) -> NSPredicate {
    switch predicate {
    case .constant(let value): NSPredicate(value: value)
    case .and(let parts): NSCompoundPredicate(type: .and, subpredicates: parts.map(typed))
    case .or(let parts): NSCompoundPredicate(type: .or, subpredicates: parts.map(typed))
    case .not(let part): NSCompoundPredicate(type: .not, subpredicates: [typed(part)])
    case .comparison(let comparison):
      NSComparisonPredicate(
        leftExpression: NSExpression(comparison.left),
        rightExpression: NSExpression(comparison.right),
        modifier: NSComparisonPredicate.Modifier(comparison.modifier),
        type: NSComparisonPredicate.Operator(comparison.operator),
        options: NSComparisonPredicate.Options(rawValue: UInt(comparison.options.rawValue)))
    }
  }
}

extension NSComparisonPredicate.Operator {
  fileprivate init(_ operator: FetchPredicate.Operator) {
    self =
      switch `operator` {
      case .lessThan: .lessThan
      case .lessThanOrEqual: .lessThanOrEqualTo
      case .greaterThan: .greaterThan
      case .greaterThanOrEqual: .greaterThanOrEqualTo
      case .equal: .equalTo
      case .notEqual: .notEqualTo
      case .matches: .matches
      case .like: .like
      case .beginsWith: .beginsWith
      case .endsWith: .endsWith
      case .in: .in
      case .contains: .contains
      case .between: .between
      }
  }
}

extension NSComparisonPredicate.Modifier {
  fileprivate init(_ modifier: FetchPredicate.Modifier) {
    self =
      switch modifier {
      case .direct: .direct
      case .all: .all
      case .any: .any
      }
  }
}

// MARK: - Expressions

extension NSExpression {
  /// The kind of an expression, which says what can be asked of it.
  public enum ExpressionType: UInt, Sendable {
    /// A value: ``NSExpression/constantValue``.
    case constantValue = 0
    /// The object that is looked at.
    case evaluatedObject = 1
    /// A variable: ``NSExpression/variable``.
    case variable = 2
    /// The value at a key path: ``NSExpression/keyPath``.
    case keyPath = 3
    /// A function: ``NSExpression/function`` and ``NSExpression/arguments``.
    case function = 4
    /// The members of a collection for which a predicate holds.
    case subquery = 13
    /// A list: ``NSExpression/collection``.
    case aggregate = 14
    /// One of two expressions, as a predicate decides.
    case conditional = 20
  }

  /// The kind of the expression. A key path of a variable, a call of a method and a fetch are
  /// functions, as in Core Data.
  public var expressionType: ExpressionType {
    switch fetchExpression {
    case .constant: .constantValue
    case .evaluatedObject: .evaluatedObject
    case .variable: .variable
    case .keyPath: .keyPath
    case .function, .path, .call, .fetch: .function
    case .subquery: .subquery
    case .aggregate: .aggregate
    case .conditional: .conditional
    }
  }

  /// The name of a variable; the program stops for an expression of another kind.
  public var variable: String {
    guard case .variable(let name) = fetchExpression else {
      fatalError("NSExpression.variable: \(fetchExpression) is no variable")
    }
    return name
  }

  /// Core Data's name of a function, such as `average:`; the program stops for an expression of
  /// another kind.
  public var function: String {
    switch fetchExpression {
    case .function(let function, _): return function.rawValue
    case .call(_, let selector, _): return selector
    case .path: return "valueForKeyPath:"
    default: fatalError("NSExpression.function: \(fetchExpression) is no function")
    }
  }

  /// The arguments of a function; `nil` for an expression of another kind.
  public var arguments: [NSExpression]? {
    switch fetchExpression {
    case .function(_, let arguments), .call(_, _, let arguments): arguments.map(NSExpression.init)
    case .path(_, let names): [NSExpression(.keyPath(names))]
    default: nil
    }
  }

  /// The expressions of a list: `[NSExpression]`; the program stops for an expression of another
  /// kind.
  public var collection: Any {
    guard case .aggregate(let members) = fetchExpression else {
      fatalError("NSExpression.collection: \(fetchExpression) is no list")
    }
    return members.map(NSExpression.init)
  }
}
