/// `quire completion`: what a shell needs to complete the tool's arguments.
struct CompletionCommand: Command {
  /// The shells that scripts are written for.
  private enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  static let syntax = CommandSyntax(
    name: "completion", summary: "a script by which a shell completes commands, options and files",
    group: .tool,
    operands: [.init("SHELL", "bash, zsh or fish", choices: Shell.allCases.map(\.rawValue))],
    discussion: """
      The script goes to the standard output. For good:
        bash  a line in ~/.bashrc: source <(quire completion bash)
        zsh   a file _quire in a folder of $fpath, or in ~/.zshrc, after compinit:
              source <(quire completion zsh)
        fish  the file ~/.config/fish/completions/quire.fish
      """,
    examples: [
      .init("For all new shells of fish", "quire completion fish > quire.fish")
    ])

  private let shell: Shell

  init(_ arguments: Arguments) throws(UsageError) {
    shell = try arguments.choice(ofOperandAt: 0)
  }

  func run(_ console: Console) -> ExitCode {
    let syntaxes = Tool.syntaxes
    switch shell {
    case .bash: console.print(BashCompletion(of: syntaxes).script)
    case .zsh: console.print(ZshCompletion(of: syntaxes).script)
    case .fish: console.print(FishCompletion(of: syntaxes).script)
    }
    return .good
  }
}
