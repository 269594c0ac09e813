import QuireModel
import QuireStorage

/// A state of a store that a context's changes are compared with: one that is read, or the
/// transaction that is to write them, before it has written anything.
protocol ComparedState {
  var entities: StoreEntities { get }
  /// The version of a row; `nil` if there is no such row.
  func version(at reference: Reference) throws -> UInt32?
  func contains(_ reference: Reference) throws -> Bool
  /// The destination in a to-one field of a row; `nil` if it has none, or there is no such row.
  func destination(_ field: Int, at reference: Reference) throws -> Reference?
  /// The destinations of a to-many relationship of an object.
  func members(of reference: Reference, _ link: StoredEntity.Link) throws -> [Reference]
  /// Whether nothing was changed since a commit.
  func isUnchanged(since commit: CommitNumber) -> Bool
}

/// States of several stores: those that conflicts are searched in.
protocol ComparedStates {
  associatedtype State: ComparedState
  /// `nil` for a store that is left out.
  func state(of session: StoreSession) -> State?
  /// That of an object's store.
  func state(of object: ManagedObject) -> State?
  /// Called with the object of each conflict, once or more.
  ///
  /// - Parameters:
  ///   - isOtherEnd: whether the object is the other end of a relationship that was changed here.
  ///   - isOfFacts: whether the object has changes here, and another version there: what both have
  ///     changed decides whether anything is disputed.
  mutating func record(_ object: ManagedObject, isOtherEnd: Bool, isOfFacts: Bool) throws
}

/// The search for conflicts of a context's changes with other saves: the only one. A save ends at
/// the first that it finds in its transaction, before it has written anything; then all are
/// searched for in the newest states of the stores, and a policy is asked about them.
///
/// An object has a conflict if another save has changed it since it was read, or deleted it; if a
/// changed relationship refers to it and it is gone; if it is deleted here, and another save has
/// led something to it; and if the other end of a one-to-one relationship would not agree.
struct ConflictSearch<States: ComparedStates> {
  var states: States
  private var hasConflicts = false
  /// Which of the context's updated objects are known to be there, by their positions in its list.
  private var isThere: [Bool] = []

  init(_ states: States) { self.states = states }

  /// - Parameters:
  ///   - inserted: new objects, and those whose deletion was undone.
  ///   - updated: objects with changes to write, and what these are.
  ///   - deleted: objects that the stores have.
  ///   - watched: unchanged objects that must not have changed there either.
  /// - Complexity: O(objects + destinations of changed relationships + members of deleted objects),
  ///   a look at a row each; O(members) of an order that was changed, if there was another save
  ///   since.
  mutating func search(
    inserted: [ManagedObject], updated: [PendingUpdate], deleted: [ManagedObject],
    watched: some Collection<ManagedObject>
  ) throws {
    for update in updated { try compareFacts(of: update) }
    for object in deleted { try compareVersion(of: object) }
    for object in watched where !object.hasChanges { try compareVersion(of: object) }
    for object in deleted {
      try lookForMembers(of: object)
      try lookForCounterparts(of: object)
    }
    for object in Uncounted(inserted) {
      try object._withUnsafeGuaranteedRef { object in
        let slots = object.ofArena { $0.binding.storedRelationshipSlots }
        try lookForDestinations(of: object, slots)
      }
    }
    for update in updated {
      try update.ofObject { try lookForDestinations(of: $0, update.changedSlots) }
    }
    // Resolving these usually makes the ends of changed relationships agree.
    if hasConflicts { return }
    for object in Uncounted(inserted) {
      try object._withUnsafeGuaranteedRef { try lookForChangedCounterparts(of: $0) }
    }
    for update in updated { try update.ofObject { try lookForChangedCounterparts(of: $0) } }
  }

  private mutating func record(
    _ object: ManagedObject, isOtherEnd: Bool = false, isOfFacts: Bool = false
  ) throws {
    hasConflicts = true
    try states.record(object, isOtherEnd: isOtherEnd, isOfFacts: isOfFacts)
  }

  // MARK: Versions

  /// Compares the version of a changed object. One whose row is not written may have any, as long
  /// as it has one: members that have come or gone are written to their own rows.
  private mutating func compareFacts(of update: PendingUpdate) throws {
    try update.ofObject { object in
      guard let version = try states.state(of: object)?.version(at: object.reference) else {
        return try record(object)
      }
      if object.isOutdated(version), update.hasOwnChange {
        return try record(object, isOfFacts: true)
      }
      guard object.state.contains(.updated) else { return }
      let position = Int(object.listPosition)
      if position >= isThere.count {
        isThere += repeatElement(
          false, count: max(position + 1, 2 * isThere.count) - isThere.count)
      }
      isThere[position] = true
    }
  }

  private mutating func compareVersion(of object: ManagedObject) throws {
    if try isOutdated(object) { try record(object) }
  }

  private func isOutdated(_ object: ManagedObject) throws -> Bool {
    object.isOutdated(try states.state(of: object)?.version(at: object.reference) ?? 0)
  }

  // MARK: Deleted objects

  /// Records a deleted object that another refers to, and that one too if its row here does not: as
  /// long as that is not read again, the deletion does not end the relationship.
  private mutating func record(
    _ object: ManagedObject, ledToBy other: Reference, _ session: StoreSession
  ) throws {
    try record(object)
    guard let other = session.registered(other), other.hasRow, try isOutdated(other) else { return }
    try record(other, isOtherEnd: true)
  }

  /// Finds members that another save has added to a deleted object, and that would keep a reference
  /// to it.
  private mutating func lookForMembers(of object: ManagedObject) throws {
    guard let storage = object.storage, let session = object.session,
      let state = states.state(of: session)
    else { return }
    // Other links are removed at both ends with the object.
    for slot in object.binding.relationshipSlots
    where object.binding.traits[slot].isInverseOfToOne {
      guard let link = storage.link(slot) else { continue }
      let relationship = object.binding.relationship(slot)
      guard !relationship.deleteRule.leavesOtherEnds, let inverse = relationship.inverse else {
        continue
      }
      for member in try state.members(of: object.reference, link) {
        guard let other = state.entities.storage(of: member),
          let back = other.binding.slot(named: inverse), other.fieldBySlot[back] >= 0
        else { continue }
        if let known = session.registered(member),
          known.isDeleted || known.isUpdated && known.isToBeWritten(back)
        {
          continue
        }
        if try state.contains(member) { try record(object, ledToBy: member, session) }
      }
    }
  }

  /// Finds destinations that another save has led to a deleted object by one-to-one relationships.
  private mutating func lookForCounterparts(of object: ManagedObject) throws {
    guard object.ofArena({ $0.binding.hasOneToOnes }), let storage = object.storage,
      let session = object.session, let state = states.state(of: session)
    else { return }
    for slot in object.binding.oneToOneSlots where storage.fieldBySlot[slot] >= 0 {
      let relationship = object.binding.relationship(slot)
      guard !relationship.deleteRule.leavesOtherEnds,
        let reference = try state.destination(storage.fieldBySlot[slot], at: object.reference),
        try leads(reference, to: object, relationship, session, state)
      else { continue }
      try record(object, ledToBy: reference, session)
    }
  }

  // MARK: Other ends

  /// Finds other ends of changed one-to-one relationships that would not agree with this one.
  private mutating func lookForChangedCounterparts(of object: ManagedObject) throws {
    guard object.ofArena({ $0.binding.hasOneToOnes }), !object.slots.isEmpty else { return }
    for slot in object.binding.oneToOneSlots {
      guard case .one(let destination) = object.slots[slot], object.isToBeWritten(slot) else {
        continue
      }
      let relationship = object.binding.relationship(slot)
      let new = destination.flatMap { $0.isLive ? $0 : nil }
      if let new, try !leads(new, to: object, relationship) { try record(new, isOtherEnd: true) }
      guard let session = object.session, let state = states.state(of: session),
        let field = object.storage?.fieldBySlot[slot], field >= 0,
        let old = try state.destination(field, at: object.reference), old != new?.reference,
        try leads(old, to: object, relationship, session, state)
      else { continue }
      try record(session.object(at: old), isOtherEnd: true)
    }
  }

  /// Whether the object with a reference refers to another one by the to-one inverse of a
  /// relationship, with the changes of the context.
  private func leads(
    _ reference: Reference, to object: ManagedObject, _ relationship: RelationshipDescription,
    _ session: StoreSession, _ state: States.State
  ) throws -> Bool {
    guard let storage = state.entities.storage(of: reference), let inverse = relationship.inverse,
      let slot = storage.binding.slot(named: inverse), storage.fieldBySlot[slot] >= 0
    else { return false }
    if let known = session.registered(reference) {
      if known.isDeleted { return false }
      if known.isUpdated, known.isToBeWritten(slot), case .one(let destination) = known.slots[slot]
      {
        return destination === object
      }
    }
    return try state.destination(storage.fieldBySlot[slot], at: reference) == object.reference
  }

  private func leads(
    _ other: ManagedObject, to object: ManagedObject, _ relationship: RelationshipDescription
  ) throws -> Bool {
    if let session = other.session, let state = states.state(of: session), !other.isNew {
      return try leads(other.reference, to: object, relationship, session, state)
    }
    guard let slot = object.inverseSlot(of: relationship, on: other), !other.slots.isEmpty,
      case .one(let destination) = other.slots[slot]
    else { return false }
    return destination === object
  }

  // MARK: Destinations

  /// Finds destinations of changed relationships that are gone.
  private mutating func lookForDestinations(
    of object: ManagedObject, _ changed: some Sequence<Int>
  ) throws {
    let slots = object.slots
    if slots.isEmpty { return }
    for slot in changed {
      // Most are to-one, which are lent and not retained.
      let isToOne = try slots.lend(slot) { content in
        guard case .one(let destination) = content else { return false }
        if let destination { try lookFor(destination) }
        return true
      }
      guard !isToOne, case .many(let pending) = slots[slot] else { continue }
      for member in pending.added { try lookFor(member) }
      if pending.isOrdered { try lookForMembers(of: pending, slot, object) }
    }
  }

  /// Finds members of a changed order that are gone. Those that still have a link are not, unless
  /// the relationship may dangle.
  private mutating func lookForMembers(
    of order: PendingMembers, _ slot: Int, _ object: ManagedObject
  ) throws {
    let canDangle = object.binding.traits[slot].canDangle
    let state = states.state(of: object)
    if !canDangle, let commit = order.formerOrder?.links?.commit,
      state?.isUnchanged(since: commit) ?? false
    {
      return
    }
    var linked = LinkedMembers([])
    if !canDangle, let state, object.isStored, let link = object.storage?.link(slot) {
      linked = LinkedMembers(try state.members(of: object.reference, link))
    }
    for member in order.order ?? [] where !linked.contains(member.reference) {
      try lookFor(member)
    }
  }

  private mutating func lookFor(_ destination: ManagedObject) throws {
    if destination.state.contains(.updated), destination.listPosition < isThere.count,
      isThere[Int(destination.listPosition)]
    {
      return
    }
    guard destination.isStored, !destination.isDeleted, destination.ofArena({ $0.hasContext }),
      try states.state(of: destination)?.contains(destination.reference) != true
    else { return }
    try record(destination)
  }
}

/// The members of an owner's links, asked for mostly in their order: then no set is made of them.
/// A member may be taken for one that is not there.
private struct LinkedMembers {
  private let links: [Reference]
  private var next = 0
  /// All of them, made when one is asked for in another order.
  private var members: Set<Reference>?

  init(_ links: [Reference]) { self.links = links }

  mutating func contains(_ member: Reference) -> Bool {
    if next < links.count, links[next] == member {
      next += 1
      return true
    }
    if next == links.count { return false }
    let all = members ?? Set(links)
    members = all
    return all.contains(member)
  }
}

extension ManagedObject {
  /// Whether another save has written or removed the object's row since it was read here.
  ///
  /// - Parameter version: of the store's present row; 0 when it has none.
  final func isOutdated(_ version: UInt32) -> Bool {
    if version == 0 { return true }
    // An object whose row was never read has no version that could be outdated.
    let isUnread = !hasRow && (isDeleted || !hasChanges)
    return !isUnread && version != self.version
  }
}

// MARK: - States

extension StoreView: ComparedState {
  func version(at reference: Reference) throws -> UInt32? { try row(reference)?.version }

  func destination(_ field: Int, at reference: Reference) throws -> Reference? {
    try row(reference)?.reference(field)
  }

  func isUnchanged(since commit: CommitNumber) -> Bool {
    isPlain && snapshot.contentCommit == commit
  }
}

extension StoreWriter: ComparedState {
  func destination(_ field: Int, at reference: Reference) throws -> Reference? {
    try withRow(reference) { $0.reference(field) } ?? nil
  }

  func members(of reference: Reference, _ link: StoredEntity.Link) throws -> [Reference] {
    try linkKeys(link, of: reference.key).map(\.member)
  }

  func isUnchanged(since commit: CommitNumber) -> Bool { transaction.begins(with: commit) }
}

/// Thrown by a search that ends at the first conflict.
struct ConflictFound: Error {}

/// The state that a save is about to change, in which the first conflict ends the search.
struct StateToWrite<State: ComparedState>: ComparedStates {
  let session: StoreSession
  let state: State

  func state(of session: StoreSession) -> State? { session === self.session ? state : nil }

  func state(of object: ManagedObject) -> State? {
    object.ofArena { $0.sessionIdentity } == Unmanaged.passUnretained(session).toOpaque()
      ? state : nil
  }

  func record(_ object: ManagedObject, isOtherEnd: Bool, isOfFacts: Bool) throws {
    throw ConflictFound()
  }
}

/// All conflicts that are found in some states.
struct FoundConflicts: ComparedStates {
  let views: StoreViews
  private(set) var conflicts: [MergeConflict] = []
  /// Where the conflict of an object is.
  private var indexes: [ManagedObject: Int] = [:]

  init(in views: StoreViews) { self.views = views }

  func state(of session: StoreSession) -> StoreView? { views[session] }
  func state(of object: ManagedObject) -> StoreView? { object.session.flatMap { views[$0] } }

  mutating func record(_ object: ManagedObject, isOtherEnd: Bool, isOfFacts: Bool) throws {
    if let index = indexes[object] {
      if !isOfFacts { conflicts[index].hasPart = true }
      return
    }
    let row = try views.row(of: object)
    var dispute: Dispute?
    if isOfFacts, let row, let view = object.session.flatMap({ views[$0] }) {
      dispute = try Dispute(object, row, view)
    }
    indexes[object] = conflicts.count
    conflicts.append(
      try MergeConflict(
        object, row, row?.version ?? 0, isOtherEnd: isOtherEnd, dispute: dispute))
  }
}
