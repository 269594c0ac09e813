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
    guard let recording = context.undoRecording as? UndoRecording else { return nil }
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
