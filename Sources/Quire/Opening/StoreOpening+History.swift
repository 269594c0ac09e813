import QuireStorage

extension StoreOpening {
  /// Does what the options say about the store's history, unless it is so already.
  func beginOrEndHistory(of pages: PageStore) throws {
    guard let wanted = options.tracksHistory, !options.isReadOnly else { return }
    guard try (pages.read { try StoredHistory(in: $0) } != nil) != wanted else { return }
    try pages.write { transaction in
      if wanted {
        try StoredHistory.begin(in: transaction)
      } else {
        try StoredHistory.end(in: transaction)
      }
      // Coordinators that have the store open already know it before they can save again.
      if wanted { pages.attachment { CommitHub() }.recordHistory() }
    }
  }
}
