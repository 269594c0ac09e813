import Foundation
import QuireTool
import Testing

/// What shells make of the scripts: each is asked as if somebody had pressed the tabulator.
@Suite struct CompletionCommandTests {
  /// A shell that has loaded its script, in a folder with two files.
  private struct Shell {
    let name: String
    let folder: TemporaryFolder

    init(_ name: String) throws {
      self.name = name
      folder = try TemporaryFolder()
      let script = ToolRun("completion", name)
      #expect(script.code == .good && script.errors.isEmpty)
      for version in ["Gallery 2.7", "Gallery 1.3"] {
        try FileManager.default.copyItem(
          atPath: Fixtures.store(version), toPath: folder.path("\(version).store"))
      }
      for (file, text) in [
        ("script", script.output), ("gallery one.quire", ""), ("shop.quire", ""),
      ] {
        try text.write(toFile: folder.path(file), atomically: false, encoding: .utf8)
      }
    }

    static func isInstalled(_ name: String) -> Bool {
      (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
      }
    }

    func run(_ program: String, _ arguments: [String] = []) throws -> [String] {
      let run = try ToolProcess([name] + arguments + ["-c", program], in: folder.path)
      #expect(run.wait() == 0 && run.errors.isEmpty, "\(run.errors)")
      return run.output.split(separator: "\n").map(String.init)
    }
  }

  // MARK: bash

  /// - Returns: the words that are offered, and “files” where bash is to offer files.
  private func bash(_ words: String...) throws -> [String] {
    let list = words.map { "'\($0)'" }.joined(separator: " ")
    return try Shell("bash").run(
      """
      source ./script
      files=files
      compopt() { [[ $* == "+o default" ]] && files=; }
      COMP_WORDS=(\(list)) COMP_CWORD=\(words.count - 1)
      _quire
      printf '%s\\n' "${COMPREPLY[@]}" $files
      """, ["--norc"]
    ).filter { !$0.isEmpty }
  }

  @Test(.enabled(if: Shell.isInstalled("bash")))
  func `bash completes commands, options, values and files`() throws {
    #expect(try bash("quire", "ex") == ["explain", "export"])
    #expect(try bash("quire", "--v") == ["--version"])
    #expect(try bash("quire", "help", "che") == ["check"])
    #expect(try bash("quire", "query", "shop.quire", "--gr") == ["--group-by"])
    #expect(try bash("quire", "query", "--format", "") == ["table", "lines", "json", "csv"])
    #expect(try bash("quire", "query", "--format", "=") == ["table", "lines", "json", "csv"])
    #expect(try bash("quire", "query", "--format", "=", "j") == ["json"])
    #expect(try bash("quire", "query", "--entity", "") == [])
    #expect(try bash("quire", "completion", "") == ["bash", "zsh", "fish"])
    #expect(try bash("quire", "check", "g") == ["files"])
    #expect(try bash("quire", "backup", "--to", "") == ["files"])
    #expect(try bash("quire", "frobnicate", "") == [])
  }

  @Test(.enabled(if: Shell.isInstalled("bash")))
  func `bash has every command with its options`() throws {
    #expect(try bash("quire", "") == Tool.syntaxes.map(\.name) + ["help", "--help", "--version"])
    for syntax in Tool.syntaxes {
      let options = syntax.options.map { "--\($0.name)" } + ["--help"]
      #expect(try bash("quire", syntax.name, "-") == options)
    }
  }

  @Test(.enabled(if: Shell.isInstalled("bash")))
  func `bash completes entities of the store that is named`() throws {
    let store = #""Gallery 2.7.store""#
    #expect(
      try bash("quire", "query", store, "--entity", "Ar") == [
        "Artist", "ArtistDocument", "Artwork",
      ])
    #expect(
      try bash("quire", "dump", store, "--entity", "=", "Par") == ["Partner", "PartnerOption"])
    #expect(try bash("quire", "explain", #"Gallery\ 2.7.store"#, "--entity", "U") == ["User"])
    #expect(
      try bash("quire", "load", "x.csv", "--to", store, "--entity", "Show") == [
        "Show", "ShowDocument",
      ])
    #expect(try bash("quire", "query", "shop.quire", "--entity", "") == [])
    let names = ToolRun("models", Fixtures.store("Gallery 2.7"), "--names")
    #expect(names.lines.count == 15 && names.lines.first == "Album")
    #expect(
      ToolRun("models", Fixtures.store("Gallery 2.7"), "--names", "--json").code == .wrongUsage)
  }

  // MARK: fish

  private func fish(_ line: String) throws -> [String] {
    try Shell("fish").run("source ./script; complete -C '\(line)'", ["--no-config"]).map { line in
      String(line.prefix { $0 != "\t" })
    }
  }

  @Test(.enabled(if: Shell.isInstalled("fish")))
  func `fish completes commands, options, values and files`() throws {
    #expect(try fish("quire ex").sorted() == ["explain", "export"])
    #expect(try fish("quire help che") == ["check"])
    #expect(try fish("quire query shop.quire --gr") == ["--group-by"])
    #expect(try fish("quire query --format ").sorted() == ["csv", "json", "lines", "table"])
    #expect(try fish("quire query --entity ") == [])
    #expect(
      try fish("quire query \"Gallery 2.7.store\" --entity Ar").sorted()
        == ["Artist", "ArtistDocument", "Artwork"])
    #expect(try fish("quire completion ").sorted() == ["bash", "fish", "zsh"])
    #expect(try fish("quire check sh") == ["shop.quire"])
    #expect(try fish("quire backup --to sh") == ["shop.quire"])
    for syntax in Tool.syntaxes.prefix(4) {
      let options = try fish("quire \(syntax.name) --")
      #expect(Set(options) == Set(syntax.options.map { "--\($0.name)" } + ["--help"]))
    }
  }

  // MARK: zsh

  /// - Returns: the line after the tabulator was pressed, and what is listed below it.
  private func zsh(_ line: String) throws -> String {
    try Shell("zsh").run(
      """
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell "PROMPT='>' ZDOTDIR=$PWD; autoload -U compinit; compinit -D -u; source ./script"
      zpty -w shell "unset zle_bracketed_paste; LISTMAX=999; stty cols 200; print re''ady"
      zpty -r -m shell text '*ready*'
      zpty -w -n shell $'\(line)\\t\\C-a\\C-kprint do\\'\\'ne\\n'
      zpty -r -m shell text '*done*'
      print -r -- $text
      """, ["-f"]
    ).joined(separator: "\n")
  }

  @Test(.enabled(if: Shell.isInstalled("zsh")))
  func `zsh completes commands, options, values and files`() throws {
    #expect(try zsh("quire ex\\t").contains("how a fetch finds objects"))
    #expect(try zsh("quire query shop.quire --gr").contains("--group-by"))
    #expect(try zsh("quire query --format ").contains("table"))
    #expect(
      try zsh(#"quire query Gallery\\ 2.7.store --entity PartnerO"#).contains("PartnerOption"))
    #expect(try zsh("quire check sh").contains("shop.quire"))
  }

  @Test func `a shell that is not known is answered with those that are`() {
    let run = ToolRun("completion", "fsh")
    #expect(run.code == .wrongUsage)
    #expect(
      run.errors.hasPrefix(
        "quire: SHELL takes bash, zsh or fish, not “fsh”. Did you mean fish"), "\(run.errors)")
  }
}
