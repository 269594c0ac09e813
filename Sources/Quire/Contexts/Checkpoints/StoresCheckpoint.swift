/// The stores that the objects of a context are of, to come back to.
struct StoresCheckpoint {
  private let departureCount: Int
  /// Held, so that no other session takes the place of one that goes.
  private let sessions: [StoreSession]

  init(_ context: ManagedObjectContext) {
    departureCount = context.departureCount
    sessions = context.sessions + context.formerSessions
  }

  /// Gives the context back what it has forgotten of stores that were removed.
  ///
  /// - Returns: `false` when it has left its stores: then it has forgotten all, and there is
  ///   nothing to come back to.
  func restore(_ context: ManagedObjectContext) -> Bool {
    guard context.departureCount == departureCount else { return false }
    let present = context.sessions + context.formerSessions
    context.formerSessions += sessions.filter { session in
      !present.contains { $0 === session }
    }
    return true
  }
}
