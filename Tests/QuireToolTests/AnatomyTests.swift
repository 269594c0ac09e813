import Foundation
import QuireSimulation
import QuireStorage
import QuireTool
import Testing

/// What `check`, `stat` and `dump --pages` know of the structures of a store.
@Suite struct AnatomyTests {
  private func damaged(_ name: String) throws -> StoreFixture {
    try #require(try DamagedFixtures.all().first { $0.name == name })
  }

  private func files(
    _ store: [UInt8], _ log: [UInt8]? = nil
  ) -> MemoryFileSystem {
    let files = MemoryFileSystem()
    files.setBytes(store, of: "store")
    if let log { files.setBytes(log, of: "store-log") }
    return files
  }

  /// Looks at everything there is.
  @discardableResult
  private func lookAtAll(
    in files: MemoryFileSystem, listing: Bool = false
  ) throws -> StoreAnatomy {
    let anatomy = try StoreAnatomy(of: "store", in: files)
    for number in 0..<anatomy.shownPageCount {
      _ = try anatomy.summary(of: number)
      let content = try anatomy.content(of: number)
      guard listing else { continue }
      let lines = HexListing.lines(of: content.bytes, parts: content.parts)
      #expect(HexListing.bytes(in: lines.map { $0[...] }) == content.bytes)
    }
    for record in anatomy.log?.records ?? [] { _ = anatomy.log?.parts(of: record) }
    return anatomy
  }

  @Test func `of sound stores it counts what the engine counts`() throws {
    for (fixture, content) in try SoundFixtures.all() {
      let anatomy = try lookAtAll(in: files(fixture.store, fixture.log), listing: true)
      #expect(anatomy.findings.map { "\($0)" } == [], "\(fixture.name)")
      let trees = anatomy.trees.dropFirst()
      for tree in trees {
        let records = content.records[tree.name]
        let index = content.indexes[tree.name]
        #expect(tree.entryCount == records?.count ?? index?.count)
        let bytes = (records.map { Array($0.values) } ?? index.map { Array($0.values) } ?? [])
        #expect(tree.valueByteCount == bytes.reduce(0) { $0 + $1.count })
      }
      #expect(trees.count == content.records.count + content.indexes.count)
      let pages = try (0..<anatomy.shownPageCount).map { try anatomy.summary(of: $0) }
      let treePageCount = anatomy.trees.reduce(0) { $0 + $1.pageCount }
      #expect(pages.filter { $0.tree != nil }.count == treePageCount)
      #expect(pages.filter { $0.type == "free" }.count == anatomy.freePageCount)
    }
  }

  @Test func `it finds what the engine finds, and nothing where that finds nothing`() throws {
    for fixture in try DamagedFixtures.all() where fixture.opening.hasPrefix("opens") {
      let anatomy = try lookAtAll(in: files(fixture.store, fixture.log))
      #expect(anatomy.isSound == (fixture.finding == "sound"), "\(fixture.name)")
      let findings = anatomy.findings.map { "\($0)" }
      let page = fixture.finding.prefix { $0 != ":" }
      if !anatomy.isSound {
        #expect(findings.contains { $0.hasPrefix(page) }, "\(fixture.name): \(findings)")
      }
    }
  }

  @Test func `no damaged byte makes it trap`() throws {
    let fixture = try #require(
      try SoundFixtures.all().first { $0.fixture.name == "with-log-512" }?.fixture)
    let log = try #require(fixture.log)
    for place in stride(from: 0, to: fixture.store.count, by: Amount.of(debug: 1_601, release: 131))
    {
      var store = fixture.store
      store[place] ^= 0x41
      do { try lookAtAll(in: files(store, log)) } catch is StorageError {}
    }
    for place in stride(from: 0, to: log.count, by: Amount.of(debug: 2_741, release: 229)) {
      var log = log
      log[place] ^= 0x41
      _ = try lookAtAll(in: files(fixture.store, log))
    }
  }

  @Test func `nor does a page of nonsense with a right checksum`() throws {
    let closed = try #require(
      try SoundFixtures.all().first { $0.fixture.name == "closed-512" }?.fixture)
    let anatomy = try StoreAnatomy(of: "store", in: files(closed.store))
    let odd = [(16, 3), (17, 200), (18, 255), (20, 255), (24, 255), (26, 7), (500, 255)]
    for page in stride(from: 1, to: anatomy.shownPageCount, by: Amount.of(debug: 51, release: 5)) {
      for (offset, byte) in odd {
        var store = closed.store
        store[page * 512 + offset] = UInt8(byte)
        PageSealing.seal(&store, page: page, pageSize: 512, identity: anatomy.identity)
        _ = try lookAtAll(in: files(store))
      }
    }
  }

  @Test func `cut anywhere, what is left is shown`() throws {
    let store = try damaged("flipped-bit").store
    for count in stride(from: 104, to: store.count, by: 97) {
      let anatomy = try lookAtAll(in: files(Array(store[..<count])))
      #expect(!anatomy.isSound)
    }
  }

  @Test func `a log tells which of its records count, and why the others do not`() throws {
    func states(_ name: String) throws -> [LogAnatomy.State] {
      let fixture = try damaged(name)
      return try lookAtAll(in: files(fixture.store, fixture.log)).log?.records.map(\.state) ?? []
    }
    #expect(try states("torn-log") == [.counts, .counts, .counts, .torn])
    #expect(try states("damaged-log") == [.counts, .torn, .unreached, .unreached])
    // Nothing in it can be recognized: the checks of the headers have another identity in them.
    #expect(try states("foreign-log") == [])
  }

  /// The engine takes such a log for one without commits; nothing in it vouches for them.
  @Test func `a log of an earlier time is no log of the store`() throws {
    let files = MemoryFileSystem()
    var store: PageStore? = try PageStore.open("store", in: files)
    try store?.write { try $0.createRecordTree("a").put([1], for: 1) }
    let earlier = try #require(files.bytes(of: "store-log"))
    try store?.close()
    store = try PageStore.open("store", in: files)
    try store?.write { try $0.mutableRecordTree("a")?.put([2], for: 1) }
    store = nil
    #expect(try StoreAnatomy(of: "store", in: files).isSound)
    files.setBytes(earlier, of: "store-log")
    let anatomy = try StoreAnatomy(of: "store", in: files)
    #expect(anatomy.log?.records.map(\.state) == [.stale])
    #expect(anatomy.findings.contains { $0.message.contains("it is of an earlier time") })
  }

  // MARK: Printed

  @Test func `pages, a page and the log are printed`() throws {
    let path = Fixtures.folder.appending(path: "Format2/with-log-512.quire").path
    let pages = ToolRun("dump", path, "--pages")
    #expect(pages.code == .good)
    let count = try #require(try ToolRun("stat", path, "--json").json()["pages"] as? Int)
    #expect(pages.lines.count == 1 + count)
    let words = [
      "identity", "meta A", "counts", "map", "record leaf", "overflow", "Schlüssel, long",
    ]
    for word in words {
      #expect(pages.output.contains(word), "\(word)")
    }
    let root = try #require(pages.lines.first { $0.contains("names") })
    let number = try #require(root.split(separator: " ").first)
    let page = ToolRun("dump", path, "--page", String(number))
    #expect(page.code == .good)
    #expect(page.output.contains("“name/") || page.output.contains("no bound"))
    #expect(page.output.contains("where the cells begin"))
    let log = ToolRun("dump", path, "--log")
    #expect(log.output.contains(": counts\n  commit 2, epoch 2, durable through 1"))
    #expect(ToolRun("dump", path, "--page", "4000").code == .bad)
    #expect(ToolRun("dump", path, "--pages", "--entity", "x").code == .wrongUsage)
  }

  @Test func `nothing printed can move the cursor`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("odd.quire")
    let store = try PageStore.open(path)
    try store.write { transaction in
      let tree = try transaction.createIndexTree("a\u{1B}[2J\nb")
      try tree.put(Array("\u{1B}[31m\r\n\u{7}".utf8), for: Array("\u{1B}]0;x\u{7}".utf8))
      try tree.put([0xFF, 0], for: [0xFE, 0x1B])
    }
    try store.close()
    for words in [["stat"], ["check"], ["dump", "--pages"], ["dump", "--page", "5"]] {
      let run = ToolRun([words[0], path] + words.dropFirst())
      #expect(run.code == .good, "\(run.errors)")
      #expect(!run.output.unicodeScalars.contains { $0.value < 32 && $0 != "\n" }, "\(words)")
    }
  }

  @Test func `a store that is open for writing is shown as of a commit, and names its owner`()
    throws
  {
    let folder = try TemporaryFolder()
    let path = folder.path("open.quire")
    let store = try PageStore.open(path)
    try store.write { try $0.createRecordTree("a").put([1], for: 1) }
    for words in [
      ["dump", path, "--pages"], ["stat", path], ["dump", path, "--page", "4"], ["check", path],
    ] {
      let run = ToolRun(words)
      #expect(run.code == .good, "\(words): \(run.errors)")
      #expect(run.errors.contains("process \(ProcessInfo.processInfo.processIdentifier)"))
      #expect(run.errors.contains("this is its commit 1"))
      #expect(!run.output.contains("quire-copy-"))
    }
    #expect(folder.names == ["open.quire", "open.quire-log", "open.quire-owner"])
    try store.write { try $0.mutableRecordTree("a")?.put([2], for: 2) }
    try store.close()
    #expect(ToolRun("dump", path, "--pages").code == .good)
  }

  @Test func `a folder that cannot be written is no hindrance`() throws {
    let folder = try TemporaryFolder()
    let name = "with-log-512.quire"
    for file in [name, name + "-log"] {
      try FileManager.default.copyItem(
        at: Fixtures.folder.appending(path: "Format1/\(file)"),
        to: folder.url.appending(path: file))
    }
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o500], ofItemAtPath: folder.url.path)
    defer {
      try? FileManager.default.setAttributes(
        [.posixPermissions: 0o700], ofItemAtPath: folder.url.path)
    }
    for words in [["check"], ["stat"], ["dump", "--pages", "--log"]] {
      #expect(ToolRun([words[0], folder.path(name)] + words.dropFirst()).code == .good)
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        == [name, name + "-log"])
  }
}
