import QuireSimulation
import QuireStorage
import Testing

/// A page file with a page overwritten, or its log cut off, gives back all that is left of it.
@Suite struct SalvageTests {
  private static let path = "/folder/store"
  private static let pageSize = 512

  /// The files of a store of two trees, and their entries.
  private struct Scene {
    var files: [String: [UInt8]] = [:]
    var numbers: [Int64: [UInt8]] = [:]
    var words: [[UInt8]: [UInt8]] = [:]
    var anatomy: StoreAnatomy

    /// - Parameter isClosed: a store that is not has all of its later commits in a log.
    init(isClosed: Bool) throws {
      let disk = MemoryFileSystem()
      var options = PageStoreOptions()
      options.pageSize = SalvageTests.pageSize
      var store = try PageStore.open(SalvageTests.path, options: options, in: disk)
      var numbers: [Int64: [UInt8]] = [:]
      var words: [[UInt8]: [UInt8]] = [:]
      try Self.put(0..<300, into: store, &numbers, &words)
      try store.close()
      if !isClosed {
        store = try PageStore.open(SalvageTests.path, options: options, in: disk)
        try Self.put(300..<320, into: store, &numbers, &words)
        try Self.put(320..<340, into: store, &numbers, &words)
      }
      for path in disk.paths { files[path] = disk.bytes(of: path) }
      if !isClosed { try store.close() }
      (self.numbers, self.words) = (numbers, words)
      anatomy = try StoreAnatomy(of: SalvageTests.path, in: try SalvageTests.disk(files))
    }

    private static func put(
      _ range: Range<Int>, into store: PageStore, _ numbers: inout [Int64: [UInt8]],
      _ words: inout [[UInt8]: [UInt8]]
    ) throws {
      let transaction = try store.beginWrite()
      let records =
        try transaction.mutableRecordTree("numbers") ?? transaction.createRecordTree("numbers")
      let index =
        try transaction.mutableIndexTree("words") ?? transaction.createIndexTree("words")
      for number in range {
        let key = Int64(number * 7919 % 1000)
        let value = [UInt8](
          repeating: UInt8(truncatingIfNeeded: number), count: number % 31 == 0 ? 900 : 20)
        try records.put(value, for: key)
        numbers[key] = value
        let word = Array("word \(key)".utf8)
        try index.put(Array("\(number)".utf8), for: word)
        words[word] = Array("\(number)".utf8)
      }
      try transaction.commit()
    }

    /// The keys of an entry that is on a page, wholly or in part.
    func lost(with page: Int) throws -> (numbers: Set<Int64>, words: Set<[UInt8]>) {
      var (numbers, words): (Set<Int64>, Set<[UInt8]>) = ([], [])
      for leaf in 0..<anatomy.shownPageCount {
        for entry in try anatomy.content(of: leaf).entries {
          let isHere: Bool
          if case .long(let byteCount, let first) = entry.value {
            // No run of this store goes past a page map.
            let last = Int(first.rawValue) + (Int(byteCount) - 1) / (SalvageTests.pageSize - 24)
            isHere = leaf == page || (Int(first.rawValue)...last).contains(page)
          } else {
            isHere = leaf == page
          }
          guard isHere, try anatomy.summary(of: leaf).level == 0 else { continue }
          switch entry.key {
          case .number(let number): numbers.insert(number)
          case .bytes(let bytes): words.insert(bytes)
          case .none: break
          }
        }
      }
      return (numbers, words)
    }
  }

  private static func disk(_ files: [String: [UInt8]]) throws -> MemoryFileSystem {
    let disk = MemoryFileSystem()
    for (path, bytes) in files {
      let file = try disk.open(path, .create)
      try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }
    return disk
  }

  private func salvage(
    _ files: [String: [UInt8]]
  ) throws -> (PageStore.SalvageReport, numbers: [Int64: [UInt8]], words: [[UInt8]: [UInt8]]) {
    let disk = try Self.disk(files)
    let report = try PageStore.salvage(Self.path, to: "/folder/new", in: disk)
    for (path, bytes) in files { #expect(disk.bytes(of: path) == bytes) }
    let store = try PageStore.open("/folder/new", options: PageStoreOptions(), in: disk)
    defer { try? store.close() }
    var (numbers, words): ([Int64: [UInt8]], [[UInt8]: [UInt8]]) = ([:], [:])
    try store.read { snapshot in
      for (name, kind, _) in try snapshot.treeNames() {
        if kind == .record, let tree = try snapshot.recordTree(name) {
          var cursor = tree.cursor()
          var isInside = try cursor.first()
          while isInside {
            numbers[try cursor.key] = Array(try cursor.valueBytes)
            isInside = try cursor.next()
          }
        } else if kind == .index, let tree = try snapshot.indexTree(name) {
          var cursor = tree.cursor()
          var isInside = try cursor.first()
          while isInside {
            words[Array(try cursor.key)] = Array(try cursor.valueBytes)
            isInside = try cursor.next()
          }
        }
      }
    }
    #expect(try store.check().isSound)
    return (report, numbers, words)
  }

  @Test(arguments: [true, false])
  func `all entries that are not on the overwritten page are in the new store`(
    isClosed: Bool
  ) throws {
    let scene = try Scene(isClosed: isClosed)
    let original = try #require(scene.files[Self.path])
    let pages = Amount.some(
      of: Array(0..<original.count / Self.pageSize), oneIn: 7, at: Int.random(in: 0..<7))
    for page in pages {
      var files = scene.files
      let start = page * Self.pageSize
      files[Self.path]?.replaceSubrange(
        start..<start + Self.pageSize, with: repeatElement(0xA5, count: Self.pageSize))
      let found = try salvage(files)
      var (numbers, words) = (scene.numbers, scene.words)
      // What the log has of a page is not lost with the page in the file.
      if try !scene.anatomy.summary(of: page).isFromLog {
        let lost = try scene.lost(with: page)
        for key in lost.numbers { numbers[key] = nil }
        for key in lost.words { words[key] = nil }
      }
      #expect(found.numbers == numbers, "page \(page)")
      #expect(found.words == words, "page \(page)")
      let isComplete = numbers == scene.numbers && words == scene.words
      // Without the catalog nothing says how many entries there were.
      if page != 4 { #expect(found.0.isComplete == isComplete, "page \(page)") }
      // The meta pages and the log have the store's identity as well.
      #expect(found.0.isVerified, "page \(page)")
    }
  }

  @Test func `a store without its log gives back its last checkpoint`() throws {
    let scene = try Scene(isClosed: false)
    let found = try salvage(scene.files.filter { $0.key == Self.path })
    #expect(found.numbers.count == 300)
    #expect(found.0.findings.contains { $0.message.contains("log") })
  }

  @Test func `salvage refuses a file that is no store or is in use`() throws {
    let disk = try Self.disk(["/folder/text": Array("no store at all".utf8)])
    #expect(throws: StorageError.self) {
      try PageStore.salvage("/folder/text", to: "/folder/new", in: disk)
    }
    #expect(throws: StorageError.self) {
      try PageStore.salvage("/folder/none", to: "/folder/new", in: disk)
    }
    let scene = try Scene(isClosed: true)
    let busy = try Self.disk(scene.files)
    let store = try PageStore.open(Self.path, options: PageStoreOptions(), in: busy)
    #expect(throws: StorageError.self) {
      try PageStore.salvage(Self.path, to: "/folder/new", in: busy)
    }
    try store.close()
    #expect(throws: StorageError.self) {
      try PageStore.salvage(Self.path, to: Self.path, in: busy)
    }
    #expect(busy.bytes(of: "/folder/new") == nil)
  }

  /// Nodes that share a child: as many ways to a leaf as there are entries, to the power of the
  /// levels.
  @Test func `nodes that share their children are visited once`() throws {
    var files = try sharedTree()
    let root = try anatomyRoot(of: "numbers", files)
    var bytes = try #require(files[Self.path])
    let sealing = try #require(FileSealing(repairing: &bytes))
    let anatomy = try StoreAnatomy(of: Self.path, in: try Self.disk(files))
    let leaves = try (4..<anatomy.shownPageCount).filter {
      let summary = try anatomy.summary(of: $0)
      return summary.tree == "numbers" && summary.level == 0 && summary.type == "record leaf"
    }
    let levelCount = 10
    let chain = [root] + leaves.prefix(levelCount)
    let node = Array(bytes[root * Self.pageSize..<(root + 1) * Self.pageSize])
    let count = Int(node.number(at: 18, byteCount: 2))
    let children = 40 + count << (1 + Int(node[32]))
    for (page, next) in zip(chain, chain.dropFirst()) {
      let start = page * Self.pageSize
      bytes.replaceSubrange(start + 16..<start + Self.pageSize, with: node[16...])
      bytes[start + 17] = UInt8(levelCount - (chain.firstIndex(of: page) ?? 0))
      for slot in 0..<count {
        bytes.setNumber(UInt64(next), at: start + children + 4 * slot, byteCount: 4)
      }
      sealing.sealPage(page, at: start, in: &bytes)
    }
    files[Self.path] = bytes
    let found = try salvage(files)
    #expect(count > 3, "the tree has too few entries for this")
    #expect(!found.0.isComplete)
    // The leaves to which nothing leads any longer are trees of their own, beside the one that has
    // the first of such names.
    #expect(found.numbers[-1] == [1])
    #expect(found.numbers.count > 100)
    #expect(Set(found.numbers.keys).isSubset(of: Set(0..<1000).union([-1])))
  }

  /// Three values of several pages each.
  private struct LongValues {
    var bytes: [UInt8]
    /// The leaf that leads to them, and the first page of each.
    let leaf: Int
    let runs: [UInt64]

    init() throws {
      let disk = MemoryFileSystem()
      var options = PageStoreOptions()
      options.pageSize = pageSize
      let store = try PageStore.open(path, options: options, in: disk)
      try store.write { transaction in
        let tree = try transaction.createRecordTree("numbers")
        for key in 1...3 as ClosedRange<Int64> {
          try tree.put([UInt8](repeating: UInt8(key), count: 3_000), for: key)
        }
      }
      try store.close()
      let anatomy = try StoreAnatomy(of: path, in: disk)
      leaf = try #require(
        try (4..<anatomy.shownPageCount).first {
          let summary = try anatomy.summary(of: $0)
          return summary.tree == "numbers" && summary.level == 0 && summary.type == "record leaf"
        })
      runs = try anatomy.content(of: leaf).entries.map { entry in
        guard case .long(_, let first) = entry.value else { throw StorageError.closed }
        return UInt64(first.rawValue)
      }
      bytes = try #require(disk.bytes(of: path))
    }
  }

  /// A file of some megabytes could otherwise fill any disk.
  @Test func `values that share their pages are read once`() throws {
    var values = try LongValues()
    let sealing = try #require(FileSealing(repairing: &values.bytes))
    let start = values.leaf * Self.pageSize
    let places = (start + 24..<start + Self.pageSize - 4).filter {
      values.bytes.number(at: $0, byteCount: 4) == values.runs[1]
    }
    for place in places { values.bytes.setNumber(values.runs[0], at: place, byteCount: 4) }
    sealing.sealPage(values.leaf, at: start, in: &values.bytes)
    let found = try salvage([Self.path: values.bytes])
    #expect(places.count == 1)
    #expect(found.numbers.keys.sorted() == [1, 3])
    #expect(!found.0.isComplete)
  }

  @Test func `a page that has fewer bytes of a value than it should is none of that value`() throws
  {
    var values = try LongValues()
    let sealing = try #require(FileSealing(repairing: &values.bytes))
    let page = Int(values.runs[1])
    let start = page * Self.pageSize
    let count = values.bytes.number(at: start + 18, byteCount: 2)
    values.bytes.setNumber(count - 1, at: start + 18, byteCount: 2)
    sealing.sealPage(page, at: start, in: &values.bytes)
    let found = try salvage([Self.path: values.bytes])
    #expect(found.numbers.keys.sorted() == [1, 3])
    #expect(!found.0.isComplete)
  }

  /// A store of a tree of two levels, and of one that an earlier salvage has left.
  private func sharedTree() throws -> [String: [UInt8]] {
    let disk = MemoryFileSystem()
    var options = PageStoreOptions()
    options.pageSize = Self.pageSize
    let store = try PageStore.open(Self.path, options: options, in: disk)
    try store.write { transaction in
      let numbers = try transaction.createRecordTree("numbers")
      for key in 0..<200 as Range<Int64> {
        try numbers.put([UInt8](repeating: 7, count: 60), for: key)
      }
      try transaction.createRecordTree("lost+found/1").put([1], for: -1)
    }
    try store.close()
    return [Self.path: try #require(disk.bytes(of: Self.path))]
  }

  private func anatomyRoot(of tree: String, _ files: [String: [UInt8]]) throws -> Int {
    let anatomy = try StoreAnatomy(of: Self.path, in: try Self.disk(files))
    let inner = try (4..<anatomy.shownPageCount).filter {
      let summary = try anatomy.summary(of: $0)
      return summary.tree == tree && summary.type == "record inner"
    }
    #expect(inner.count == 1)
    return try #require(inner.first)
  }
}
