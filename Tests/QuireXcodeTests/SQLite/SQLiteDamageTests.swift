import Foundation
import QuireXcode
import Testing

/// What a reader of somebody else's format owes: an error for every bad file, never a trap or a hang.
@Suite struct SQLiteDamageTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a file cut off at any page is an error that says so`() throws {
    let writer = SQLiteFileWriter.sample(rowCount: 60)
    let pages = writer.pages()
    for count in 0..<pages.count {
      for extra in [0, 200] {
        let bytes = pages[..<count].flatMap { $0 } + pages[count].prefix(extra)
        #expect(throws: SQLiteError.self, "cut off after \(count) pages and \(extra) bytes") {
          _ = try readAll(bytes)
        }
      }
    }
  }

  @Test(arguments: UInt64(1)...8)
  func `any flipped bytes give rows or an error with a page`(seed: UInt64) throws {
    let original = SQLiteFileWriter.sample(rowCount: 40).bytes()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<150 {
      var bytes = original
      for _ in 0...Int.random(in: 0..<4, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
          in: 0...255, using: &generator)
      }
      do { _ = try readAll(bytes) } catch { #expect(error is SQLiteError, "seed \(seed)") }
    }
  }

  @Test func `every byte of the header and of a page header may be any of some values`() throws {
    let original = SQLiteFileWriter.sample(rowCount: 12).bytes()
    let headers = Array(0..<112) + Array(512..<530)
    for position in headers {
      for value: UInt8 in [0, 1, 2, 5, 13, 127, 128, 255] {
        var bytes = original
        bytes[position] = value
        do { _ = try readAll(bytes) } catch { #expect(error is SQLiteError) }
      }
    }
  }

  @Test func `a tree that leads back to itself is damage, with the page`() throws {
    var writer = SQLiteFileWriter.sample(rowCount: 60)
    writer.tables[0].rows = (0..<60).map { (Int64($0), [.text(String(repeating: "x", count: 50))]) }
    var pages = writer.pages()
    let root = try #require(pages.firstIndex { $0[0] == 0x05 })
    let cell = Int(pages[root][12]) << 8 | Int(pages[root][13])
    pages[root].replaceSubrange(cell..<cell + 4, with: (root + 1).bytes(4))
    #expect { try readAll(pages.flatMap { $0 }) } throws: {
      guard case .damaged(let page, let words)? = ($0 as? SQLiteError)?.reason else { return false }
      return page == UInt32(root + 1) && words.contains("two places")
    }
  }

  @Test func `a row that claims gigabytes is damage and takes no memory`() throws {
    var writer = SQLiteFileWriter()
    writer.tables = [
      .init(name: "ITEM", statement: "CREATE TABLE ITEM (a)", rows: [(1, [.text("abcdefghi")])])
    ]
    var pages = writer.pages()
    let cell = Int(pages[1][8]) << 8 | Int(pages[1][9])
    pages[1].replaceSubrange(cell..<cell + 6, with: [0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 1])
    #expect { try readAll(pages.flatMap { $0 }) } throws: { "\($0)".contains("claims") }
  }

  private func readAll(_ bytes: [UInt8]) throws -> Int {
    let url = try folder.write(bytes, to: "damaged.sqlite")
    let database = try SQLiteDatabase(contentsOf: url)
    var count = 0
    for name in database.tables.keys.sorted() { count += try database.allRows(of: name).count }
    if database.tables["ITEM"] == nil {
      throw SQLiteError(file: url.path, reason: .noTable("ITEM"))
    }
    return count
  }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
