import Foundation

/// A SQLite 3 file, read without SQLite.
///
/// It provides only what an importer of Core Data stores needs: the tables of the schema and their
/// rows in the order of their IDs, as of the last commit, including the write-ahead log. No
/// queries, no indexes, no `WITHOUT ROWID`, no virtual tables, and no way to write.
///
///     database ── schema (the table on page 1): names, definitions, root pages
///        │
///        └─ rows of a table ── tree walk ── pages ─┬─ of the log, where a commit put them
///                                                  └─ of the file
///
/// It guarantees that
/// - nothing is written and no lock is taken, so that other programs can go on using the file. In
///   return, a writer may change it meanwhile; ``checkUnchanged()`` detects this;
/// - no file makes it trap, hang, or take more memory than the file is large: every offset is
///   checked, every page of a table is visited once, and errors name their page. SQLite keeps no
///   checksums of its pages, so damage that leaves the structure whole is not noticed.
///
/// The format is described at https://www.sqlite.org/fileformat.html.
package final class SQLiteDatabase {
  package let path: String
  /// The tables of the schema, by their names in upper case.
  package let tables: [String: SQLiteTable]
  /// The names of all indexes that have a definition.
  package let indexNames: Set<String>
  private let source: SQLitePageSource

  /// - Throws: ``SQLiteError``; a rollback journal beside the file is an error too, for the file
  ///   may then hold half a transaction.
  package init(contentsOf url: URL) throws(SQLiteError) {
    source = try SQLitePageSource(path: url.path)
    path = source.path
    let schema = SQLiteTable(
      name: "sqlite_schema",
      definition: SQLiteTableDefinition(
        statement: "CREATE TABLE s(type TEXT, name TEXT, tbl_name TEXT, rootpage INTEGER, sql TEXT)"
      ),
      root: 1)
    var tables: [String: SQLiteTable] = [:]
    var indexNames: Set<String> = []
    var rows = SQLiteRows(of: schema, source: source)
    while let row = try rows.next() {
      guard case .text(let type) = row[0], case .text(let name) = row[1] else { continue }
      guard case .text(let statement) = row[4] else { continue }
      if type == "index" { indexNames.insert(name) }
      guard type == "table" else { continue }
      let definition = SQLiteTableDefinition(statement: statement)
      var root: UInt32 = 0
      if case .integer(let number) = row[3] { root = UInt32(clamping: number) }
      tables[name.sqlName] = SQLiteTable(name: name, definition: definition, root: root)
    }
    self.tables = tables
    self.indexNames = indexNames
  }

  package func table(named name: String) -> SQLiteTable? { tables[name.sqlName] }

  package func rows(of table: SQLiteTable) throws(SQLiteError) -> SQLiteRows {
    if let obstacle = table.definition.obstacle {
      throw SQLiteError(file: path, reason: .unsupportedTable(table.name, obstacle))
    }
    return SQLiteRows(of: table, source: source)
  }

  /// The rows of a table that has to be there.
  package func rows(ofTable name: String) throws(SQLiteError) -> (SQLiteTable, SQLiteRows) {
    guard let table = table(named: name) else {
      throw SQLiteError(file: path, reason: .noTable(name))
    }
    return (table, try rows(of: table))
  }

  /// Throws if another program has written to the file or its log since it was opened.
  package func checkUnchanged() throws(SQLiteError) { try source.checkUnchanged() }

  /// A remark on how the log was used, for a report; `nil` when there is none.
  package var logRemark: String? {
    switch source.logState {
    case .none: nil
    case .applied(let frameCount): "read with its log (\(frameCount) pages in it)"
    case .ignored(let byteCount, let reason):
      "the log of \(byteCount) bytes was ignored, as SQLite ignores it: \(reason)"
    }
  }
}
