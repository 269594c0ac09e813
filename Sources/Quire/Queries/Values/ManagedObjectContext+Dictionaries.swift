import QuireModel

extension ManagedObjectContext {
  /// Values by name instead of objects: those that ``FetchRequest/propertiesToFetch`` lists, for
  /// each object that a request finds, or for each group of ``FetchRequest/propertiesToGroupBy``.
  ///
  /// ```swift
  /// var request = FetchRequest<Artwork>()
  /// request.propertiesToFetch = ["artist.name", try .init("total", format: "sum:(price)")]
  /// request.propertiesToGroupBy = ["artist.name"]
  /// request.havingPredicate = Key("total") > 1_000
  /// let rows = try context.dictionaries(for: request)
  /// ```
  ///
  /// Values are those of ``ManagedObject/value(forKey:)``, except that a to-one relationship gives
  /// the ID of its object; absent ones are left out. If ``FetchRequest/propertiesToFetch`` is
  /// empty, the values are those of ``FetchRequest/propertiesToGroupBy``, or else all attributes
  /// and to-one relationships. Unsaved changes count, as in a fetch.
  ///
  /// `sum:`, `average:`, `min:`, `max:`, `median:`, `stddev:` and `count:` of one key path with one
  /// value are computed over all objects of a group, and over all objects found if there are no
  /// groups; `count:(SELF)` is the number of objects. Key paths that begin with an operator
  /// (`@sum.price`, `@count`) are the same. Absent values are skipped. Groups are sorted by their
  /// values, absent ones first; sort keys, and keys of ``FetchRequest/havingPredicate``, are names
  /// of the result.
  ///
  /// ``aggregate(_:_:groupedBy:_:where:)`` and ``values(_:_:where:sortedBy:limit:isDistinct:)`` do
  /// the same with Swift types.
  ///
  /// - Throws: what ``fetch(_:)`` throws; ``PersistenceError/Code/invalidExpression`` for an
  ///   expression with many values, for one whose value may differ within a group, and for a name
  ///   that is used twice.
  /// - Complexity: that of finding the objects; none is made.
  public final func dictionaries<Object: ManagedObject>(
    for request: FetchRequest<Object>
  ) throws -> [[String: Any]] {
    let (binding, _) = try entity(of: request)
    let columns = try request.columns(of: binding.entity)
    let rows: [[PredicateValue?]]
    if request.propertiesToGroupBy.isEmpty, !columns.contains(where: \.expression.hasAggregate) {
      if let having = request.havingPredicate {
        throw PersistenceError(
          .invalidExpression,
          "havingPredicate (\(having)) is asked of groups, and the request has none: name "
            + "propertiesToGroupBy, or use predicate")
      }
      rows = try valueRows(
        columns.map(\.expression), request, isDistinct: request.returnsDistinctResults)
    } else {
      rows = try groupRows(columns, request)
    }
    return rows.map { row in
      var dictionary: [String: Any] = [:]
      for (column, value) in zip(columns, row) { dictionary[column.name] = value?.plainValue }
      return dictionary
    }
  }

  private func groupRows<Object: ManagedObject>(
    _ columns: [ExpressionDescription], _ request: FetchRequest<Object>
  ) throws -> [[PredicateValue?]] {
    // Values by which groups are sorted and that are not fetched are hidden columns. Without groups
    // there is one row, and no order to go wrong.
    let fetchedCount = columns.count
    let hidden = request.propertiesToGroupBy.filter { group in
      request.sortDescriptors.contains { $0.key == group.name }
        && !columns.contains { $0.name == group.name }
    }
    let columns = columns + hidden
    var table = GroupTable(columns: columns, groups: request.propertiesToGroupBy)
    let having = try request.havingPredicate.map { try table.having(table.namingColumns($0)) }
    try table.takeColumns()
    var search = request
    search.sortDescriptors = []
    (search.fetchLimit, search.fetchOffset) = (0, 0)
    let results = try groupResults(table.query, search)
    var rows: [[PredicateValue?]] = []
    for result in results {
      let values = table.values(of: result)
      if let having, try !Evaluation(.one(nil), values).holds(having) { continue }
      rows.append(try table.row(values))
    }
    if request.returnsDistinctResults { rows = distinctRows(rows) }
    let isOneRow = request.propertiesToGroupBy.isEmpty
    var sortKeys: [(descriptor: FetchSortDescriptor, column: Int)] = []
    for descriptor in request.sortDescriptors {
      if let column = columns.firstIndex(where: { $0.name == descriptor.key }) {
        sortKeys.append((descriptor, column))
      } else if try !isOneRow || !hasPath(descriptor.keyPath, of: request) {
        throw table.unknown(descriptor.key, "the sort key")
      }
    }
    let sorted = rows.enumerated().sorted { left, right in
      for (descriptor, column) in sortKeys {
        let order = descriptor.compare(left.element[column], right.element[column])
        if order != 0 { return order < 0 }
      }
      return left.offset < right.offset
    }
    let visible = sorted.map { Array($0.element.prefix(fetchedCount)) }
    return request.window(of: request.returnsDistinctResults ? distinctRows(visible) : visible)
  }

  private func hasPath<Object: ManagedObject>(
    _ names: [String], of request: FetchRequest<Object>
  ) throws -> Bool {
    let (binding, model) = try entity(of: request)
    return (try? FetchPath(names, from: binding, in: model)) != nil
  }
}

extension FetchRequest {
  fileprivate func columns(of entity: EntityDescription) throws -> [ExpressionDescription] {
    var columns = propertiesToFetch
    if columns.isEmpty {
      columns = propertiesToGroupBy
      if columns.isEmpty {
        columns =
          entity.attributes.filter { !$0.isTransient }.map { .init($0.name) }
          + entity.relationships.filter { !$0.isToMany && !$0.isTransient }.map { .init($0.name) }
      }
    }
    var names: Set<String> = []
    for column in columns where !names.insert(column.name).inserted {
      throw PersistenceError(
        .invalidExpression, "propertiesToFetch has two values that are called \(column.name)")
    }
    return columns
  }
}

extension PredicateValue {
  /// The value as key-value coding shows it; of an object, its ID.
  fileprivate var plainValue: Any? {
    switch self {
    case .value(let value): value.plainValue
    case .object(let identity): identity.base
    case .collection(let members): members.map { $0?.plainValue as Any }
    }
  }
}
