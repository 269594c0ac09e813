/// A table of a SQLite file: its columns, and where its rows begin.
package struct SQLiteTable: Sendable {
  package let name: String
  package let definition: SQLiteTableDefinition
  let root: UInt32
  /// For each column, whether its whole numbers are reals.
  let realColumns: [Bool]
  private let indexes: [String: Int]

  init(name: String, definition: SQLiteTableDefinition, root: UInt32) {
    self.name = name
    self.definition = definition
    self.root = root
    realColumns = definition.columns.map(\.isReal)
    indexes = .init(
      definition.columns.enumerated().map { ($1.name.sqlName, $0) },
      uniquingKeysWith: { old, _ in old })
  }

  package var columnNames: [String] { definition.columns.map(\.name) }

  /// The position of a column; the case of its name does not matter.
  package func column(named name: String) -> Int? { indexes[name.sqlName] }
}

/// A row of a table.
package struct SQLiteRow {
  package let rowID: Int64
  private let record: SQLiteRecord
  private let table: SQLiteTable

  init(rowID: Int64, record: SQLiteRecord, table: SQLiteTable) {
    self.rowID = rowID
    self.record = record
    self.table = table
  }

  /// The value of a column, by its position in the table.
  ///
  /// - Precondition: the table has the column.
  package subscript(column: Int) -> SQLiteValue {
    if column == table.definition.rowIDColumn { return .integer(rowID) }
    let value =
      column < record.count
      ? record.value(at: column) : table.definition.columns[column].defaultValue
    if table.realColumns[column], case .integer(let number) = value { return .real(Double(number)) }
    return value
  }

  /// Whether the text of a column had to be repaired, because it is not in the encoding of the
  /// file.
  package func hasMalformedText(in column: Int) -> Bool {
    column < record.count && record.hasMalformedText(at: column)
  }
}

/// The rows of a table in the order of their IDs, read one at a time.
package struct SQLiteRows {
  private var tree: SQLiteTree
  private let source: SQLitePageSource
  private let table: SQLiteTable

  init(of table: SQLiteTable, source: SQLitePageSource) {
    tree = SQLiteTree(root: table.root, source: source)
    self.source = source
    self.table = table
  }

  /// The next row, or `nil` after the last.
  package mutating func next() throws(SQLiteError) -> SQLiteRow? {
    guard let (rowID, payload) = try tree.next() else { return nil }
    guard let record = SQLiteRecord(payload, textEncoding: source.header.textEncoding) else {
      throw SQLiteError(
        file: source.path,
        reason: .damaged(page: table.root, "row \(rowID) of table \(table.name) is not a record"))
    }
    return SQLiteRow(rowID: rowID, record: record, table: table)
  }
}
