/// What can be undone and made again, to come back to when what was entered since is taken back by
/// other means.
struct UndoMemento {
  private let recording: UndoRecording
  private let undoGroups: [UndoGroup]
  private let redoGroups: [UndoGroup]
  private let open: [UndoGroup]
  private let taken: UndoRecording.Taken

  /// - Returns: `nil` for a context without an undo manager.
  init?(_ context: ManagedObjectContext) {
    guard let recording = context.undoRecording else { return nil }
    self.recording = recording
    let manager = recording.manager
    (undoGroups, redoGroups, open) = (manager.undoGroups, manager.redoGroups, manager.open)
    taken = recording.taken
  }

  func restore() {
    // First: what goes with the groups would be looked for.
    recording.taken = taken
    let manager = recording.manager
    (manager.undoGroups, manager.redoGroups, manager.open) = (undoGroups, redoGroups, open)
    // The next change of a slot is the first one again.
    manager.generation += 1
  }
}

extension UndoRecording {
  /// Objects that can be brought back, as long as an action does so.
  struct Taken {
    struct Entry { weak var taken: TakenObject? }

    /// The last deletion of each.
    var byObject: [ObjectIdentifier: Entry] = [:]
    /// Those that have left with a permanent ID.
    var byPlace: [GlobalReference: Entry] = [:]
    /// Where to-one relationships led when a save cleared them.
    var byLoss: [Place: Entry] = [:]
  }
}
