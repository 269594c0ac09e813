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

  /// A copy of the predicate with values in place of its variables.
  ///
  /// ```swift
  /// try FetchPredicate(format: "price < $PRICE").withSubstitutionVariables(["PRICE": 100])
  /// ```
  ///
  /// - Throws: ``FetchPredicateError`` with ``FetchPredicateError/Reason/missingVariables(_:)`` if
  ///   a variable has no value. Values without a variable are ignored. `nil` is a value.
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

  /// - Parameter value: what stands in place of a variable and the names after it; `nil` leaves
  ///   them as they are.
  package func substituting<Failure: Error>(
    _ value: (_ variable: String, _ path: [String]) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> FetchPredicate {
    try replacingLeaves { (leaf, bound) throws(Failure) in
      switch leaf {
      case .variable(let name): bound.contains(name) ? nil : try value(name, [])
      case .path(.variable(let name), let path): bound.contains(name) ? nil : try value(name, path)
      default: nil
      }
    }
  }
}
