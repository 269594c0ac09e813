import QuireSimulation
import QuireStorage
import Testing

// A store could not be made whose name had 215 to 255 bytes: what lay beside it had names that no
// file system takes.

/// Stores whose names are as long as names may be.
@Suite struct `Long names` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static var options: PageStoreOptions {
    var options = Proof.options
    options.imageByteLimit = 0
    return options
  }

  private static func names(_ byteCount: Int) -> [String] {
    let even = byteCount / 2
    return [
      String(repeating: "n", count: byteCount),
      // Characters of several bytes, which are cut at different places.
      String(repeating: "é", count: even) + (byteCount % 2 == 0 ? "" : "n"),
      "n" + String(repeating: "é", count: (byteCount - 1) / 2) + (byteCount % 2 == 0 ? "n" : ""),
    ]
  }

  @Test(arguments: [213, 214, 215, 244, 245, 246, 250, 251, 252, 255])
  func `a store can have one, with everything that lies beside it`(byteCount: Int) throws {
    for name in Self.names(byteCount) {
      #expect(name.utf8.count == byteCount)
      let path = folder.path + "/" + name
      var store: PageStore? = try PageStore.open(path, options: Self.options)
      try store.map { try Proof.put($0, 0..<40, 1) }
      try store?.checkpoint()
      try store.map { try Proof.put($0, 0..<40, 2) }
      try store?.checkpoint()
      try store.map { try Proof.put($0, 0..<40, 3) }
      // Store, log, images, note.
      #expect(folder.names.count == 4, "\(folder.names)")
      // The process ends without closing it, and another one finds all of that.
      store = nil
      let again = try PageStore.open(path, options: Self.options)
      #expect(try Proof.values(again.snapshot())[0] == 3)
      try again.compact()
      try Proof.put(again, 0..<40, 4)
      let copy = folder.path + "/copy"
      try again.backUp(to: copy)
      try again.close()
      #expect(folder.names == ["copy", name].sorted())
      let source = try PageStore.open(copy, options: Self.options)
      try source.restore(to: path)
      try source.close()
      try PageStore.destroy(path, isForced: false)
      try PageStore.remove(copy)
      #expect(folder.names == [])
    }
  }

  /// Names that differ at their end alone.
  @Test func `stores with names that begin alike have files of their own`() throws {
    let stem = String(repeating: "n", count: 254)
    var stores = try ["a", "b"].map {
      try PageStore.open(folder.path + "/" + stem + $0, options: Self.options)
    }
    for (number, store) in stores.enumerated() {
      try Proof.put(store, 0..<40, UInt8(number + 1))
    }
    #expect(folder.names.count == 6)
    stores = []
    for (number, name) in ["a", "b"].enumerated() {
      let store = try PageStore.open(folder.path + "/" + stem + name, options: Self.options)
      #expect(try Proof.values(store.snapshot())[0] == UInt8(number + 1))
      try store.close()
    }
  }

  @Test func `a name that no file can have is refused, and leaves nothing`() throws {
    for byteCount in [256, 300, 4000] {
      let path = folder.path + "/" + String(repeating: "n", count: byteCount)
      #expect(throws: StorageError.self) { try PageStore.open(path) }
      #expect(folder.names == [])
    }
  }

  @Test func `half-made files under a long name are removed at the next opening`() throws {
    let path = folder.path + "/" + String(repeating: "n", count: 240)
    let store = try PageStore.open(path, options: Self.options)
    try Proof.put(store, 0..<40, 1)
    try store.close()
    let files = DiskFileSystem()
    let left = CompanionName.path(of: path, "-new-01234567-89AB-4DEF-8123-456789ABCDEF")
    let others = CompanionName.path(
      of: folder.path + "/" + String(repeating: "n", count: 241),
      "-new-01234567-89AB-4DEF-8123-456789ABCDEF")
    for path in [left, others] {
      let file = try files.open(path, .create)
      try [1].withUnsafeBytes { try file.write($0, at: 0) }
    }
    _ = try files.open(CompanionName.path(of: path, "-owner"), .create)
    try PageStore.open(path, options: Self.options).close()
    #expect(folder.names.count == 2, "\(folder.names)")
  }
}
