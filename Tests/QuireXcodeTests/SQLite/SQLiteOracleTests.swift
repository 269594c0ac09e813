import Foundation
import QuireXcode
import Testing

/// Our reader beside SQLite's own, on stores that Core Data wrote.
@Suite(
  .enabled(if: RealData.isPresent, Comment(rawValue: RealData.absence)),
  .enabled(if: SQLiteCommand.isPresent, Comment(rawValue: SQLiteCommand.absence)))
struct SQLiteOracleTests {
  @Test(arguments: RealStore.sampled)
  func `every value of every table is what sqlite3 reads`(store: RealStore) throws {
    let folder = try TemporaryFolder()
    let url = try store.copy(to: folder)
    let database = try SQLiteDatabase(contentsOf: url)
    #expect(database.tables.count >= 3)
    for table in database.tables.values where !table.name.hasPrefix("sqlite_") {
      let ours = try database.allRows(of: table.name).map { $0.map(SQLiteCommand.form) }
      let theirs = try SQLiteCommand.rows(of: table, in: url)
      #expect(ours == theirs, "\(table.name)")
    }
  }
}
