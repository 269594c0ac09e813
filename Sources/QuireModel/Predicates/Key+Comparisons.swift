// Comparisons with a name, then those with an operator.
extension Key {
  public func equals(
    _ value: some PredicateConvertible, _ options: FetchComparisonOptions = []
  ) -> FetchPredicate { compare(.equal, FetchExpression(value), options) }

  public func beginsWith(
    _ text: String, _ options: FetchComparisonOptions = []
  ) -> FetchPredicate { compare(.beginsWith, FetchExpression(text), options) }

  public func endsWith(
    _ text: String, _ options: FetchComparisonOptions = []
  ) -> FetchPredicate { compare(.endsWith, FetchExpression(text), options) }

  /// A string contains `value`, or a to-many relationship has it.
  public func contains(
    _ value: some PredicateConvertible, _ options: FetchComparisonOptions = []
  ) -> FetchPredicate { compare(.contains, FetchExpression(value), options) }

  /// - Parameter pattern: see ``FetchPredicate/Operator/like``.
  public func like(
    _ pattern: String, _ options: FetchComparisonOptions = []
  ) -> FetchPredicate { compare(.like, FetchExpression(pattern), options) }

  /// - Parameter pattern: see ``FetchPredicate/Operator/matches``.
  public func matches(
    _ pattern: String, _ options: FetchComparisonOptions = []
  ) -> FetchPredicate { compare(.matches, FetchExpression(pattern), options) }

  public func `in`<Value: PredicateConvertible>(
    _ values: some Sequence<Value>, _ options: FetchComparisonOptions = []
  ) -> FetchPredicate {
    compare(.in, .aggregate(values.map { FetchExpression($0) }), options)
  }

  /// From `low` to `high`, both included.
  public func between(
    _ low: some PredicateConvertible, and high: some PredicateConvertible
  ) -> FetchPredicate {
    compare(.between, .aggregate([FetchExpression(low), FetchExpression(high)]))
  }

  /// A comparison of this key with any expression.
  public func compare(
    _ operator: FetchPredicate.Operator, _ right: FetchExpression,
    _ options: FetchComparisonOptions = []
  ) -> FetchPredicate {
    let comparison = FetchPredicate.comparison(
      expression, `operator`, right, options: options, modifier: modifier)
    return isNegated ? .not(comparison) : comparison
  }
}

// MARK: Comparisons with an operator

extension Key {
  public static func == (key: Key, value: some PredicateConvertible) -> FetchPredicate {
    key.compare(.equal, FetchExpression(value))
  }
  public static func != (key: Key, value: some PredicateConvertible) -> FetchPredicate {
    key.compare(.notEqual, FetchExpression(value))
  }
  public static func < (key: Key, value: some PredicateConvertible) -> FetchPredicate {
    key.compare(.lessThan, FetchExpression(value))
  }
  public static func <= (key: Key, value: some PredicateConvertible) -> FetchPredicate {
    key.compare(.lessThanOrEqual, FetchExpression(value))
  }
  public static func > (key: Key, value: some PredicateConvertible) -> FetchPredicate {
    key.compare(.greaterThan, FetchExpression(value))
  }
  public static func >= (key: Key, value: some PredicateConvertible) -> FetchPredicate {
    key.compare(.greaterThanOrEqual, FetchExpression(value))
  }

  // These take `nil` as a literal, too.
  public static func == (key: Key, right: FetchExpression) -> FetchPredicate {
    key.compare(.equal, right)
  }
  public static func != (key: Key, right: FetchExpression) -> FetchPredicate {
    key.compare(.notEqual, right)
  }

  public static func == (left: Key, right: Key) -> FetchPredicate {
    left.compare(.equal, right.expression)
  }
  public static func != (left: Key, right: Key) -> FetchPredicate {
    left.compare(.notEqual, right.expression)
  }
  public static func < (left: Key, right: Key) -> FetchPredicate {
    left.compare(.lessThan, right.expression)
  }
  public static func <= (left: Key, right: Key) -> FetchPredicate {
    left.compare(.lessThanOrEqual, right.expression)
  }
  public static func > (left: Key, right: Key) -> FetchPredicate {
    left.compare(.greaterThan, right.expression)
  }
  public static func >= (left: Key, right: Key) -> FetchPredicate {
    left.compare(.greaterThanOrEqual, right.expression)
  }
}

extension FetchPredicate {
  public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    // A chain stays flat, from whichever end it is put together: `a && b && c` is one conjunction
    // of three.
    .and(left.conjuncts + right.conjuncts)
  }

  public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    .or(left.disjuncts + right.disjuncts)
  }

  public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate { .not(predicate) }
}

extension FetchPredicate {
  // An empty conjunction is true and has to remain one part, so it is kept as it is.
  private var conjuncts: [FetchPredicate] {
    if case .and(let parts) = self, !parts.isEmpty { parts } else { [self] }
  }

  private var disjuncts: [FetchPredicate] {
    if case .or(let parts) = self, !parts.isEmpty { parts } else { [self] }
  }
}
