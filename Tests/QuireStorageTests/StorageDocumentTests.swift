import Foundation
import QuireSimulation
import QuireStorage
import Testing

/// The examples of `docs/storage.md`, in its order: each is here line by line, and runs.
@Suite("The storage document")
struct StorageDocumentTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/store" }

  init() throws { folder = try TemporaryFolder() }

  @Test func `a store is opened, written and read`() throws {
    let store = try PageStore.open(path)
    try store.write { transaction in
      let names = try transaction.createRecordTree("names")
      try names.put(Array("Ada".utf8), for: 1)
      try names.put(Array("Grace".utf8), for: 2)
    }
    let name = try store.read { snapshot in
      try snapshot.recordTree("names")?.value(for: 1)?.array
    }
    try store.close()
    #expect(name == Array("Ada".utf8))
    #expect(folder.names == ["store"])
  }

  @Test func `a value can be looked at without being kept`() throws {
    let store = PageStore.inMemory()
    try store.write { try $0.createRecordTree("names").put(Array("Ada".utf8), for: 1) }
    let length = try store.read { snapshot in
      try snapshot.recordTree("names")?.withValue(for: 1) { $0.count }
    }
    #expect(length == 3)
  }

  @Test func `trees have names, and ranges are read with cursors`() throws {
    let store = PageStore.inMemory()
    try store.write { transaction in
      let words = try transaction.createIndexTree("words")
      for word in ["pear", "apple", "plum"] {
        try words.put([UInt8(word.utf8.count)], for: Array(word.utf8))
      }
      try words.remove(Array("pear".utf8))
      try transaction.renameTree("words", to: "fruit")
      try transaction.createRecordTree("scratch")
      try transaction.dropTree("scratch")
    }
    let trees = try store.read { try $0.treeNames().map { "\($0.name) \($0.count)" } }
    #expect(trees == ["fruit 2"])

    let longest = try store.read { snapshot in
      guard var cursor = try snapshot.indexTree("fruit")?.cursor() else { return 0 }
      var longest = 0
      while try cursor.next() {
        longest = max(longest, try cursor.key.count)
      }
      return longest
    }
    #expect(longest == 5)

    try store.write { transaction in
      let amounts = try transaction.createRecordTree("amounts")
      for key in 98..<202 as Range<Int64> { try amounts.put([3], for: key) }
    }
    let total = try store.read { snapshot in
      guard var cursor = try snapshot.recordTree("amounts")?.cursor() else { return 0 }
      var total = 0
      var isThere = try cursor.seek(to: 100)
      while isThere, try cursor.key < 200 {
        total += Int(try cursor.valueBytes.first ?? 0)
        isThere = try cursor.next()
      }
      return total
    }
    #expect(total == 300)

    let transaction = try store.beginWrite()
    guard let amounts = try transaction.mutableRecordTree("amounts") else { return }
    try amounts.put([9], for: 150)
    let commit = try transaction.commit()
    #expect(commit.rawValue == 3)
    #expect(try store.check().isSound)
  }

  @Test func `a tree is built from sorted input, and replaced`() throws {
    let store = try PageStore.open(path)
    try store.write { transaction in
      try transaction.buildRecordTree("squares") { builder in
        for number in 0..<100_000 as Range<Int64> {
          try builder.append(Array("\(number * number)".utf8), for: number)
        }
      }
    }
    try store.write { transaction in
      guard var old = try transaction.recordTree("squares")?.cursor() else { return }
      try transaction.buildRecordTree("squares, even") { builder in
        while try old.next() {
          if try old.key % 2 == 0 { try builder.append(try old.valueBytes, for: try old.key) }
        }
      }
      try transaction.dropTree("squares")
      try transaction.renameTree("squares, even", to: "squares")
    }
    let squares = try #require(try store.snapshot().recordTree("squares"))
    #expect(squares.count == 50_000)
    #expect(try squares.value(for: 400)?.array == Array("160000".utf8))
    #expect(try squares.value(for: 401) == nil)
    #expect(try store.check().isSound)
    try store.close()
  }

  @Test func `options are given at opening`() throws {
    var options = PageStoreOptions()
    options.durability = .ordered
    options.cacheByteLimit = 256 << 20
    let store = try PageStore.open(path, options: options)
    try store.close()
    // What the table of the options says.
    let defaults = PageStoreOptions()
    #expect(defaults.createIfMissing && !defaults.mustNotExist && !defaults.isReadOnly)
    #expect(defaults.pageSize == 4096 && defaults.durability == .full)
    #expect(defaults.cacheByteLimit == 64 << 20 && defaults.checkpointByteLimit == 64 << 20)
    #expect(defaults.checkpointsInBackground)
    #expect(defaults.retainedByteLimit == 256 << 20)
    #expect(defaults.transactionByteLimit == 128 << 20)
    #expect(store.keyByteLimit == 986)
  }

  @Test func `a store is inspected, backed up and compacted`() throws {
    let store = try PageStore.open(path)
    try store.write { try $0.createRecordTree("names").put([1], for: 1) }
    let figures = store.statistics
    try store.checkpoint()
    let report = try store.check()
    guard report.isSound else { fatalError("\(report)") }
    try store.backUp(to: path + "-backup") { done, total in
      print("\(100 * done / total) %")
      return true
    }
    try store.compact()
    try store.close()
    #expect(figures.commitNumber.rawValue == 1)
    #expect(folder.names == ["store", "store-backup"])
  }

  @Test func `a store in memory is saved`() throws {
    let store = PageStore.inMemory()
    try store.write { try $0.createRecordTree("names").put(Array("Ada".utf8), for: 1) }
    try store.backUp(to: path)
    let saved = try PageStore.open(path)
    #expect(
      try saved.snapshot().recordTree("names")?.value(for: 1)?.array == Array("Ada".utf8))
    try saved.close()
  }

  @Test func `errors are told apart`() throws {
    var said: [String] = []
    func print(_ text: String) { said.append(text) }
    func open() {
      do throws(StorageError) {
        let store = try PageStore.open(path)
        try store.close()
      } catch {
        switch error {
        case .locked(let owner): print("wait for \(owner)")
        case .noSpaceLeft: print("free some space and try again")
        case .damaged, .logDamaged, .logCutShort, .logMissing, .imagesMissing, .logForeign:
          print("restore a backup: \(error)")
        case .poisoned, .io: print("the disk fails; open the store again: \(error)")
        case .outcomeUnknown: print("open the store again, and look what is in it: \(error)")
        default: print("\(error)")
        }
      }
    }
    open()
    #expect(said == [])

    var other: (any File)? = try DiskFileSystem().open(path, .write)
    #expect(try other?.lock(.exclusive) == true)
    let note = try DiskFileSystem().open(path + "-owner", .create)
    try Array("7\nphotos\nanvil\n0\n".utf8).withUnsafeBytes { try note.write($0, at: 0) }
    open()
    #expect(said.count == 1 && said[0].hasPrefix("wait for process 7 (photos) on anvil"))
    other = nil

    let file = try DiskFileSystem().open(path, .write)
    try [UInt8](repeating: 7, count: 3 * 4096).withUnsafeBytes { try file.write($0, at: 4096) }
    open()
    #expect(said.count == 2 && said[1].hasPrefix("restore a backup: "), "\(said)")
    try [UInt8](repeating: 7, count: 4096).withUnsafeBytes { try file.write($0, at: 0) }
    open()
    #expect(said.count == 3 && said[2].contains("store"), "\(said)")
  }

  /// Each block of the document must be here as it is there, but for the indentation.
  @Test func `the document shows what is tested here`() throws {
    func lines(_ url: URL) throws -> [String] {
      try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        .map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let file = URL(filePath: #filePath)
    let root = file.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let tested = try lines(file)
    var rest = try lines(root.appending(path: "docs/storage.md"))[...]
    var blockCount = 0
    while let start = rest.firstIndex(of: "```swift") {
      let end = try #require(rest[start...].firstIndex(of: "```"))
      let block = rest[(start + 1)..<end].filter { !$0.hasPrefix("import") }
      #expect(tested.contains(block), "\(block.first ?? "")")
      blockCount += 1
      rest = rest[(end + 1)...]
    }
    #expect(blockCount == 12)
  }
}
