import QuireModel

extension ManagedObjectContext {
  /// Groups of the objects that a request finds, by names of properties: for tools, which have no
  /// classes. The limit of the request is not applied.
  ///
  /// - Parameters:
  ///   - groups: the values that the objects of a group share; empty for one group of all objects.
  ///   - aggregates: functions, each of the values at its path, or of the objects themselves if it
  ///     has none.
  /// - Returns: the groups in the order of their values, absent ones first.
  /// - Throws: what ``aggregate(_:_:where:)`` throws.
  package final func groupRows(
    of request: FetchRequest<ManagedObject>, by groups: [FetchExpression],
    _ aggregates: [(function: AggregateFunction, path: [String]?)]
  ) throws -> [(group: [PredicateValue?], values: [PredicateValue?])] {
    var query = GroupQuery()
    query.groups = groups
    query.aggregates = aggregates.map { GroupQuery.Aggregate(function: $0.function, path: $0.path) }
    return try groupResults(query, request).map { ($0.group, $0.values) }
  }
}
