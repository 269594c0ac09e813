import Foundation
import QuireXcode
import Testing

@Suite struct SQLiteDatabaseTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [512, 1024, 4096, 65536], [SQLiteFileWriter.Encoding.utf8, .utf16LittleEndian])
  func `rows come back as they were written, whatever the page size and encoding`(
    pageSize: Int, encoding: SQLiteFileWriter.Encoding
  ) throws {
    var writer = SQLiteFileWriter.sample(rowCount: 200)
    writer.pageSize = pageSize
    writer.encoding = encoding
    let database = try database(writer.bytes())
    #expect(try database.allRows(of: "ITEM") == writer.tables[0].rows.map(\.1))
  }

  @Test func `big-endian text and reserved bytes at the end of pages are understood`() throws {
    var writer = SQLiteFileWriter.sample(rowCount: 60)
    writer.encoding = .utf16BigEndian
    writer.reservedByteCount = 20
    let database = try database(writer.bytes())
    #expect(try database.allRows(of: "ITEM") == writer.tables[0].rows.map(\.1))
  }

  @Test func `a schema of many tables is read through interior pages`() throws {
    var writer = SQLiteFileWriter()
    for number in 0..<100 {
      writer.tables.append(.init(name: "T\(number)", statement: "CREATE TABLE T\(number) (a, b)"))
    }
    writer.indexes = [("BY_A", "T3")]
    let database = try database(writer.bytes())
    #expect(database.tables.count == 100)
    #expect(database.indexNames == ["BY_A"])
  }

  @Test func `the values of an integer primary key are the row IDs`() throws {
    var writer = SQLiteFileWriter()
    writer.tables = [
      .init(
        name: "P", statement: "CREATE TABLE P (Z_PK INTEGER PRIMARY KEY, NAME VARCHAR)",
        rows: [(-5, [.null, .text("a")]), (Int64.max, [.null, .text("b")])])
    ]
    let database = try database(writer.bytes())
    #expect(
      try database.allRows(of: "p") == [
        [.integer(-5), .text("a")], [.integer(.max), .text("b")],
      ])
  }

  @Test func `integers of every width come back with their signs`() throws {
    // The first and the last that fit 1, 2, 3, 4 and 6 bytes, and the first that do not.
    let numbers: [Int64] = [8, 16, 24, 32, 48].flatMap { width -> [Int64] in
      let bound: Int64 = 1 << (width - 1)
      return [-bound - 1, -bound, -bound + 1, -bound / 2 - 1, bound - 1, bound]
    }
    var writer = SQLiteFileWriter()
    writer.tables = [
      .init(
        name: "P", statement: "CREATE TABLE P (a)",
        rows: numbers.enumerated().map { (Int64($0 + 1), [.integer($1)]) })
    ]
    let database = try database(writer.bytes())
    #expect(try database.allRows(of: "P") == numbers.map { [.integer($0)] })
  }

  @Test func `a row older than a column has the column's default`() throws {
    var writer = SQLiteFileWriter()
    writer.tables = [
      .init(
        name: "P", statement: "CREATE TABLE P (a, b INTEGER DEFAULT -7, c DEFAULT 'x', d)",
        rows: [(1, [.integer(3)])])
    ]
    let database = try database(writer.bytes())
    #expect(
      try database.allRows(of: "P") == [[.integer(3), .integer(-7), .text("x"), .null]])
  }

  @Test func `text that is not in the encoding of the file is repaired and can be told`() throws {
    var writer = SQLiteFileWriter()
    writer.tables = [
      .init(name: "P", statement: "CREATE TABLE P (a)", rows: [(1, [.text("qqq")])])
    ]
    var bytes = writer.bytes()
    let position = try #require(bytes.firstIndex(of: UInt8(ascii: "q")))
    bytes[position] = 0xFF
    let database = try database(bytes)
    var (_, rows) = try database.rows(ofTable: "P")
    let row = try #require(try rows.next())
    #expect(row[0] == .text("\u{FFFD}qq"))
    #expect(row.hasMalformedText(in: 0))
  }

  @Test(arguments: [
    ("", "it is empty"), ("SQLite format 3\0", "16 bytes"),
    (String(repeating: "x", count: 600), "does not begin with"),
  ])
  func `a file that is no SQLite database is refused with the reason`(
    content: String, reason: String
  ) throws {
    #expect { try database(Array(content.utf8)) } throws: { "\($0)".contains(reason) }
  }

  @Test func `a missing file, a folder and a newer format are refused with the reason`() throws {
    #expect { try SQLiteDatabase(contentsOf: folder.file("none")) } throws: {
      "\($0)".contains("there is no such file")
    }
    #expect { try SQLiteDatabase(contentsOf: folder.url) } throws: {
      "\($0)".contains("not a regular file")
    }
    var writer = SQLiteFileWriter.sample(rowCount: 1)
    writer.readVersion = 3
    #expect { try database(writer.bytes()) } throws: { "\($0)".contains("file format 3") }
  }

  @Test(arguments: [
    ("CREATE TABLE P (a INTEGER PRIMARY KEY) WITHOUT ROWID", "WITHOUT ROWID"),
    ("CREATE VIRTUAL TABLE P USING fts5(a)", "virtual"),
    ("CREATE TABLE P (a, b AS (a + 1))", "generated column"),
    ("CREATE TABLE P", "does not know"),
  ])
  func `a table of a kind that is not read is refused only when it is read`(
    statement: String, reason: String
  ) throws {
    var writer = SQLiteFileWriter()
    writer.tables = [.init(name: "P", statement: statement)]
    let database = try database(writer.bytes())
    #expect { try database.rows(ofTable: "P") } throws: { "\($0)".contains(reason) }
    #expect { try database.rows(ofTable: "Q") } throws: { "\($0)".contains("no table Q") }
  }

  @Test func `a file with a rollback journal is refused, one with a finished journal is not`()
    throws
  {
    let bytes = SQLiteFileWriter.sample(rowCount: 3).bytes()
    let url = try folder.write(bytes, to: "store.sqlite")
    try folder.write(
      [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7, 0, 0, 0, 1], to: "store.sqlite-journal")
    #expect { try SQLiteDatabase(contentsOf: url) } throws: {
      guard case .hotJournal(let journal)? = ($0 as? SQLiteError)?.reason else { return false }
      return journal == url.path + "-journal"
    }
    try folder.write([UInt8](repeating: 0, count: 512), to: "store.sqlite-journal")
    #expect(try SQLiteDatabase(contentsOf: url).allRows(of: "ITEM").count == 3)
  }

  @Test func `a write by somebody else is noticed`() throws {
    let url = try folder.write(SQLiteFileWriter.sample(rowCount: 3).bytes(), to: "store.sqlite")
    let database = try SQLiteDatabase(contentsOf: url)
    try database.checkUnchanged()
    var other = SQLiteFileWriter.sample(rowCount: 3).bytes()
    other[27] += 1
    try folder.write(other, to: "store.sqlite")
    #expect { try database.checkUnchanged() } throws: {
      ($0 as? SQLiteError)?.reason == .changedWhileReading
    }
  }

  private func database(_ bytes: [UInt8]) throws -> SQLiteDatabase {
    try SQLiteDatabase(contentsOf: folder.write(bytes, to: "test-\(UUID().uuidString).sqlite"))
  }
}

extension SQLiteFileWriter {
  /// A table `ITEM` with a value of every class, and a text of many pages in every seventh row.
  static func sample(rowCount: Int) -> SQLiteFileWriter {
    var writer = SQLiteFileWriter()
    let integers: [Int64] = [0, 1, -1, 127, -129, 40000, -9_000_000, 1 << 40, .min, .max]
    writer.tables = [
      Table(
        name: "ITEM", statement: "CREATE TABLE ITEM (A INTEGER, B FLOAT, C VARCHAR, D BLOB, E)",
        rows: (0..<rowCount).map { number in
          let length = number % 7 == 3 ? 3000 : number % 20
          return (
            Int64(number * 3 - 20),
            [
              .integer(integers[number % 10] ^ Int64(number / 10)), .real(Double(number) / 3),
              .text("ü\(String(repeating: "text", count: length / 4))"),
              .blob(Data(repeating: UInt8(number % 256), count: length)), .null,
            ]
          )
        })
    ]
    return writer
  }
}

extension SQLiteDatabase {
  func allRows(of name: String) throws -> [[SQLiteValue]] {
    var (table, rows) = try rows(ofTable: name)
    var result: [[SQLiteValue]] = []
    while let row = try rows.next() {
      result.append(table.columnNames.indices.map { row[$0] })
    }
    return result
  }
}
