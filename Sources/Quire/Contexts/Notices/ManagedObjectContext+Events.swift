// The end of an event: what has changed in one turn of an actor is processed together.
extension ManagedObjectContext {
  /// Something has changed that waits to be processed. Where the context processes by itself, at
  /// the end of the event, that is asked for once.
  final func awaitEndOfEvent() {
    // Parent and child have one isolation, and one end.
    if let parent { return parent.awaitEndOfEvent() }
    guard !isEndOfEventAwaited, let requestEndOfEvent else { return }
    isEndOfEventAwaited = true
    requestEndOfEvent()
  }

  /// The event is over: processes what has changed here and in the descendants, whose changes come
  /// first, as a parent that is merged into is asked by them.
  final func endEvent() {
    isEndOfEventAwaited = false
    processPendingChangesOfFamily()
  }

  private func processPendingChangesOfFamily() {
    for child in family?.livingChildren ?? [] { child.processPendingChangesOfFamily() }
    processPendingChanges()
  }
}

extension ManagedObjectContext: Hashable {
  /// A context is equal to itself alone.
  public static func == (left: ManagedObjectContext, right: ManagedObjectContext) -> Bool {
    left === right
  }

  public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
