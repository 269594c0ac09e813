import QuireModel

/// A key path of a predicate or a sort descriptor, checked against the entity it starts from.
///
/// The first step is resolved to a slot once for each concrete entity. The concrete entity of a
/// further step is known only when its row or object is read.
struct FetchPath {
  let names: [String]
  /// The slot of the first name in the entity whose rows are read; -1 if the name is no property of
  /// the entity, such as `SELF`.
  let slot: Int
  /// Whether the path is the name of an attribute alone.
  let isAttribute: Bool
  /// Whether a collection at the end needs the values of each object once.
  var takesEachOnce = false

  /// - Throws: ``PersistenceError/Code/undefinedKey`` when a step does not exist in the model;
  ///   ``PersistenceError/Code/persistentStoreUnsupportedRequestType`` when it is transient;
  ///   ``PersistenceError/Code/invalidExpression`` when an operator cannot have a value.
  init(_ names: [String], from binding: EntityBinding, in model: ModelBinding) throws {
    guard let first = names.first else {
      throw PersistenceError(
        .undefinedKey, "a key path of \(binding.entity.name) is empty: it names no property")
    }
    self.names = names
    slot = binding.slot(named: first) ?? -1
    isAttribute = slot >= 0 && names.count == 1 && binding.traits[slot].attributeType != nil
    // An attribute needs no further check.
    if isAttribute, !binding.traits[slot].isTransient { return }
    do {
      _ = try PredicateCheck(of: binding, in: model).type(of: names)
    } catch {
      throw PersistenceError(error)
    }
  }
}

extension PredicateCheck {
  init(of binding: EntityBinding, in model: ModelBinding) {
    self.init(of: binding.entity) { model.entity(named: $0)?.entity }
  }
}

extension PersistenceError {
  init(_ mistake: PredicateMistake) {
    let code: Code =
      switch mistake.kind {
      case .name: .undefinedKey
      case .transient, .variable: .persistentStoreUnsupportedRequestType
      case .type: .invalidExpression
      }
    self.init(code, mistake.description)
    entityName = mistake.entityName
    key = mistake.key
  }
}

/// The start of a key path: a row of the store, or an object with its changes.
protocol PathSubject {
  func attribute(_ slot: Int) throws -> AttributeValue?
  func one(_ slot: Int) throws -> Self?
  func members(_ slot: Int) throws -> [Self]
  /// The object itself.
  func managedObject(in session: StoreSession) throws -> ManagedObject
  var binding: EntityBinding { get }
  var objectIdentity: OpaqueIdentity { get }
  var key: SubjectKey { get }

  /// The sort prefix of the value at a path, if it is known without making the value.
  func sortPrefix(at path: FetchPath, by rule: SortPrefix.Rule) -> SortPrefix?

  /// The bytes of a row that says all there is to know, checked by a reader.
  var plainRow: (UnsafeRawPointer, EntityStorage)? { get }
}

extension PathSubject {
  var plainRow: (UnsafeRawPointer, EntityStorage)? { nil }
  func sortPrefix(at path: FetchPath, by rule: SortPrefix.Rule) -> SortPrefix? { nil }
}

extension PathSubject {
  func value(at path: FetchPath) throws -> PredicateValue? {
    path.takesEachOnce
      ? try valueOfEachOnce(at: path.names[...], slot: path.slot)
      : try value(at: path.names[...], slot: path.slot)
  }

  func value(at names: ArraySlice<String>, slot: Int) throws -> PredicateValue? {
    let rest = names.dropFirst()
    guard slot >= 0 else { return try value(atNameOfNone: names) }
    switch binding.properties[slot] {
    case .attribute:
      guard let value = try attribute(slot) else { return nil }
      if let plain = try transformed(value, slot) {
        return try self.value(of: plain, at: rest) ?? .value(value)
      }
      return rest.isEmpty ? .value(value) : try self.value(inside: value, at: rest)
    case .relationship(let relationship) where relationship.isToMany:
      return try Self.value(of: members(slot), at: rest)
    case .relationship:
      guard let destination = try one(slot) else { return nil }
      guard let next = rest.first else { return .object(destination.objectIdentity) }
      return try destination.value(at: rest, slot: destination.binding.slot(named: next) ?? -1)
    }
  }

  /// The element of a composite attribute, or a property of a value.
  private func value(
    inside value: AttributeValue, at names: ArraySlice<String>
  ) throws -> PredicateValue? {
    var (value, rest): (AttributeValue?, _) = (value, names)
    while case .composite(let elements)? = value, let name = rest.first {
      (value, rest) = (elements[name], rest.dropFirst())
    }
    guard let value, !rest.isEmpty else { return value.map(PredicateValue.value) }
    return try KeyValue(value.plainValue).value(at: rest).predicateValue
  }

  /// The value that the transformer of an attribute makes of a stored one; `nil` without a
  /// transformer.
  func transformed(_ value: AttributeValue, _ slot: Int) throws -> Any? {
    guard case .transformed(let data) = value, let transformer = binding.transformers[slot] else {
      return nil
    }
    do {
      return try transformer.reverseTransformedValue(data)
    } catch {
      let name = binding.name(of: slot)
      var error = PersistenceError(
        .coreData,
        "\(binding.entity.name).\(name) has bytes of which its transformer cannot make a value",
        underlying: error)
      (error.entityName, error.key) = (binding.entity.name, name)
      error.objectID = objectIdentity.objectID
      throw error
    }
  }

  /// A transformed value or a property of it; `nil` if predicates cannot compare it.
  private func value(of plain: Any, at names: ArraySlice<String>) throws -> PredicateValue? {
    if names.isEmpty { return try? KeyValue(plain).predicateValue }
    return try KeyValue(plain).value(at: names).predicateValue
  }

  /// The value of a name that is not a property of the entity.
  private func value(atNameOfNone names: ArraySlice<String>) throws -> PredicateValue? {
    let rest = names.dropFirst()
    switch names.first {
    case "self": return try value(at: rest)
    case FetchExpression.objectIDName where rest.isEmpty: return .object(objectIdentity)
    case FetchExpression.entityName:
      let name = PredicateValue.value(.string(binding.entity.name))
      if rest.isEmpty || Array(rest) == ["name"] { return name }
      return try KeyValue(binding.entity).value(at: rest).predicateValue
    // A property of another entity of the family.
    default: return nil
    }
  }
}

/// A row or object as a save would leave it: the object if it has unsaved changes, otherwise the
/// row.
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
    case .object(let object): OpaqueIdentity(object.objectID.permanent)
    case .row(let row): row.objectIdentity
    }
  }

  var key: SubjectKey {
    switch source {
    case .object(let object): .object(ObjectIdentifier(object))
    case .row(let row): row.key
    }
  }

  func managedObject(in session: StoreSession) throws -> ManagedObject {
    switch source {
    case .object(let object): object
    case .row(let row): try row.managedObject(in: self.session)
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
    // A new object may refer to one of another store until a save rejects it.
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

/// A subject whose paths the evaluator asks for by number.
struct PathsOfSubject<Subject: PathSubject>: PredicateSubject {
  let subject: Subject
  let paths: [FetchPath]

  func value(atPath index: Int) throws -> PredicateValue? { try subject.value(at: paths[index]) }
  var identity: OpaqueIdentity { subject.objectIdentity }
}
