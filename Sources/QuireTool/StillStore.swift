import Foundation
import QuireStorage

extension Tool {
  /// Runs `body` with a store to which nobody writes: the store itself, or, while a program has it
  /// open, a private copy of one of its commits, which is removed afterwards. The program notices
  /// nothing of it.
  static func still<Result>(
    _ store: URL, _ console: Console, _ body: (URL) throws -> Result
  ) throws -> Result {
    // What is wrong with the file is said by whoever opens it.
    guard let owner = try? PageStore.owner(of: store.path) else { return try body(store) }
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "quire-copy-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    let copy = folder.appending(path: store.lastPathComponent)
    // It does not outlive the command.
    var options = PageStoreOptions()
    options.durability = .none
    let commit = try working(on: store) {
      try console.waiting("copying") { _ in
        try LiveCopy.make(of: store.path, at: copy.path, options: options)
      }
    }
    console.note("\(store.path) is in use by \(owner): this is its commit \(commit)")
    return try body(copy)
  }
}
