import QuireSimulation
import QuireStorage
import Testing

/// Pages that are whole, and wrong all the same.
@Suite("Proofs of pages")
struct PageProofTests {
  private func closedStore(_ identity: StoreIdentity? = nil, keys: Int64 = 40) throws -> [UInt8] {
    var options = Proof.options
    if let identity { options.identity = identity }
    let fileSystem = MemoryFileSystem()
    let store = try PageStore.open("store", options: options, in: fileSystem)
    try Proof.put(store, 0..<keys, 1)
    try store.close()
    return try #require(fileSystem.bytes(of: "store"))
  }

  /// The pages that an inspection, or the opening itself, finds damaged.
  private func damagedPages(_ bytes: [UInt8]) throws -> Set<Int> {
    let fileSystem = MemoryFileSystem()
    fileSystem.setBytes(bytes, of: "store")
    do throws(StorageError) {
      let store = try PageStore.open("store", options: Proof.options, in: fileSystem)
      let report = try store.check()
      return Set(report.findings.compactMap { $0.page.map { Int($0.rawValue) } })
    } catch {
      guard case .damaged(let page, _) = error else { throw error }
      return [Int(page.rawValue)]
    }
  }

  /// The same operations: but for the identity, the two files are the same.
  @Test func `a page of another store is damaged`() throws {
    let bytes = try closedStore()
    let other = try closedStore(StoreIdentity(high: 1, low: 2))
    #expect(bytes.count == other.count)
    #expect(try damagedPages(bytes).isEmpty)
    for page in 3..<(bytes.count / 512) {
      var mixed = bytes
      let range = page * 512..<(page + 1) * 512
      mixed.replaceSubrange(range, with: other[range])
      #expect(try damagedPages(mixed).contains(page), "page \(page)")
    }
  }

  /// A commit gives all its pages one stamp, so that their places alone tell them apart.
  @Test func `two leaves of one commit that are exchanged are damaged`() throws {
    let bytes = try closedStore()
    let leaves = (5..<(bytes.count / 512)).filter { bytes[$0 * 512 + 16] == 2 }
    #expect(leaves.count > 3)
    let (one, two) = (leaves[1], leaves[2])
    var mixed = bytes
    mixed.replaceSubrange(one * 512..<(one + 1) * 512, with: bytes[two * 512..<(two + 1) * 512])
    mixed.replaceSubrange(two * 512..<(two + 1) * 512, with: bytes[one * 512..<(one + 1) * 512])
    #expect(try damagedPages(mixed).isSuperset(of: [one, two]))
  }

  /// Where the format says zeros: a later one may put something there, which this one must not pass
  /// over.
  @Test func `a record node with anything behind its width is damaged`() throws {
    let bytes = try closedStore()
    let leaf = try #require((5..<(bytes.count / 512)).first { bytes[$0 * 512 + 16] == 2 })
    let seed = try #require(Proof.options.identity).bytes.withUnsafeBytes {
      XXH3.hash($0, seed: 0)
    }
    func sealed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
      var page = Array(bytes[leaf * 512..<(leaf + 1) * 512])
      change(&page)
      let sum = page[8...].withUnsafeBytes {
        XXH3.hash($0, seed: seed ^ UInt64(leaf) &* 0x9E37_79B1_85EB_CA87)
      }
      page.setNumber(sum, at: 0)
      var changed = bytes
      changed.replaceSubrange(leaf * 512..<(leaf + 1) * 512, with: page)
      return changed
    }
    #expect(sealed { _ in } == bytes)
    for place in 33..<40 {
      #expect(try damagedPages(sealed { $0[place] = 1 }).contains(leaf), "byte \(place)")
    }
  }

  /// With pages of 512 bytes the maps are pages 3, 121, 239 …, and each is spoken for by another.
  @Test func `a map whose last write was lost is damaged`() throws {
    let fileSystem = MemoryFileSystem()
    let store = try PageStore.open("store", options: Proof.options, in: fileSystem)
    try Proof.put(store, 0..<4000, 1)
    try store.checkpoint()
    let before = try #require(fileSystem.bytes(of: "store"))
    try Proof.put(store, 0..<4000, 2)
    try store.close()
    let after = try #require(fileSystem.bytes(of: "store"))
    #expect(try damagedPages(after).isEmpty)
    for map in stride(from: 3, to: after.count / 512, by: 118) {
      let range = map * 512..<(map + 1) * 512
      #expect(before[range] != after[range])
      var mixed = after
      mixed.replaceSubrange(range, with: before[range])
      #expect(try damagedPages(mixed).contains(map), "map \(map)")
    }
  }

  /// Of a closed store the newer meta page alone knows that there is no log.
  @Test func `any flipped bit in what the newer meta page says is an error`() throws {
    let bytes = try closedStore()
    let newer = bytes[512 + 8] > bytes[1024 + 8] ? 512 : 1024
    for offset in 0..<72 {
      for bit in 0..<8 {
        var flipped = bytes
        flipped[newer + offset] ^= 1 << bit
        let fileSystem = MemoryFileSystem()
        fileSystem.setBytes(flipped, of: "store")
        #expect(throws: StorageError.self, "byte \(offset), bit \(bit)") {
          try PageStore.open("store", options: Proof.options, in: fileSystem)
        }
      }
    }
  }

  @Test func `a flipped bit in the identity names page 0, and the next writer mends it`() throws {
    let bytes = try closedStore()
    var options = Proof.options
    options.isReadOnly = true
    for offset in 24..<104 {
      var flipped = bytes
      flipped[offset] ^= 1
      let fileSystem = MemoryFileSystem()
      fileSystem.setBytes(flipped, of: "store")
      let store = try PageStore.open("store", options: options, in: fileSystem)
      #expect(try store.check().findings.map { $0.page?.rawValue } == [0], "byte \(offset)")
      try store.close()
      #expect(try damagedPages(flipped).isEmpty, "byte \(offset)")
      try PageStore.open("store", options: Proof.options, in: fileSystem).close()
      #expect(fileSystem.bytes(of: "store") == bytes)
    }
  }

  @Test func `without a copy in a meta page a flipped bit in the identity is an error`() throws {
    var bytes = try closedStore()
    for page in 1...2 { bytes[page * 512 + 130] ^= 1 }
    for offset in 24..<104 {
      var flipped = bytes
      flipped[offset] ^= 1
      #expect(try damagedPages(flipped) == [0], "byte \(offset)")
    }
  }

  /// A leaf rots while a snapshot that shows it is held. Its tree is dropped, the page is used
  /// again, and a checkpoint writes it: what the snapshot saw cannot be put aside any more.
  @Test func `a snapshot whose page rotted does not see what took its place`() throws {
    let fileSystem = MemoryFileSystem()
    var store = try PageStore.open("store", options: Proof.options, in: fileSystem)
    try Proof.put(store, 0..<2000, 1)
    try store.close()
    store = try PageStore.open("store", options: Proof.options, in: fileSystem)
    let held = try store.snapshot()
    let bytes = try #require(fileSystem.bytes(of: "store"))
    // Beyond what is read at opening.
    let leaf = try #require((100..<(bytes.count / 512)).first { bytes[$0 * 512 + 16] == 2 })
    try [0xEE as UInt8].withUnsafeBytes {
      try fileSystem.open("store", .write).write($0, at: leaf * 512 + 200)
    }
    try store.write { try $0.dropTree("records") }
    try Proof.put(store, 0..<2000, 2, in: "new")
    try store.checkpoint()
    #expect(throws: StorageError.self) { try Proof.values(held) }
    #expect(
      try Proof.values(try store.snapshot(), in: "new") == [UInt8](repeating: 2, count: 2000))
  }

  /// The log has differences, and the page that they go on from is another one than it was, or
  /// rotted: what would come of them is no page of any time.
  @Test func `a difference is not applied to a page that is not the one it was made from`() throws {
    let disk = SimulatedDisk()
    var options = Proof.options
    options.imageByteLimit = 0
    var store = try PageStore.open("store", options: options, in: disk)
    try Proof.put(store, 0..<3, 1)
    try store.close()
    let earlier = try #require(disk.files["store"])
    store = try PageStore.open("store", options: options, in: disk)
    try Proof.put(store, 1..<3, 2)
    try store.close()
    store = try PageStore.open("store", options: options, in: disk)
    try Proof.put(store, 2..<3, 3)
    let files = disk.files
    let now = try #require(files["store"])
    #expect(try recovered(files, now).isEmpty)
    // Page 5 is the tree, a leaf.
    let leaf = 5 * 512..<6 * 512
    var lost = now
    lost.replaceSubrange(leaf, with: earlier[leaf])
    #expect(try recovered(files, lost).contains(5))
    var rotten = now
    rotten[5 * 512 + 300] ^= 1
    #expect(try recovered(files, rotten).contains(5))
  }

  /// The damaged pages of a store that is recovered from these files.
  private func recovered(_ files: [String: [UInt8]], _ store: [UInt8]) throws -> Set<Int> {
    var files = files
    files["store"] = store
    // To be read alone: without images such a store is not opened for writing.
    var options = Proof.options
    options.isReadOnly = true
    let store = try PageStore.open("store", options: options, in: SimulatedDisk(files))
    let report = try store.check()
    return Set(report.findings.compactMap { $0.page.map { Int($0.rawValue) } })
  }
}
