import Foundation
import QuireXcode

/// The command-line tool of SQLite, where there is one.
enum SQLiteCommand {
  static let path = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3", "/opt/homebrew/bin/sqlite3"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  static var isPresent: Bool { path != nil }

  /// Why a test is skipped without it.
  static let absence = "needs the command sqlite3 to compare with"

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

  /// The first column of each query's rows.
  ///
  /// - Throws: ``Failure`` when SQLite does not take one of the queries.
  static func columns(of queries: [String], in url: URL) throws -> [[String]] {
    let end = "the end of a query"
    let script = queries.map { "\($0);\nSELECT '\(end)';\n" }.joined()
    var columns: [[String]] = []
    var column: [String] = []
    for line in try run(["-bail", url.path, script]).split(
      separator: "\n", omittingEmptySubsequences: false)
    {
      if line == end {
        columns.append(column)
        column = []
      } else {
        column.append(String(line))
      }
    }
    return columns
  }

  struct Failure: Error { var arguments: [String] }

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
    guard process.terminationStatus == 0 else { throw Failure(arguments: arguments) }
    return String(decoding: data, as: UTF8.self)
  }
}
