extension PredicateEvaluator {
  /// A `SUBQUERY` over the objects at the end of a path.
  ///
  /// The paths of its evaluator start from the object that the whole predicate is evaluated on, or,
  /// when their first name is that of a variable with its dollar sign, from the value of that
  /// variable.
  package struct Subquery {
    /// As it was written.
    package let expression: FetchExpression
    package let collection: [String]
    /// With its dollar sign.
    package let variable: String
    package let evaluator: PredicateEvaluator
    /// The path that is read from the members that are found, such as `@count`; empty for the
    /// members themselves.
    package let names: [String]

    /// The first name of a path that starts from a variable. No property has such a name.
    static func root(of variable: String) -> String { "$" + variable }
  }

  /// An evaluator for subjects that are objects: paths may have every ``CollectionOperator``, and
  /// subjects answer ``PredicateSubject/value(ofSubquery:)`` and, for what is left,
  /// ``PredicateSubject/value(ofExpression:)``. Only `FETCH` is refused, for which a predicate of a
  /// fetch has no context.
  package init(fetching predicate: FetchPredicate) throws(FetchPredicateError) {
    try self.init(predicate, PredicateEvaluatorBuilder(bound: []), depth: 0)
  }
}
