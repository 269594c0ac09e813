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
      // The log has the store's identity as well.
      #expect(found.0.isVerified == (page != 0 || !isClosed))
    }
  }

  @Test func `a store without its log gives back its last checkpoint`() throws {
    let scene = try Scene(isClosed: false)
    let found = try salvage(scene.files.filter { $0.key == Self.path })
    #expect(found.numbers.count == 300)
    #expect(found.0.findings.contains { $0.message.contains("log") })
  }

  @Test func `what is not a store, or is in use, is refused with an error`() throws {
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
}
