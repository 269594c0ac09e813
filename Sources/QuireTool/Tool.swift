import QuireStorage

/// The result of a run of the tool, as its exit status.
package enum ExitCode: Int32 {
  /// Everything is as it should be.
  case good = 0
  /// A store, a model or another input is bad, or could not be read or written.
  case bad = 1
  /// The command line makes no sense; nothing was done.
  case wrongUsage = 2
  /// Ctrl-C, or another signal: files are as before, or the command was done. Shells have 128 and
  /// the number of the signal.
  case hungUp = 129
  case interrupted = 130
  case terminated = 143
}

/// One of the tool's commands.
///
/// A command is first made from its arguments, which may be wrong usage, and then run, which may
/// find bad input. It writes only to the console it is given, so that tests can run it in their own
/// process.
protocol Command {
  static var syntax: CommandSyntax { get }
  init(_ arguments: Arguments) throws(UsageError)
  func run(_ console: Console) throws -> ExitCode
}

/// The command `quire`: looks into stores and models, migrates, imports, checks.
///
/// Results go to the standard output, as text or with `--json` as one JSON value. Errors and notes
/// go to the standard error, and nothing else does.
package enum Tool {
  package static let version = "0.1.0"

  /// In the order of the overview.
  static var commands: [any Command.Type] {
    [
      DemoCommand.self, ModelsCommand.self, DiffCommand.self, SchemaCommand.self,
      GenerateCommand.self, PortCommand.self, ImportCommand.self, MigrateCommand.self,
      BackupCommand.self, ShipCommand.self, RestoreCommand.self, CompactCommand.self,
      StatCommand.self,
      CheckCommand.self, DoctorCommand.self, SalvageCommand.self, ShowCommand.self,
      DumpCommand.self, QueryCommand.self, GetCommand.self, ExplainCommand.self, EditCommand.self,
      ExportCommand.self, LoadCommand.self, FixturesCommand.self, CompletionCommand.self,
    ]
  }

  /// Runs the tool once.
  ///
  /// - Parameters:
  ///   - arguments: what follows the program's name.
  ///   - catchesSignals: whether commands that write end in good order when the process is asked to
  ///     end: for a process that does nothing else.
  package static func run(
    arguments: [String], output: TextOutput = .standardOutput, errors: TextOutput = .standardError,
    catchesSignals: Bool = false
  ) -> ExitCode {
    let console = Console(output: output, errors: errors, catchesSignals: catchesSignals)
    var code: ExitCode
    do {
      code = try run(arguments, console)
    } catch let error as UsageError {
      console.complain("\(error.sentence)\n\(error.usage)")
      code = .wrongUsage
    } catch {
      console.complain(diagnosis(of: error))
      code = .bad
    }
    output.flush()
    if let failure = output.failure {
      console.complain("the output could not be written: \(failure)")
      code = .bad
    }
    errors.flush()
    return Interruption.code ?? code
  }

  private static func run(_ arguments: [String], _ console: Console) throws -> ExitCode {
    guard let first = arguments.first else {
      console.print(overview)
      return .good
    }
    let rest = arguments.dropFirst()
    switch first {
    case "--help", "-h", "help": return try help(rest, console)
    case "--version":
      try expectNothing(rest, after: first)
      console.print("quire \(version), file format \(FormatVersion.current)")
      return .good
    default: break
    }
    let command = try command(named: first)
    if Arguments.askForHelp(rest) {
      console.print(command.syntax.help)
      return .good
    }
    return try command.init(Arguments(rest, command.syntax)).run(console)
  }

  /// Reads the arguments of a command, and does nothing with them.
  ///
  /// - Throws: for wrong usage.
  package static func check(_ arguments: [String]) throws {
    let command = try command(named: arguments.first ?? "")
    _ = try command.init(Arguments(arguments.dropFirst(), command.syntax))
  }

  private static func help(_ rest: ArraySlice<String>, _ console: Console) throws -> ExitCode {
    guard let name = rest.first else {
      console.print(overview)
      return .good
    }
    let command = try command(named: name)
    try expectNothing(rest.dropFirst(), after: "help \(name)")
    console.print(command.syntax.help)
    return .good
  }

  private static func command(named name: String) throws(UsageError) -> any Command.Type {
    if let command = commands.first(where: { $0.syntax.name == name }) { return command }
    if name.hasPrefix("-") {
      let hint = Suggestion.sentence(for: name, among: options.map(\.name))
      throw UsageError("There is no option \(name).\(hint)", usage: usage)
    }
    let hint = Suggestion.sentence(for: name, among: syntaxes.map(\.name) + ["help"])
    throw UsageError("There is no command “\(name)”.\(hint)", usage: usage)
  }

  private static func expectNothing(
    _ rest: ArraySlice<String>, after words: String
  ) throws(UsageError) {
    guard let extra = rest.first else { return }
    throw UsageError("Nothing follows \(words), but here “\(extra)” does.", usage: usage)
  }

  // MARK: Help

  package static var syntaxes: [CommandSyntax] { commands.map { $0.syntax } }

  /// The options that stand in the place of a command, with their meaning.
  static let options = [
    (name: "--help", meaning: "print all commands"), (name: "--version", meaning: "print versions"),
  ]

  private static var usage: String {
    "usage: quire COMMAND …\n       quire help [COMMAND]"
  }

  private static var overview: String {
    let width = syntaxes.map(\.name.count).max() ?? 0
    let list = CommandGroup.allCases.flatMap { group in
      ["", "\(group.rawValue):"]
        + syntaxes.filter { $0.group == group }.map {
          "  \($0.name.padded(to: width))  \($0.summary)"
        }
    }
    return """
      quire \(version): looks into Quire's stores and their models, and works on them.

      usage: quire COMMAND …
      \(list.joined(separator: "\n"))

      quire help COMMAND says more about one, with examples. Exit codes: 0 good, 1 a store or another
      input is bad, 2 wrong usage. With --json the answer is one JSON value; errors and notes go to
      the standard error either way.
      """
  }
}
