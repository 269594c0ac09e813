import QuireStorage

// A store that is only read here, and that another process writes: a state of it can be read until
// the other has overwritten it, and then the newest one has to be read instead.
extension StoreSession {
  /// Reads in the state that relationships and faults are read from.
  @inline(__always)
  func read<Result>(_ body: (StoreView) throws -> Result) throws -> Result {
    do {
      return try body(currentView())
    } catch {
      guard error.isOfOvertakenState else { throw error }
      return try context.inOneState { try body(currentView()) }
    }
  }
}

extension ManagedObjectContext {
  /// How often something is read anew, each time of a later state.
  private static var repetitionLimit: Int { 16 }

  /// Reads something of one state of each store: if another process overwrites a state while it is
  /// read, all of it once more, of the newest.
  ///
  /// - Throws: what `read` throws; ``PersistenceError/Code/persistentStoreOperation`` if the
  ///   context is pinned to a state that was overwritten, or if that happens each time.
  @inline(__always)
  final func inOneState<Result>(_ read: () throws -> Result) throws -> Result {
    do {
      return try read()
    } catch {
      return try inLaterState(after: error, read)
    }
  }

  @inline(never)
  private func inLaterState<Result>(
    after error: any Error, _ read: () throws -> Result
  ) throws -> Result {
    var error = error
    for _ in 0..<Self.repetitionLimit {
      // What is under way uses one state from beginning to end.
      guard error.isOfOvertakenState, presentActivity == nil else { throw error }
      guard sessions.allSatisfy({ $0.pinnedView == nil }) else {
        throw PersistenceError(
          .persistentStoreOperation,
          "another process has overwritten the query generation that the context is pinned to: "
            + "pin it to a newer one by setQueryGeneration(from:)", underlying: error.ofEngine)
      }
      leaveOvertakenStates()
      do {
        return try read()
      } catch let next {
        error = next
      }
    }
    throw error
  }

  /// Lets other processes' commits come into the inboxes, if a store is only read here.
  final func lookForNews() {
    for session in sessions where session.inbox != nil && session.store.pages.isFollowing {
      // Whoever reads next meets the error.
      _ = try? session.store.pages.follow()
    }
  }

  private func leaveOvertakenStates() {
    parent?.leaveOvertakenStates()
    for session in sessions { session.leaveState() }
  }
}
