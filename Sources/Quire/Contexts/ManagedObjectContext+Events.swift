// The end of an event: changes of one turn of an actor are processed together.
extension ManagedObjectContext {
  /// Requests the processing of changes at the end of the event, once, in a context that does so
  /// automatically.
  final func awaitEndOfEvent() {
    // Parent and child have one isolation, and one end of events.
    if let parent { return parent.awaitEndOfEvent() }
    guard !isEndOfEventAwaited, let requestEndOfEvent else { return }
    isEndOfEventAwaited = true
    requestEndOfEvent()
  }

  /// Processes changes at the end of an event, here and in the descendants. Those of descendants
  /// come first.
  package final func endEvent() {
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
