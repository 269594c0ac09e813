import QuireSimulation
import QuireStorage
import Testing

/// Pages that leave bytes at their end to a cipher.
@Suite struct `Tails of pages` {
  private static func options(_ tail: Int, pageSize: Int = 512) -> PageStoreOptions {
    var options = Proof.options
    options.pageSize = pageSize
    options.tailByteCount = tail
    return options
  }

  /// Leaves and inner nodes that were filled, split and merged, values of every kind, more than one
  /// page map.
  private static func fill(_ store: PageStore) throws {
    for round in 0..<4 as Range<UInt8> {
      try store.write { transaction in
        let records =
          try transaction.mutableRecordTree("records") ?? transaction.createRecordTree("records")
        let keys = try transaction.mutableIndexTree("keys") ?? transaction.createIndexTree("keys")
        for key in 0..<900 as Range<Int64> {
          let value = [UInt8](repeating: 255, count: Int(key) % 131)
          try records.put(value, for: key &* 7 &+ Int64(round))
          let bytes = Array("key \(key % 40) of \(key)".utf8)
          if round < 3 { try keys.put([255, round], for: bytes) } else { try keys.remove(bytes) }
        }
        try records.put([UInt8](repeating: 255, count: 70_000), for: -1)
        for key in 0..<300 as Range<Int64> { try records.remove(key &* 21) }
      }
      try store.checkpoint()
    }
  }

  private static func tails(
    of files: MemoryFileSystem, _ path: String, _ tail: Int, pageSize: Int
  ) throws -> Bool {
    let bytes = try #require(files.bytes(of: path))
    #expect(bytes.count > 100 * pageSize || pageSize > 512)
    return stride(from: pageSize, through: bytes.count, by: pageSize).allSatisfy { end in
      bytes[(end - tail)..<end].allSatisfy { $0 == 0 }
    }
  }

  @Test(arguments: [1, 28, 40, 64], [512, 4096])
  func `nothing is kept in them, by commits, builders, copies and compaction`(
    tail: Int, pageSize: Int
  ) throws {
    let files = MemoryFileSystem()
    let options = Self.options(tail, pageSize: pageSize)
    var store = try PageStore.open("store", options: options, in: files)
    try Self.fill(store)
    try Proof.build(store, "built", 255)
    try store.backUp(to: "backup", in: files)
    try store.close()
    store = try PageStore.open("store", options: Proof.options, in: files)
    let former = try ContentDigest(of: store.snapshot())
    #expect(try store.check().isSound)
    #expect(try Self.tails(of: files, "store", tail, pageSize: pageSize))
    try store.compact()
    #expect(try ContentDigest(of: store.snapshot()) == former)
    try Proof.put(store, 0..<40, 255)
    try store.close()
    #expect(try Self.tails(of: files, "store", tail, pageSize: pageSize))
    #expect(try Self.tails(of: files, "backup", tail, pageSize: pageSize))
    for path in ["store", "backup"] { #expect(try StoreAnatomy(of: path, in: files).isSound) }
  }

  @Test func `more than there is room for is refused`() throws {
    for tail in [-1, 65] {
      #expect(throws: StorageError.self) {
        try PageStore.open("store", options: Self.options(tail), in: MemoryFileSystem())
      }
    }
  }
}
