// The parts of predicates and expressions.

extension FetchPredicate {
  /// The key paths that start from the evaluated object. Those in the predicate of a `SUBQUERY`
  /// start elsewhere.
  var keyPaths: [[String]] {
    var paths: [[String]] = []
    forEachExpression(bound: []) { $0.addKeyPath(to: &paths, bound: $1) }
    return paths
  }

  /// The key paths that start from a variable with this name.
  func paths(ofVariable name: String) -> [[String]] {
    var paths: [[String]] = []
    forEachExpression(bound: []) { expression, bound in
      if case .path(.variable(name), let path) = expression, !bound.contains(name) {
        paths.append(path)
      }
    }
    return paths
  }

  func forEachExpression(
    bound: Set<String>, _ body: (FetchExpression, Set<String>) -> Void
  ) {
    switch self {
    case .constant: break
    case .comparison(let comparison):
      comparison.left.forEachExpression(bound: bound, body)
      comparison.right.forEachExpression(bound: bound, body)
    case .and(let parts), .or(let parts):
      for part in parts { part.forEachExpression(bound: bound, body) }
    case .not(let part): part.forEachExpression(bound: bound, body)
    }
  }
}

extension FetchExpression {
  /// The counterpart of ``FetchPredicate/keyPaths``.
  package var keyPaths: [[String]] {
    var paths: [[String]] = []
    forEachExpression(bound: []) { $0.addKeyPath(to: &paths, bound: $1) }
    return paths
  }

  /// Whether a part asks a context for what it finds.
  var hasFetch: Bool {
    var isFound = false
    forEachExpression(bound: []) { expression, _ in
      if case .fetch = expression { isFound = true }
    }
    return isFound
  }

  fileprivate func addKeyPath(to paths: inout [[String]], bound: Set<String>) {
    if bound.isEmpty, case .keyPath(let names) = self { paths.append(names) }
  }

  /// - Parameter body: is called with this expression, then with its parts, and with the variables
  ///   that are bound around each.
  fileprivate func forEachExpression(
    bound: Set<String>, _ body: (FetchExpression, Set<String>) -> Void
  ) {
    body(self, bound)
    switch self {
    case .constant, .keyPath, .evaluatedObject, .variable: break
    case .path(let operand, _): operand.forEachExpression(bound: bound, body)
    case .aggregate(let parts), .function(_, let parts):
      for part in parts { part.forEachExpression(bound: bound, body) }
    case .call(let operand, _, let arguments):
      operand.forEachExpression(bound: bound, body)
      for argument in arguments { argument.forEachExpression(bound: bound, body) }
    case .conditional(let predicate, let yes, let no):
      predicate.forEachExpression(bound: bound, body)
      yes.forEachExpression(bound: bound, body)
      no.forEachExpression(bound: bound, body)
    case .subquery(let collection, let name, let predicate):
      collection.forEachExpression(bound: bound, body)
      predicate.forEachExpression(bound: bound.union([name]), body)
    case .fetch(let request, let context, _):
      request.forEachExpression(bound: bound, body)
      context.forEachExpression(bound: bound, body)
    }
  }
}

// MARK: - Other parts in their place

extension FetchPredicate {
  /// A copy in which some of the expressions without parts are replaced: constants, key paths,
  /// `SELF`, variables, and paths from these.
  ///
  /// - Parameter body: is called with each of them, and with the variables that are bound around
  ///   it; returns `nil` to leave it as it is.
  package func replacingLeaves<Failure: Error>(
    bound: Set<String> = [],
    _ body: (FetchExpression, _ bound: Set<String>) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> FetchPredicate {
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      comparison.left = try comparison.left.replacingLeaves(bound, body)
      comparison.right = try comparison.right.replacingLeaves(bound, body)
      return .comparison(comparison)
    case .and(let parts): return .and(try Self.replacingLeaves(of: parts, bound, body))
    case .or(let parts): return .or(try Self.replacingLeaves(of: parts, bound, body))
    case .not(let part): return .not(try part.replacingLeaves(bound: bound, body))
    }
  }

  private static func replacingLeaves<Failure: Error>(
    of parts: [FetchPredicate], _ bound: Set<String>,
    _ body: (FetchExpression, Set<String>) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> [FetchPredicate] {
    var result: [FetchPredicate] = []
    for part in parts { result.append(try part.replacingLeaves(bound: bound, body)) }
    return result
  }
}

extension FetchExpression {
  /// The counterpart of ``FetchPredicate/replacingLeaves(bound:_:)``.
  package func replacingLeaves<Failure: Error>(
    _ bound: Set<String> = [],
    _ body: (FetchExpression, _ bound: Set<String>) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> FetchExpression {
    func all(_ expressions: [FetchExpression]) throws(Failure) -> [FetchExpression] {
      var result: [FetchExpression] = []
      for expression in expressions { result.append(try expression.replacingLeaves(bound, body)) }
      return result
    }
    switch self {
    case .constant, .keyPath, .evaluatedObject, .variable, .path(.variable, _),
      .path(.evaluatedObject, _):
      return try body(self, bound) ?? self
    case .path(let operand, let path):
      return .path(try operand.replacingLeaves(bound, body), path)
    case .aggregate(let members): return .aggregate(try all(members))
    case .function(let function, let arguments): return .function(function, try all(arguments))
    case .call(let operand, let selector, let arguments):
      return .call(
        try operand.replacingLeaves(bound, body), selector: selector, try all(arguments))
    case .conditional(let predicate, let yes, let no):
      return .conditional(
        try predicate.replacingLeaves(bound: bound, body), try yes.replacingLeaves(bound, body),
        try no.replacingLeaves(bound, body))
    case .subquery(let collection, let name, let predicate):
      return .subquery(
        try collection.replacingLeaves(bound, body), variable: name,
        try predicate.replacingLeaves(bound: bound.union([name]), body))
    case .fetch(let request, let context, let countOnly):
      return .fetch(
        try request.replacingLeaves(bound, body),
        context: try context.replacingLeaves(bound, body), countOnly: countOnly)
    }
  }
}
