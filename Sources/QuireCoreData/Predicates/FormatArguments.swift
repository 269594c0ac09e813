import QuireModel

/// The arguments of a format. Expressions among them are read as texts that represent them, and
/// take their places in what was read.
struct FormatArguments {
  private(set) var values: [(any PredicateConvertible)?] = []
  private var expressions: [String: FetchExpression] = [:]

  /// - Throws: when no predicate can compare with one of the arguments.
  init(_ arguments: [Any?]) throws {
    for argument in arguments {
      switch (unwrapped(argument) as? NSExpression)?.fetchExpression {
      case nil, .constant, .aggregate: values.append(try predicateArgument(argument))
      case let expression?:
        // No program has such a text.
        let text = "\u{1}expression \(values.count)"
        expressions[text] = expression
        values.append(text)
      }
    }
  }

  /// The expression that a part of what was read represents; `nil` for any other part.
  func expression(for leaf: FetchExpression) -> FetchExpression? {
    guard case .constant(.value(.string(let text))?) = leaf else { return nil }
    return expressions[text]
  }
}
