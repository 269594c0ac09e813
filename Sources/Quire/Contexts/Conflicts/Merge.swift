import QuireModel

/// The changes of a context, merged with the newest state of its stores.
///
/// Changes are split into facts: the value of an attribute, the destination of a to-one
/// relationship, a member that was added or removed, an order (``MergeFacts``). A fact of a
/// relationship is kept on one side, though two objects show it. The rules of the policy decide
/// which facts remain (`Merge+Rules.swift`). Then all changed objects get the store's values, and
/// the facts are set again by the functions that every change of an object uses
/// (`Merge+Replay.swift`): so both sides of every relationship agree, whichever change has won.
final class Merge {
  /// What a merge does with an object's changes.
  enum Treatment {
    /// The object is not in conflict.
    case none
    /// The object is in conflict, and nothing is decided yet.
    case undecided
    case storeTrump, objectTrump, overwrite, rollback
    /// The object is not in the store any more.
    case gone
    /// The object was deleted here, and gets the store's values.
    case revival

    /// Whether an object that was deleted here is brought back, with the rest of its cascade.
    var revivesDeleted: Bool {
      switch self {
      case .storeTrump, .rollback, .revival: true
      case .none, .undecided, .objectTrump, .overwrite, .gone: false
      }
    }
  }

  let context: ManagedObjectContext
  /// The newest states of the stores.
  let views: StoreViews
  /// The states from which relationships were read when they were changed.
  private var bases: StoreViews
  private let formerSlots: [ManagedObject: [ManagedObject.Slot]]

  /// The objects with changes, in the order of their references, and their treatments. Valid within
  /// ``resolve(_:by:)``.
  private(set) var objects: [ManagedObject] = []
  private(set) var treatments: [ManagedObject: Treatment] = [:]
  private(set) var newRows: [ManagedObject: Row] = [:]
  /// The other ends of one-to-one relationships that the store has changed.
  private(set) var partners: [(session: StoreSession, reference: Reference)] = []
  /// Objects without changes that got the store's newest rows.
  var freshened: [ManagedObject] = []

  /// - Parameter conflicts: the conflicts that a policy is going to resolve; what it sets in their
  ///   objects is found by ``isSetByPolicy(_:of:)``.
  init(_ context: ManagedObjectContext, _ conflicts: [MergeConflict] = []) throws {
    self.context = context
    let sessions = try context.requiredSessions()
    bases = StoreViews(sessions) { $0.view }
    views = try StoreViews(sessions) { try $0.newestView() }
    for session in sessions { if let base = bases[session] { session.view = base } }
    var slots: [ManagedObject: [ManagedObject.Slot]] = [:]
    for conflict in conflicts { slots[conflict.sourceObject] = Array(conflict.sourceObject.slots) }
    formerSlots = slots
  }

  func resolve(_ conflicts: [MergeConflict], by type: MergePolicyType) throws {
    context.processPendingChanges()
    // Observers are left out: the changes are the store's, or were reported already.
    try context.withoutObservers { try treatAndReplay(conflicts, type) }
  }

  private func treatAndReplay(_ conflicts: [MergeConflict], _ type: MergePolicyType) throws {
    for session in context.sessions { session.view = bases[session] }
    try treat(conflicts, type)
    let facts = try MergeFacts(self)
    let gone = objects.filter { treatments[$0] == .gone }
    for object in gone where object.hasRow { object.willTurnIntoFault() }
    let told = gone.filter { $0.row != nil }
    for session in context.sessions { session.view = views[session] }
    bases = views
    objects.forEach(clear)
    try replay(facts)
    for object in told { object.didTurnIntoFault() }
    for conflict in conflicts {
      let object = conflict.sourceObject
      if object.context === context, object.hasRow { object.callAwake(after: .mergePolicy) }
    }
    for object in freshened where object.hasRow { object.callAwake(after: .mergePolicy) }
    recordNews(conflicts)
    (objects, treatments, newRows, partners, freshened) = ([], [:], [:], [], [])
  }

  private func recordNews(_ conflicts: [MergeConflict]) {
    for object in Set(objects + conflicts.map(\.sourceObject)) {
      switch treatments[object] {
      case nil, .some(.none): continue
      case .gone: context.policyEffects?.recordGone(object)
      case .revival: context.policyEffects?.recordRevival(of: object)
      default: context.policyEffects?.recordRefresh(of: object)
      }
    }
    for object in freshened { context.policyEffects?.recordRefresh(of: object) }
  }

  /// Whether a policy has set an attribute or a to-one relationship since it was called.
  func isSetByPolicy(_ slot: Int, of object: ManagedObject) -> Bool {
    guard let former = formerSlots[object], !object.slots.isEmpty else { return false }
    switch (former.isEmpty ? .unchanged : former[slot], object.slots[slot]) {
    case (_, .unchanged), (_, .many): return false
    case (.value(let old?), .value(let new?)): return !old.isIdentical(to: new)
    case (.value(let old), .value(let new)): return (old == nil) != (new == nil)
    case (.one(let old), .one(let new)): return old !== new
    default: return true
    }
  }

  // MARK: Treatments

  private func treat(_ conflicts: [MergeConflict], _ type: MergePolicyType) throws {
    let changes = context.changes
    objects = Set(
      changes.objects
        + conflicts.map(\.sourceObject).filter { $0.context === context }
    ).sorted { $0.referenceOrder < $1.referenceOrder }
    for conflict in try context.conflicts(against: views) {
      // Of what nobody disputes there is nothing to decide.
      treatments[conflict.sourceObject] = conflict.isDisputed ? .undecided : .objectTrump
    }
    for conflict in conflicts where conflict.isDisputed {
      let treatment = Treatment(type)
      treatments[conflict.sourceObject] =
        conflict.isOtherEnd && treatment == .overwrite ? .objectTrump : treatment
    }
    for object in objects where object.isStored {
      newRows[object] = try views.row(of: object)
      if newRows[object] == nil { treatments[object] = .gone }
      recordPartners(of: object)
    }
    try findRevivals()
  }

  /// Finds deleted objects that are brought back, with those of the same cascade: half of a cascade
  /// would be inconsistent, and delete the rest again.
  private func findRevivals() throws {
    let deleted = objects.filter { $0.isDeleted && newRows[$0] != nil }
    var open = deleted.filter { treatments[$0]?.revivesDeleted ?? false }
    guard !open.isEmpty else { return }
    var neighbors: [ManagedObject: [ManagedObject]] = [:]
    for object in deleted {
      for reference in try cascadeDestinations(of: object) {
        guard let other = object.session?.registered(reference), other.isDeleted,
          newRows[other] != nil
        else { continue }
        neighbors[object, default: []].append(other)
        neighbors[other, default: []].append(object)
      }
    }
    while let object = open.popLast() {
      if treatments[object] == .revival { continue }
      treatments[object] = .revival
      open += neighbors[object] ?? []
    }
  }

  private func recordPartners(of object: ManagedObject) {
    guard let row = newRows[object], row.version != object.version, let session = object.session
    else { return }
    for slot in object.binding.relationshipSlots where !object.isToMany(slot) {
      let (old, new) = (object.readReference(slot), storedReference(slot, of: object))
      if old != new { partners += [old, new].compactMap { $0 }.map { (session, $0) } }
    }
  }

  private func cascadeDestinations(of object: ManagedObject) throws -> [Reference] {
    guard let storage = object.storage, let view = object.session.flatMap({ views[$0] }) else {
      return []
    }
    var destinations: [Reference] = []
    for slot in object.binding.relationshipSlots
    where object.binding.relationship(slot).deleteRule.deletesDestinations {
      if let link = storage.link(slot) {
        destinations += try view.members(of: object.reference, link)
      } else if let reference = storedReference(slot, of: object) {
        destinations.append(reference)
      }
    }
    return destinations
  }

  // MARK: The store

  func treatment(of object: ManagedObject) -> Treatment { treatments[object] ?? .none }

  /// The destination of a to-one relationship in the store's newest state.
  func storedReference(_ slot: Int, of object: ManagedObject) -> Reference? {
    guard let field = object.storage?.fieldBySlot[slot], field >= 0 else { return nil }
    return newRows[object]?.reference(field)
  }

  func storedValue(_ slot: Int, of object: ManagedObject) throws -> AttributeValue? {
    guard let field = object.storage?.fieldBySlot[slot], field >= 0 else { return nil }
    guard let view = object.session.flatMap({ views[$0] }) else { return nil }
    return try newRows[object]?.value(field, in: view)
  }

  /// Whether a value outside of its row differs in the store's newest state; `nil` when it is in
  /// the row. Their references are compared, as the value that was read may be gone.
  func isExternalChanged(_ slot: Int, of object: ManagedObject) -> Bool? {
    guard let field = object.storage?.fieldBySlot[slot], field >= 0 else { return nil }
    let (old, new) = (object.row?.external(field), newRows[object]?.external(field))
    return old == nil && new == nil ? nil : old != new
  }

  func storedMembers(_ slot: Int, of object: ManagedObject) throws -> [Reference] {
    guard let link = object.storage?.link(slot), let view = object.session.flatMap({ views[$0] })
    else { return [] }
    return try view.members(of: object.reference, link)
  }
}

extension Merge.Treatment {
  fileprivate init(_ type: MergePolicyType) {
    self =
      switch type {
      case .errorMergePolicyType: .undecided
      case .mergeByPropertyStoreTrumpMergePolicyType: .storeTrump
      case .mergeByPropertyObjectTrumpMergePolicyType: .objectTrump
      case .overwriteMergePolicyType: .overwrite
      case .rollbackMergePolicyType: .rollback
      }
  }
}
