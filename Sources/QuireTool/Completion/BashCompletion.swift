/// Completion for bash, from version 3.2 on.
///
/// Names of files are left to bash, which knows about spaces, quotes and `~`; where no file is
/// meant, that is switched off (`compopt`, from version 4 on).
struct BashCompletion {
  private let syntaxes: [CommandSyntax]

  init(of syntaxes: [CommandSyntax]) { self.syntaxes = syntaxes }

  var script: String {
    let names = syntaxes.map(\.name)
    let first = (names + ["help"] + Tool.options.map(\.name)).joined(separator: " ")
    return """
      # Completion of quire for bash: source <(quire completion bash)

      _quire_words() {
        compopt +o default 2>/dev/null
        COMPREPLY=($(compgen -W "$1" -- "$2"))
      }

      # The entities of the stores and models among the words. compgen would run what a name has in it.
      _quire_entities() {
        local word name
        compopt +o default 2>/dev/null
        for word in "${COMP_WORDS[@]:2}"; do
          word=${word//[\\\\\\\"\\']/}
          word=${word/#\\~/$HOME}
          [[ -e $word ]] || continue
          while IFS= read -r name; do
            [[ $name == "$1"* ]] && COMPREPLY+=("$(printf %q "$name")")
          done < <("${COMP_WORDS[0]}" models --names -- "$word" 2>/dev/null)
        done
      }

      _quire() {
        local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
        # bash takes --name=value for three words.
        if [[ $word == "=" ]]; then
          word=""
        elif [[ $before == "=" ]]; then
          before="${COMP_WORDS[COMP_CWORD-2]}"
        fi
        COMPREPLY=()
        if [[ $COMP_CWORD -eq 1 ]]; then
          _quire_words "\(first)" "$word"
          return
        fi
        case "${COMP_WORDS[1]} $before" in
      \(values.joined(separator: "\n"))
        esac
        case "${COMP_WORDS[1]}" in
          help) _quire_words "\(names.joined(separator: " "))" "$word" ;;
      \(arguments.joined(separator: "\n"))
          *) _quire_words "" "$word" ;;
        esac
      }

      complete -o default -F _quire quire
      """
  }

  /// A case for each option with a value that is no file, and one for all with files.
  private var values: [String] {
    var cases: [String] = []
    var files: [String] = []
    for syntax in syntaxes {
      for option in syntax.options where option.value != nil {
        let pattern = "\"\(syntax.name) --\(option.name)\""
        if option.namesFile {
          files.append(pattern)
        } else if option.namesEntity {
          cases.append("    \(pattern)) _quire_entities \"$word\"; return ;;")
        } else {
          let words = option.choices.joined(separator: " ")
          cases.append("    \(pattern)) _quire_words \"\(words)\" \"$word\"; return ;;")
        }
      }
    }
    return cases + ["    \(files.joined(separator: "|"))) return ;;"]
  }

  /// A case for each command: its options after a hyphen, else the words of its operand or files.
  private var arguments: [String] {
    syntaxes.map { syntax in
      let options = (syntax.options.map(\.name) + ["help"]).map { "--\($0)" }
      let choices = syntax.operands.flatMap(\.choices)
      let operand =
        choices.isEmpty
        ? "" : "\n      else _quire_words \"\(choices.joined(separator: " "))\" \"$word\""
      return """
            \(syntax.name))
              if [[ $word == -* ]]; then _quire_words "\(options.joined(separator: " "))" "$word"\(operand)
              fi ;;
        """
    }
  }
}
