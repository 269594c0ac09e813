import Foundation
import QuireXcode
import Testing

@Suite struct SQLiteLogTests {
  private let folder: TemporaryFolder
  /// The same database with 3 and with 40 rows.
  private let before: [[UInt8]]
  private let after: [[UInt8]]

  init() throws {
    folder = try TemporaryFolder()
    before = SQLiteFileWriter.sample(rowCount: 3).pages()
    after = SQLiteFileWriter.sample(rowCount: 40).pages()
  }

  @Test(arguments: [false, true])
  func `committed frames replace pages, in either byte order`(bigEndian: Bool) throws {
    let log = SQLiteLogWriter(bigEndian: bigEndian).bytes(frames(of: after), pageSize: 512)
    #expect(try rowCount(log: log) == 40)
  }

  @Test func `a store without its log has the old rows`() throws {
    #expect(try rowCount(log: nil) == 3)
    #expect(try rowCount(log: []) == 3)
  }

  @Test func `a log cut off anywhere shows the old rows or the new ones`() throws {
    let log = SQLiteLogWriter().bytes(frames(of: after), pageSize: 512)
    for count in stride(from: 0, to: log.count, by: 331) {
      #expect(try rowCount(log: Array(log[..<count])) == 3, "cut off at \(count)")
    }
  }

  @Test func `a log with any flipped byte shows the old rows`() throws {
    let log = SQLiteLogWriter().bytes(frames(of: after), pageSize: 512)
    for position in stride(from: 0, to: log.count, by: 293) {
      var damaged = log
      damaged[position] ^= 0x10
      #expect(try rowCount(log: damaged) == 3, "flipped at \(position)")
    }
  }

  @Test func `frames behind the last commit are ignored`() throws {
    var frames = frames(of: after)
    let garbage = [UInt8](repeating: 0xAB, count: 512)
    frames += [.init(page: 1, content: garbage), .init(page: 2, content: garbage)]
    let log = SQLiteLogWriter().bytes(frames, pageSize: 512)
    #expect(try rowCount(log: log) == 40)
  }

  @Test func `the last of several frames of a page counts`() throws {
    let log = SQLiteLogWriter().bytes(frames(of: after) + frames(of: before), pageSize: 512)
    #expect(try rowCount(log: log) == 3)
  }

  @Test func `a log of another page size is refused`() throws {
    let content = [UInt8](repeating: 0, count: 1024)
    let log = SQLiteLogWriter().bytes(
      [.init(page: 1, content: content, committedPageCount: 1)], pageSize: 1024)
    #expect { try rowCount(log: log) } throws: { "\($0)".contains("1024") }
  }

  @Test func `a report can say what became of the log`() throws {
    let log = SQLiteLogWriter().bytes(frames(of: after), pageSize: 512)
    #expect(try open(log: log).logRemark == "read with its log (\(after.count) pages in it)")
    #expect(try open(log: [1, 2, 3]).logRemark?.contains("shorter than its header") == true)
    #expect(try open(log: nil).logRemark == nil)
  }

  private func frames(of pages: [[UInt8]]) -> [SQLiteLogWriter.Frame] {
    pages.enumerated().map { index, page in
      .init(
        page: index + 1, content: page,
        committedPageCount: index == pages.count - 1 ? pages.count : 0)
    }
  }

  private func open(log: [UInt8]?) throws -> SQLiteDatabase {
    let name = "\(UUID().uuidString).sqlite"
    let url = try folder.write(before.flatMap { $0 }, to: name)
    if let log { try folder.write(log, to: name + "-wal") }
    return try SQLiteDatabase(contentsOf: url)
  }

  private func rowCount(log: [UInt8]?) throws -> Int {
    try open(log: log).allRows(of: "ITEM").count
  }
}
