/// What `quire edit` is to do: statements, in their order.
///
/// ```
/// insert Artist as $hokusai name="Hokusai" birthYear=1760
/// set Artwork/12 price=3 title="The Great Wave" artists+=$hokusai
/// set Artwork where "price > 50000" isPublished=true
/// delete Show/3 Note/7
/// ```
///
/// Statements end with the line or a semicolon, but not inside of quotes; `#` begins a comment.
struct EditScript {
  /// A position in the text, both from 1.
  struct Position {
    var line: Int
    var column: Int
  }

  /// A word with its position.
  struct Word {
    var text: String
    /// Whether it stood in quotes: then it is a text, whatever it says.
    var isQuoted = false
    var position: Position
  }

  /// The objects that a statement is about.
  enum Target {
    /// `Artwork/12`, or `$name` of an insertion before.
    case object(Word)
    /// `Artwork where "price > 3"`.
    case matches(entity: Word, format: Word)

    var position: Position {
      switch self {
      case .object(let word), .matches(let word, _): word.position
      }
    }
  }

  enum Operation: String {
    case set = "="
    case add = "+="
    case remove = "-="
  }

  struct Assignment {
    var key: Word
    var operation: Operation
    /// Several for a relationship to many.
    var values: [Word]
  }

  enum Statement {
    case insert(entity: Word, name: Word?, [Assignment])
    case set(Target, [Assignment])
    case delete([Target])
  }

  var statements: [Statement] = []
}

/// A mistake in a script: what is wrong, and where.
struct EditMistake: Error {
  let position: EditScript.Position
  let reason: String

  /// The mistake with the line of the text that it is in, and a mark below the column.
  ///
  /// - Parameter source: what the text is called; empty where that is clear.
  func inputError(in text: String, _ source: String) -> InputError {
    let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
    let line = position.line <= lines.count ? lines[position.line - 1] : ""
    let location = lines.count > 1 ? "line \(position.line), column" : "column"
    let indent = line.prefix(position.column - 1).reduce(0) { $0 + $1.columnCount }
    return InputError(
      at: "\(source)\(location) \(position.column)",
      """
      \(reason)
        \(String(line.map { $0 == "\t" ? " " : $0 }))
        \(String(repeating: " ", count: indent))^
      """)
  }
}
