extension UndoRecording {
  /// Deleted objects that an action can bring back.
  struct Taken {
    struct Entry { weak var taken: TakenObject? }

    /// The last deletion of each object.
    var byObject: [ObjectIdentifier: Entry] = [:]
    /// Objects that have left the context with a permanent ID.
    var byReference: [GlobalReference: Entry] = [:]
    /// The former destinations of to-one relationships that a save has cleared.
    var byLoss: [SlotKey: Entry] = [:]
  }
}
