/// The name of a command and its arguments: enough to parse them and to print its help.
package struct CommandSyntax: Sendable {
  /// An argument that is identified by its position.
  package struct Operand: Sendable {
    package var name: String
    var meaning: String
    /// Only the last may be left out.
    package var isOptional = false
    /// The words that it may be; a file's name where there are none.
    package var choices: [String] = []

    init(_ name: String, _ meaning: String, isOptional: Bool = false, choices: [String] = []) {
      self.name = name
      self.meaning = meaning
      self.isOptional = isOptional
      self.choices = choices
    }
  }

  /// An argument that is identified by its name, `--name`.
  package struct Option: Sendable {
    package var name: String
    /// The placeholder of the value in the help; `nil` for a flag, which has none.
    package var value: String?
    var meaning: String
    package var isRequired = false
    /// Whether it may be given several times.
    package var isRepeatable = false
    /// The words that the value may be; any where there are none.
    package var choices: [String] = []

    /// Whether the value is the name of a file or a folder.
    package var namesFile: Bool {
      ["DIR", "FILE", "FOLDER", "MODEL", "STORE"].contains(value)
    }

    /// Whether the value is the name of an entity, which the store among the arguments has.
    package var namesEntity: Bool { name == "entity" }

    package var spelling: String { "--\(name)" + (value.map { " \($0)" } ?? "") }

    /// An option with a value.
    init(
      _ name: String, _ value: String, _ meaning: String, isRequired: Bool = false,
      isRepeatable: Bool = false, choices: [String] = []
    ) {
      self.name = name
      self.value = value
      self.meaning = meaning
      self.isRequired = isRequired
      self.isRepeatable = isRepeatable
      self.choices = choices
    }

    init(flag name: String, _ meaning: String) {
      self.name = name
      self.meaning = meaning
    }

    static let json = Option(flag: "json", "print one JSON value")
    static let model = Option(
      "model", "MODEL",
      "the model: .xcdatamodeld, .xcdatamodel, or a store; several are merged", isRequired: true,
      isRepeatable: true)
  }

  package var name: String
  /// One line without a full stop.
  var summary: String
  package var group = CommandGroup.objects
  package var operands: [Operand] = []
  package var options: [Option] = []
  /// Lines that explain what the arguments do not tell.
  var discussion = ""
  /// What the help ends with.
  package var examples: [CommandExample] = []

  /// On several lines of at most a hundred columns, if one does not do.
  package var usage: String {
    let operands = operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }
    let options = options.map { option in
      (option.isRequired ? option.spelling : "[\(option.spelling)]")
        + (option.isRepeatable ? "…" : "")
    }
    let start = "usage: quire \(name)"
    var lines = [start]
    for word in operands + options {
      if lines[lines.count - 1].count + 1 + word.count > 100 {
        lines.append(String(repeating: " ", count: start.count))
      }
      lines[lines.count - 1] += " " + word
    }
    return lines.joined(separator: "\n")
  }

  var help: String {
    let rows =
      operands.map { ($0.name, $0.meaning) } + options.map { ($0.spelling, $0.meaning) }
    let width = rows.map(\.0.count).max() ?? 0
    var blocks = ["quire \(name): \(summary).", usage]
    if !rows.isEmpty {
      blocks.append(rows.map { "  \($0.padded(to: width))  \($1)" }.joined(separator: "\n"))
    }
    if !discussion.isEmpty { blocks.append(discussion) }
    for example in examples { blocks.append("  # \(example.purpose)\n  \(example.line)") }
    return blocks.joined(separator: "\n\n")
  }
}

/// A command line that makes no sense.
struct UsageError: Error {
  /// The mistake, in one sentence.
  var sentence: String
  /// The correct usage.
  package var usage: String

  init(_ sentence: String, usage: String) {
    self.sentence = sentence
    self.usage = usage
  }
}
