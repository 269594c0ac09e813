import QuireStorage

// Saves of asynchronous functions, which wait without a thread: for their turn to write, and for
// the disk. Between the two they are like other saves, on one thread.
extension ManagedObjectContext {
  /// Saves as ``save()`` does.
  ///
  /// A subclass that overrides ``save()`` has it called; it waits on its thread.
  ///
  /// - Throws: what ``save()`` throws; `CancellationError` if the task is cancelled before its turn
  ///   to write. Nothing is written then.
  nonisolated(nonsending) final func saveInTask() async throws {
    guard type(of: self) == ManagedObjectContext.self else { return try save() }
    try beginSave()
    var isEventOver = false
    defer { if !isEventOver { undoRecording?.endEvent() } }
    let finished = try await finishedSaveInTask(&isEventOver)
    try announce(finished)
  }

  private nonisolated(nonsending) final func finishedSaveInTask(
    _ isEventOver: inout Bool
  ) async throws -> FinishedSave? {
    let outer = activity
    activity = .saving
    defer { activity = outer }
    switch try preparedSave(asking: true) {
    case .nothing: return nil
    case .toParent: return try savedToParent(&isEventOver)
    case .toStores(let save, let sessions):
      do {
        let outcome = try await save.writeInTask()
        return finished(outcome, nil, sessions, asking: true, &isEventOver)
      } catch let error where Self.isConflict(error) {
        // Locks the stores for as long as the policy takes. Such saves are few.
        return try savedMerged(save, sessions, asking: true, &isEventOver)
      }
    }
  }
}

extension ContextSave {
  /// Waits for the turn, writes, and waits for the disk.
  fileprivate nonisolated(nonsending) func writeInTask() async throws -> Outcome {
    let sessions = parts.map(\.session)
    guard let pages = ContextSave.inOrder(sessions).first?.store.pages else {
      return try write(in: [:], settling: true)
    }
    let turn = WriterTurn()
    do {
      while true {
        try Task.checkCancellation()
        if let transactions = try ContextSave.beginWritesIfFree(in: sessions, turn) {
          let outcome = try write(in: transactions, settling: true, waits: false)
          return try finish(outcome, await outcome.waiting?.commit.syncError())
        }
        await pages.wait(for: turn)
      }
    } catch {
      pages.giveUp(turn)
      throw error
    }
  }
}

extension PageStore {
  /// Waits until another attempt is worth while, or the task is cancelled.
  fileprivate nonisolated(nonsending) func wait(for turn: WriterTurn) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        wait(for: turn) { continuation.resume() }
      }
    } onCancel: {
      giveUp(turn)
    }
  }
}

extension WrittenCommit {
  /// Waits for the disk. A task that is cancelled waits, too: its commit is written.
  ///
  /// - Returns: why the commit is not durable; `nil` if it is.
  fileprivate nonisolated(nonsending) func syncError() async -> StorageError? {
    await withCheckedContinuation { continuation in
      whenDurable { continuation.resume(returning: $0) }
    }
  }
}
