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
    try await SaveRun(self, asking: true).runInTask()
  }
}

extension SaveRun {
  /// The same steps as ``run()``.
  fileprivate nonisolated(nonsending) func runInTask() async throws {
    try begin()
    defer { end() }
    try announce(try await saveInTask())
  }

  private nonisolated(nonsending) func saveInTask() async throws -> Finished? {
    let outer = context.activity
    context.activity = .saving
    defer { context.activity = outer }
    switch try prepare() {
    case .nothing: return nil
    case .toParent(let child): return try save(child)
    case .toStores(let save, let sessions):
      do {
        return finish(try await save.writeInTask(), nil, sessions)
      } catch let error where isConflict(error) {
        // Locks the stores for as long as the policy takes. Such saves are few.
        return try saveMerged(save, sessions)
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
