import QuireModel

/// Reads the values of expressions from each match of a fetch.
struct ValueReading {
  let expressions: [FetchExpression]
  /// The sessions of the stores that are searched, by the index of the store.
  let sessions: [StoreSession]

  func values(of subject: some PathSubject, in store: Int) throws -> [PredicateValue?] {
    try expressions.map { expression in
      if case .keyPath(let names) = expression { return try subject.value(at: names[...]) }
      let object = KeyValue.one(StandIn(subject, sessions[store]))
      return try Evaluation(object, [:]).comparedValue(of: expression)
    }
  }
}

extension ManagedObjectContext {
  /// The values of expressions for each object that a request finds, in its order.
  ///
  /// - Parameter isDistinct: whether a row that equals an earlier one is left out; offset and limit
  ///   then count the remaining ones.
  final func valueRows<Object: ManagedObject>(
    _ expressions: [FetchExpression], _ request: FetchRequest<Object>, isDistinct: Bool
  ) throws -> [[PredicateValue?]] {
    try bringUpToDate()
    try checkSingle(expressions, request)
    var search = request
    if isDistinct { (search.fetchOffset, search.fetchLimit) = (0, 0) }
    let rows = try inOneState {
      try FetchExecution(search, in: self, values: expressions).valueRows(expressions)
    }
    guard isDistinct else { return rows }
    return request.window(of: distinctRows(rows))
  }

  /// Checks that each expression has a single value.
  private func checkSingle<Object: ManagedObject>(
    _ expressions: [FetchExpression], _ request: FetchRequest<Object>
  ) throws {
    let (binding, model) = try entity(of: request)
    let check = PredicateCheck(of: binding, in: model)
    for expression in expressions {
      do {
        try expression.checkDepth()
        let type = try check.type(of: expression)
        guard type.isCollection else { continue }
        throw PersistenceError(
          .invalidExpression,
          "\(expression) of \(binding.entity.name) is \(type): fetch one value, such as "
            + "\(expression).@count")
      } catch let mistake as PredicateMistake {
        throw PersistenceError(mistake)
      } catch let error as FetchPredicateError {
        throw PersistenceError(error)
      }
    }
  }
}

/// The rows without repetitions; NaN equals NaN, as in groups.
func distinctRows(_ rows: [[PredicateValue?]]) -> [[PredicateValue?]] {
  var seen: Set<[GroupKey]> = []
  return rows.filter { row in seen.insert(row.map { GroupKey($0) }).inserted }
}

extension FetchRequest {
  /// The rows that offset and limit select.
  func window<Row>(of rows: [Row]) -> [Row] {
    let rest = rows.dropFirst(max(0, fetchOffset))
    return Array(fetchLimit > 0 ? rest.prefix(fetchLimit) : rest)
  }
}

extension FetchExecution {
  fileprivate func valueRows(_ expressions: [FetchExpression]) throws -> [[PredicateValue?]] {
    var list = MatchList(sortDescriptors, capacity: capacity)
    list.keepsRows = false
    list.reading = ValueReading(expressions: expressions, sessions: parts.map(\.session))
    for (index, part) in parts.enumerated() {
      list.storeIndex = index
      if try !part.visitMatches(&list, part.plan(capacity: capacity)) { break }
    }
    return list.sorted().dropFirst(offset).map(\.values)
  }
}
