/// The reasons for which an object's values were replaced, as
/// ``ManagedObject/awake(fromSnapshotEvents:)`` gets them. Raw values are Core Data's.
public struct SnapshotEventType: OptionSet, Sendable {
  public var rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Undo took the object out of its context: an insertion was undone, or a deletion made again.
  public static let undoInsertion = SnapshotEventType(rawValue: 1 << 1)

  /// Undo put the object back into its context: a deletion was undone, or an insertion made again.
  public static let undoDeletion = SnapshotEventType(rawValue: 1 << 2)

  /// Changes of properties were undone or made again.
  public static let undoUpdate = SnapshotEventType(rawValue: 1 << 3)

  /// ``ManagedObjectContext/rollback()`` dropped the object's changes or its deletion. The object
  /// is a fault: reading a property reads the row.
  public static let rollback = SnapshotEventType(rawValue: 1 << 4)

  /// A refresh, or a merge of another context's save, replaced the row of an object that keeps
  /// changes on top of it. An object without changes becomes a fault, and awakes from its next
  /// fetch.
  public static let refresh = SnapshotEventType(rawValue: 1 << 5)

  /// The context's merge policy resolved a conflict of the object during a save.
  public static let mergePolicy = SnapshotEventType(rawValue: 1 << 6)
}

// Calls of the hooks of objects that get or lose their rows. Swift lets only the class itself
// declare methods that subclasses override, so the hooks are declared in `ManagedObject.swift`.
extension ManagedObject {
  /// Reads the row if that did not happen yet.
  ///
  /// An object whose row is gone becomes inaccessible: its values read as nil, or that is an error
  /// (``ManagedObjectContext/shouldDeleteInaccessibleFaults``), and a save that would write it
  /// reports a conflict. An object whose store was removed cannot be read: that is an error. The
  /// object's hook may make slots, so a caller that has read `slots` before must read them again.
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
  /// Used by a fetch, and when a value of a fault is needed. (A save and a refresh replace the row
  /// of an object that has one.)
  final func fulfil(with row: RowBytes) {
    set(row)
    callAwakeFromFetch()
  }

  /// Calls ``awakeFromFetch()`` of an object whose row has been read.
  final func callAwakeFromFetch() {
    state.remove(.inaccessible)
    // Hooks may be nested, when the object is refreshed within one.
    if state.contains(.awaking) { return awakeFromFetch() }
    state.insert(.awaking)
    // The arena is looked up again, and not held, as this is done for each object of a fetch. A
    // stored object stays in its arena while its context is busy.
    ofArena { $0.hookWillRun() }
    awakeFromFetch()
    ofArena { $0.hookDidRun() }
    state.remove(.awaking)
  }

  /// Gives a row in a leaf to an object that was just made and has neither row nor slots, and calls
  /// the hook.
  final func fulfil(
    _ start: UnsafeRawPointer, _ byteCount: Int, in keeper: Unmanaged<RowKeeper>
  ) {
    set(start, byteCount, in: keeper)
    callAwakeFromFetch()
  }

  /// Calls ``awake(fromSnapshotEvents:)`` of an object whose values were replaced.
  final func callAwake(after events: SnapshotEventType) {
    if state.contains(.awaking) { return awake(fromSnapshotEvents: events) }
    state.insert(.awaking)
    // Held, as the hook may insert a new object or delete it, which changes its arena.
    let arena = arena
    arena.hookWillRun()
    awake(fromSnapshotEvents: events)
    arena.hookDidRun()
    state.remove(.awaking)
  }

  /// Forgets all that was read and changed: the object is a fault again.
  ///
  /// - Parameters:
  ///   - kept: the flags of the object's state that stay.
  ///   - onBothSides: whether changes of relationships that ``willTurnIntoFault()`` makes are
  ///     dropped on the other side as well. Not needed where the other side is dropped too.
  final func turnIntoFault(keeping kept: State = [], onBothSides: Bool = false) {
    let hadValues = hasRow || !slots.isEmpty
    if hadValues {
      willTurnIntoFault()
      if onBothSides, !slots.isEmpty { dropRelationships() }
    }
    becomeFault(keeping: kept)
    if hadValues { didTurnIntoFault() }
  }

  /// Makes the object a fault without calling its hooks.
  final func becomeFault(keeping kept: State = []) {
    // Changes that the hook has made are dropped with the rest.
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
