import Foundation
import QuireXcode
import Testing

/// Our reader beside SQLite's own, on stores that Core Data wrote.
@Suite(
  .enabled(if: RealData.isPresent, Comment(rawValue: RealData.absence)),
  .enabled(if: SQLiteCommand.isPresent, "needs the command sqlite3 to compare with"))
struct SQLiteOracleTests {
  @Test(arguments: RealStore.all)
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

/// The command-line tool of SQLite, where there is one.
enum SQLiteCommand {
  static let path = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3", "/opt/homebrew/bin/sqlite3"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  static var isPresent: Bool { path != nil }

  /// The class of a value and its bytes in hexadecimal; reals by their bits.
  static func form(_ value: SQLiteValue) -> String {
    switch value {
    case .null: "null:"
    case .integer(let number): "integer:\(number)"
    case .real(let number): "real:\(number.bitPattern)"
    case .text(let text): "text:\(hex(Array(text.utf8)))"
    case .blob(let data): "blob:\(hex(Array(data)))"
    }
  }

  static func rows(of table: SQLiteTable, in url: URL) throws -> [[String]] {
    // A real is printed with 17 digits, which name it exactly.
    let columns = table.columnNames.map { name in
      let column = "\"\(name)\""
      return """
        typeof(\(column)) || ':' || CASE typeof(\(column)) WHEN 'integer' THEN \(column) \
        WHEN 'real' THEN printf('%!.17g', \(column)) WHEN 'null' THEN '' ELSE hex(\(column)) END
        """
    }
    let output = try run([
      url.path, "SELECT \(columns.joined(separator: ", ")) FROM \(table.name) ORDER BY rowid",
    ])
    return output.split(separator: "\n").map { line in
      line.split(separator: "|", omittingEmptySubsequences: false).map { field in
        guard field.hasPrefix("real:"), let number = Double(field.dropFirst(5)) else {
          return String(field)
        }
        return "real:\(number.bitPattern)"
      }
    }
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789ABCDEF")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  private static func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path ?? "sqlite3")
    process.arguments = ["-readonly", "-batch"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
