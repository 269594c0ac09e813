import Foundation
import Quire
import QuireSimulation
import QuireTool
import Testing

/// Commands that write are asked to end, at any moment: files are as before, or all is done.
@Suite struct InterruptionTests {
  /// A store that keeps a command busy, and what was exported of it.
  private struct Busy {
    let folder: TemporaryFolder
    var store: String { folder.path("notes.quire") }

    init(count: Int = 250) throws {
      folder = try TemporaryFolder()
      let body = String(repeating: "Harbour after rain. ", count: 200)
      let lines = (1...count).map {
        #"{"entity": "Note", "id": "\#($0)", "body": "\#(body)"}"#
      }
      try FileManager.default.createDirectory(
        atPath: folder.path("notes"), withIntermediateDirectories: false)
      try lines.joined(separator: "\n").write(
        toFile: folder.path("notes/Note.jsonl"), atomically: false, encoding: .utf8)
      let loading = ToolRun(
        "load", folder.path("notes"), "--to", store, "--model", Fixtures.store("Gallery 2.0"))
      #expect(loading.code == .good, "\(loading.errors)")
      let backup = ToolRun("backup", store, "--to", folder.path("safe.quire"))
      #expect(backup.code == .good, "\(backup.errors)")
    }

    /// The names of all files and folders, at any depth.
    func names() -> Set<String> {
      Set(FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? [])
    }
  }

  // Made once, and only read from then on.
  private nonisolated(unsafe) static let busy = Result { try Busy() }

  private struct Case: Sendable, CustomTestStringConvertible {
    var words: [String]
    /// What is there when the command is done.
    var made: Set<String>
    var testDescription: String { words[0] }
  }

  private static let cases = [
    Case(words: ["backup", "notes.quire", "--to", "copy.quire"], made: ["copy.quire"]),
    Case(words: ["compact", "notes.quire"], made: []),
    Case(words: ["restore", "safe.quire", "--to", "notes.quire"], made: []),
    Case(words: ["salvage", "notes.quire", "--to", "saved.quire"], made: ["saved.quire"]),
    Case(
      words: ["load", "notes", "--to", "new.quire", "--model", "notes.quire"], made: ["new.quire"]),
    Case(
      words: ["migrate", "notes.quire", "--model", Fixtures.model, "--backup", "before.quire"],
      made: ["before.quire"]),
    Case(
      words: ["export", "notes.quire", "--to", "out"],
      made: Set(
        ["out"]
          + (GalleryGenerator.objectCounts["Gallery 2.0"] ?? [:]).keys.map { "out/\($0).jsonl" })),
  ]

  @Test(arguments: cases)
  private func `an interrupted command has done all or nothing`(_ one: Case) throws {
    let busy = try Self.busy.get()
    let seed = UInt64.random(in: 1...UInt64.max)
    var random = SeededRandom(seed: seed, stream: one.words[0])
    var duration = 0.3
    for round in 0..<Amount.of(debug: 3, release: 12, exhaustive: 100) {
      let folder = try TemporaryFolder()
      let before = busy.names()
      for name in before where !name.contains("/") {
        try FileManager.default.copyItem(atPath: busy.folder.path(name), toPath: folder.path(name))
      }
      let (code, _) = try Self.interrupt(
        one.words, in: folder.path, round, &duration, &random, "seed \(seed)")
      let after = Set(
        FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? [])
      let made = after.subtracting(before)
      #expect(made.isEmpty || made == one.made, "seed \(seed): \(made)")
      #expect(after.isSuperset(of: before))
      if code == 0 { #expect(made == one.made) }
      let check = try ToolRun("check", folder.path("notes.quire"), "--json").json()
      #expect(check["isSound"] as? Bool == true && check["objects"] as? Int == 250, "seed \(seed)")
    }
  }

  /// Starts a command, and asks it to end after a part of the time that it takes.
  ///
  /// - Parameter round: the first, 0, is left alone, so that it is known how long the others have.
  private static func interrupt(
    _ words: [String], in folder: String, _ round: Int, _ duration: inout Double,
    _ random: inout SeededRandom, _ what: String
  ) throws -> (code: Int32, output: String) {
    let start = Date()
    let run = try ToolProcess(["quire"] + words, in: folder)
    if round > 0 {
      usleep(UInt32(random.below(max(1, Int(duration * 1e6)))))
      run.send(round % 2 == 0 ? SIGINT : SIGTERM)
    }
    let code = run.wait()
    if round == 0 { duration = Date().timeIntervalSince(start) }
    #expect(code == 0 || code == (round % 2 == 0 ? 130 : 143), "\(what): \(code) \(run.errors)")
    return (code, run.output)
  }

  @Test func `an interrupted finish of a deferred migration has rewritten all or nothing`() throws {
    let folder = try TemporaryFolder()
    let title = String(repeating: "Harbour after rain. ", count: 50)
    let lines = (1...300).map {
      #"{"entity": "Artwork", "id": "\#($0)", "slug": "s\#($0)", "title": "\#(title)"}"#
    }
    try lines.joined(separator: "\n").write(
      toFile: folder.path("Artwork.jsonl"), atomically: false, encoding: .utf8)
    let store = folder.path("left.quire")
    let load = ToolRun(
      "load", folder.path("Artwork.jsonl"), "--to", store, "--model", Fixtures.store("Gallery 2.0"))
    #expect(load.code == .good, "\(load.errors)")
    let finish = ["migrate", "left.quire", "--model", Fixtures.model, "--finish"]
    #expect(ToolRun("migrate", store, "--model", Fixtures.model, "--deferred").code == .good)
    func leftCount(_ path: String) throws -> Int? {
      let plan = try ToolRun(["migrate", path] + finish.dropFirst(2) + ["--dry-run", "--json"])
        .json()
      return (plan["finished"] as? [String: Any])?["objects"] as? Int
    }
    #expect(try leftCount(store) == 300)
    let seed = UInt64.random(in: 1...UInt64.max)
    var random = SeededRandom(seed: seed, stream: "finish")
    var duration = 0.3
    for round in 0..<Amount.of(debug: 3, release: 12, exhaustive: 100) {
      let trial = try TemporaryFolder()
      let copy = trial.path("left.quire")
      try FileManager.default.copyItem(atPath: store, toPath: copy)
      let what = "seed \(seed), round \(round)"
      let run = try Self.interrupt(finish, in: trial.path, round, &duration, &random, what)
      // A signal that comes after the last step changes the code, and nothing else.
      let isDone = run.output.hasPrefix("finished in ")
      #expect(isDone || run.code != 0, "\(what)")
      #expect(try leftCount(copy) == (isDone ? nil : 300), "\(what)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: trial.path) == ["left.quire"])
      let check = try ToolRun("check", copy, "--json").json()
      #expect(check["isSound"] as? Bool == true && check["objects"] as? Int == 300, "\(what)")
      if !isDone { #expect(ToolRun(["migrate", copy] + finish.dropFirst(2)).code == .good) }
    }
  }

  /// A load that waits for what comes through a pipe with a name.
  private func waitingLoad() throws -> (ToolProcess, TemporaryFolder, FileHandle) {
    let folder = try TemporaryFolder()
    #expect(mkfifo(folder.path("in.jsonl"), 0o600) == 0)
    let run = try ToolProcess(
      [
        "quire", "load", "in.jsonl", "--to", "a.quire", "--model", Fixtures.store("Gallery 2.0"),
      ], in: folder.path)
    // Opened when the tool reads at the other end, and so when signals are caught.
    return (run, folder, try #require(FileHandle(forWritingAtPath: folder.path("in.jsonl"))))
  }

  @Test func `the first signal ends a command in good order, and the code says which it was`()
    throws
  {
    for (signal, code) in [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)] {
      let (run, folder, pipe) = try waitingLoad()
      run.send(signal)
      usleep(20_000)
      #expect(run.isRunning)
      try pipe.write(contentsOf: Data(#"{"entity": "Note", "id": "1", "body": "b"}"#.utf8))
      try pipe.close()
      #expect(run.wait() == code)
      #expect(run.errors == "quire: interrupted; nothing was changed\n" && run.output.isEmpty)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["in.jsonl"])
    }
  }

  @Test func `the second signal ends a command at once`() throws {
    let (run, _, pipe) = try waitingLoad()
    run.send(SIGINT)
    usleep(20_000)
    run.send(SIGINT)
    #expect(run.wait() == 130 && run.errors.isEmpty)
    try pipe.close()
  }

  @Test func `a hangup signal set to be ignored does not end load`() throws {
    let folder = try TemporaryFolder()
    #expect(mkfifo(folder.path("in.jsonl"), 0o600) == 0)
    let store = Fixtures.store("Gallery 2.0")
    let run = try ToolProcess(
      ["sh", "-c", "trap '' HUP; exec quire load in.jsonl --to a.quire --model '\(store)'"],
      in: folder.path)
    let pipe = try #require(FileHandle(forWritingAtPath: folder.path("in.jsonl")))
    run.send(SIGHUP)
    try pipe.write(contentsOf: Data(#"{"entity": "Note", "id": "1", "body": "b"}"#.utf8))
    try pipe.close()
    #expect(run.wait() == 0 && run.output.contains("1 new object"))
  }
}
