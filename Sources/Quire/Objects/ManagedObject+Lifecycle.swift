/// What replaced the values of an object. Raw values are Core Data's.
public struct SnapshotEventType: OptionSet, Sendable {
  public var rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let undoInsertion = SnapshotEventType(rawValue: 1 << 1)
  public static let undoDeletion = SnapshotEventType(rawValue: 1 << 2)
  public static let undoUpdate = SnapshotEventType(rawValue: 1 << 3)
  public static let rollback = SnapshotEventType(rawValue: 1 << 4)
  public static let refresh = SnapshotEventType(rawValue: 1 << 5)
  public static let mergePolicy = SnapshotEventType(rawValue: 1 << 6)
}

// Rows come and go, and objects are told. Swift lets only the class itself declare what subclasses
// override: the hooks are in `ManagedObject.swift`, what calls them is here and in the context.
extension ManagedObject {
  /// Reads the row if that did not happen yet.
  ///
  /// An object whose row is gone becomes inaccessible: its values read as nil, or that is an error
  /// (``ManagedObjectContext/shouldDeleteInaccessibleFaults``), and a save that would write it
  /// reports a conflict. One whose store was removed cannot be read: that is an error. What the
  /// object does when its row comes may have made slots: who has looked for one before has to look
  /// again.
  final func fulfil() throws {
    guard !hasRow, isStored else { return }
    if !state.contains(.inaccessible) {
      guard let isThere = try ofArena({ try $0.giveRow(to: self) }) else { return }
      if isThere { return callAwakeFromFetch() }
    }
    try becomeInaccessible()
  }

  /// Takes the row that a fault stands for.
  ///
  /// The one way in which a row comes into an object that did not have it: by a fetch, or because
  /// it was needed. (A save and a refresh exchange one for another.)
  final func fulfil(with row: RowBytes) {
    set(row)
    callAwakeFromFetch()
  }

  /// Calls ``awakeFromFetch()`` of an object whose row has been read.
  @inline(__always)
  final func callAwakeFromFetch() {
    state.remove(.inaccessible)
    // One hook may lead to the other, when the object is refreshed within it.
    if state.contains(.awaking) { return awakeFromFetch() }
    state.insert(.awaking)
    // The arena is looked up again, and not held, as this is done for each object of a fetch. A
    // stored object stays in its arena while its context is busy.
    ofArena { $0.hookWillRun() }
    awakeFromFetch()
    ofArena { $0.hookDidRun() }
    state.remove(.awaking)
  }

  /// The same of an object that is new and has neither row nor slots: it takes a row in a leaf.
  @inline(__always)
  final func fulfil(
    _ start: UnsafeRawPointer, _ byteCount: Int, in keeper: Unmanaged<RowKeeper>
  ) {
    set(start, byteCount, in: keeper)
    callAwakeFromFetch()
  }

  /// Calls ``awake(fromSnapshotEvents:)`` of an object whose values have become others.
  final func callAwake(after events: SnapshotEventType) {
    if state.contains(.awaking) { return awake(fromSnapshotEvents: events) }
    state.insert(.awaking)
    // Held: a new object may be inserted, or leave, by what it does.
    let arena = arena
    arena.hookWillRun()
    awake(fromSnapshotEvents: events)
    arena.hookDidRun()
    state.remove(.awaking)
  }

  /// Forgets all that was read and changed: the object is a fault again.
  ///
  /// - Parameters:
  ///   - kept: what the object goes on to be.
  ///   - onBothSides: whether what the object changes of its relationships when it is told is
  ///     dropped on the other side, too: not where that goes as well.
  final func turnIntoFault(keeping kept: State = [], onBothSides: Bool = false) {
    let hadValues = hasRow || !slots.isEmpty
    if hadValues {
      willTurnIntoFault()
      if onBothSides, !slots.isEmpty { dropRelationships() }
    }
    becomeFault(keeping: kept)
    if hadValues { didTurnIntoFault() }
  }

  /// The same without a word to the object.
  final func becomeFault(keeping kept: State = []) {
    // What the object has changed just now is dropped with the rest.
    if kept.isDisjoint(with: state.intersection(.unsaved)) { setPending(nil) }
    context?.fetchedLists.forget(self)
    dropSlots()
    row = nil
    state.formIntersection(kept)
  }

  private func dropRelationships() {
    guard let context, isStored, !isDeleted else { return }
    do {
      try restoreRelationships()
    } catch {
      context.report(error)
    }
  }
}
