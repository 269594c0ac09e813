import Foundation
import QuireTool
import Testing

/// What people see on a terminal, and what files and other programs get in its place.
@Suite struct TerminalTests {
  private let store = Fixtures.store("Gallery 2.7")

  private func query(_ columnCount: Int?, hasColor: Bool = false, _ entity: String) -> ToolRun {
    ToolRun(
      ["query", store, "--entity", entity],
      on: Terminal(columnCount: columnCount, hasColor: hasColor))
  }

  @Test(arguments: [40, 60, 100])
  func `a table fits the terminal, with its longest cells cut`(width: Int) throws {
    let whole = ToolRun("query", store, "--entity", "Note", "--format", "table")
    #expect(whole.lines.contains { $0.count > 100 } && !whole.output.contains("…"))
    let cut = query(width, "Note")
    #expect(cut.lines.count == whole.lines.count)
    #expect(cut.lines.allSatisfy { $0.count <= width }, "\(cut.output)")
    #expect(cut.lines.contains { $0.count == width } && cut.output.contains("…"))
    // Short cells, such as IDs, stay whole.
    if width > 50 { #expect(cut.output.contains("\nNote/p1 ")) }
    let stat = ToolRun(["stat", store], on: Terminal(columnCount: 70))
    let start = try #require(stat.lines.firstIndex { $0.hasPrefix("tree ") })
    #expect(stat.lines[start...].allSatisfy { $0.count <= 70 }, "\(stat.output)")
  }

  @Test func `signs of double width take two columns`() throws {
    let folder = try TemporaryFolder()
    let lines = [
      #"{"entity": "Note", "id": "1", "body": "神奈川沖浪裏 神奈川沖浪裏 神奈川沖浪裏"}"#,
      #"{"entity": "Note", "id": "2", "body": "café"}"#,
    ]
    try lines.joined(separator: "\n").write(
      toFile: folder.path("in.jsonl"), atomically: false, encoding: .utf8)
    let path = folder.path("a.quire")
    #expect(ToolRun("load", folder.path("in.jsonl"), "--to", path, "--model", store).code == .good)
    func rows(_ width: Int) -> [Substring] {
      ToolRun(["query", path, "--entity", "Note"], on: Terminal(columnCount: width)).lines
    }
    #expect(rows(200)[1].contains("  神奈川沖浪裏 神奈川沖浪裏 神奈川沖浪裏  nil"))
    #expect(rows(200)[2].contains("  café                                    nil"))
    #expect(rows(50)[1] == "Note/p1   神奈川沖…  nil        nil        nil")
    #expect(rows(50)[2] == "Note/p2   café       nil        nil        nil")
  }

  @Test func `headings and errors have colours where the terminal has`() {
    let colored = query(nil, hasColor: true, "Note").output
    #expect(colored.hasPrefix("\u{1B}[1mobjectID  "))
    // Nothing but the heading.
    #expect(colored.split(separator: "\u{1B}").count == 2)
    #expect(!query(nil, "Note").output.contains("\u{1B}"))
    let error = ToolRun(["chekc"], on: Terminal(hasColor: true)).errors
    #expect(error.hasPrefix("\u{1B}[1;31mquire:\u{1B}[0m There is no command"))
    let note = ToolRun(
      ["migrate", store, "--model", Fixtures.model, "--to", "Gallery 2.0", "--dry-run"],
      on: Terminal(hasColor: true)
    ).errors
    #expect(note.hasPrefix("\u{1B}[33mnote:\u{1B}[0m "), "\(note)")
  }

  /// What the tool writes to a terminal of sixty columns.
  private func shown(_ environment: [String: String]) throws -> String {
    let terminal = try PseudoTerminal(columnCount: 60)
    let folder = try TemporaryFolder()
    let run = try ToolProcess(
      ["quire", "query", store, "--entity", "Note", "--limit", "2"], in: folder.path,
      environment: environment, terminal: terminal)
    #expect(run.wait() == 0)
    return terminal.text()
  }

  @Test func `the environment can refuse colours and say the width`() throws {
    let usual = try shown(["TERM": "xterm"])
    #expect(usual.hasPrefix("\u{1B}[1mobjectID  "), "\(usual)")
    #expect(usual.contains("…") && usual.contains("(2 rows)"))
    let plain = try shown(["TERM": "xterm", "NO_COLOR": "1"])
    #expect(!plain.contains("\u{1B}"))
    #expect(plain.split(separator: "\n").map(\.count).max() == 60, "\(plain)")
    #expect(try !shown(["TERM": "dumb"]).contains("\u{1B}"))
    #expect(try shown(["TERM": "xterm", "NO_COLOR": ""]).contains("\u{1B}"))
    let wide = try shown(["TERM": "dumb", "COLUMNS": "500"])
    #expect(!wide.contains("…") && wide.contains("Note/p1"))
  }

  // MARK: Progress

  @Test func `progress says how much is done, how fast, and how long it will take`() {
    func line(_ unit: TaskProgress.Unit, _ done: Int, _ total: Int, _ seconds: Double) -> String {
      var text = ProgressText(title: "copying", unit: unit)
      (text.done, text.total) = (done, total)
      return text.line(after: .seconds(seconds))
    }
    #expect(
      line(.bytes, 4_500_000, 18_000_000, 2)
        == "copying  [=====               ]  25%  4.5 MB of 18.0 MB, 2.2 MB/s  6 s left")
    #expect(
      line(.objects, 1_000, 200_000, 10)
        == "copying  [                    ]   0%  1,000 of 200,000 objects, 100/s")
    #expect(
      line(.entries, 500, 500, 1)
        == "copying  [====================] 100%  500 of 500 entries, 500/s")
    #expect(
      line(.parts, 100, 1_000, 100) == "copying  [==                  ]  10%  15 min 0 s left")
    #expect(line(.bytes, 0, 0, 7_260) == "copying  2 h 1 min")
    // The total may have been too low.
    #expect(line(.entries, 9, 8, 1).contains("100%"))
  }

  /// The tool reads from a pipe with a name, and gets nothing for most of a second.
  private func loadSlowly(_ terminal: PseudoTerminal, _ environment: [String: String]) throws {
    let folder = try TemporaryFolder()
    #expect(mkfifo(folder.path("in.jsonl"), 0o600) == 0)
    let run = try ToolProcess(
      ["quire", "load", "in.jsonl", "--to", "a.quire", "--model", store], in: folder.path,
      environment: environment, terminal: terminal)
    let pipe = try #require(FileHandle(forWritingAtPath: folder.path("in.jsonl")))
    usleep(650_000)
    try pipe.write(contentsOf: Data(#"{"entity": "Note", "id": "1", "body": "b"}"#.utf8))
    try pipe.close()
    #expect(run.wait() == 0)
  }

  @Test func `a line of progress comes after half a second, and is wiped`() throws {
    let terminal = try PseudoTerminal(columnCount: 60)
    try loadSlowly(terminal, ["TERM": "xterm"])
    let text = terminal.text()
    #expect(text.prefixMatch(of: /\rreading  [0-9]+ s\x1B\[K\r/) != nil, "\(text)")
    let rest = text.split(separator: "\r").last.map(String.init) ?? ""
    #expect(rest.hasPrefix("\u{1B}[K/") && rest.hasSuffix("has 1 new object.\n"), "\(text)")
  }

  @Test func `a quick command shows no progress, and a dumb terminal never does`() throws {
    #expect(try shown(["TERM": "xterm", "NO_COLOR": "1"]).hasPrefix("objectID"))
    let terminal = try PseudoTerminal(columnCount: 60)
    try loadSlowly(terminal, ["TERM": "dumb"])
    #expect(terminal.text().hasPrefix("/"))
  }
}
