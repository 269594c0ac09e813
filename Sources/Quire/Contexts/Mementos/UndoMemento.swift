/// The state of an undo manager, to be restored when the changes that it has registered since are
/// taken back in another way.
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
    // First, as releasing the groups looks their objects up here.
    recording.taken = taken
    let manager = recording.manager
    (manager.undoGroups, manager.redoGroups, manager.open) = (undoGroups, redoGroups, open)
    // The next change of a slot counts as the first in its group.
    manager.generation += 1
  }
}

extension UndoRecording {
  /// Deleted objects that an action can bring back.
  struct Taken {
    struct Entry { weak var taken: TakenObject? }

    /// The last deletion of each object.
    var byObject: [ObjectIdentifier: Entry] = [:]
    /// Objects that have left the context with a permanent ID.
    var byPlace: [GlobalReference: Entry] = [:]
    /// The former destinations of to-one relationships that a save has cleared.
    var byLoss: [Place: Entry] = [:]
  }
}
