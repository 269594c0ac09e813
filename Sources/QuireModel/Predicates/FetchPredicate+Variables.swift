extension FetchPredicate {
  /// The names of the variables that have no value yet, without their dollar signs.
  ///
  /// Those that a `SUBQUERY` binds are not among them.
  public var substitutionVariables: Set<String> {
    var names: Set<String> = []
    forEachExpression(bound: []) { expression, bound in
      if case .variable(let name) = expression, !bound.contains(name) { names.insert(name) }
    }
    return names
  }

  /// The same predicate with values in place of its variables.
  ///
  /// ```swift
  /// try FetchPredicate(format: "price < $PRICE").withSubstitutionVariables(["PRICE": 100])
  /// ```
  ///
  /// - Throws: ``FetchPredicateError`` with ``FetchPredicateError/Reason/missingVariables(_:)`` if
  ///   a variable has no value. Values that no variable stands for are ignored. `nil` is a value.
  public func withSubstitutionVariables(
    _ variables: [String: (any PredicateConvertible)?]
  ) throws(FetchPredicateError) -> FetchPredicate {
    try checkDepth()
    let missing = substitutionVariables.subtracting(variables.keys)
    if !missing.isEmpty { throw FetchPredicateError(.missingVariables(missing.sorted())) }
    return substituting { name, path in
      guard let value = variables[name] else { return nil }
      let expression = FetchExpression(value: value?.predicateValue)
      return path.isEmpty ? expression : .path(expression, path)
    }
  }

  /// - Parameter value: what stands in place of a variable and the names behind it; `nil` leaves
  ///   them as they are.
  package func substituting<Failure: Error>(
    _ value: (_ variable: String, _ path: [String]) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> FetchPredicate {
    try substituting(bound: [], value)
  }

  fileprivate func substituting<Failure: Error>(
    bound: Set<String>, _ value: (String, [String]) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> FetchPredicate {
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      comparison.left = try comparison.left.substituting(bound: bound, value)
      comparison.right = try comparison.right.substituting(bound: bound, value)
      return .comparison(comparison)
    case .and(let parts): return .and(try Self.substituting(parts, bound: bound, value))
    case .or(let parts): return .or(try Self.substituting(parts, bound: bound, value))
    case .not(let part): return .not(try part.substituting(bound: bound, value))
    }
  }

  private static func substituting<Failure: Error>(
    _ parts: [FetchPredicate], bound: Set<String>,
    _ value: (String, [String]) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> [FetchPredicate] {
    var result: [FetchPredicate] = []
    for part in parts { result.append(try part.substituting(bound: bound, value)) }
    return result
  }
}

extension FetchExpression {
  fileprivate func substituting<Failure: Error>(
    bound: Set<String>, _ value: (String, [String]) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> FetchExpression {
    func all(_ expressions: [FetchExpression]) throws(Failure) -> [FetchExpression] {
      var result: [FetchExpression] = []
      for expression in expressions {
        result.append(try expression.substituting(bound: bound, value))
      }
      return result
    }
    switch self {
    case .constant, .keyPath, .evaluatedObject: return self
    case .variable(let name): return bound.contains(name) ? self : try value(name, []) ?? self
    case .path(.variable(let name), let path):
      return bound.contains(name) ? self : try value(name, path) ?? self
    case .path(let operand, let path):
      return .path(try operand.substituting(bound: bound, value), path)
    case .aggregate(let members): return .aggregate(try all(members))
    case .function(let function, let arguments): return .function(function, try all(arguments))
    case .call(let operand, let selector, let arguments):
      return .call(
        try operand.substituting(bound: bound, value), selector: selector, try all(arguments))
    case .conditional(let predicate, let yes, let no):
      return .conditional(
        try predicate.substituting(bound: bound, value),
        try yes.substituting(bound: bound, value), try no.substituting(bound: bound, value))
    case .subquery(let collection, let name, let predicate):
      return .subquery(
        try collection.substituting(bound: bound, value), variable: name,
        try predicate.substituting(bound: bound.union([name]), value))
    case .fetch(let request, let context, let countOnly):
      return .fetch(
        try request.substituting(bound: bound, value),
        context: try context.substituting(bound: bound, value), countOnly: countOnly)
    }
  }
}

// MARK: - The parts of a predicate

extension FetchPredicate {
  /// The key paths that start from the object that is looked at. Those in the predicate of a
  /// `SUBQUERY` start elsewhere.
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

  fileprivate func forEachExpression(
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
