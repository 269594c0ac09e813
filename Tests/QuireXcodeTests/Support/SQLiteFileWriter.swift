import Foundation
import QuireXcode

/// Writes small SQLite files byte by byte, so that tests need no SQLite.
///
/// Tables only, in the shapes the reader has to follow: trees of several levels (small pages make
/// them with a hundred rows), overflow chains, either text encoding, reserved bytes, short records.
struct SQLiteFileWriter {
  struct Table {
    var name: String
    var statement: String
    var rows: [(Int64, [SQLiteValue])] = []
    var kind = "table"
  }

  enum Encoding: UInt32 { case utf8 = 1, utf16LittleEndian = 2, utf16BigEndian = 3 }

  var pageSize = 512
  var reservedByteCount = 0
  var encoding = Encoding.utf8
  var readVersion: UInt8 = 1
  var tables: [Table] = []
  /// Names of indexes to list in the schema; they have no content.
  var indexes: [(name: String, table: String)] = []

  private var usableSize: Int { pageSize - reservedByteCount }

  func bytes() -> [UInt8] { pages().flatMap { $0 } }

  func pages() -> [[UInt8]] {
    var pages: [[UInt8]] = [[]]
    var schema: [(Int64, [SQLiteValue])] = []
    func list(_ kind: String, _ name: String, _ table: String, _ root: Int, _ statement: String) {
      schema.append(
        (
          Int64(schema.count + 1),
          [.text(kind), .text(name), .text(table), .integer(Int64(root)), .text(statement)]
        ))
    }
    for table in tables {
      let root = addTree(table.rows, to: &pages)
      list(table.kind, table.name, table.name, root, table.statement)
    }
    for index in indexes {
      list("index", index.name, index.table, 2, "CREATE INDEX \(index.name) ON \(index.table)(x)")
    }
    addTree(schema, to: &pages, root: 1)
    pages[0].replaceSubrange(0..<100, with: header(pageCount: pages.count))
    return pages
  }

  private func header(pageCount: Int) -> [UInt8] {
    var header = Array("SQLite format 3\0".utf8)
    header += (pageSize == 65536 ? 1 : pageSize).bytes(2)
    header += [readVersion, readVersion, UInt8(reservedByteCount), 64, 32, 32]
    header += 7.bytes(4) + pageCount.bytes(4) + 0.bytes(4) + 0.bytes(4)
    header += 1.bytes(4) + 4.bytes(4) + 0.bytes(4) + 0.bytes(4) + Int(encoding.rawValue).bytes(4)
    header += [UInt8](repeating: 0, count: 92 - header.count)
    header += 7.bytes(4) + 3_040_001.bytes(4)
    return header
  }

  /// Adds the pages of a tree and returns the number of its root.
  @discardableResult
  private func addTree(
    _ rows: [(Int64, [SQLiteValue])], to pages: inout [[UInt8]], root: Int? = nil
  ) -> Int {
    let start = root == 1 ? 100 : 0
    var level: [(page: [UInt8], key: Int64)] = []
    var cells: [[UInt8]] = []
    var key: Int64 = 0
    func close() {
      level.append((page(kind: 0x0D, start: start, cells: cells, rightmost: nil), key))
      cells = []
    }
    for (rowID, values) in rows {
      let cell = leafCell(rowID, values, to: &pages)
      if cells.reduce(8 + start, { $0 + $1.count + 2 }) + cell.count + 2 > usableSize { close() }
      cells.append(cell)
      key = rowID
    }
    close()
    while level.count > 1 { level = parents(of: level, start: start, to: &pages) }
    if let root {
      pages[root - 1] = level[0].page
      return root
    }
    pages.append(level[0].page)
    return pages.count
  }

  private func parents(
    of children: [(page: [UInt8], key: Int64)], start: Int, to pages: inout [[UInt8]]
  ) -> [(page: [UInt8], key: Int64)] {
    var result: [(page: [UInt8], key: Int64)] = []
    var cells: [[UInt8]] = []
    for (index, child) in children.enumerated() {
      // Below the root of the schema no page has the file's header in front.
      pages.append(start == 0 ? child.page : Self.withoutHeader(child.page, start: start))
      let isLast = index == children.count - 1 || cells.count == 4
      if isLast {
        result.append(
          (page(kind: 0x05, start: start, cells: cells, rightmost: pages.count), child.key))
        cells = []
      } else {
        cells.append(pages.count.bytes(4) + varint(child.key))
      }
    }
    return result
  }

  /// The same page with its header at byte 0; cells stay where they are.
  private static func withoutHeader(_ page: [UInt8], start: Int) -> [UInt8] {
    let count = Int(page[start + 3]) << 8 | Int(page[start + 4])
    let length = (page[start] == 0x05 ? 12 : 8) + 2 * count
    var page = page
    page.replaceSubrange(0..<length, with: page[start..<start + length])
    return page
  }

  private func page(kind: UInt8, start: Int, cells: [[UInt8]], rightmost: Int?) -> [UInt8] {
    var page = [UInt8](repeating: 0, count: pageSize)
    var content = usableSize
    var pointers: [UInt8] = []
    for cell in cells {
      content -= cell.count
      page.replaceSubrange(content..<content + cell.count, with: cell)
      pointers += content.bytes(2)
    }
    let header =
      [kind] + 0.bytes(2) + cells.count.bytes(2) + content.bytes(2) + [0]
      + (rightmost.map { $0.bytes(4) } ?? []) + pointers
    page.replaceSubrange(start..<start + header.count, with: header)
    return page
  }

  private func leafCell(
    _ rowID: Int64, _ values: [SQLiteValue], to pages: inout [[UInt8]]
  ) -> [UInt8] {
    let payload = record(values)
    let most = usableSize - 35
    var local = payload.count
    if local > most {
      let least = (usableSize - 12) * 32 / 255 - 23
      let even = least + (payload.count - least) % (usableSize - 4)
      local = even <= most ? even : least
    }
    var cell = varint(Int64(payload.count)) + varint(rowID) + payload[..<local]
    guard local < payload.count else { return cell }
    cell += (pages.count + 1).bytes(4)
    var rest = payload[local...]
    while !rest.isEmpty {
      let part = rest.prefix(usableSize - 4)
      rest = rest.dropFirst(part.count)
      let next = rest.isEmpty ? 0 : pages.count + 2
      pages.append(
        next.bytes(4) + part + [UInt8](repeating: 0, count: pageSize - 4 - part.count))
    }
    return cell
  }

  func record(_ values: [SQLiteValue]) -> [UInt8] {
    var types: [UInt8] = []
    var body: [UInt8] = []
    for value in values {
      switch value {
      case .null: types += varint(0)
      case .integer(0): types += varint(8)
      case .integer(1): types += varint(9)
      case .integer(let number):
        let widths: [(type: Int64, byteCount: Int)] = [
          (1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (6, 8),
        ]
        // A number fits a width when nothing but copies of its sign lies above.
        let (type, width) =
          widths.first { [0, -1].contains(number >> ($0.byteCount * 8 - 1)) } ?? (6, 8)
        types += varint(type)
        body += (0..<width).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
      case .real(let number):
        types += varint(7)
        body += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number.bitPattern >> ($0 * 8)) }
      case .text(let text):
        let bytes: [UInt8] =
          switch encoding {
          case .utf8: Array(text.utf8)
          case .utf16LittleEndian: text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
          case .utf16BigEndian: text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
          }
        types += varint(Int64(13 + 2 * bytes.count))
        body += bytes
      case .blob(let data):
        types += varint(Int64(12 + 2 * data.count))
        body += Array(data)
      }
    }
    // The length of the header counts its own bytes.
    let length = types.count + 1 < 128 ? types.count + 1 : types.count + 2
    return varint(Int64(length)) + types + body
  }

  func varint(_ value: Int64) -> [UInt8] {
    var rest = UInt64(bitPattern: value)
    if rest >> 56 != 0 {
      var bytes = [UInt8(rest & 0xFF)]
      rest >>= 8
      for _ in 0..<8 {
        bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
        rest >>= 7
      }
      return bytes
    }
    var bytes = [UInt8(rest & 0x7F)]
    rest >>= 7
    while rest > 0 {
      bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
      rest >>= 7
    }
    return bytes
  }
}

/// Writes the `-wal` of a SQLite file.
struct SQLiteLogWriter {
  struct Frame {
    var page: Int
    var content: [UInt8]
    /// The page count of the database, in the last frame of a transaction; 0 in others.
    var committedPageCount = 0
  }

  var bigEndian = false
  var salts: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

  func bytes(_ frames: [Frame], pageSize: Int) -> [UInt8] {
    var sums: (UInt32, UInt32) = (0, 0)
    var header = (bigEndian ? 0x377F_0683 : 0x377F_0682).bytes(4) + 3_007_000.bytes(4)
    header += pageSize.bytes(4) + 0.bytes(4) + salts
    add(header, to: &sums)
    var result = header + Int(sums.0).bytes(4) + Int(sums.1).bytes(4)
    for frame in frames {
      let start = frame.page.bytes(4) + frame.committedPageCount.bytes(4)
      add(start, to: &sums)
      add(frame.content, to: &sums)
      result += start + salts + Int(sums.0).bytes(4) + Int(sums.1).bytes(4) + frame.content
    }
    return result
  }

  private func add(_ bytes: [UInt8], to sums: inout (UInt32, UInt32)) {
    func word(_ offset: Int) -> UInt32 {
      let four = bytes[offset..<offset + 4]
      return (bigEndian ? Array(four) : four.reversed()).reduce(0) { $0 << 8 | UInt32($1) }
    }
    for offset in stride(from: 0, to: bytes.count, by: 8) {
      sums.0 &+= word(offset) &+ sums.1
      sums.1 &+= word(offset + 4) &+ sums.0
    }
  }
}

extension Int {
  /// The lowest bytes, big-endian.
  func bytes(_ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
  }
}
