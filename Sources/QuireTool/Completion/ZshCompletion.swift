/// Completion for zsh, with the meaning of commands and options.
struct ZshCompletion {
  private let syntaxes: [CommandSyntax]

  init(of syntaxes: [CommandSyntax]) { self.syntaxes = syntaxes }

  var script: String {
    let commands = syntaxes.map { "    \(quoted("\($0.name):\($0.summary)"))" }
    return """
      #compdef quire
      # Completion of quire for zsh: source <(quire completion zsh), or a file _quire in $fpath.

      _quire_commands() {
        local -a commands
        commands=(
      \(commands.joined(separator: "\n"))
          'help:what a command takes'
        )
        _describe -t commands command commands
      }

      # The entities of the stores and models among the words.
      _quire_entities() {
        local word
        local -a names
        for word in $words[2,-1]; do
          word=${(Q)word}
          [[ -e $word ]] && names+=(${(f)"$($quire_tool models --names -- $word 2>/dev/null)"})
        done
        compadd -- $names
      }

      _quire() {
        local quire_tool=$words[1]
        if (( CURRENT == 2 )); then
          if [[ $words[2] == -* ]]; then
            compadd -- \(Tool.options.map(\.name).joined(separator: " "))
          else
            _quire_commands
          fi
          return
        fi
        shift words
        (( CURRENT-- ))
        case $words[1] in
          help) (( CURRENT == 2 )) && _quire_commands ;;
      \(syntaxes.map(arguments).joined(separator: "\n"))
        esac
      }

      if [[ $funcstack[1] == _quire ]]; then
        _quire "$@"
      else
        compdef _quire quire
      fi
      """
  }

  private func arguments(_ syntax: CommandSyntax) -> String {
    var specifications = syntax.options.map { option in
      let times = option.isRepeatable ? "*" : ""
      let start =
        "\(times)--\(option.name)\(option.value == nil ? "" : "=")[\(escaped(option.meaning))]"
      guard let value = option.value else { return start }
      let action =
        option.namesEntity ? "_quire_entities" : action(option.choices, isFile: option.namesFile)
      return "\(start):\(value):\(action)"
    }
    specifications.append("--help[print this help]")
    for (index, operand) in syntax.operands.enumerated() {
      specifications.append(
        "\(index + 1):\(operand.name):\(action(operand.choices, isFile: true))")
    }
    let lines = specifications.map { "        \(quoted($0))" }
    return "    \(syntax.name))\n      _arguments \\\n\(lines.joined(separator: " \\\n")) ;;"
  }

  private func action(_ choices: [String], isFile: Bool) -> String {
    choices.isEmpty ? (isFile ? "_files" : " ") : "(\(choices.joined(separator: " ")))"
  }

  /// A meaning inside of brackets.
  private func escaped(_ text: String) -> String {
    String(text.flatMap { ["[", "]", ":", "\\"].contains($0) ? ["\\", $0] : [$0] })
  }

  private func quoted(_ text: String) -> String {
    "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
  }
}
