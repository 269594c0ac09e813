/// Reads the statements of a script.
struct EditParser {
  private let text: [Character]
  private var index = 0
  private var position = EditScript.Position(line: 1, column: 1)

  static func parse(_ text: String) throws(EditMistake) -> EditScript {
    var parser = EditParser(text)
    var script = EditScript()
    while let statement = try parser.statement() { script.statements.append(statement) }
    return script
  }

  private init(_ text: String) { self.text = Array(text) }

  // MARK: Statements

  /// - Returns: `nil` at the end.
  private mutating func statement() throws(EditMistake) -> EditScript.Statement? {
    skipBetweenStatements()
    if index == text.count { return nil }
    let keyword = try word("insert, set or delete")
    switch keyword.text {
    case "insert": return try insertion()
    case "set": return .set(try target(), try assignments(atLeastOne: true))
    case "delete": return try deletion()
    default:
      let hint =
        keyword.text == "update"
        ? "; did you mean set?"
        : Suggestion.question(for: keyword.text, among: ["insert", "set", "delete"])
          .map { "; \($0)" } ?? ""
      throw EditMistake(
        position: keyword.position,
        reason: "a statement begins with insert, set or delete, not “\(keyword.text)”\(hint)")
    }
  }

  private mutating func insertion() throws(EditMistake) -> EditScript.Statement {
    let entity = try word("the name of an entity")
    var name: EditScript.Word?
    skipSpaces()
    let (start, startPosition) = (index, position)
    if let next = bareWord(), next.text == "as" {
      let given = try word("a name such as $new")
      guard given.text.hasPrefix("$"), given.text.count > 1 else {
        throw EditMistake(
          position: given.position, reason: "a name begins with $, and “\(given.text)” does not")
      }
      name = given
    } else {
      (index, position) = (start, startPosition)
    }
    return .insert(entity: entity, name: name, try assignments(atLeastOne: false))
  }

  private mutating func deletion() throws(EditMistake) -> EditScript.Statement {
    var targets: [EditScript.Target] = []
    repeat {
      targets.append(try target())
      skipSpaces()
      if peek == "," { advance() }
      skipSpaces()
    } while !isAtEnd
    return .delete(targets)
  }

  private mutating func target() throws(EditMistake) -> EditScript.Target {
    let first = try word("an object, such as Artwork/12")
    if first.text.hasPrefix("$") || first.text.contains("/") { return .object(first) }
    skipSpaces()
    let wherePosition = position
    guard let next = bareWord(), next.text == "where" else {
      throw EditMistake(
        position: wherePosition,
        reason: "after \(first.text) is expected: where \"FORMAT\". One object is \(first.text)/12"
      )
    }
    let format = try value("a predicate format in quotes")
    guard format.isQuoted else {
      throw EditMistake(
        position: format.position, reason: "the predicate format after where stands in quotes")
    }
    return .matches(entity: first, format: format)
  }

  private mutating func assignments(
    atLeastOne: Bool
  ) throws(EditMistake) -> [EditScript.Assignment] {
    var assignments: [EditScript.Assignment] = []
    skipSpaces()
    if isAtEnd, atLeastOne {
      throw EditMistake(position: position, reason: "an assignment is expected: key=value")
    }
    while !isAtEnd {
      assignments.append(try assignment())
      skipSpaces()
    }
    return assignments
  }

  private mutating func assignment() throws(EditMistake) -> EditScript.Assignment {
    let key = try word("the name of a property")
    skipSpaces()
    let operation: EditScript.Operation
    switch peek {
    case "=": operation = .set
    case "+" where peek(1) == "=": operation = .add
    case "-" where peek(1) == "=": operation = .remove
    default:
      throw EditMistake(
        position: position, reason: "after \(key.text) is expected: =, += or -=")
    }
    for _ in operation.rawValue { advance() }
    skipSpaces()
    var values = [try value("a value of \(key.text)")]
    while peek == "," {
      advance()
      skipSpaces()
      values.append(try value("another value of \(key.text)"))
    }
    return EditScript.Assignment(key: key, operation: operation, values: values)
  }

  // MARK: Words

  /// A word without quotes, up to a space or a sign of the language.
  private mutating func word(_ expected: String) throws(EditMistake) -> EditScript.Word {
    skipSpaces()
    if let word = bareWord() { return word }
    throw EditMistake(position: position, reason: "\(expected) is expected")
  }

  private mutating func bareWord() -> EditScript.Word? {
    var word = EditScript.Word(text: "", position: position)
    while let next = peek, !next.isWhitespace, !"=,;\"'".contains(next),
      !("+-".contains(next) && peek(1) == "=")
    {
      word.text.append(next)
      advance()
    }
    return word.text.isEmpty ? nil : word
  }

  /// A value: quoted, or up to a space, a comma or a semicolon.
  private mutating func value(_ expected: String) throws(EditMistake) -> EditScript.Word {
    skipSpaces()
    if let quote = peek, quote == "\"" || quote == "'" { return try quoted(quote) }
    var word = EditScript.Word(text: "", position: position)
    while let next = peek, !next.isWhitespace, next != ",", next != ";" {
      word.text.append(next)
      advance()
    }
    if word.text.isEmpty {
      throw EditMistake(position: position, reason: "\(expected) is expected")
    }
    return word
  }

  private mutating func quoted(_ quote: Character) throws(EditMistake) -> EditScript.Word {
    var word = EditScript.Word(text: "", isQuoted: true, position: position)
    advance()
    while let next = peek {
      let start = position
      advance()
      if next == quote { return word }
      guard next == "\\" else {
        word.text.append(next)
        continue
      }
      guard let escape = peek else { break }
      advance()
      switch escape {
      case "n": word.text.append("\n")
      case "t": word.text.append("\t")
      case "r": word.text.append("\r")
      case "0": word.text.append("\0")
      case "\\", "\"", "'": word.text.append(escape)
      default:
        throw EditMistake(
          position: start, reason: #"\\#(escape) is no escape: those are \n \t \r \0 \\ \" \'"#)
      }
    }
    throw EditMistake(position: word.position, reason: "this quote is not closed")
  }

  // MARK: Characters

  private var peek: Character? { index < text.count ? text[index] : nil }

  private func peek(_ offset: Int) -> Character? {
    index + offset < text.count ? text[index + offset] : nil
  }

  /// Whether a statement ends here.
  private var isAtEnd: Bool {
    guard let next = peek else { return true }
    return next.isNewline || next == ";" || next == "#"
  }

  private mutating func advance() {
    if text[index].isNewline {
      position = EditScript.Position(line: position.line + 1, column: 1)
    } else {
      position.column += 1
    }
    index += 1
  }

  private mutating func skipSpaces() {
    while let next = peek, next.isWhitespace, !next.isNewline { advance() }
  }

  private mutating func skipBetweenStatements() {
    while let next = peek {
      if next == "#" {
        while let next = peek, !next.isNewline { advance() }
      } else if next.isWhitespace || next == ";" {
        advance()
      } else {
        return
      }
    }
  }
}
