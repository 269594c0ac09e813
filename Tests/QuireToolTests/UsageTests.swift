import Foundation
import QuireTool
import Testing

@Suite struct UsageTests {
  @Test func `without arguments the tool says what it can do`() throws {
    for run in [ToolRun(), ToolRun("--help"), ToolRun("-h"), ToolRun("help")] {
      #expect(run.code == .good)
      #expect(run.errors.isEmpty)
      for line in run.lines { #expect(line.count <= 100, "\(line)") }
      for syntax in Tool.syntaxes {
        #expect(run.lines.count { $0.hasPrefix("  \(syntax.name) ") } == 1)
      }
      // A command stands below the heading of its group.
      for group in CommandGroup.allCases {
        let start = try #require(run.lines.firstIndex { $0 == "\(group.rawValue):" })
        let commands = Tool.syntaxes.filter { $0.group == group }.map(\.name)
        let listed = run.lines[(start + 1)...].prefix { $0.hasPrefix("  ") }
        #expect(listed.map { String($0.drop { $0 == " " }.prefix { $0 != " " }) } == commands)
      }
    }
  }

  @Test func `every command has the same help in all three places`() {
    for syntax in Tool.syntaxes {
      let name = syntax.name
      let help = ToolRun("help", name)
      #expect(help.code == .good)
      #expect(help.output.contains(syntax.usage))
      #expect(ToolRun(name, "--help").output == help.output)
      #expect(ToolRun(name, "whatever", "-h").output == help.output)
      for line in help.lines { #expect(line.count <= 100, "\(line)") }
    }
  }

  @Test func `the version names the file format`() {
    let run = ToolRun("--version")
    #expect(run.code == .good)
    #expect(run.output.hasPrefix("quire \(Tool.version), file format "))
  }

  /// A sentence, then how it would be right, both on the standard error.
  private func expectWrongUsage(_ run: ToolRun, _ sentence: String) {
    #expect(run.code == .wrongUsage)
    #expect(run.output.isEmpty)
    #expect(run.errors.hasPrefix("quire: \(sentence)\nusage: quire "), "\(run.errors)")
  }

  @Test func `an unknown command, option or extra argument is wrong usage`() {
    expectWrongUsage(ToolRun("frobnicate"), "There is no command “frobnicate”.")
    expectWrongUsage(ToolRun("--frobnicate"), "There is no option --frobnicate.")
    expectWrongUsage(ToolRun("help", "frobnicate"), "There is no command “frobnicate”.")
    expectWrongUsage(
      ToolRun("help", "stat", "check"), "Nothing follows help stat, but here “check” does.")
    expectWrongUsage(
      ToolRun("--version", "x"), "Nothing follows --version, but here “x” does.")
  }

  @Test func `a mistyped name is answered with the one that was meant`() throws {
    expectWrongUsage(ToolRun("chekc"), "There is no command “chekc”. Did you mean check?")
    expectWrongUsage(
      ToolRun("help", "exprot"), "There is no command “exprot”. Did you mean export?")
    // The beginning of a name is no typing mistake, and yet says enough.
    expectWrongUsage(
      ToolRun("exp"), "There is no command “exp”. Did you mean explain or export?")
    expectWrongUsage(ToolRun("--verison"), "There is no option --verison. Did you mean --version?")
    expectWrongUsage(
      ToolRun("dump", "x", "--entty=A"), "There is no option --entty. Did you mean --entity?")
    expectWrongUsage(
      ToolRun("query", "x", "--entity", "A", "--format", "jsno"),
      "--format takes table, lines, json or csv, not “jsno”. Did you mean json?")

    let store = Fixtures.store("Gallery 2.7")
    let entity = ToolRun("dump", store, "--entity", "artwrok")
    #expect(entity.code == .bad)
    #expect(
      entity.errors.hasSuffix("the store has no entity artwrok; did you mean Artwork?\n"),
      "\(entity.errors)")
    // Where nothing is near, all there are.
    #expect(ToolRun("dump", store, "--entity", "Zebra").errors.contains("; it has Album, Artist, "))
    let property = ToolRun("query", store, "--entity", "Artwork", "--sort", "titel")
    #expect(property.errors.contains("is title meant?"), "\(property.errors)")
  }

  @Test func `every command refuses unknown options and too many arguments`() {
    for syntax in Tool.syntaxes {
      var words = [syntax.name] + syntax.operands.map { _ in "x" }
      for option in syntax.options where option.isRequired { words += ["--\(option.name)", "x"] }
      expectWrongUsage(ToolRun(words + ["--frobnicate"]), "There is no option --frobnicate.")
      expectWrongUsage(ToolRun(words + ["-f"]), "There is no option -f.")
      expectWrongUsage(ToolRun(words + ["extra"]), "“extra” is one argument too many.")
    }
  }

  @Test func `every command misses what it needs`() {
    for syntax in Tool.syntaxes {
      let operands = syntax.operands.map { _ in "x" }
      for (index, operand) in syntax.operands.enumerated() where !operand.isOptional {
        expectWrongUsage(
          ToolRun([syntax.name] + operands.prefix(index)), "\(operand.name) is missing.")
      }
      let required = syntax.options.filter(\.isRequired)
      for option in required {
        let others = required.filter { $0.name != option.name }.flatMap { ["--\($0.name)", "x"] }
        expectWrongUsage(
          ToolRun([syntax.name] + operands + others), "\(option.spelling) is missing.")
      }
      for option in syntax.options where option.value != nil {
        expectWrongUsage(
          ToolRun([syntax.name] + operands + ["--\(option.name)"]),
          "--\(option.name) needs a value.")
        expectWrongUsage(
          ToolRun([syntax.name, "--\(option.name)", "--json"] + operands),
          "--\(option.name) needs a value.")
      }
    }
  }

  @Test func `an option is given once, a flag without a value`() {
    expectWrongUsage(
      ToolRun("dump", "x", "--entity", "A", "--entity=B"), "--entity is given twice.")
    expectWrongUsage(ToolRun("stat", "x", "--json", "--json"), "--json is given twice.")
    expectWrongUsage(ToolRun("stat", "x", "--json=yes"), "--json takes no value.")
    expectWrongUsage(ToolRun("dump", "x", "--entity="), "--entity needs a value.")
    expectWrongUsage(ToolRun("stat", ""), "STORE is empty.")
    expectWrongUsage(
      ToolRun("fixtures", "x", "--seed", "-1"),
      "--seed takes a whole number from 0, not “-1”.")
  }

  @Test func `two hyphens end the options`() {
    let run = ToolRun("stat", "--", "--json")
    #expect(run.code == .bad)
    #expect(run.errors.contains("/--json"))
  }
}
