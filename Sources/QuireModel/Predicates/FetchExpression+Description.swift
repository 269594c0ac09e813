extension FetchExpression: CustomStringConvertible {
  /// The expression as a format string.
  ///
  /// It parses back to an equal expression, with the exceptions of ``FetchPredicate/description``
  /// and these: a path without names prints as what it starts from, one from `SELF` as a key path;
  /// a function with another number of arguments than it takes prints as what does not parse.
  public var description: String {
    switch self {
    case .constant(let value): value?.description ?? "nil"
    case .keyPath(let names): names.isEmpty ? "SELF" : Self.path(names)
    case .evaluatedObject: "SELF"
    case .aggregate(let members): "{\(Self.list(members))}"
    case .variable(let name): Self.variable(name)
    case .path(.evaluatedObject, let names): FetchExpression.keyPath(names).description
    case .path(let operand, let names):
      names.isEmpty ? operand.description : "\(operand.pathStart).\(Self.path(names))"
    case .function(let function, let arguments): Self.describe(function, arguments)
    case .call(let operand, let selector, let arguments):
      "FUNCTION(\(Self.list([operand, FetchExpression(selector)] + arguments)))"
    case .conditional(let predicate, let yes, let no): "TERNARY(\(predicate), \(yes), \(no))"
    case .subquery(let collection, let variable, let predicate):
      "SUBQUERY(\(collection), \(Self.variable(variable)), \(predicate))"
    case .fetch(let request, let context, let countOnly):
      "FETCH(\(request), \(context), \(countOnly ? "YES" : "NO"))"
    }
  }

  private static func path(_ names: [String]) -> String {
    names.map(FormatLanguage.name).joined(separator: ".")
  }

  private static func list(_ members: [FetchExpression]) -> String {
    members.map(\.description).joined(separator: ", ")
  }

  private static func variable(_ name: String) -> String {
    "$" + (FormatLanguage.isPlainName(name) ? name : FormatLanguage.quoted(name))
  }

  private static func describe(_ function: Function, _ arguments: [FetchExpression]) -> String {
    if arguments.count == 2, let (sign, precedence) = function.infix {
      // Operators of one precedence go from left to right.
      let left = arguments[0].operand(precedence)
      return "\(left) \(sign) \(arguments[1].operand(precedence + 1))"
    }
    if function == .negate, arguments.count == 1 {
      // A minus before a number would become part of the number.
      if case .constant = arguments[0] { return "-(\(arguments[0]))" }
      return "-\(arguments[0].operand(Function.operandPrecedence))"
    }
    if let index = index(function, arguments) {
      return "\(arguments[0].indexedStart)[\(index)]"
    }
    if function == .cast, arguments.count == 2 {
      // A cast of a literal would be read as the value that it makes.
      if case .constant = arguments[0] { return "\(function.rawValue)(\(list(arguments)))" }
      return "CAST(\(list(arguments)))"
    }
    return "\(function.rawValue)(\(list(arguments)))"
  }

  /// The text between the brackets, if the function is written with brackets.
  private static func index(_ function: Function, _ arguments: [FetchExpression]) -> String? {
    switch (function, arguments.count) {
    case (.first, 1): return "FIRST"
    case (.last, 1): return "LAST"
    case (.element, 2):
      guard case .constant(.value(.integer(let index))?) = arguments[1] else { return nil }
      return index.description
    default: return nil
    }
  }

  /// The text of the expression before an index in brackets.
  private var indexedStart: String {
    switch self {
    case .keyPath(let names) where !names.isEmpty: description
    case .path(_, let names) where !names.isEmpty: description
    default: pathStart
    }
  }

  /// The text of the expression as an operand where only operators of this precedence or more need
  /// no parentheses.
  private func operand(_ minimum: Int) -> String {
    if case .function(let function, let arguments) = self, arguments.count == 2,
      let precedence = function.infix?.precedence, precedence < minimum
    {
      return "(\(self))"
    }
    if case .path(let operand, []) = self { return operand.operand(minimum) }
    return description
  }

  /// The text of the expression at the start of a key path.
  private var pathStart: String {
    switch self {
    case .variable, .call, .conditional, .subquery, .fetch: return description
    case .function(let function, _) where function.infix == nil && function != .negate:
      return description
    default: return "(\(self))"
    }
  }
}
