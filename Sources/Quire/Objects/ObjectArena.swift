import QuireModel

/// What objects of one entity share: those of a context that are in one store, those that are new
/// in a context, or those without a context.
///
/// Each object has one reference, to its arena, instead of one to entity, storage, context and
/// session. A context that ends clears its arenas, and need not visit the objects.
final class ObjectArena: SharedByObjects {
  let binding: EntityBinding
  /// The entity's storage; `nil` for objects that neither a store nor a parent has.
  let storage: EntityStorage?
  // Sound: held above.
  let storageReference: Unmanaged<EntityStorage>?
  let slotCount: Int
  // Sound: the storage keeps what it points to.
  /// The positions of fields in rows; `nil` where objects have no rows, and where each read is
  /// recorded, so that no read takes the short way.
  @exclusivity(unchecked) private var fields: UnsafePointer<FieldTable.Field>?
  /// Whether the context records which properties are read.
  @exclusivity(unchecked) private(set) var recordsAccess = false
  // Sound, both: the binding keeps it.
  private let accessors: Unmanaged<SlotCache>
  /// The slots of new objects.
  let newSlots: UnsafeBufferPointer<ManagedObject.Slot>
  // Sound: a context and a session call `leave()` of their arenas before they end, in the isolation
  // that they share with their objects.
  @exclusivity(unchecked) private var contextReference: Unmanaged<ManagedObjectContext>?
  @exclusivity(unchecked) private var sessionReference: Unmanaged<StoreSession>?
  /// The class of objects that a session makes.
  let type: ManagedObject.Type
  /// The object that stands for the one here, which gave way to it in a save.
  let successor: ManagedObject?
  private var detachedArena: ObjectArena?
  /// Whether an object here has ever had slots.
  @exclusivity(unchecked) private(set) var hasHadSlots = false
  @exclusivity(unchecked) private var slotMemory: SlotMemory? {
    didSet { slotMemoryReference = slotMemory.map { .passUnretained($0) } }
  }
  // Sound: held above.
  @exclusivity(unchecked) private var slotMemoryReference: Unmanaged<SlotMemory>?

  private init(
    _ binding: EntityBinding, _ storage: EntityStorage?, _ context: ManagedObjectContext?,
    _ session: StoreSession?, of type: ManagedObject.Type = ManagedObject.self,
    successor: ManagedObject? = nil
  ) {
    self.type = type
    self.successor = successor
    self.binding = binding
    self.storage = storage
    storageReference = storage.map { .passUnretained($0) }
    slotCount = binding.slotCount
    accessors = .passUnretained(binding.accessors)
    newSlots = binding.newSlots
    contextReference = context.map { .passUnretained($0) }
    sessionReference = session.map { .passUnretained($0) }
    super.init()
    updateRecordsAccess()
  }

  /// Called when the context begins or ends to record which properties are read.
  func updateRecordsAccess() {
    recordsAccess = contextReference?._withUnsafeGuaranteedRef { $0.accessRecorder != nil } ?? false
    fields = recordsAccess ? nil : storage?.table.fields
  }

  /// Of objects that have no context, and were not saved.
  convenience init(_ binding: EntityBinding) { self.init(binding, nil, nil, nil) }

  /// Of one object that another stands for.
  convenience init(_ binding: EntityBinding, successor: ManagedObject) {
    self.init(binding, nil, nil, nil, successor: successor)
  }

  /// Of objects that are new in a context.
  convenience init(_ binding: EntityBinding, newIn context: ManagedObjectContext) {
    self.init(binding, nil, context, nil)
  }

  /// Of objects that a store has, or will have.
  ///
  /// - Parameter type: the entity's class.
  convenience init(
    _ storage: EntityStorage, in session: StoreSession, of type: ManagedObject.Type
  ) {
    self.init(storage.binding, storage, session.context, session, of: type)
  }

  /// The arena of objects that have left the context.
  var outside: ObjectArena {
    if !hasContext { return self }
    if let detachedArena { return detachedArena }
    let arena = ObjectArena(binding, storage, nil, nil)
    // New objects are made in that arena, and keep their slots when they are inserted.
    let memory = slotMemory ?? makeSlotMemory()
    memory.join()
    arena.slotMemory = memory
    detachedArena = arena
    return arena
  }

  deinit { slotMemory?.leave() }

  /// Room for the slots of an object here.
  func takeSlotMemory() -> UnsafeMutablePointer<ManagedObject.Slot> {
    (slotMemoryReference?._withUnsafeGuaranteedRef { $0.take() } ?? makeSlotMemory().take())
      .assumingMemoryBound(to: ManagedObject.Slot.self)
  }

  @inline(never)
  private func makeSlotMemory() -> SlotMemory {
    let memory = SlotMemory(
      byteCount: slotCount * MemoryLayout<ManagedObject.Slot>.stride, isForMany: hasContext)
    slotMemory = memory
    return memory
  }

  /// Whether an object that moves here from another arena keeps the memory of its slots. Not in
  /// another context, which may be used by another thread at the same time.
  func takesSlots(from other: ObjectArena) -> Bool {
    sharesContext(with: other) || slotMemory === other.slotMemory
  }

  /// Records that an object here has slots.
  func recordSlots() { hasHadSlots = true }

  /// Clears the context and the session, one of which is about to end.
  func leave() {
    contextReference = nil
    sessionReference = nil
  }
}

extension ObjectArena {
  var hasContext: Bool { contextReference != nil }
  /// Whether the context has observers of changes.
  var isObserved: Bool {
    contextReference.map { $0._withUnsafeGuaranteedRef { $0.isObserved } } ?? false
  }
  var context: ManagedObjectContext? { contextReference?.takeUnretainedValue() }

  /// Calls `body` with the context, of which no reference is counted.
  func withContext(_ body: (ManagedObjectContext) -> Void) {
    contextReference?._withUnsafeGuaranteedRef { body($0) }
  }

  /// Marks that a hook of an object here begins: the context is busy until it has ended.
  func hookWillRun() {
    contextReference?._withUnsafeGuaranteedRef { $0.runningHookCount &+= 1 }
  }

  func hookDidRun() {
    contextReference?._withUnsafeGuaranteedRef { $0.runningHookCount &-= 1 }
  }
  /// The address of the session.
  var sessionIdentity: UnsafeMutableRawPointer? { sessionReference?.toOpaque() }
  /// The session of the objects' store; `nil` before the first save, and without a context.
  var session: StoreSession? { sessionReference?.takeUnretainedValue() }

  /// ``StoreSession/linksHaveMoved``.
  var linksHaveMoved: Bool {
    sessionReference?._withUnsafeGuaranteedRef { $0.linksHaveMoved } ?? false
  }

  /// Whether members of relationships are to be looked up in both: the state, and changes that were
  /// made in another one.
  var membersHaveMoved: Bool {
    linksHaveMoved
      && contextReference?._withUnsafeGuaranteedRef { $0.changes.mayHaveRelationships } ?? false
  }

  func sharesContext(with other: ObjectArena) -> Bool {
    contextReference?.toOpaque() == other.contextReference?.toOpaque()
  }

  /// Whether relationships may lead from objects here to those of another arena: not from one store
  /// to another.
  func canLead(to other: ObjectArena) -> Bool {
    sessionReference == nil || other.sessionReference == nil
      || sessionReference?.toOpaque() == other.sessionReference?.toOpaque()
  }

  /// The slot for which ``ManagedObject/validateValue(_:forKey:)`` is being called, if key and
  /// value are unchanged; -1 otherwise.
  func askedSlot(
    _ object: ObjectIdentifier, _ value: inout Any?, _ key: VariableBits
  ) -> Int {
    guard let contextReference else { return -1 }
    return contextReference._withUnsafeGuaranteedRef { context in
      guard context.askedValue.object == object, context.askedValue.key.isSame(as: key),
        context.askedValue.value.isSame(as: VariableBits(&value, context.askedValue.byteCount))
      else { return -1 }
      return context.askedValue.slot
    }
  }

  /// A slot's field in the rows, for objects that have rows.
  func field(of slot: Int) -> FieldTable.Field? {
    guard let fields, slot < slotCount else { return nil }
    return fields[slot]
  }

  /// Gives a new object the slots of its typed properties, as far as they are known.
  func fillProperties(of object: UnsafeMutableRawPointer, _ type: Any.Type) {
    accessors._withUnsafeGuaranteedRef { $0.fill(object, of: type) }
  }

  /// Gives an existing object the slots of its typed properties, if that of the property at an
  /// offset is known.
  ///
  /// - Returns: the property's slot, if it is known.
  func fillProperties(
    of object: UnsafeMutableRawPointer, _ type: Any.Type, askedAt offset: Int
  ) -> Int? {
    accessors._withUnsafeGuaranteedRef { accessors in
      guard let slot = accessors.slot(at: offset, in: type) else { return nil }
      accessors.fill(object, of: type)
      return slot
    }
  }

  /// Gives a fault its row from the state of the store that its session shows. Calls no hook.
  ///
  /// - Returns: whether the store has a row; `nil` where there is no session.
  func giveRow(to object: ManagedObject) throws -> Bool? {
    try sessionReference?._withUnsafeGuaranteedRef { try $0.giveRow(to: object) }
  }

  /// The ID of an object of the same store; `nil` where it is not known without a lookup.
  func destinationID(at reference: Reference) -> ManagedObjectID? {
    guard let contextReference, let sessionReference,
      !contextReference._withUnsafeGuaranteedRef({ $0.hasFamily })
    else { return nil }
    return sessionReference._withUnsafeGuaranteedRef { $0.permanentID(of: reference) }
  }

  /// Enters an object that a session makes into the session's identity map.
  func enter(_ object: ManagedObject) {
    sessionReference?._withUnsafeGuaranteedRef { $0.enter(object) }
  }

  /// Removes an object that ends from the context and its identity map.
  func forget(_ object: ManagedObject) {
    contextReference?._withUnsafeGuaranteedRef { context in
      if let sessionReference, !context.remembersObjects, !object.reference.isTemporary {
        sessionReference._withUnsafeGuaranteedRef { $0.identityMap.removeEntry(of: object) }
      } else {
        context.unregister(object)
      }
    }
  }
}

/// The arenas that a context or a session has made, one for each entity.
struct ObjectArenas {
  /// By the entity's index in the model.
  private var current: [ObjectArena?] = []
  /// Arenas that were replaced when the model or the store changed.
  private var former: [ObjectArena] = []

  /// The current arena of an entity if `isWanted` accepts it, otherwise a new one.
  mutating func arena(
    _ binding: EntityBinding, where isWanted: (ObjectArena) -> Bool, make: () -> ObjectArena
  ) -> ObjectArena {
    if binding.index < current.count, let arena = current[binding.index], isWanted(arena) {
      return arena
    }
    return enter(make(), at: binding.index)
  }

  @inline(never)
  private mutating func enter(_ arena: ObjectArena, at index: Int) -> ObjectArena {
    while current.count <= index { current.append(nil) }
    if let arena = current[index] { former.append(arena) }
    current[index] = arena
    return arena
  }

  /// Whether an object in any of them has ever had slots.
  var haveHadSlots: Bool {
    current.contains { $0?.hasHadSlots ?? false } || former.contains(where: \.hasHadSlots)
  }

  func updateRecordsAccess() {
    for arena in current { arena?.updateRecordsAccess() }
    for arena in former { arena.updateRecordsAccess() }
  }

  /// Clears context and session of all arenas, one of which is about to end.
  func leave() {
    for arena in current { arena?.leave() }
    for arena in former { arena.leave() }
  }
}
