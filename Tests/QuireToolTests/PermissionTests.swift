import Foundation
import QuireTool
import Testing

/// Files that may not be read or written are told from files that do not exist.
@Suite struct PermissionTests {
  /// What makes a program run without the rights of the administrator; empty where they are not
  /// there, `nil` where that cannot be done.
  private static let start: [String]? = {
    if geteuid() != 0 { return [] }
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv"),
      let probe = try? ToolProcess(unprivileged + ["quire", "--version"], in: "/"),
      probe.wait() == 0
    else { return nil }
    return unprivileged
  }()

  private static let unprivileged = [
    "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
  ]

  /// A folder with files that nobody may read, and a folder `closed` that nobody may look into.
  private func place() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path("closed"), withIntermediateDirectories: false)
    for name in ["g.quire", "mine.quire", "closed/g.quire"] {
      try FileManager.default.copyItem(
        atPath: Fixtures.store("Gallery 2.7"), toPath: folder.path(name))
    }
    for name in ["g.sqlite", "g.jsonl", "closed/g.sqlite", "closed/g.jsonl"] {
      try Data("{}".utf8).write(to: URL(filePath: folder.path(name)))
    }
    func mode(_ mode: Int, _ name: String) throws {
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: name.isEmpty ? folder.path : folder.path(name))
    }
    for name in ["g.quire", "g.sqlite", "g.jsonl", "closed"] { try mode(0, name) }
    try mode(0o644, "mine.quire")
    try mode(0o777, "")
    return folder
  }

  private static let calls: [[String]] = [
    ["stat"], ["check"], ["doctor"], ["dump"], ["models"], ["schema"],
    ["explain", "--entity", "A"],
    ["query", "--entity", "Artist"], ["get", "Artist/1"], ["edit", "--do", "delete Artist/1"],
    ["backup", "--to", "b.quire"], ["compact"], ["salvage", "--to", "s.quire"],
    ["export", "--to", "out"], ["show", "--to", "g.html"], ["restore", "--to", "r.quire"],
    ["generate", "--to", "code"], ["migrate", "--model", "mine.quire"],
    ["import", "--model", "mine.quire", "--to", "i.quire"], ["load", "--to", "mine.quire"],
    ["port"],
  ]

  @Test(.enabled(if: start != nil, "needs a process without the administrator's rights"))
  func `a file that may not be read is told by every command`() throws {
    let folder = try place()
    // The folder can be removed at the end.
    defer {
      try? FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: folder.path("closed"))
    }
    for call in Self.calls {
      let ending = ["import": "sqlite", "load": "jsonl"][call[0]] ?? "quire"
      for source in ["g.\(ending)", "closed/g.\(ending)"]
      where call[0] != "port" || source != "g.quire" {
        let words = ["quire", call[0], source] + call.dropFirst()
        let run = try ToolProcess((Self.start ?? []) + words, in: folder.path)
        #expect(run.wait() == 1, "\(words)")
        let said = (run.output + run.errors).lowercased()
        #expect(said.contains("permission denied"), "\(words): \(said)")
        #expect(!said.contains("no such file") && !said.contains("not there"), "\(words): \(said)")
        #expect(!said.contains("salvage"), "\(words): \(said)")
      }
    }
  }

  @Test(.enabled(if: start != nil, "needs a process without the administrator's rights"))
  func `a place that may not be written to is told by every command`() throws {
    let folder = try place()
    defer {
      try? FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: folder.path("closed"))
    }
    for words in [
      ["backup", "mine.quire", "--to", "closed/b.quire"],
      ["export", "mine.quire", "--to", "closed/out"],
      ["show", "mine.quire", "--to", "closed/g.html"],
      ["schema", "mine.quire", "--to", "closed/g.svg"],
      ["generate", "mine.quire", "--to", "closed/code"],
      ["salvage", "mine.quire", "--to", "closed/s.quire"],
      ["load", "nowhere.jsonl", "--to", "closed/n.quire"],
      ["restore", "mine.quire", "--to", "closed/r.quire"],
    ] {
      let run = try ToolProcess((Self.start ?? []) + ["quire"] + words, in: folder.path)
      #expect(run.wait() == 1, "\(words)")
      #expect(run.errors.lowercased().contains("permission denied"), "\(words): \(run.errors)")
    }
  }

  @Test func `a file that does not exist is told as that`() {
    for words in [["stat", "/none/g.quire"], ["doctor", "/none/g.quire"], ["models", "/none/g"]] {
      let run = ToolRun(words)
      #expect(run.code == .bad && run.errors.contains("there is no "), "\(run.errors)")
      #expect(!run.errors.contains("permission"))
    }
  }
}
