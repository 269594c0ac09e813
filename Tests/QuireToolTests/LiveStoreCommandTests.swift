import Foundation
import Quire
import QuireModel
import QuireSimulation
import QuireStorage
import QuireTool
import Synchronization
import Testing

/// Commands beside a program that writes to the store: here this process, while the commands run in
/// processes of their own.
@Suite struct LiveStoreCommandTests {
  /// Runs a command in another process, while this one saves.
  private static func run(
    _ words: [String], in folder: TemporaryFolder, beside writer: inout LiveStoreWriter
  ) throws -> ToolProcess {
    let process = try ToolProcess(["quire"] + words, in: folder.url.path)
    while process.isRunning { try writer.save() }
    let code = process.wait()
    #expect(code == 0, "\(words): \(process.errors)")
    return process
  }

  @Test(arguments: [false, true])
  func `every command that only reads shows one commit of a live store`(isShared: Bool) throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.3")
    var writer = try LiveStoreWriter(store, isShared: isShared)
    for round in 0..<Amount.of(debug: 2, release: 6) {
      let file = folder.path("page-\(round).html")
      var words = ["show", store, "--to", file, "--open", "no"]
      let show = try Self.run(words, in: folder, beside: &writer)
      let html = try String(contentsOfFile: file, encoding: .utf8)
      let titles = Set(html.matches(of: /"(Save \d+)"/).map { $0.output.1 })
      #expect(titles.count == 1, "the page is of several commits: \(titles)")
      #expect(!html.contains("quire-copy-"))

      let doctor = try Self.run(["doctor", store], in: folder, beside: &writer)
      #expect(doctor.output.contains("Nothing is wrong."), "\(doctor.output)")

      words = ["migrate", store, "--model", Fixtures.model, "--dry-run"]
      let migrate = try Self.run(words, in: folder, beside: &writer)
      #expect(migrate.output.hasSuffix("Nothing was written: this was a dry run.\n"))

      let stat = try Self.run(["stat", store], in: folder, beside: &writer)
      #expect(stat.output.contains("Artwork"))

      for run in [show, doctor, migrate, stat] {
        let note = isShared ? "is (in use|shared) by process" : "is in use by process"
        let pattern = try Regex("\(note).*: this is its commit \\d+")
        #expect(run.errors.contains(pattern), "\(run.errors)")
      }
    }
    let count = writer.saveCount
    try writer.save()
    #expect(writer.saveCount == count + 1 && count > 8)
    try writer.close()
    #expect(ToolRun("check", store).code == .good)
  }

  @Test func `the log of a live store is shown up to a commit`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 1.3")
    var writer = try LiveStoreWriter(store, isShared: false)
    var seen = 0
    for words in [["--log"], ["--log", "--page", "3"], ["--log", "--pages"]] {
      let run = try Self.run(["dump", store] + words, in: folder, beside: &writer)
      let note = try #require(
        run.errors.firstMatch(of: /this is its log as of commit (\d+)/), "\(run.errors)")
      let last = try #require(Int(note.output.1))
      let counting = run.output.matches(of: /record at \d+: counts\n  commit (\d+),/)
        .compactMap { Int($0.output.1) }
      if let first = counting.first { #expect(counting == Array(first...last)) }
      #expect(!run.output.contains("torn or damaged"))
      #expect(run.output.contains(" \(store)-log\n"))
      let pages = ["--page": "page      3, at byte", "--pages": "page  type"]
      for (option, start) in pages {
        #expect(run.output.hasPrefix(start) == words.contains(option))
      }
      seen += counting.count
    }
    #expect(seen > 0)
    try writer.close()
  }

  /// A process that has the store, as far as locks and notes tell.
  private static func locking<Result>(
    _ store: String, _ body: () throws -> Result
  ) throws -> Result {
    let descriptor = open(store, O_RDWR)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX) == 0)
    try Data("4711\nshop\nhost.example\n0\n".utf8).write(to: URL(filePath: store + "-owner"))
    return try body()
  }

  @Test func `the doctor finds damage in a live store, and says to stop its program`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    try folder.damage(store) { $0[12 * 4096 + 300] ^= 1 }
    let run = try Self.locking(store) { ToolRun("doctor", store) }
    #expect(run.code == .bad)
    #expect(run.output.contains("page 12"), "\(run.output)")
    #expect(run.output.contains("in use by process 4711 (shop) on host.example. Stop that program"))
    #expect(!run.output.contains("quire salvage"))
    #expect(ToolRun("doctor", store).output.contains("quire salvage"))
  }

  /// They may be being made.
  @Test func `files beside a live store are not called remains`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    try Data().write(to: URL(filePath: store + "-log-new"))
    let run = try Self.locking(store) { ToolRun("doctor", store) }
    #expect(run.code == .good && !run.output.contains("-log-new"), "\(run.output)")
    #expect(ToolRun("doctor", store).output.contains("-log-new"))
  }

  /// Between turns nobody has a lock, and the command takes none that would make others wait.
  @Test func `a store that is shared is copied also while nobody writes`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    let writer = try LiveStoreWriter(store, isShared: true)
    let dump = ToolRun("dump", store)
    #expect(dump.code == .good && dump.output.contains("Save 1"))
    try writer.close()
    let run = ToolRun("stat", store)
    #expect(run.code == .good)
    #expect(
      run.errors.contains("is shared by processes that write it in turn: this is its commit"),
      "\(run.errors)")
    let copy = folder.path("copy.quire")
    #expect(ToolRun("backup", store, "--to", copy).code == .good)
    #expect(ToolRun("dump", copy).output == dump.output)
  }

  @Test func `a store that is shared and damaged is shown as far as it goes`() throws {
    let folder = try TemporaryFolder()
    let store = try folder.fixture("Gallery 2.7")
    try LiveStoreWriter(store, isShared: true).close()
    try folder.damage(store) { $0[12 * 4096 + 300] ^= 1 }
    let run = ToolRun("doctor", store)
    #expect(run.code == .bad && run.output.contains("quire salvage"), "\(run.output)")
  }
}
