import QuireSimulation
import QuireStorage
import Testing

/// All keys of an index tree from one on, in one place of memory.
struct KeyVisitTests {
  private static func key(_ number: Int) -> [UInt8] {
    Array("\(number % 7 == 0 ? "a common beginning of keys, " : "")\(number * 37 % 1_000)".utf8)
  }

  private static let keys = Set((0..<1_000).map(key)).sorted { $0.lexicographicallyPrecedes($1) }

  private func store() throws -> PageStore {
    let store = PageStore.inMemory(pageSize: 512)
    try store.write { transaction in
      let tree = try transaction.createIndexTree("tree")
      for number in 0..<1_000 { try tree.put([], for: Self.key(number)) }
    }
    return store
  }

  private func keys(_ tree: IndexTree, from lower: [UInt8], limit: Int) throws -> [[UInt8]] {
    var found: [[UInt8]] = []
    try lower.withUnsafeBytes { lower in
      try tree.visitKeys(from: lower) {
        found.append(Array($0))
        return found.count < limit
      }
    }
    return found
  }

  @Test(arguments: ["", "1", "500", "a common beginning of keys, 5", "a common c", "b"])
  func `keys come in order from the first to the last that is wanted`(lower: String) throws {
    let store = try store()
    let tree = try #require(try store.snapshot().indexTree("tree"))
    try #require(tree.count == Self.keys.count)
    let lower = Array(lower.utf8)
    let expected = Self.keys.filter { !$0.lexicographicallyPrecedes(lower) }
    #expect(try keys(tree, from: lower, limit: .max) == expected)
    for limit in [1, 2, 77, expected.count] where limit > 0 && limit <= expected.count {
      #expect(try keys(tree, from: lower, limit: limit) == Array(expected.prefix(limit)))
    }
  }

  @Test func `keys are counted as they would be visited`() throws {
    let store = try store()
    let tree = try #require(try store.snapshot().indexTree("tree"))
    let bounds =
      ["", "0", "1", "10", "500", "5001", "99", "a common beginning of keys, 5", "b", "~"]
      .map { Array($0.utf8) } + [Self.keys[0], Self.keys[399], Self.keys[400]]
    for lower in bounds {
      for upper in bounds + [nil] {
        let expected = Self.keys.count { key in
          !key.lexicographicallyPrecedes(lower)
            && upper.map { key.lexicographicallyPrecedes($0) } ?? true
        }
        let found = try lower.withUnsafeBytes { lower in
          guard let upper else { return try tree.keyCount(from: lower, to: nil) }
          return try upper.withUnsafeBytes { try tree.keyCount(from: lower, to: $0) }
        }
        #expect(found == expected, "\(lower) to \(String(describing: upper))")
      }
    }
  }

  @Test func `a transaction shows the keys that it has put`() throws {
    let store = try store()
    try store.write { transaction in
      try #require(try transaction.mutableIndexTree("tree")).put([], for: [1])
      let tree = try #require(try transaction.indexTree("tree"))
      #expect(try keys(tree, from: [], limit: 2) == [[1], Self.keys[0]])
    }
  }

  @Test func `an error thrown by the visitor ends the visit`() throws {
    struct Enough: Error {}
    let store = try store()
    let tree = try #require(try store.snapshot().indexTree("tree"))
    var count = 0
    #expect(throws: Enough.self) {
      try tree.visitKeys(from: UnsafeRawBufferPointer(start: nil, count: 0)) { _ in
        count += 1
        if count == 5 { throw Enough() }
        return true
      }
    }
    #expect(count == 5)
  }

  @Test func `keys too long for a look in passing come as they are`() throws {
    let keys = (1...60).map { [UInt8](repeating: UInt8($0), count: 30 * $0 % 977) }
      .sorted { $0.lexicographicallyPrecedes($1) }
    let store = PageStore.inMemory(pageSize: 4096)
    try store.write { transaction in
      let tree = try transaction.createIndexTree("tree")
      for key in Set(keys) { try tree.put([], for: key) }
    }
    let tree = try #require(try store.snapshot().indexTree("tree"))
    let expected = Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
    #expect(try self.keys(tree, from: [], limit: .max) == expected)
  }

  /// A link tree: owners with so many members that some have leaves of their own.
  private func tails(_ byteCount: Int, also others: [[UInt8]] = []) throws -> IndexTree {
    let store = PageStore.inMemory(pageSize: 512)
    try store.write { transaction in
      let tree = try transaction.createIndexTree("tree")
      for owner in UInt64(1)...40 {
        for member in 0..<owner * owner % 61 {
          var key = Self.bytes(owner << 20)
          if byteCount > 16 { key += Self.bytes(member % 3).suffix(byteCount - 16) }
          try tree.put([], for: key + Self.bytes(member << 33 | owner))
        }
      }
      for key in others { try tree.put([], for: key) }
    }
    return try #require(try store.snapshot().indexTree("tree"))
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  @Test(arguments: [16, 24]) func `tails are those of the keys with a beginning`(
    byteCount: Int
  ) throws {
    let tree = try tails(byteCount)
    for owner in UInt64(0)...42 {
      var expected: [UInt64] = []
      var cursor = tree.cursor()
      while try cursor.next() {
        let key = Array(try cursor.key)
        guard key.starts(with: Self.bytes(owner << 20)) else { continue }
        expected.append(key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
      }
      var found: [UInt64] = []
      let misfit = try tree.visitTails(ofKeysWith: owner << 20, byteCount: byteCount) {
        found.append($0)
      }
      #expect(misfit == nil)
      #expect(found == expected, "owner \(owner)")
      #expect(expected.count == ((1...40).contains(owner) ? Int(owner * owner % 61) : 0))
    }
  }

  @Test func `a key of another length among them is told`() throws {
    let tree = try tails(16, also: [Self.bytes(7 << 20) + [1, 2, 3]])
    var count = 0
    #expect(try tree.visitTails(ofKeysWith: 7 << 20, byteCount: 16) { _ in count += 1 } == 11)
    #expect(count == 49)
  }
}

/// A damaged file, of which a visit must not make up an order.
struct DamagedKeyVisitTests {
  /// Under right checksums each leaf in turn has what the one before it has.
  @Test func `leaves that do not follow each other are damage, wherever they are met`() throws {
    let disk = SimulatedDisk()
    var options = PageStoreOptions()
    (options.pageSize, options.createIfMissing) = (512, true)
    let store = try PageStore.open("store", options: options, in: disk)
    try store.write { transaction in
      let tree = try transaction.createIndexTree("tree")
      for number in 0..<400 { try tree.put([], for: Array("\(1_000 + number)".utf8)) }
    }
    try store.close()
    let sound = try #require(disk.files["store"])
    let anatomy = try StoreAnatomy(of: "store", in: disk)
    let leaves = try (0..<sound.count / 512).filter { page in
      let summary = try anatomy.summary(of: page)
      return summary.type == "index leaf" && summary.tree == "tree"
    }.map { page in (page, first: try anatomy.content(of: page).entries[0].key) }
      .sorted { "\($0.first)" < "\($1.first)" }.map(\.0)
    try #require(leaves.count > 4)
    options.createIfMissing = false
    for place in leaves.indices.dropFirst() {
      var file = sound
      let sealing = try #require(FileSealing(repairing: &file))
      let (former, page) = (leaves[place - 1], leaves[place])
      file.replaceSubrange(
        (page * 512 + 8)..<((page + 1) * 512), with: file[(former * 512 + 8)..<((former + 1) * 512)]
      )
      sealing.sealPages(of: &file)
      let damaged = try PageStore.open(
        "store", options: options,
        in: BoundedDisk(["store": file], readLimit: 8 << 20, fileLimit: 8 << 20))
      let tree = try #require(try damaged.snapshot().indexTree("tree"))
      let all = UnsafeRawBufferPointer(start: nil, count: 0)
      var count = 0
      #expect(throws: StorageError.self) {
        try tree.visitKeys(from: all) { _ in
          count += 1
          return true
        }
      }
      #expect(count < 400)
      #expect(throws: StorageError.self) { try tree.keyCount(from: all, to: nil) }
    }
  }
}
