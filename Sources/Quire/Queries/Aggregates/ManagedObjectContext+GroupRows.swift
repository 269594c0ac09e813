import QuireModel

extension ManagedObjectContext {
  /// Groups of what a request without a limit finds, by the names of properties: for tools, which
  /// know no classes.
  ///
  /// - Parameters:
  ///   - groups: key paths to the values that the objects of a group have in common; one group of
  ///     all objects when there is none.
  ///   - aggregates: what is made of the objects of each group; of no path, of the objects
  ///     themselves.
  /// - Returns: the groups in the order of their values, absent ones first.
  /// - Throws: what ``aggregate(_:_:where:)`` throws.
  package final func groupRows(
    of request: FetchRequest<ManagedObject>, by groups: [[String]],
    _ aggregates: [(function: AggregateFunction, path: [String]?)]
  ) throws -> [(group: [PredicateValue?], values: [PredicateValue?])] {
    var query = GroupQuery()
    query.groups = groups
    query.aggregates = aggregates.map { GroupQuery.Aggregate(function: $0.function, path: $0.path) }
    return try groupResults(query, request).map { ($0.group, $0.values) }
  }
}
