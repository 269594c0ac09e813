import QuireStorage

// What a context begins by itself, and whom it notifies: declared here and written on higher
// floors, so that no use runs upward.

/// The operations that a context begins by itself.
protocol ContextOperations: AnyObject {
  /// Merges saves that wait, and drops objects of stores that were removed.
  func mergeWaitingCommits()

  /// Writes all changes to the stores, or passes them to the parent.
  func saveChanges() throws

  /// Reads an object anew.
  func refresh(_ object: ManagedObject, mergeChanges: Bool)

  /// Forgets all objects, without notifying observers yet.
  ///
  /// - Returns: the IDs of all objects, for the notice; `nil` when there is no observer of it.
  func forgetObjects() -> Set<ManagedObjectID>?
}

/// Posts what happens in a context to those who listen.
protocol NoticePoster: ContextObserver {
  func didRefresh(_ object: ManagedObject)

  /// Posts a notice of the changes since the last one.
  func postEvent()

  /// - Parameter objectIDs: of all objects that the context has forgotten; `nil` when there is no
  ///   listener.
  func postReset(of objectIDs: Set<ManagedObjectID>?)

  /// Called before the context ends or drops its poster.
  func leaveContext()
}

/// Registers the changes of a context for undo.
protocol UndoRecorder: ContextObserver {
  /// Whether changes are not recorded for now: they make room for what other contexts have saved.
  var isPaused: Bool { get set }

  /// Whether undoing can bring back an object that has left.
  func keeps(_ object: ManagedObject) -> Bool

  /// Keeps the content of an object that is about to leave the context.
  func keepContent(of object: ManagedObject)

  /// The object that has left and that undoing can bring back under a reference in a store.
  func takenObject(at reference: Reference, in store: StoreIdentity) -> ManagedObject?

  /// Records an unsaved value that is about to be dropped.
  func willDiscard(_ slot: Int, of object: ManagedObject)

  /// Keeps the content of objects that a save is about to delete.
  ///
  /// - Parameter asMerged: whether this was called for the save before, and a merge has changed it
  ///   since.
  func willCommit(asMerged: Bool)

  /// To be called when the context reads another state of a store, or objects anew.
  func recordRead()

  /// Opens the group of the last event again, for changes that a save adds to it.
  func continueEvent()

  func endEvent()

  func removeAllActions()
}

extension ManagedObjectContext {
  final var operations: any ContextOperations { self }
}
