// Comparisons with a name, then those with an operator.
extension Key {
  /// The value is `value`, compared with options, which `==` has none of.
  public func equals(
    _ value: some PredicateConvertible, _ options: FetchComparisonOptions = []
  ) -> FetchPredicate { compare(.equal, FetchExpression(value), options) }

  /// The string begins with `text`. An empty text is the beginning of every string.
  public func beginsWith(
    _ text: String, _ options: FetchComparisonOptions = []
  ) -> FetchPredicate { compare(.beginsWith, FetchExpression(text), options) }

  /// The string ends with `text`.
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

  /// The value is one of `values`. Nothing is one of none.
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
  /// The value is `value`; also where neither is there.
  public static func == (key: Key, value: some PredicateConvertible) -> FetchPredicate {
    key.compare(.equal, FetchExpression(value))
  }
  /// The value is not `value`.
  public static func != (key: Key, value: some PredicateConvertible) -> FetchPredicate {
    key.compare(.notEqual, FetchExpression(value))
  }
  /// The value is less than `value`. Absent values are neither less nor greater than anything.
  public static func < (key: Key, value: some PredicateConvertible) -> FetchPredicate {
    key.compare(.lessThan, FetchExpression(value))
  }
  /// The value is less than `value` or equal to it.
  public static func <= (key: Key, value: some PredicateConvertible) -> FetchPredicate {
    key.compare(.lessThanOrEqual, FetchExpression(value))
  }
  /// The value is greater than `value`.
  public static func > (key: Key, value: some PredicateConvertible) -> FetchPredicate {
    key.compare(.greaterThan, FetchExpression(value))
  }
  /// The value is greater than `value` or equal to it.
  public static func >= (key: Key, value: some PredicateConvertible) -> FetchPredicate {
    key.compare(.greaterThanOrEqual, FetchExpression(value))
  }

  // These take `nil` as a literal, too.
  /// The value is that of an expression; `Key("artist") == nil` finds what has none.
  public static func == (key: Key, right: FetchExpression) -> FetchPredicate {
    key.compare(.equal, right)
  }
  /// The value is not that of an expression; `Key("artist") != nil` finds what has one.
  public static func != (key: Key, right: FetchExpression) -> FetchPredicate {
    key.compare(.notEqual, right)
  }

  /// Two values of the same object are equal.
  public static func == (left: Key, right: Key) -> FetchPredicate {
    left.compare(.equal, right.expression)
  }
  /// Two values of the same object are not equal.
  public static func != (left: Key, right: Key) -> FetchPredicate {
    left.compare(.notEqual, right.expression)
  }
  /// One value of an object is less than another.
  public static func < (left: Key, right: Key) -> FetchPredicate {
    left.compare(.lessThan, right.expression)
  }
  /// One value of an object is less than another or equal to it.
  public static func <= (left: Key, right: Key) -> FetchPredicate {
    left.compare(.lessThanOrEqual, right.expression)
  }
  /// One value of an object is greater than another.
  public static func > (left: Key, right: Key) -> FetchPredicate {
    left.compare(.greaterThan, right.expression)
  }
  /// One value of an object is greater than another or equal to it.
  public static func >= (left: Key, right: Key) -> FetchPredicate {
    left.compare(.greaterThanOrEqual, right.expression)
  }
}

extension FetchPredicate {
  /// Both are true.
  public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    // A chain stays flat, from whichever end it is put together: `a && b && c` is one conjunction
    // of three.
    .and(left.conjuncts + right.conjuncts)
  }

  /// One of them is true, or both are.
  public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
    .or(left.disjuncts + right.disjuncts)
  }

  /// It is not true.
  public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate {
    // `NOT` is the exact complement, also of comparisons with nil, so that two cancel out.
    if case .not(let part) = predicate { part } else { .not(predicate) }
  }
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
