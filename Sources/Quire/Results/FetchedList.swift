import QuireModel

extension SectionedList<ManagedObject> {
  /// The objects of a request in the sections of a naming.
  ///
  /// - Parameter path: a path of section names that is read with the objects.
  /// - Throws: ``PersistenceError/Code/persistentStoreUnsupportedRequestType`` if the objects of a
  ///   section are not adjacent.
  init<Result: ManagedObject>(
    _ execution: FetchExecution, _ intake: FetchIntake, _ naming: SectionNaming<Result>,
    _ path: [String]?
  ) throws {
    if path == nil {
      let found: [ManagedObject] = try execution.objects(intake)
      try self.init(found) { object in
        guard let object = object as? Result else { return "" }
        return try naming.name(of: object)
      }
      try naming.check(sections, of: found)
      // Without section names there is always one section, even an empty one.
      if case .none = naming, sections.isEmpty { sections = [Section(name: "", range: 0..<0)] }
      return
    }
    let found = try execution.objectsWithLastKey(intake)
    var names = found.keys.makeIterator()
    // Mostly the name is that of the last object.
    var last: (value: PredicateValue?, name: String) = (nil, "")
    try self.init(found.objects) { _ in
      let value = names.next() ?? nil
      if value != last.value { last = (value, try sectionName(value)) }
      return last.name
    }
  }

  private init(_ objects: [ManagedObject], _ name: (ManagedObject) throws -> String) throws {
    elements = ChunkedList(objects)
    var names: Set<String> = []
    for (index, object) in objects.enumerated() {
      let name = try name(object)
      if sections.last?.name == name {
        sections[sections.count - 1].range =
          sections[sections.count - 1].range.lowerBound..<index + 1
        continue
      }
      guard names.insert(name).inserted else {
        var error = PersistenceError(
          .persistentStoreUnsupportedRequestType,
          "\(object.objectID), number \(index) of the result, is in the section \(name), which has "
            + "ended before: the first sort key must keep the objects of a section together")
        error.entityName = object.entity.name
        error.objectID = object.objectID
        throw error
      }
      sections.append(Section(name: name, range: index..<index + 1))
    }
  }
}

extension FetchExecution {
  /// The objects in the order of the request, each with the value of the last path that is read in
  /// addition to the sort keys.
  fileprivate func objectsWithLastKey(
    _ intake: FetchIntake
  ) throws -> (objects: [ManagedObject], keys: [PredicateValue?]) {
    var list = MatchList(sortDescriptors, capacity: capacity)
    for (number, part) in parts.enumerated() {
      list.storeIndex = number
      if try !part.visitMatches(&list, part.plan(capacity: capacity)) { break }
    }
    let matches = list.sorted().dropFirst(offset)
    let objects = try matches.map { match in
      try intake.take(
        match.object ?? parts[match.storeIndex].session.object(at: match.reference), match.row)
    }
    return (objects, matches.map { $0.keys.last ?? nil })
  }
}
