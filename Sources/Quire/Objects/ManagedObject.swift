import QuireModel

/// An object of an entity, belonging to one context.
///
/// ## What an object holds
///
/// An object that was fetched and not changed holds its place in the store and a view of its row's
/// bytes; attributes are decoded when they are read. One whose row was never needed, a *fault*,
/// holds its place alone. The first change gives the object a slot for each property, and its
/// context holds it strongly from then until the change is saved or dropped. Relationships between
/// clean objects are not references between Swift objects: they are read from the store, so that no
/// cycle keeps a graph alive.
///
/// An object that outlives its context shows the attributes it has read, and no relationships.
///
/// ## Isolation
///
/// An object belongs to the isolation of its context. Neither is `Sendable`; what may travel is the
/// object's ``objectID``.
open class ManagedObject {
  /// What one property of a changed object holds.
  enum Slot {
    /// What the row says.
    case unchanged
    case value(AttributeValue?)
    case one(ManagedObject?)
    case many(PendingMembers)
  }

  struct State: OptionSet {
    var rawValue: UInt8
    static let inserted = State(rawValue: 1)
    static let updated = State(rawValue: 2)
    static let deleted = State(rawValue: 4)
    /// The delete rules of this deleted object were applied.
    static let propagated = State(rawValue: 8)
    /// The object's row is gone from the store.
    static let inaccessible = State(rawValue: 16)
  }

  /// How an object comes into being. Only the framework makes one; a subclass hands it on.
  public struct Origin {
    let binding: EntityBinding
  }

  // Of the following, none is looked at while another part of the program changes it: an object
  // belongs to one isolation, and each access is over before anything else is called. What a
  // changed slot held may end in the change, and its `deinit` run, when the slot has its new
  // content. So there is nothing that a check of every access, a tenth of the time of a migration,
  // would find.

  /// The context's binding of the entity, from when the object has a context.
  @exclusivity(unchecked) final var binding: EntityBinding

  // Sound: a context sets this to nil in all its registered objects before it goes, and an object
  // that goes first leaves the context's register. Both happen in the context's isolation.
  @exclusivity(unchecked) unowned(unsafe) final var context: ManagedObjectContext?

  @exclusivity(unchecked) final var reference: Reference
  /// Where the object's entity lies in the store; `nil` before the first save.
  @exclusivity(unchecked) final var storage: EntityStorage?
  @exclusivity(unchecked) final var row: Row?
  /// Empty as long as nothing was changed.
  @exclusivity(unchecked) final var slots: [Slot] = []
  @exclusivity(unchecked) final var state: State = []
  /// The object's place in the list of changes that it is in, if it is in one.
  @exclusivity(unchecked) final var listPlace = Int.max

  /// Objects made by the framework come through here.
  public required init(_ origin: Origin) {
    binding = origin.binding
    reference = Reference(
      entity: Reference.temporaryEntity, key: ManagedObjectID.takeTemporaryKey())
  }

  /// A new object of `entity`, inserted into `context` unless that is `nil`.
  ///
  /// An object without a context keeps values, and can be inserted later. An entity that is
  /// abstract, or that the context's model does not have, makes an object that no context takes:
  /// the context reports the error at its next fetch or save.
  public convenience init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    let binding =
      context?.modelBinding?.entity(named: entity.name)
      ?? EntityBinding(entity, index: 0)
    self.init(Origin(binding: binding))
    applyDefaults()
    guard let context else { return }
    do {
      try context.adopt(self)
    } catch {
      context.report(error)
    }
  }

  deinit { context?.unregister(self) }

  /// The name of the entity this class is registered for; the name of the class unless overridden.
  open class var entityName: String { String(describing: self) }

  /// Called once in an object's life, in the context it was inserted into, after defaults are set.
  open func awakeFromInsert() {}

  /// Called before the delete rules of the object are applied; relationships are still whole.
  open func prepareForDeletion() {}
}

@available(*, unavailable)
extension ManagedObject: Sendable {}

// MARK: - Identity and state

extension ManagedObject {
  public final var entity: EntityDescription { binding.entity }

  public final var managedObjectContext: ManagedObjectContext? { context }

  /// Temporary until the first save, then permanent and always the same.
  public final var objectID: ManagedObjectID {
    ManagedObjectID(entity: entity, store: storage?.identity, key: reference.key)
  }

  public final var isInserted: Bool { state.contains(.inserted) }
  public final var isUpdated: Bool { state.contains(.updated) }
  /// Whether the object is deleted in its context and that is not saved yet.
  public final var isDeleted: Bool { state.contains(.deleted) }

  /// Whether there is anything to save, or the object was touched by a setter since the last save.
  public final var hasChanges: Bool { !state.isDisjoint(with: [.inserted, .updated, .deleted]) }

  /// Whether a save would write another row than the store has.
  public final var hasPersistentChangedValues: Bool {
    isInserted || isDeleted || !changedSlots.isEmpty
  }

  /// Whether the object's row has not been read yet.
  public final var isFault: Bool { row == nil && !reference.isTemporary && slots.isEmpty }

  /// How often the object was saved, as of the state this object shows; 0 before the first save.
  package final var version: UInt32 { row?.version ?? 0 }

  final var isPersistent: Bool { !reference.isTemporary }
}

extension ManagedObject: Hashable {
  public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }
  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// MARK: - Rows and slots

extension ManagedObject {
  /// Reads the row if that did not happen yet.
  ///
  /// An object whose row is gone becomes inaccessible: its values read as nil, and a save that
  /// would write it reports a conflict.
  final func fulfil() throws {
    guard row == nil, isPersistent, !state.contains(.inaccessible), let context else { return }
    row = try context.currentView().row(reference)
    if row == nil { state.insert(.inaccessible) }
  }

  /// Makes slots to change, with the row behind them.
  final func prepareForChange() throws {
    guard slots.isEmpty else { return }
    try fulfil()
    slots = Array(repeating: .unchanged, count: binding.properties.count)
  }

  final func markUpdated() {
    guard let context, !state.contains(.inserted), !state.contains(.deleted) else { return }
    if !state.contains(.updated) {
      state.insert(.updated)
      context.changes.updated.insert(self)
    }
  }

  final func applyDefaults() {
    slots = binding.defaultValues.map { $0.map { .value($0) } ?? .unchanged }
  }

  /// The slots whose content differs from the row's: what a save has to write.
  final var changedSlots: [Int] {
    slots.indices.filter { slot in
      switch slots[slot] {
      case .unchanged: false
      case .value(let value): !isTransient(slot) && !isEqualToRow(value, slot)
      case .one(let object):
        !isTransient(slot) && present(object)?.reference != storedReference(slot)
      case .many(let members):
        !isTransient(slot)
          && (!members.added.isEmpty || !members.removed.isEmpty || members.order != nil)
      }
    }
  }

  private func isTransient(_ slot: Int) -> Bool {
    binding.traits[slot].isTransient
  }

  private func isEqualToRow(_ value: AttributeValue?, _ slot: Int) -> Bool {
    do {
      return try storedValue(slot) == value
    } catch {
      // A value that cannot be read is not equal to anything; reading it reports the damage.
      return false
    }
  }

  /// The row's value of an attribute slot.
  final func storedValue(_ slot: Int) throws -> AttributeValue? {
    guard let row, let field = storage?.fieldBySlot[slot], field >= 0 else { return nil }
    return try row.value(field)
  }

  /// The row's destination of a to-one slot.
  final func storedReference(_ slot: Int) -> Reference? {
    guard let row, let field = storage?.fieldBySlot[slot], field >= 0 else { return nil }
    return row.reference(field)
  }

  /// The store's destinations of a to-many slot.
  final func storedMembers(_ slot: Int) throws -> [Reference] {
    guard let context, let link = storage?.link(slot) else { return [] }
    try context.settleLinks()
    return try context.currentView().members(of: reference, link)
  }

  /// Forgets unsaved changes of relationships, by which objects hold each other; attributes stay.
  final func letGoOfDestinations() {
    for slot in slots.indices {
      switch slots[slot] {
      case .unchanged, .value: continue
      case .one, .many: slots[slot] = .unchanged
      }
    }
  }

  /// Forgets all that was read and changed: the object is a fault again.
  final func turnIntoFault() {
    slots = []
    row = nil
    state = []
  }
}
