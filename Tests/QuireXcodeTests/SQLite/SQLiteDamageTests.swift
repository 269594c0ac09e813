import Foundation
import QuireSimulation
import QuireXcode
import Testing

/// What a reader of somebody else's format owes: an error for every bad file, never a trap or a
/// hang.
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

  @Test(arguments: UInt64(1)...4)
  func `any flipped bytes give rows or an error with a page`(seed: UInt64) throws {
    let original = SQLiteFileWriter.sample(rowCount: 40).bytes()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<Amount.of(debug: 30, release: 120) {
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
    let values: [UInt8] = [0, 1, 2, 5, 13, 127, 128, 255]
    let step = Amount.of(debug: 3, release: 1)
    for position in headers {
      // In debug every third, beginning with another at each position.
      for value in stride(from: position % step, to: values.count, by: step).map({ values[$0] }) {
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
      return page == UInt32(root + 1) && words.contains("two references")
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

  @Test func `rows out of order, or outside their key's range, are damage`() throws {
    var writer = SQLiteFileWriter.sample(rowCount: 60)
    writer.tables[0].rows = (0..<60).map { (Int64($0), [.text(String(repeating: "x", count: 50))]) }
    let pages = writer.pages()

    var swapped = pages
    let leaf = try #require(pages.firstIndex { $0[0] == 0x0D })
    swapped[leaf].replaceSubrange(8..<12, with: pages[leaf][10..<12] + pages[leaf][8..<10])
    expectDamage(swapped, at: leaf, "comes after row")

    var narrowed = pages
    let parent = try #require(pages.firstIndex { $0[0] == 0x05 })
    let cell = Int(pages[parent][12]) << 8 | Int(pages[parent][13])
    narrowed[parent][cell + 4] = 1
    expectDamage(narrowed, at: parent, "is left of key 1")
  }

  @Test func `rows that share bytes are damage`() throws {
    var writer = SQLiteFileWriter()
    // The bytes of row 1 contain those of a row 2, of nearly its length.
    let record = writer.record([.blob(Data(count: 380))])
    let inner = writer.varint(Int64(record.count)) + writer.varint(2) + record
    writer.tables = [
      .init(
        name: "ITEM", statement: "CREATE TABLE ITEM (a)", rows: [(1, [.blob(Data(inner))])])
    ]
    var pages = writer.pages()
    let cell = Int(pages[1][8]) << 8 | Int(pages[1][9])
    let end = 512
    pages[1].replaceSubrange(3..<5, with: 2.bytes(2))
    pages[1].replaceSubrange(10..<12, with: (end - inner.count).bytes(2))
    #expect(cell < end - inner.count)
    expectDamage(pages, at: 1, "overlap")
  }

  @Test func `a tree deeper than any SQLite makes is damage`() throws {
    var writer = SQLiteFileWriter.sample(rowCount: 0)
    writer.tables[0].rows = (0..<300).map {
      (Int64($0), [.text(String(repeating: "x", count: 90))])
    }
    var pages = writer.pages()
    let root = try #require(pages.lastIndex { $0[0] == 0x05 })
    // From the root through the first pages, each with nothing but a rightmost child.
    let chain = [root] + Array(1..<30)
    for (page, next) in zip(chain, chain.dropFirst()) {
      pages[page] =
        [0x05] + 0.bytes(7) + (next + 1).bytes(4) + [UInt8](repeating: 0, count: 500)
    }
    expectDamage(pages, at: 20, "deeper than 20")
  }

  @Test func `a file that is cut off where no table is, is cut off all the same`() throws {
    var pages = SQLiteFileWriter.sample(rowCount: 3).pages()
    pages[0].replaceSubrange(28..<32, with: (pages.count + 1).bytes(4))
    #expect { try readAll(pages.flatMap { $0 }) } throws: {
      ($0 as? SQLiteError)?.reason
        == .truncated(
          expectedPages: UInt32(pages.count + 1), foundPages: UInt32(pages.count))
    }
  }

  private func expectDamage(_ pages: [[UInt8]], at index: Int, _ words: String) {
    #expect { try readAll(pages.flatMap { $0 }) } throws: {
      guard case .damaged(let page, let found)? = ($0 as? SQLiteError)?.reason else { return false }
      return page == UInt32(index + 1) && found.contains(words)
    }
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
