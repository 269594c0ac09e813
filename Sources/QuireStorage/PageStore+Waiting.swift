// Writing for asynchronous functions, which wait without a thread. The engine itself knows no
// tasks: it calls a function when the waiting is over.
extension PageStore {
  /// Begins the write transaction, if nobody has it nor has waited longer for it.
  ///
  /// The transaction belongs to the calling thread, as that of ``beginWrite()``: between this and
  /// its end nothing may be awaited.
  ///
  /// - Returns: `nil` if it is not the function's turn; see ``wait(for:_:)``.
  /// - Throws: what ``beginWrite()`` throws.
  package func beginWriteIfFree(_ turn: WriterTurn) throws(StorageError) -> WriteTransaction? {
    try checkOpen()
    if isReadOnly { throw .readOnly }
    return try core.beginWriteIfFree(turn).map { WriteTransaction(core, $0) }
  }

  /// Calls `body` when ``beginWriteIfFree(_:)`` is worth another attempt, or the turn is given up:
  /// on this thread before the function returns, or on another one at any time.
  ///
  /// A function that is called has to try again, or to give the turn up: those that came later wait
  /// for it.
  package func wait(for turn: WriterTurn, _ body: @escaping @Sendable () -> Void) {
    core.turnstile.wait(for: turn, body)
  }

  /// Ends the waiting for a turn, from any thread; does nothing when it was had.
  package func giveUp(_ turn: WriterTurn) { core.turnstile.giveUp(turn) }
}
