import QuireModel

extension ManagedObjectContext {
  /// The objects that a request finds, with their values, unsaved changes included.
  ///
  /// Relationships refer to objects by their ``ExportedObject/id``, whether these are in the export
  /// or not: ``insert(_:missing:)`` says what becomes of the others.
  ///
  /// - Throws: what ``fetch(_:)`` throws, and errors of reading.
  /// - Complexity: O(*n*) in the objects and their destinations, which are all in memory then: a
  ///   large store is exported entity by entity, with ``FetchRequest/fetchOffset``.
  public final func export<Result: ManagedObject>(
    _ request: FetchRequest<Result>
  ) throws -> [ExportedObject] { try export(fetch(request)) }

  /// These objects with their values.
  public final func export(_ objects: some Sequence<ManagedObject>) throws -> [ExportedObject] {
    try throwingKeptErrors { try objects.map { try $0.exported() } }
  }

  /// Inserts new objects with the values of exported ones, and links them as those were linked.
  ///
  /// They are checked when they are saved, as all new objects are: an export without a required
  /// value that has no default, or with one that is ``ExportedValue/absent``, fails there, and one
  /// with an object that is in the store already, by a unique value, is merged as the
  /// ``mergePolicy`` says.
  ///
  /// - Parameters:
  ///   - exported: in any order.
  ///   - missing: what to do where a relationship refers to an object that is not among them.
  /// - Returns: the new objects, in the order of the exported ones.
  /// - Throws: ``PersistenceError/Code/undefinedKey`` where the model has no such entity or
  ///   property; ``PersistenceError/Code/unacceptableValue`` where a value is not of the
  ///   attribute's type, or a destination not of the relationship's, or missing, and where two
  ///   objects have one ID. Nothing is inserted then.
  public final func insert(
    _ exported: some Collection<ExportedObject>, missing: MissingDestination = .refuse
  ) throws -> [ManagedObject] {
    var insertion = ExportedInsertion(context: self, missing: missing)
    do {
      for object in exported { try insertion.insert(object) }
      try insertion.link()
    } catch {
      for object in insertion.objects { delete(object) }
      throw error
    }
    return insertion.objects
  }

  /// What becomes of a relationship to an object that is not in the export.
  public enum MissingDestination: Sendable {
    /// It is an error.
    case refuse
    /// It has no destination.
    case drop
  }
}

extension ManagedObject {
  /// The name of the object in an export.
  private var exportID: String {
    let id = objectID
    return "\(id.entity.name)/\(id.isTemporaryID ? "t" : "p")\(id.key)"
  }

  fileprivate func exported() throws -> ExportedObject {
    var values: [String: ExportedValue] = [:]
    for (slot, property) in binding.properties.enumerated() {
      let trait = binding.traits[slot]
      if trait.isTransient { continue }
      switch property {
      case .attribute(let attribute):
        if attribute.derivationExpression != nil { continue }
        if let value = try self.attribute(slot) {
          values[attribute.name] = ExportedValue(value)
        } else if !attribute.isOptional {
          values[attribute.name] = .absent
        }
      case .relationship(let relationship):
        let value = try self.value(forKey: relationship.name)
        switch value {
        case let object as ManagedObject: values[relationship.name] = .text(object.exportID)
        case let members as [ManagedObject]:
          if !members.isEmpty { values[relationship.name] = .list(members.map(\.exportID)) }
        case let members as Set<ManagedObject>:
          if !members.isEmpty {
            values[relationship.name] = .list(members.map(\.exportID).sorted())
          }
        default: continue
        }
      }
    }
    return ExportedObject(entityName: entity.name, id: exportID, values: values)
  }
}

/// Inserts exported objects, and then links them.
private struct ExportedInsertion {
  let context: ManagedObjectContext
  let missing: ManagedObjectContext.MissingDestination
  private(set) var objects: [ManagedObject] = []
  private var byID: [String: ManagedObject] = [:]
  /// The relationships that are set when all objects are there.
  private var links:
    [(object: ManagedObject, relationship: RelationshipDescription, ids: [String])] =
      []

  init(context: ManagedObjectContext, missing: ManagedObjectContext.MissingDestination) {
    self.context = context
    self.missing = missing
  }

  mutating func insert(_ exported: ExportedObject) throws {
    let object = try EntityDescription.insertNewObject(
      forEntityName: exported.entityName, into: context)
    objects.append(object)
    guard byID.updateValue(object, forKey: exported.id) == nil else {
      throw failure(exported, nil, "is there twice: the objects of an export have different IDs")
    }
    // Optional values that were left out are absent, whatever the default is. Who has left out a
    // required one means the default; where it is said to be absent the save tells of it.
    for attribute in object.entity.attributes
    where attribute.isOptional && !attribute.isTransient && attribute.derivationExpression == nil
      && exported.values[attribute.name] == nil
    {
      try object.setValue(nil, forKey: attribute.name)
    }
    for (name, value) in exported.values {
      if let relationship = object.entity.relationship(named: name) {
        if value == .absent { continue }
        links.append((object, relationship, try destinations(value, name, exported)))
        continue
      }
      guard let attribute = object.entity.attribute(named: name) else {
        throw PersistenceError.undefinedKey(
          name, of: object.objectID,
          message: "has no property \(name), which the exported \(exported.id) has")
      }
      if value == .absent {
        try object.setValue(nil, forKey: name)
        continue
      }
      guard let value = value.value(for: attribute) else {
        throw failure(
          exported, name,
          "is \(value.described), and no value of \(attribute.type): write "
            + attribute.type.exportedForm)
      }
      try object.setValue(value, forKey: name)
    }
  }

  private func destinations(
    _ value: ExportedValue, _ name: String, _ exported: ExportedObject
  ) throws -> [String] {
    switch value {
    case .text(let id): return [id]
    case .list(let ids): return ids
    default: throw failure(exported, name, "is \(value.described), and no name of an object")
    }
  }

  /// Sets relationships: lists in order last, as their order is not that in which the other sides
  /// are set.
  mutating func link() throws {
    for isOrdered in [false, true] {
      for (object, relationship, ids) in links where relationship.isOrdered == isOrdered {
        try link(object, relationship, ids)
      }
    }
  }

  private func link(
    _ object: ManagedObject, _ relationship: RelationshipDescription, _ ids: [String]
  ) throws {
    let members = try ids.compactMap { id -> ManagedObject? in
      if let member = byID[id] { return member }
      if missing == .drop { return nil }
      var error = PersistenceError(
        .unacceptableValue,
        "\(object.entity.name).\(relationship.name) refers to \(id), which is not among the objects "
          + "to insert: insert them together, or let what is missing be dropped")
      error.key = relationship.name
      error.entityName = object.entity.name
      throw error
    }
    if !relationship.isToMany {
      try object.setValue(members.first, forKey: relationship.name)
    } else if relationship.isOrdered {
      try object.setValue(members, forKey: relationship.name)
    } else {
      try object.setValue(Set(members), forKey: relationship.name)
    }
  }

  private func failure(
    _ exported: ExportedObject, _ name: String?, _ what: String
  ) -> PersistenceError {
    var error = PersistenceError(
      .unacceptableValue, "the exported \(exported.id)\(name.map { ".\($0)" } ?? "") \(what)")
    error.key = name
    error.entityName = exported.entityName
    return error
  }
}

extension ExportedValue {
  /// For messages.
  fileprivate var described: String {
    switch self {
    case .absent: "absent"
    case .boolean(let flag): "\(flag)"
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .text(let text): "\"\(text.prefix(40))\""
    case .list: "a list"
    case .composite: "a composite value"
    }
  }
}

extension AttributeType {
  /// The form of exported values, for messages.
  fileprivate var exportedForm: String {
    switch self {
    case .integer16, .integer32, .integer64: "a whole number, as 12"
    case .decimal, .double, .float: "a number, as 19.99"
    case .boolean: "true or false"
    case .string: "a text"
    case .date: "a moment, as 2024-01-31T12:00:00Z, or a day, as 2024-01-31"
    case .binaryData, .transformable: "bytes in base64"
    case .uuid: "a UUID, as 39EC9538-CC19-4BF1-A7E9-FB730ADDD046"
    case .uri, .objectID: "a URL, as https://example.org"
    case .composite: "an object with the values of its elements"
    case .undefined: "nothing, as it has no values"
    }
  }
}
