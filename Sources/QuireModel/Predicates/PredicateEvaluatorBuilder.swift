/// Turns a predicate into nodes, and numbers the key paths on the way.
struct PredicateEvaluatorBuilder {
  private let asksForExpressions: Bool
  /// The variables of the subqueries around; `nil` where subqueries are refused.
  private let bound: Set<String>?
  private(set) var paths: [[String]] = []
  private(set) var takesEachOnce: [Bool] = []
  private(set) var expressions: [FetchExpression] = []
  private(set) var expressionsTakeEachOnce: [Bool] = []
  private var pathNumbers: [[String]: Int] = [:]
  private var expressionNumbers: [FetchExpression: Int] = [:]

  private(set) var subqueries: [PredicateEvaluator.Subquery] = []

  init(asksForExpressions: Bool = false, bound: Set<String>? = nil) {
    self.asksForExpressions = asksForExpressions
    self.bound = bound
  }

  mutating func node(
    _ predicate: FetchPredicate, depth: Int
  ) throws(FetchPredicateError) -> PredicateEvaluator.Node {
    try FetchPredicate.check(depth)
    switch predicate {
    case .constant(let flag):
      return .constant(flag)
    case .comparison(let comparison):
      let left = try operand(
        comparison.left, depth: depth + 1, takesEachOnce: comparison.takesEachOnceOnLeft)
      let right = try operand(
        comparison.right, depth: depth + 1, takesEachOnce: comparison.operator == .in)
      return .comparison(
        try PredicateEvaluator.Comparison(comparison, left: left, right: right))
    case .not(let part):
      return .not(try node(part, depth: depth + 1))
    case .and(let parts):
      return .and(try nodes(parts, depth: depth + 1))
    case .or(let parts):
      return .or(try nodes(parts, depth: depth + 1))
    }
  }

  private mutating func nodes(
    _ predicates: [FetchPredicate], depth: Int
  ) throws(FetchPredicateError) -> [PredicateEvaluator.Node] {
    var nodes: [PredicateEvaluator.Node] = []
    for predicate in predicates { nodes.append(try node(predicate, depth: depth)) }
    return nodes
  }

  /// - Parameter takesEachOnce: whether it makes no difference how often a value is in a collection
  ///   that the expression is.
  private mutating func operand(
    _ expression: FetchExpression, depth: Int, takesEachOnce: Bool = false
  ) throws(FetchPredicateError) -> PredicateEvaluator.Operand {
    try FetchPredicate.check(depth)
    switch expression {
    case .constant(let value): return .constant(value)
    case .aggregate(let members):
      let operands = try operands(members, depth: depth + 1)
      var values: [PredicateValue?] = []
      for operand in operands {
        guard case .constant(let value) = operand else { return .list(operands) }
        values.append(value)
      }
      return .constant(.collection(values))
    default:
      if asksForExpressions { return .expression(number(of: expression, takesEachOnce)) }
    }
    switch expression {
    case .evaluatedObject: return .evaluatedObject
    case .keyPath(let names):
      return names.isEmpty
        ? .evaluatedObject : .path(number(of: try checked(names, expression), takesEachOnce))
    case .function(let function, let arguments):
      return .computed(
        PredicateEvaluator.Computed(function), try operands(arguments, depth: depth + 1))
    case .conditional(let predicate, let yes, let no):
      return .conditional(
        try node(predicate, depth: depth + 1), try operand(yes, depth: depth + 1),
        try operand(no, depth: depth + 1))
    default: return try operandOfObjects(expression, depth: depth, takesEachOnce)
    }
  }

  /// The operand for an expression that only subjects of fetches can evaluate.
  private mutating func operandOfObjects(
    _ expression: FetchExpression, depth: Int, _ takesEachOnce: Bool
  ) throws(FetchPredicateError) -> PredicateEvaluator.Operand {
    guard let bound else { throw FetchPredicateError(.unsupported(expression)) }
    if let path = expression.path(from: bound) { return .path(number(of: path, takesEachOnce)) }
    if let subquery = try subquery(expression, within: bound, depth: depth) { return subquery }
    try expression.checkDepth(depth)
    if expression.hasFetch { throw FetchPredicateError(.unsupported(expression)) }
    return .expression(number(of: expression, takesEachOnce))
  }

  private mutating func operands(
    _ expressions: [FetchExpression], depth: Int
  ) throws(FetchPredicateError) -> [PredicateEvaluator.Operand] {
    var operands: [PredicateEvaluator.Operand] = []
    for expression in expressions { operands.append(try operand(expression, depth: depth)) }
    return operands
  }

  private mutating func number(of expression: FetchExpression, _ takesEachOnce: Bool) -> Int {
    if let number = expressionNumbers[expression] {
      expressionsTakeEachOnce[number] = expressionsTakeEachOnce[number] && takesEachOnce
      return number
    }
    expressionNumbers[expression] = expressions.count
    expressions.append(expression)
    expressionsTakeEachOnce.append(takesEachOnce)
    return expressions.count - 1
  }

  private mutating func number(of path: [String], _ takesEachOnce: Bool) -> Int {
    if let number = pathNumbers[path] {
      self.takesEachOnce[number] = self.takesEachOnce[number] && takesEachOnce
      return number
    }
    pathNumbers[path] = paths.count
    paths.append(path)
    self.takesEachOnce.append(takesEachOnce)
    return paths.count - 1
  }

  // MARK: Paths and subqueries

  private func checked(
    _ names: [String], _ expression: FetchExpression
  ) throws(FetchPredicateError) -> [String] {
    if bound != nil { return names }
    let last = names.last == FetchExpression.countOperator ? 1 : 0
    if names.dropLast(last).contains(where: CollectionOperator.isOperator) {
      throw FetchPredicateError(.unsupported(expression))
    }
    return names
  }

  /// - Returns: `nil` for what is no subquery over a path.
  private mutating func subquery(
    _ expression: FetchExpression, within bound: Set<String>, depth: Int
  ) throws(FetchPredicateError) -> PredicateEvaluator.Operand? {
    var (source, names) = (expression, [String]())
    if case .path(let operand, let rest) = expression { (source, names) = (operand, rest) }
    guard case .subquery(let collection, let variable, let predicate) = source else { return nil }
    let path: [String]
    if case .keyPath(let names) = collection, !names.isEmpty {
      path = names
    } else if let names = collection.path(from: bound) {
      path = names
    } else {
      return nil
    }
    // Subjects evaluate paths with operators in the middle as whole expressions.
    if path.contains(where: CollectionOperator.isOperator) { return nil }
    subqueries.append(
      PredicateEvaluator.Subquery(
        expression: source, collection: path,
        variable: PredicateEvaluator.Subquery.root(of: variable),
        evaluator: try PredicateEvaluator(
          predicate, PredicateEvaluatorBuilder(bound: bound.union([variable])), depth: depth + 1),
        names: names))
    return .subquery(subqueries.count - 1)
  }
}

extension FetchExpression {
  /// A path from the variable of a subquery around; see ``PredicateEvaluator/Subquery``.
  fileprivate func path(from bound: Set<String>) -> [String]? {
    switch self {
    case .variable(let name) where bound.contains(name):
      [PredicateEvaluator.Subquery.root(of: name)]
    case .path(.variable(let name), let names) where bound.contains(name):
      [PredicateEvaluator.Subquery.root(of: name)] + names
    default: nil
    }
  }
}

extension FetchPredicate.Comparison {
  /// Whether it makes no difference how often a value is on the left side.
  fileprivate var takesEachOnceOnLeft: Bool { modifier != .direct || `operator` == .contains }
}
