/// The columns of a table, read from the `CREATE TABLE` that SQLite keeps.
package struct SQLiteTableDefinition: Hashable, Sendable {
  package struct Column: Hashable, Sendable {
    package var name: String
    /// The declared type as it is written, such as `VARCHAR`; empty when there is none.
    package var type: String
    /// The value of rows that are older than the column.
    package var defaultValue = SQLiteValue.null

    /// Whether whole numbers of this column are reals, which SQLite writes as integers to save
    /// room.
    var isReal: Bool {
      func has(_ words: String...) -> Bool { words.contains { type.uppercased().contains($0) } }
      return has("REAL", "FLOA", "DOUB") && !has("INT", "CHAR", "CLOB", "TEXT", "BLOB")
    }
  }

  package var columns: [Column] = []
  /// The column whose values are the row IDs; its field in a record is NULL.
  package var rowIDColumn: Int?
  /// Why rows of this table cannot be read; `nil` when they can.
  package var obstacle: String?

  /// - Returns: a definition with an ``obstacle`` when the statement makes no ordinary table.
  init(statement: String) {
    var parser = Parser(statement)
    self = parser.parse() ?? Self(obstacle: "is defined in a way that this reader does not know")
  }

  private init(obstacle: String? = nil) { self.obstacle = obstacle }
}

extension SQLiteTableDefinition {
  /// Reads the column list: names, types, and the few constraints that change how rows are stored.
  private struct Parser {
    typealias Token = SQLStatementReader.Token

    private var tokens: [Token] = []
    private var position = 0
    private var result = SQLiteTableDefinition()

    init(_ statement: String) {
      var reader = SQLStatementReader(statement)
      while let token = reader.next() { tokens.append(token) }
    }

    mutating func parse() -> SQLiteTableDefinition? {
      guard takeWord("CREATE") else { return nil }
      if takeWord("VIRTUAL") { return SQLiteTableDefinition(obstacle: "is virtual") }
      _ = takeWord("TEMP") || takeWord("TEMPORARY")
      guard takeWord("TABLE") else { return nil }
      if takeWord("IF") { guard takeWord("NOT"), takeWord("EXISTS") else { return nil } }
      guard takeName() != nil else { return nil }
      if takeSymbol(".") { guard takeName() != nil else { return nil } }
      guard takeSymbol("(") else { return nil }
      repeat {
        guard isAtTableConstraint ? parseTableConstraint() : parseColumn() else { return nil }
      } while takeSymbol(",")
      guard takeSymbol(")"), !result.columns.isEmpty else { return nil }
      while position < tokens.count {
        if takeWord("WITHOUT") { result.obstacle = "has no row IDs (WITHOUT ROWID)" }
        position += 1
      }
      return result
    }

    private var isAtTableConstraint: Bool {
      ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains { isWord($0) }
    }

    private mutating func parseColumn() -> Bool {
      guard let name = takeName() else { return false }
      var type: [String] = []
      while case .word(let word)? = peek, !Self.columnConstraints.contains(word.uppercased()) {
        type.append(word)
        position += 1
      }
      if case .symbol("(")? = peek, !skipParentheses() { return false }
      result.columns.append(Column(name: name, type: type.joined(separator: " ")))
      let index = result.columns.count - 1
      while let token = peek, token != .symbol(","), token != .symbol(")") {
        if takeWord("PRIMARY") {
          guard takeWord("KEY") else { return false }
          // The word DESC here makes an ordinary column of it: a mistake SQLite keeps for old
          // files.
          if !takeWord("DESC") { noteRowID(column: index) }
        } else if takeWord("DEFAULT") {
          guard let value = parseDefault() else { return false }
          result.columns[index].defaultValue = value
        } else if takeWord("GENERATED") || takeWord("AS") {
          result.obstacle = "has a generated column, \(name)"
        } else if token == .symbol("(") {
          guard skipParentheses() else { return false }
        } else {
          position += 1
        }
      }
      return true
    }

    private mutating func parseTableConstraint() -> Bool {
      while let token = peek, token != .symbol(","), token != .symbol(")") {
        if takeWord("PRIMARY") {
          guard takeWord("KEY"), takeSymbol("("), let name = takeName() else { return false }
          let isAlone = !rest(upTo: ")").contains(.symbol(","))
          let index = result.columns.firstIndex { $0.name.isSameSQLName(as: name) }
          if isAlone, let index { noteRowID(column: index) }
          position -= 2
          guard skipParentheses() else { return false }
        } else if token == .symbol("(") {
          guard skipParentheses() else { return false }
        } else {
          position += 1
        }
      }
      return true
    }

    /// Only a column declared exactly `INTEGER` is the row ID; `INT` is not.
    private mutating func noteRowID(column: Int) {
      if result.columns[column].type.uppercased() == "INTEGER" { result.rowIDColumn = column }
    }

    private mutating func parseDefault() -> SQLiteValue? {
      if case .symbol("(")? = peek { return skipParentheses() ? .null : nil }
      var sign = ""
      if takeSymbol("-") { sign = "-" } else { _ = takeSymbol("+") }
      guard let token = peek else { return nil }
      position += 1
      switch token {
      case .number(let digits):
        let text = sign + digits
        return Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) } ?? .null
      case .string(let text), .quoted(let text): return .text(text)
      case .word(let word):
        switch word.uppercased() {
        case "TRUE": return .integer(1)
        case "FALSE": return .integer(0)
        default: return .null
        }
      case .symbol: return nil
      }
    }

    private static let columnConstraints: Set<String> = [
      "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES",
      "GENERATED", "AS", "ON", "DEFERRABLE",
    ]

    private var peek: Token? { position < tokens.count ? tokens[position] : nil }

    private func isWord(_ keyword: String) -> Bool {
      if case .word(let word)? = peek { word.uppercased() == keyword } else { false }
    }

    private mutating func takeWord(_ keyword: String) -> Bool {
      guard isWord(keyword) else { return false }
      position += 1
      return true
    }

    private mutating func takeSymbol(_ symbol: Character) -> Bool {
      guard peek == .symbol(symbol) else { return false }
      position += 1
      return true
    }

    private mutating func takeName() -> String? {
      switch peek {
      case .word(let name), .quoted(let name), .string(let name):
        position += 1
        return name
      default: return nil
      }
    }

    private func rest(upTo end: Character) -> ArraySlice<Token> {
      tokens[position...].prefix { $0 != .symbol(end) }
    }

    /// Moves from an opening parenthesis past the one that closes it.
    private mutating func skipParentheses() -> Bool {
      var depth = 0
      while let token = peek {
        position += 1
        if token == .symbol("(") { depth += 1 }
        if token == .symbol(")") { depth -= 1 }
        if depth == 0 { return true }
      }
      return false
    }
  }
}

extension String {
  /// SQLite's rule for names: the case of ASCII letters does not matter.
  func isSameSQLName(as other: String) -> Bool { sqlName == other.sqlName }

  /// The form in which names are compared.
  var sqlName: String {
    String(decoding: utf8.map { $0 >= 0x61 && $0 <= 0x7A ? $0 - 0x20 : $0 }, as: UTF8.self)
  }
}
