import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The rows of one store as a child context sees them: those of the parent's objects, with their
/// unsaved changes, in place of the store's.
///
/// Each row is looked up in the parent when it is needed. So nothing is copied when a child is
/// made, and it reads the parent's present values.
final class ParentRows: RowsInFront {
  /// The child's session.
  // Sound: a session outlives the views that it makes, or is held beside them.
  unowned(unsafe) let session: StoreSession
  /// The parent's session of the same store.
  let source: StoreSession

  init(_ session: StoreSession, _ source: StoreSession) {
    self.session = session
    self.source = source
  }

  private var context: ManagedObjectContext { source.context }

  /// - Returns: `nil` when the parent has no such object, or has deleted it.
  override func row(_ reference: Reference) throws -> Row? {
    if let object = source.registered(reference) {
      guard object.isInParent else { return nil }
      if !object.slots.isEmpty || object.isNew {
        guard let storage = session.entities.byIndex[object.binding.index] else { return nil }
        return try object.encodedRow(in: storage)
      }
      if let row = object.row { return row }
    }
    return try source.currentView().row(reference)
  }

  /// The destination that the parent shows for a to-one slot: none if it is deleted there or gone,
  /// or if its own end of the relationship was changed, and refers elsewhere.
  func destination(_ slot: Int, of reference: Reference) throws -> Reference? {
    if let object = source.registered(reference) {
      guard object.isInParent else { return nil }
      if object.hasSlots, case .one(let destination) = object.slots[slot] {
        return object.present(destination).flatMap { $0.isInParent ? $0.reference : nil }
      }
      if object.isNew { return nil }
    }
    guard let destination = try storedDestination(slot, of: reference) else { return nil }
    guard let other = source.registered(destination) else { return destination }
    guard other.isInParent, !other.hasLeft(reference, slot, of: source) else { return nil }
    if other.isSurelyThere(other) { return destination }
    // The parent has an object that is gone from the state which it reads by now.
    let canDangle = source.entities.storage(of: reference)?.binding.traits[slot].canDangle ?? true
    return try source.mayBeGone(destination, canDangle) ? nil : destination
  }

  /// The same without the parent's changes.
  private func storedDestination(_ slot: Int, of reference: Reference) throws -> Reference? {
    if let object = source.registered(reference), object.hasRow {
      return object.storedReference(slot)
    }
    let view = try source.currentView()
    // A row may be older than the state that an ancestor reads.
    if let parentRows = view.parentRows { return try parentRows.destination(slot, of: reference) }
    guard let storage = source.entities.storage(of: reference), storage.fieldBySlot[slot] >= 0
    else { return nil }
    return try view.row(reference)?.reference(storage.fieldBySlot[slot])
  }

  override func contains(_ reference: Reference) throws -> Bool {
    if let object = source.registered(reference) {
      guard object.isInParent else { return false }
      if object.isNew || object.hasRow { return true }
    }
    return try source.currentView().contains(reference)
  }

  /// The members that the parent shows, of which it makes no objects: its classes' hooks would be
  /// called in the middle of what the child does.
  ///
  /// - Returns: none where ``row(_:)`` is `nil`.
  override func members(of reference: Reference, _ link: StoredEntity.Link) throws -> [Reference] {
    let mayDiffer = source.linksHaveMoved && context.changes.mayHaveRelationships
    if mayDiffer, try !contains(reference) { return [] }
    if let object = source.registered(reference) {
      guard object.isInParent, let slot = object.binding.slot(named: link.relationship) else {
        return []
      }
      return try object.shownReferences(slot).filter(isInParent)
    }
    let stored = try source.currentView().members(of: reference, link).filter(isInParent)
    guard mayDiffer, let binding = source.entities.storage(of: reference)?.binding,
      let slot = binding.slot(named: link.relationship), binding.traits[slot].isInverseOfToOne
    else { return stored }
    // A member's own change ends the link: it refers to another object, as the parent has none of
    // this reference.
    let relationship = binding.relationship(slot)
    return try stored.filter { reference in
      guard let member = source.registered(reference) else {
        return try !source.mayBeGone(reference, binding.traits[slot].canDangle)
      }
      guard member.hasSlots, let inverse = member.inverseSlot(of: relationship, on: member),
        case .one = member.slots[inverse]
      else { return true }
      return false
    }
  }

  private func isInParent(_ reference: Reference) -> Bool {
    source.registered(reference)?.isInParent ?? true
  }

  /// A value that is stored outside of its row.
  override func data(of value: ExternalValue) throws -> Data? {
    try source.currentView().data(of: value)
  }

  /// Whether the parent, or an ancestor, has an object with values for a reference.
  func isKnown(_ reference: Reference) -> Bool {
    if let object = source.registered(reference), object.hasRow || !object.slots.isEmpty {
      return true
    }
    return source.view?.parentRows?.isKnown(reference) ?? false
  }

  /// The present reference for one that was read.
  func current(_ reference: Reference) -> Reference {
    reference.isTemporary ? context.currentReference(reference) : reference
  }

  /// The ID that the object with a reference has in the child.
  func objectID(of reference: Reference, _ storage: EntityStorage) -> ManagedObjectID {
    if let object = session.registered(reference) { return object.objectID }
    return ManagedObjectID(
      entity: storage.binding.entity, store: reference.isTemporary ? nil : storage.identity,
      key: reference.key)
  }
}

extension ManagedObject {
  /// Whether a child sees an object of its parent: it is not deleted, nor gone from the store.
  fileprivate final var isInParent: Bool { !isDeleted && !state.contains(.inaccessible) }

  /// Whether this object's end of a one-to-one relationship was changed, and does not refer to an
  /// object any more that refers here in the store.
  fileprivate final func hasLeft(
    _ reference: Reference, _ slot: Int, of session: StoreSession
  ) -> Bool {
    guard hasSlots, session.linksHaveMoved,
      let relationship = session.entities.storage(of: reference)?.binding.relationship(slot),
      let inverse = inverseSlot(of: relationship, on: self), !isToMany(inverse),
      case .one(let destination) = slots[inverse]
    else { return false }
    return destination?.reference != reference
  }

  /// The object with its unsaved changes as a row, for a child of its context.
  ///
  /// - Throws: ``RowError`` when a number is out of its attribute's range.
  final func encodedRow(in storage: EntityStorage) throws -> Row {
    let writer = RowWriter(storage.layout)
    if let row {
      try row.withReader { reader in
        try writer.write(version: version) { try content(of: $0, storage, reader) }
      }
    } else {
      try writer.write(version: version) { try content(of: $0, storage, nil) }
    }
    return try writer.withBytes { try Row(EncodedRow($0), layout: storage.layout) }
  }

  private func content(
    of field: Int, _ storage: EntityStorage, _ old: RowReader?
  ) throws -> RowWriter.Field? {
    let slot = storage.slotByField[field]
    if slot >= 0, !slots.isEmpty {
      switch slots[slot] {
      case .value(let value): return value.map(RowWriter.Field.value)
      case .one(let destination):
        return present(destination).flatMap { $0.isInParent ? .reference($0.reference) : nil }
      case .many: return nil
      case .unchanged: break
      }
    }
    guard let old, !old.isNil(field) else { return nil }
    return .copy(of: field, in: old)
  }
}

extension StoreView {
  // Sound: contexts alone put rows in front of others.
  /// The parent's rows, in the view of a child context.
  var parentRows: ParentRows? { frontRows.map { unsafeDowncast($0, to: ParentRows.self) } }

  /// The storage of the entity of an object, which may be new in the parent.
  func storage(of reference: Reference) throws -> EntityStorage? {
    guard reference.isTemporary, let parentRows else { return entities.storage(of: reference) }
    return try parentRows.session.context.familyObject(reference)?.storage
  }
}
