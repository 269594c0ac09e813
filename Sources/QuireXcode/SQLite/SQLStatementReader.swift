/// The words of a SQL statement, one after the other: just enough for `CREATE TABLE`.
struct SQLStatementReader {
  enum Token: Hashable {
    /// A bare word, which may be a keyword.
    case word(String)
    /// A name in quotes, brackets or backticks, which is never a keyword.
    case quoted(String)
    /// Text in single quotes; SQLite accepts it as a name where it expects one.
    case string(String)
    case number(String)
    case symbol(Character)
  }

  private let characters: [Character]
  private var position = 0

  init(_ statement: String) { characters = Array(statement) }

  mutating func next() -> Token? {
    skipBlanks()
    guard position < characters.count else { return nil }
    let first = characters[position]
    switch first {
    case "\"", "`": return .quoted(readQuoted(until: first))
    case "[": return .quoted(readQuoted(until: "]"))
    case "'": return .string(readQuoted(until: first))
    case _ where first.isNumber || (first == "." && peek(1)?.isNumber == true):
      return .number(readWhile { $0.isLetter || $0.isNumber || $0 == "." })
    case _ where Self.isWord(first): return .word(readWhile(Self.isWord))
    default:
      position += 1
      return .symbol(first)
    }
  }

  private static func isWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "_" || character == "$"
      || !character.isASCII && !character.isWhitespace
  }

  private func peek(_ distance: Int) -> Character? {
    position + distance < characters.count ? characters[position + distance] : nil
  }

  private mutating func skipBlanks() {
    while let character = peek(0) {
      if character.isWhitespace {
        position += 1
      } else if character == "-", peek(1) == "-" {
        while let other = peek(0), !other.isNewline { position += 1 }
      } else if character == "/", peek(1) == "*" {
        position += 2
        while let other = peek(0), !(other == "*" && peek(1) == "/") { position += 1 }
        position = min(position + 2, characters.count)
      } else {
        return
      }
    }
  }

  private mutating func readWhile(_ belongs: (Character) -> Bool) -> String {
    let start = position
    while let character = peek(0), belongs(character) { position += 1 }
    return String(characters[start..<position])
  }

  /// A quote inside is written twice.
  private mutating func readQuoted(until end: Character) -> String {
    position += 1
    var result = ""
    while let character = peek(0) {
      position += 1
      if character == end {
        guard end != "]", peek(0) == end else { break }
        position += 1
      }
      result.append(character)
    }
    return result
  }
}
