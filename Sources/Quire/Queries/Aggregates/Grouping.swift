import QuireModel

/// A query for groups of objects, and for aggregates of each group.
struct GroupQuery {
  /// The values that the objects of a group share; empty for one group of all objects.
  var groups: [FetchExpression] = []
  var aggregates: [Aggregate] = []

  struct Aggregate {
    let function: AggregateFunction
    /// `nil` to count objects.
    let path: [String]?
  }

  /// The paths to read, those of the groups first.
  var paths: [[String]] { groups.compactMap(\.plainPath) + aggregates.compactMap(\.path) }

  /// The groups whose values have to be worked out, as they are more than paths.
  var computedGroups: [FetchExpression] { groups.filter { $0.plainPath == nil } }
}

extension FetchExpression {
  /// The names of a key path from the object; `nil` of other expressions.
  fileprivate var plainPath: [String]? {
    if case .keyPath(let names) = self, !names.isEmpty { names } else { nil }
  }
}

/// The values that the objects of a group share, and the results of its aggregates.
struct GroupResult {
  var group: [PredicateValue?]
  var values: [PredicateValue?]
}

/// Collects the matches of a fetch into groups. No object is made, and few values are decoded.
struct Grouping: MatchVisitor {
  /// The index of the store whose matches are being visited.
  var store = 0
  private let query: GroupQuery
  /// The number of values that identify a group.
  private let groupCount: Int
  /// For each value that identifies a group, how it is worked out; `nil` of one at the next path.
  private let computed: [FetchExpression?]
  /// The number of leading paths whose values identify a group.
  private let groupPathCount: Int
  /// The aggregates of the first group, then those of the second, and so on.
  private var running: [RunningAggregate] = []
  private var indexes: [[GroupKey]: Int] = [:]
  /// The same for queries with one path, whose keys need no array.
  private var singles: [GroupKey: Int] = [:]
  private var keys: [[GroupKey]] = []
  // Consecutive rows are often of one group.
  private var last: (key: GroupKey, index: Int)?
  /// Finds the reference of an object ID, given the index of the store.
  private let reference: (ManagedObjectID, Int) -> Reference?
  /// The sessions of the stores that are searched, by the index of the store.
  private let sessions: [StoreSession]
  /// The fields that the paths name, in the entity of the last row.
  private var fields: Fields?

  init(
    _ query: GroupQuery, _ sessions: [StoreSession],
    _ reference: @escaping (ManagedObjectID, Int) -> Reference?
  ) {
    self.query = query
    self.sessions = sessions
    self.reference = reference
    groupCount = query.groups.count
    // Not by `nil`, which is an expression as well.
    computed = query.groups.map { $0.plainPath == nil ? .some($0) : .none }
    groupPathCount = query.groups.count { $0.plainPath != nil }
    if groupCount == 0 { _ = index(of: []) }
  }

  var readsKeys: Bool { true }

  mutating func visit<Subject: PathSubject>(
    _ subject: Subject, at reference: Reference, sortedBy paths: [FetchPath],
    _ object: ManagedObject?, row: () throws -> RowBytes?
  ) throws -> Bool {
    if groupPathCount == groupCount, let (row, storage) = subject.plainRow {
      if fields?.storage !== storage { fields = Fields(storage, paths, groupCount) }
      if let fields, fields.areRead {
        try take(row, fields)
        return true
      }
    }
    let group = try index(of: subject, paths)
    var position = groupPathCount
    for (number, aggregate) in query.aggregates.enumerated() {
      guard aggregate.path != nil else {
        running[group + number].countObject()
        continue
      }
      let value = try subject.value(at: paths[position])
      position += 1
      try running[group + number].take(value, aggregate.function)
    }
    return true
  }

  /// - Returns: the index in `running` of the group's first aggregate.
  private mutating func index(of subject: some PathSubject, _ paths: [FetchPath]) throws -> Int {
    if groupCount == 0 { return 0 }
    var position = 0
    if groupCount == 1 { return index(of: try key(0, of: subject, paths, &position)) }
    return index(of: try computed.indices.map { try key($0, of: subject, paths, &position) })
  }

  /// - Parameter position: that of the next path, moved past a path that is read.
  private func key(
    _ number: Int, of subject: some PathSubject, _ paths: [FetchPath], _ position: inout Int
  ) throws -> GroupKey {
    if let expression = computed[number] {
      let object = KeyValue.one(StandIn(subject, sessions[store]))
      return key(of: try Evaluation(object, [:]).comparedValue(of: expression))
    }
    defer { position += 1 }
    return key(of: try subject.value(at: paths[position]))
  }

  private func key(of value: PredicateValue?) -> GroupKey {
    if case .object(let identity)? = value, let id = identity.objectID,
      let reference = reference(id, store)
    {
      return .reference(reference, store: store)
    }
    return GroupKey(value)
  }

  // MARK: Rows

  @inline(__always)
  private mutating func take(_ row: UnsafeRawPointer, _ fields: Fields) throws {
    let group: Int
    switch groupCount {
    case 0: group = 0
    case 1: group = index(of: fields.byPath[0].groupKey(in: row, store: store) ?? .absent)
    default:
      group = index(
        of: fields.byPath[..<groupCount].map { $0.groupKey(in: row, store: store) ?? .absent })
    }
    var position = groupCount
    for number in 0..<query.aggregates.count {
      guard query.aggregates[number].path != nil else {
        running[group + number].countObject()
        continue
      }
      let field = fields.byPath[position]
      position += 1
      if field.isNil(in: row) { continue }
      let function = query.aggregates[number].function
      switch FieldKind(rawValue: field.kind) {
      case .double:
        try running[group + number].take(Double(bitPattern: field.fixed(in: row)), function)
      case .integer64: try running[group + number].take(field.fixed(in: row) as Int64, function)
      case .integer32:
        try running[group + number].take(Int64(field.fixed(in: row) as Int32), function)
      case .integer16:
        try running[group + number].take(Int64(field.fixed(in: row) as Int16), function)
      default: break
      }
    }
  }

  /// The fields at the paths of a query, in the rows of one entity.
  private struct Fields {
    let storage: EntityStorage
    let byPath: [FieldTable.Field]
    /// Whether all of them can be read from the bytes of a row.
    let areRead: Bool

    init(_ storage: EntityStorage, _ paths: [FetchPath], _ groupCount: Int) {
      self.storage = storage
      var byPath: [FieldTable.Field] = []
      var areRead = true
      for (number, path) in paths.enumerated() {
        guard path.names.count == 1, path.slot >= 0 else {
          areRead = false
          break
        }
        let field = storage.table.fields[path.slot]
        let isRead: Bool =
          switch FieldKind(rawValue: field.kind) {
          case .integer16, .integer32, .integer64: true
          case .double: number >= groupCount
          case .boolean, .string: number < groupCount
          case .reference: number < groupCount && field.isSure
          default: false
          }
        areRead = areRead && isRead
        byPath.append(field)
      }
      (self.byPath, self.areRead) = (byPath, areRead)
    }
  }

  // MARK: Groups

  /// Adds a number of objects to a group.
  mutating func count(_ key: GroupKey, _ count: Int) {
    let group = index(of: key)
    for number in 0..<query.aggregates.count { running[group + number].countObjects(count) }
  }

  /// Adds a value to one of the aggregates, in a query that has a single group.
  mutating func take(_ value: PredicateValue?, aggregate number: Int) throws {
    try running[number].take(value, query.aggregates[number].function)
  }

  @inline(__always)
  private mutating func index(of key: GroupKey) -> Int {
    if let last, last.key == key { return last.index }
    let index = singles[key] ?? addGroup([key])
    singles[key] = index
    last = (key, index)
    return index
  }

  private mutating func index(of key: [GroupKey]) -> Int {
    if let index = indexes[key] { return index }
    let index = addGroup(key)
    indexes[key] = index
    return index
  }

  private mutating func addGroup(_ key: [GroupKey]) -> Int {
    let index = running.count
    for _ in query.aggregates { running.append(RunningAggregate()) }
    keys.append(key)
    return query.aggregates.isEmpty ? 0 : index
  }

  /// The groups with their results, in no order.
  ///
  /// - Parameter object: finds the ID of a reference, given the index of its store.
  func results(
    _ object: (Reference, Int) throws -> ManagedObjectID
  ) throws -> [GroupResult] {
    let count = query.aggregates.count
    return try keys.enumerated().map { number, key in
      GroupResult(
        group: try key.map { try $0.value(object) },
        values: try query.aggregates.enumerated().map { position, aggregate in
          try running[number * count + position].result(aggregate.function)
        })
    }
  }
}
