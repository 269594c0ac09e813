import QuireModel

extension ManagedObjectContext {
  /// The groups of what a request finds, in the order of their values.
  ///
  /// - Returns: the groups, and for each path that tells them whether it leads to an attribute.
  final func groupResults<Object: ManagedObject>(
    _ query: GroupQuery, _ request: FetchRequest<Object>
  ) throws -> ([GroupResult], [AttributeType?]) {
    settlePendingChanges()
    try throwKeptErrors()
    let (binding, model) = try entity(of: request)
    try query.check(PredicateCheck(of: binding, in: model), binding.entity)
    let types = query.groups.map { binding.entity.attributeType(at: $0[...], in: model) }
    let execution = try FetchExecution(request, in: self, reading: query.paths)
    var results = try execution.group(query, types)
    if results.count > 1, !query.groups.isEmpty {
      results.sort { precedes($0.group, $1.group) }
    }
    return (results, types)
  }

  private func precedes(_ left: [PredicateValue?], _ right: [PredicateValue?]) -> Bool {
    for (left, right) in zip(left, right) {
      let order = compareForSorting(left, right)
      if order != 0 { return order < 0 }
      guard case .object(let left)? = left, case .object(let right)? = right,
        let left = left.base as? ManagedObjectID, let right = right.base as? ManagedObjectID,
        left != right
      else { continue }
      return left.precedes(right)
    }
    return false
  }
}

extension ManagedObjectID {
  /// Some order, in which what was saved earlier mostly comes first.
  fileprivate func precedes(_ other: ManagedObjectID) -> Bool {
    if isTemporaryID != other.isTemporaryID { return other.isTemporaryID }
    if entity.name != other.entity.name { return entity.name < other.entity.name }
    return key < other.key
  }
}

extension GroupQuery {
  /// Makes sure that the aggregates can be meant.
  func check(_ check: PredicateCheck, _ entity: EntityDescription) throws {
    do {
      for path in groups {
        if case .collection = try check.type(of: path) {
          throw mistake(path, entity, "leads to many: objects are grouped by one value each")
        }
      }
      for aggregate in aggregates {
        guard let path = aggregate.path else { continue }
        var type = try check.type(of: path)
        if case .collection(let element) = type { type = element }
        switch (aggregate.function, type) {
        case (.sum, .number), (.average, .number), (_, .unknown), (.count, _), (.distinctCount, _):
          break
        case (.sum, _), (.average, _):
          throw mistake(path, entity, "is \(type), and only numbers have a sum or an average")
        case (_, .object), (_, .composite):
          throw mistake(path, entity, "is \(type), and has no smallest or largest")
        default: break
        }
      }
    } catch let mistake as PredicateMistake {
      throw PersistenceError(mistake)
    }
  }

  private func mistake(
    _ path: [String], _ entity: EntityDescription, _ words: String
  ) -> PersistenceError {
    let path = path.joined(separator: ".")
    var error = PersistenceError(.invalidExpression, "\(path) of \(entity.name) \(words)")
    (error.entityName, error.key) = (entity.name, path)
    return error
  }
}

extension EntityDescription {
  /// The type of the attribute at the end of a path; `nil` where there is something else.
  fileprivate func attributeType(
    at names: ArraySlice<String>, in model: ModelBinding
  ) -> AttributeType? {
    guard let name = names.first else { return nil }
    if let attribute = attribute(named: name) { return names.count == 1 ? attribute.type : nil }
    guard let relationship = relationship(named: name) else { return nil }
    return model.entity(named: relationship.destination)?.entity
      .attributeType(at: names.dropFirst(), in: model)
  }
}

extension FetchExecution {
  fileprivate func group(_ query: GroupQuery, _ types: [AttributeType?]) throws -> [GroupResult] {
    guard limit == 0, offset == 0 else {
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType,
        "groups are made of all objects of a request: a limit or an offset would leave some out")
    }
    let parts = parts
    var grouping = Grouping(query) { id, store in parts[store].reference(of: id) }
    for (place, part) in parts.enumerated() {
      grouping.store = place
      if try part.count(query, in: &grouping) { continue }
      _ = try part.visitMatches(&grouping, part.plan(capacity: .max))
    }
    return try grouping.results(types) { reference, store in
      guard let storage = try parts[store].view.storage(of: reference) else {
        throw PersistenceError(.persistentStoreOpen, "a row leads to an entity that is not there")
      }
      return ManagedObjectID(
        entity: storage.binding.entity, store: storage.identity, key: reference.key)
    }
  }
}

extension StoreFetch {
  /// Where an object is, if this store has it.
  fileprivate func reference(of id: ManagedObjectID) -> Reference? {
    guard let store = id.store, storages.first?.identity == store,
      let stored = view.entities.schema.entity(named: id.entity.name)
    else { return nil }
    return Reference(entity: stored.number, key: id.key)
  }
}
