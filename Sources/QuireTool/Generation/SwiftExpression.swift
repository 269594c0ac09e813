/// An expression of generated Swift code.
///
/// A small tree and no text, so that what is too long for a line can be broken where `swift format`
/// breaks it.
indirect enum SwiftExpression {
  /// Something that stays on one line.
  case text(String)
  /// The same, of a type that Foundation has.
  case foundation(String)
  case array([SwiftExpression])
  /// Keys are Swift code too.
  case dictionary([(key: String, value: SwiftExpression)])
  case call(String, [SwiftArgument])

  /// A text, with its quotation marks.
  static func string(_ text: String) -> SwiftExpression { .text(SwiftLiteral.string(text)) }

  static func strings(_ texts: [String]) -> SwiftExpression { .array(texts.map { .string($0) }) }

  /// Texts by texts, in the order of the keys.
  static func texts(_ texts: [String: String]) -> SwiftExpression {
    .dictionary(
      texts.sorted { $0.key < $1.key }
        .map { (SwiftLiteral.string($0.key), SwiftExpression.string($0.value)) })
  }

  /// The expression on one line.
  var line: String {
    switch self {
    case .text(let text), .foundation(let text): text
    case .array(let elements): "[\(elements.map(\.line).joined(separator: ", "))]"
    case .dictionary(let entries) where entries.isEmpty: "[:]"
    case .dictionary(let entries):
      "[\(entries.map { "\($0.key): \($0.value.line)" }.joined(separator: ", "))]"
    case .call(let name, let arguments): "\(name)(\(arguments.line))"
    }
  }

  /// The columns that the formatter wants for the expression on one line: a comma after the last
  /// of several elements counts as if it were there.
  var width: Int { line.count + commaCount }

  private var commaCount: Int {
    switch self {
    case .text, .foundation: 0
    case .array(let elements):
      elements.reduce(elements.count > 1 ? 1 : 0) { $0 + $1.commaCount }
    case .dictionary(let entries):
      entries.reduce(entries.count > 1 ? 1 : 0) { $0 + $1.value.commaCount }
    case .call(_, let arguments): arguments.reduce(0) { $0 + $1.value.commaCount }
    }
  }

  var usesFoundation: Bool {
    switch self {
    case .text: false
    case .foundation: true
    case .array(let elements): elements.contains(where: \.usesFoundation)
    case .dictionary(let entries): entries.contains { $0.value.usesFoundation }
    case .call(_, let arguments): arguments.contains { $0.value.usesFoundation }
    }
  }

  /// The expression on lines of its own, when one line is too short.
  ///
  /// - Parameters:
  ///   - start: what stands before it, up to a colon or an equals sign; empty for nothing.
  ///   - end: what follows it.
  func lines(after start: String, _ end: String, indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    let prefix = start.isEmpty ? margin : "\(margin)\(start) "
    if prefix.count + width + end.count <= SwiftFormat.width { return [prefix + line + end] }
    switch self {
    case .text, .foundation:
      let text = start.isEmpty ? margin + line : "\(margin)  \(line)"
      // A parenthesis that has no room after the text has a line of its own.
      let isFull = end.hasPrefix(")") && text.count + end.count > SwiftFormat.width
      return (start.isEmpty ? [] : [margin + start])
        + (isFull ? [text, margin.dropLast(2) + end] : [text + end])
    case .array, .dictionary:
      return ["\(prefix)["] + elementLines(indent: indent + 2) + ["\(margin)]\(end)"]
    case .call(let name, let arguments):
      if arguments.count == 1, arguments[0].label == nil, arguments[0].value.isCollection {
        return ["\(prefix)\(name)(["] + arguments[0].value.elementLines(indent: indent + 2)
          + ["\(margin)])\(end)"]
      }
      return ["\(prefix)\(name)("] + arguments.lines(before: ")\(end)", indent: indent + 2)
    }
  }

  private var isCollection: Bool {
    switch self {
    case .array, .dictionary: true
    case .text, .foundation, .call: false
    }
  }

  /// The elements of a collection, a line for each.
  private func elementLines(indent: Int) -> [String] {
    let elements: [(start: String, value: SwiftExpression)]
    switch self {
    case .array(let values): elements = values.map { ("", $0) }
    case .dictionary(let entries): elements = entries.map { ("\($0.key):", $0.value) }
    case .text, .foundation, .call: return []
    }
    let end = elements.count == 1 ? "" : ","
    return elements.flatMap { $0.value.lines(after: $0.start, end, indent: indent) }
  }
}

/// An argument of a call.
struct SwiftArgument {
  var label: String?
  var value: SwiftExpression

  init(_ label: String? = nil, _ value: SwiftExpression) {
    self.label = label
    self.value = value
  }

  init(_ label: String? = nil, text: String) { self.init(label, .text(text)) }

  var line: String { (label.map { "\($0): " } ?? "") + value.line }

  var width: Int { line.count - value.line.count + value.width }
}

extension [SwiftArgument] {
  var line: String { map(\.line).joined(separator: ", ") }

  var width: Int { line.count + reduce(0) { $0 + $1.width - $1.line.count } }

  /// The arguments on lines, as many on each as there is room for.
  ///
  /// - Parameter end: what follows the last argument.
  func lines(before end: String, indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var current = ""
    var width = 0
    for (index, argument) in enumerated() {
      let tail = index == count - 1 ? end : ","
      let text = argument.line + tail
      let wanted = argument.width + tail.count
      if !current.isEmpty, width + 1 + wanted <= SwiftFormat.width {
        current += " \(text)"
        width += 1 + wanted
        continue
      }
      if !current.isEmpty { lines.append(current) }
      current = margin + text
      width = margin.count + wanted
      if width > SwiftFormat.width {
        lines += argument.value.lines(
          after: argument.label.map { "\($0):" } ?? "", tail, indent: indent)
        current = ""
      }
    }
    return current.isEmpty ? lines : lines + [current]
  }
}

/// What is configured for the code that the tool writes.
enum SwiftFormat {
  /// Columns of a line.
  static let width = 100

  /// A comment on as many lines as it needs.
  static func comment(_ text: String, indent: Int) -> [String] {
    let start = String(repeating: " ", count: indent) + "//"
    var lines = [start]
    for word in text.split(separator: " ") {
      if lines[lines.count - 1].count + 1 + word.count > width { lines.append(start) }
      lines[lines.count - 1] += " \(word)"
    }
    return lines
  }
}
