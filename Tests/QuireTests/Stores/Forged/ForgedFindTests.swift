import Quire
import QuireSimulation
import QuireStorage
import Testing

/// Forged entries that once trapped, each on its own: saving throws, and an inspection says why.
@Suite struct `Finds among forged entries` {
  /// What an inspection finds in a store after a change, and what a save of it throws.
  private func outcome(
    _ change: (WriteTransaction) throws -> Void,
    saving save: (ManagedObjectContext) throws -> Void = { context in
      try EntityDescription.insertNewObject(forEntityName: "Artist", into: context)
      try context.save()
    }
  ) throws -> (findings: [String], error: (any Error)?) {
    let files = MemoryFileSystem()
    for (path, bytes) in try ForgedScene.files(isDeferred: false) {
      files.setBytes(bytes, of: path)
    }
    let pages = try PageStore.open(ForgedScene.url.path(percentEncoded: false), in: files)
    try pages.write(change)
    try pages.close()
    let findings = try StoreInspection(of: ForgedScene.url, in: files).findings
    do {
      try ForgedScene.with(.current, [:], files, save)
      return (findings, nil)
    } catch {
      return (findings, error)
    }
  }

  private func bytes(_ numbers: Int64...) -> [UInt8] {
    numbers.flatMap { withUnsafeBytes(of: $0.littleEndian) { Array($0) } }
  }

  /// A save numbered its transaction one above the last, which had the highest number.
  @Test func `a history at its highest number takes no save`() throws {
    let (findings, error) = try outcome { transaction in
      guard let tree = try transaction.mutableRecordTree("history"), let last = try tree.lastKey
      else { return }
      try tree.put(try tree.value(for: last)?.array ?? [], for: .max)
    }
    #expect(findings.contains { $0.contains("\(Int64.max)") })
    #expect((error as? PersistenceError)?.code == .persistentStoreSave)
  }

  /// An inspection added one to the number of the last change that is gone.
  @Test(
    arguments: Amount.of(
      debug: [[Int64.max, 0]], release: [[.max, .max], [0, .max], [.max, 0]]))
  func `a history that says that everything is gone is found`(mark: [Int64]) throws {
    let (findings, error) = try outcome { transaction in
      try transaction.mutableIndexTree("schema")?.put(
        bytes(mark[0], mark[1]), for: Array("history".utf8))
    }
    #expect(!findings.isEmpty)
    // Where transactions are left, changes are counted on from the last of them.
    if mark[0] == .max { #expect(error is PersistenceError) }
  }

  /// A save gave a new object the key after the last.
  @Test(arguments: Amount.of(debug: [Int64.max, -1], release: [.max, -1, .min, 1 << 48]))
  func `a counter of keys that no key has gives none`(count: Int64) throws {
    let (findings, error) = try outcome { transaction in
      guard let tree = try transaction.mutableRecordTree("keys") else { return }
      for space in Int64(1)...8 where try tree.contains(space) {
        try tree.put(bytes(count), for: space)
      }
    }
    #expect(findings.contains { $0.contains("\(count)") })
    #expect((error as? PersistenceError)?.code == .persistentStoreIncompatibleSchema)
  }

  /// A member that was added got the place after the last.
  @Test func `a member at the last position there is lets none follow`() throws {
    let forged = try outcome(
      { transaction in
        for name in try transaction.treeNames().map(\.name) where name.hasPrefix("links/") {
          guard let tree = try transaction.mutableIndexTree(name) else { continue }
          var keys: [[UInt8]] = []
          var cursor = tree.cursor()
          while try cursor.next() { keys.append(Array(try cursor.key)) }
          // The last member of each list; keys come in the order of owners and places.
          for (key, next) in zip(keys, keys.dropFirst() + [[]]) where key.count == 24 {
            guard key.prefix(8) != next.prefix(8) else { continue }
            try tree.remove(key)
            try tree.put([], for: key.prefix(8) + Array(repeating: 255, count: 8) + key.suffix(8))
          }
        }
      },
      saving: { context in
        // The other side of the list gets a link, and nobody says where.
        let works = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artwork"))
        let artist = try EntityDescription.insertNewObject(forEntityName: "Artist", into: context)
        try artist.setValue(works, forKey: "list")
        try context.save()
      })
    #expect(forged.findings.contains { $0.contains("last position") })
    if let error = forged.error { #expect(error is PersistenceError) }
  }

  /// Keys of a unique index were compared without their last eight bytes, of which they had fewer.
  @Test func `keys of an index that are too short are found`() throws {
    let (findings, _) = try outcome { transaction in
      for name in try transaction.treeNames().map(\.name) where name.hasPrefix("indexes/") {
        guard let tree = try transaction.mutableIndexTree(name) else { continue }
        for byte in UInt8(0)..<4 { try tree.put([], for: [byte]) }
        try tree.put([], for: [])
      }
    }
    #expect(findings.contains { $0.contains("belong to no row") })
  }

  /// What came behind the entities was passed over at opening, and then taken for another version.
  @Test func `a schema that goes on behind its entities is not opened`() throws {
    let (findings, error) = try outcome { transaction in
      guard let tree = try transaction.mutableIndexTree("schema") else { return }
      let key = Array("entities".utf8)
      try tree.put((try tree.value(for: key)?.array ?? []) + [0], for: key)
    }
    #expect(!findings.isEmpty)
    #expect((error as? PersistenceError)?.code == .persistentStoreIncompatibleSchema)
  }
}
