/// Completion for fish, with the meaning of commands and options.
struct FishCompletion {
  private let syntaxes: [CommandSyntax]

  init(of syntaxes: [CommandSyntax]) { self.syntaxes = syntaxes }

  var script: String {
    var lines = [
      "# Completion of quire for fish: ~/.config/fish/completions/quire.fish",
      "complete -c quire -f",
      """
      function __quire_entities
        for word in (commandline -opc)[3..]
          test -e $word; and quire models --names -- $word 2>/dev/null
        end
      end
      """,
    ]
    let start = "complete -c quire -n __fish_use_subcommand"
    lines += syntaxes.map { "\(start) -a \($0.name) -d \(quoted($0.summary))" }
    lines.append("\(start) -a help -d 'what a command takes'")
    lines += Tool.options.map { "\(start) -l \($0.name.dropFirst(2)) -d \(quoted($0.meaning))" }
    let names = syntaxes.map(\.name).joined(separator: " ")
    lines.append("complete -c quire -n '__fish_seen_subcommand_from help' -a '\(names)'")
    return (lines + syntaxes.flatMap(arguments)).joined(separator: "\n")
  }

  private func arguments(_ syntax: CommandSyntax) -> [String] {
    let start = "complete -c quire -n '__fish_seen_subcommand_from \(syntax.name)'"
    var lines = syntax.options.map { option in
      var line = "\(start) -l \(option.name)"
      if option.value != nil {
        line += option.namesFile ? " -r -F" : " -x"
        if option.namesEntity { line += " -a '(__quire_entities)'" }
        if !option.choices.isEmpty { line += " -a '\(option.choices.joined(separator: " "))'" }
      }
      return "\(line) -d \(quoted(option.meaning))"
    }
    lines.append("\(start) -l help -d 'print what the command takes'")
    let choices = syntax.operands.flatMap(\.choices)
    if !choices.isEmpty {
      lines.append("\(start) -a '\(choices.joined(separator: " "))'")
    } else if !syntax.operands.isEmpty {
      lines.append("\(start) -F")
    }
    return lines
  }

  private func quoted(_ text: String) -> String {
    "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "\\'"))'"
  }
}
