import QuireModel

/// A key path of a predicate or a sort descriptor, checked against the entity it starts from.
///
/// The first step is resolved to a slot once for each concrete entity; the further ones lead to
/// rows or objects whose concrete entity only shows when they are met.
struct FetchPath {
  let names: [String]
  /// The slot of the first name in the entity that rows are read of; -1 for a count of `SELF`.
  let slot: Int

  /// - Throws: ``PersistenceError/Code/undefinedKey`` when a step does not exist in the model;
  ///   ``PersistenceError/Code/persistentStoreUnsupportedRequestType`` when it is transient.
  init(_ names: [String], from binding: EntityBinding, in model: ModelBinding) throws {
    guard let first = names.first else {
      throw PersistenceError(
        .undefinedKey, "a key path of \(binding.entity.name) is empty: it names no property")
    }
    self.names = names
    slot = binding.slot(named: first) ?? -1
    var entity = binding.entity
    for (index, name) in names.enumerated() {
      if name == FetchExpression.countOperator, index == names.count - 1, index > 0 { return }
      if let attribute = entity.attribute(named: name) {
        if attribute.isTransient { throw FetchPath.transient(name, in: entity, names) }
        try FetchPath.check(names.dropFirst(index + 1), inside: attribute, of: entity, names)
        return
      }
      guard let relationship = entity.relationship(named: name),
        let destination = model.entity(named: relationship.destination)
      else { throw FetchPath.unknown(name, in: entity, names) }
      if relationship.isTransient { throw FetchPath.transient(name, in: entity, names) }
      entity = destination.entity
    }
  }

  /// What follows the name of an attribute must be elements of a composite.
  private static func check(
    _ rest: ArraySlice<String>, inside attribute: AttributeDescription,
    of entity: EntityDescription,
    _ names: [String]
  ) throws {
    var attribute = attribute
    for name in rest {
      guard let element = attribute.elements.first(where: { $0.name == name }) else {
        throw unknown(name, in: entity, names)
      }
      attribute = element
    }
  }

  /// A store does not have it: every row would be taken for one without a value.
  private static func transient(
    _ name: String, in entity: EntityDescription, _ names: [String]
  ) -> PersistenceError {
    var error = PersistenceError(
      .persistentStoreUnsupportedRequestType,
      "the key path \(names.joined(separator: ".")) of a fetch leads to \(entity.name).\(name), which "
        + "is transient: no store has it. Fetch without it, and ask the objects by evaluate(with:)")
    error.entityName = entity.name
    error.key = name
    return error
  }

  private static func unknown(
    _ name: String, in entity: EntityDescription, _ names: [String]
  ) -> PersistenceError {
    var error = PersistenceError(
      .undefinedKey,
      "the key path \(names.joined(separator: ".")) asks \(entity.name) for \(name), which it does not "
        + "have")
    error.entityName = entity.name
    error.key = name
    return error
  }
}

/// A thing that key paths can be followed from: a row of the store, or an object with its changes.
protocol PathSubject {
  func attribute(_ slot: Int) throws -> AttributeValue?
  func one(_ slot: Int) throws -> Self?
  func members(_ slot: Int) throws -> [Self]
  var binding: EntityBinding { get }
  var objectIdentity: OpaqueIdentity { get }
}

extension PathSubject {
  func value(at path: FetchPath) throws -> PredicateValue? {
    try value(at: path.names[...], slot: path.slot)
  }

  func value(at names: ArraySlice<String>, slot: Int) throws -> PredicateValue? {
    guard slot >= 0 else { return nil }
    let rest = names.dropFirst()
    switch binding.properties[slot] {
    case .attribute:
      var value = try attribute(slot)
      for name in rest {
        guard case .composite(let elements)? = value else { return nil }
        value = elements[name]
      }
      return value.map(PredicateValue.value)
    case .relationship(let relationship) where relationship.isToMany:
      let members = try members(slot)
      guard let next = rest.first else {
        return .collection(members.map { .object($0.objectIdentity) })
      }
      if next == FetchExpression.countOperator { return .value(.integer(Int64(members.count))) }
      return .collection(
        try members.flatMap { member -> [PredicateValue?] in
          let value = try member.value(at: rest, slot: member.binding.slot(named: next) ?? -1)
          if case .collection(let values)? = value { return values }
          return [value]
        })
    case .relationship:
      guard let destination = try one(slot) else { return nil }
      guard let next = rest.first else { return .object(destination.objectIdentity) }
      return try destination.value(at: rest, slot: destination.binding.slot(named: next) ?? -1)
    }
  }
}

/// What a save would leave: the object where the context has unsaved changes, else the row.
///
/// A path may lead from a row to a changed object, and from a changed object to a row.
struct PendingSubject: PathSubject {
  enum Source {
    case object(ManagedObject)
    case row(RowSubject)
  }

  let source: Source
  /// The store that the rows are in.
  let session: StoreSession
  let view: StoreView
  /// The changed and deleted objects of the context that have rows.
  let changed: [Reference: ManagedObject]

  var binding: EntityBinding {
    switch source {
    case .object(let object): object.binding
    case .row(let row): row.binding
    }
  }

  var objectIdentity: OpaqueIdentity {
    switch source {
    case .object(let object): OpaqueIdentity(object.objectID)
    case .row(let row): row.objectIdentity
    }
  }

  func attribute(_ slot: Int) throws -> AttributeValue? {
    switch source {
    case .object(let object): try object.attribute(slot)
    case .row(let row): try row.attribute(slot)
    }
  }

  func one(_ slot: Int) throws -> PendingSubject? {
    switch source {
    case .object(let object): try object.one(slot).flatMap(subject(of:))
    case .row(let row): try row.destination(slot).flatMap(subject(at:))
    }
  }

  func members(_ slot: Int) throws -> [PendingSubject] {
    switch source {
    case .object(let object): try object.members(slot).compactMap(subject(of:))
    case .row(let row): try row.destinations(slot).compactMap(subject(at:))
    }
  }

  private func subject(of object: ManagedObject) throws -> PendingSubject? {
    // Until a save refuses it, a new object may lead to one of another store.
    if object.isStored, object.session === session { return try subject(at: object.reference) }
    return object.isDeleted && object.isStored ? nil : subject(.object(object))
  }

  private func subject(at reference: Reference) throws -> PendingSubject? {
    if let object = changed[reference] {
      return object.isDeleted
        ? nil : subject(.object(object))
    }
    return try RowSubject(at: reference, in: view).map { subject(.row($0)) }
  }

  private func subject(_ source: Source) -> PendingSubject {
    PendingSubject(source: source, session: session, view: view, changed: changed)
  }
}

/// A row as the store has it.
struct RowSubject: PathSubject {
  /// The row under a cursor, which keeps its bytes for as long as it stays; or a row that keeps its
  /// own.
  enum Source {
    case borrowed(RowReader)
    case kept(Row)
  }

  let reference: Reference
  let source: Source
  let storage: EntityStorage
  let view: StoreView

  var binding: EntityBinding { storage.binding }

  var objectIdentity: OpaqueIdentity {
    if let parentRows = view.parentRows {
      return OpaqueIdentity(parentRows.objectID(of: reference, storage))
    }
    return OpaqueIdentity(
      ManagedObjectID(
        entity: storage.binding.entity, store: storage.identity, key: reference.key))
  }

  func attribute(_ slot: Int) throws -> AttributeValue? {
    let field = storage.fieldBySlot[slot]
    guard field >= 0 else { return nil }
    return switch source {
    case .borrowed(let reader): try reader.value(field, in: view)
    case .kept(let row): try row.value(field, in: view)
    }
  }

  func one(_ slot: Int) throws -> RowSubject? {
    try destination(slot).flatMap { try RowSubject(at: $0, in: view) }
  }

  func members(_ slot: Int) throws -> [RowSubject] {
    try destinations(slot).compactMap { try RowSubject(at: $0, in: view) }
  }

  func destination(_ slot: Int) -> Reference? {
    let field = storage.fieldBySlot[slot]
    guard field >= 0 else { return nil }
    let reference =
      switch source {
      case .borrowed(let reader): reader.reference(field)
      case .kept(let row): row.reference(field)
      }
    guard let parentRows = view.parentRows else { return reference }
    return reference.map { parentRows.current($0) }
  }

  func destinations(_ slot: Int) throws -> [Reference] {
    guard let link = storage.link(slot) else { return [] }
    return try view.members(of: reference, link)
  }
}

extension RowSubject {
  /// - Returns: `nil` when the store has no such row.
  init?(at reference: Reference, in view: StoreView) throws {
    guard let storage = try view.storage(of: reference), let row = try view.row(reference)
    else { return nil }
    self.init(reference: reference, source: .kept(row), storage: storage, view: view)
  }
}

/// A subject with the paths that an evaluator asks for by number.
struct PathsOfSubject<Subject: PathSubject>: PredicateSubject {
  let subject: Subject
  let paths: [FetchPath]

  func value(atPath index: Int) throws -> PredicateValue? { try subject.value(at: paths[index]) }
  var identity: OpaqueIdentity { subject.objectIdentity }
}
