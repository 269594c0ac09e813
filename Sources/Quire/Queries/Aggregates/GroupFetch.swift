import QuireModel

extension ManagedObjectContext {
  /// The groups of the objects that a request finds, in the order of their values. The limit of the
  /// request is not applied.
  final func groupResults<Object: ManagedObject>(
    _ query: GroupQuery, _ request: FetchRequest<Object>
  ) throws -> [GroupResult] {
    try bringUpToDate()
    let (binding, model) = try entity(of: request)
    try query.check(PredicateCheck(of: binding, in: model), binding.entity)
    var results = try inOneState {
      try FetchExecution(
        request, in: self, reading: query.paths, values: query.computedGroups
      ).group(query)
    }
    if results.count > 1, !query.groups.isEmpty {
      results.sort { precedes($0.group, $1.group) }
    }
    return results
  }

  private func precedes(_ left: [PredicateValue?], _ right: [PredicateValue?]) -> Bool {
    for (left, right) in zip(left, right) {
      let order = compareForSorting(left, right)
      if order != 0 { return order < 0 }
      guard case .object(let left)? = left, case .object(let right)? = right,
        let left = left.objectID, let right = right.objectID,
        left != right
      else { continue }
      return left.precedes(right)
    }
    return false
  }
}

extension ManagedObjectID {
  /// Whether the object comes first among groups: by entity name, then by key; temporary IDs come
  /// last.
  fileprivate func precedes(_ other: ManagedObjectID) -> Bool {
    if isTemporaryID != other.isTemporaryID { return other.isTemporaryID }
    if entity.name != other.entity.name { return entity.name < other.entity.name }
    return key < other.key
  }
}

extension GroupQuery {
  /// Checks that the paths of groups and aggregates lead to values of suitable types.
  func check(_ check: PredicateCheck, _ entity: EntityDescription) throws {
    do {
      for group in groups {
        try group.checkDepth()
        if group.hasAggregate {
          throw mistake(
            group.description, entity, "is a value of a whole group, and no value to group by")
        }
        if case .collection = try check.type(of: group) {
          throw mistake(
            group.description, entity, "refers to many: objects are grouped by one value each")
        }
      }
      for aggregate in aggregates {
        guard let path = aggregate.path else { continue }
        let text = path.joined(separator: ".")
        var type = try check.type(of: path)
        if case .collection(let element) = type { type = element }
        switch aggregate.function {
        case .count, .distinctCount: break
        case .sum, .average, .median, .standardDeviation:
          guard type == .number || type == .unknown else {
            let words = "a sum, an average, a median or a deviation"
            throw mistake(text, entity, "is \(type), and only numbers have \(words)")
          }
        case .minimum, .maximum:
          switch type {
          case .object, .composite, .transformed:
            throw mistake(text, entity, "is \(type), and has no smallest or largest")
          case .unknown, .absent, .number, .text, .date, .data, .uuid, .url, .collection: break
          }
        }
      }
    } catch let mistake as PredicateMistake {
      throw PersistenceError(mistake)
    } catch let error as FetchPredicateError {
      throw PersistenceError(error)
    }
  }

  private func mistake(
    _ path: String, _ entity: EntityDescription, _ words: String
  ) -> PersistenceError {
    var error = PersistenceError(.invalidExpression, "\(path) of \(entity.name) \(words)")
    (error.entityName, error.key) = (entity.name, path)
    return error
  }
}

extension FetchExecution {
  fileprivate func group(_ query: GroupQuery) throws -> [GroupResult] {
    let parts = parts
    var grouping = Grouping(query, parts.map(\.session)) { id, store in
      parts[store].view.entities.reference(of: id)
    }
    for (index, part) in parts.enumerated() {
      grouping.store = index
      if try part.count(query, in: &grouping) { continue }
      if try part.takeExtremes(query, into: &grouping) { continue }
      _ = try part.visitMatches(&grouping, part.plan(capacity: .max))
    }
    return try grouping.results { reference, store in
      guard let storage = try parts[store].view.storage(of: reference) else {
        throw PersistenceError(.persistentStoreOpen, "a row refers to an entity that is not there")
      }
      return ManagedObjectID(
        entity: storage.binding.entity, store: storage.identity, key: reference.key)
    }
  }
}
