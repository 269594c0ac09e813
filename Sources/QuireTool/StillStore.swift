import Foundation
import QuireStorage

extension Tool {
  /// Runs `body` with a store to which nobody writes: the store itself, or, while programs have it
  /// open, a private copy of one of its commits, which is removed afterwards. The programs notice
  /// nothing of it.
  static func still<Result>(
    _ store: URL, _ console: Console, _ body: (URL) throws -> Result
  ) throws -> Result {
    // What is wrong with the file is said by whoever opens it.
    guard let writer = try? PageStore.writer(of: store.path) else { return try body(store) }
    return try copying(store, from: writer, console) { copy in
      try body(try working(on: store) { try copy.get() })
    }
  }

  /// Runs `body` with a private copy of a store that somebody may write to, or with the reason why
  /// there is none.
  static func copying<Result>(
    _ store: URL, from writer: StoreWriter, _ console: Console,
    _ body: (Swift.Result<URL, StorageError>) throws -> Result
  ) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "quire-copy-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    let copy = folder.appending(path: store.lastPathComponent)
    // It does not outlive the command.
    var options = PageStoreOptions()
    options.durability = .none
    do throws(StorageError) {
      let commit = try console.waiting("copying") { _ throws(StorageError) in
        try LiveCopy.make(of: store.path, at: copy.path, options: options)
      }
      console.note("\(store.path) is \(writer): this is its commit \(commit)")
    } catch {
      // Between turns a lock keeps a damaged store still for a moment.
      if case .nextInTurn = writer, isDamage(error) { return try body(.success(store)) }
      return try body(.failure(error))
    }
    return try body(.success(copy))
  }
}
