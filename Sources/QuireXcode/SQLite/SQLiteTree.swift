/// A walk over a table's b-tree, in the order of its row IDs.
///
/// A tree of a damaged file may lead in circles, share pages or claim rows of gigabytes. Each page
/// is visited at most once, cells of a page may not add up to more than the page, and row IDs must
/// ascend: so a walk ends after as many steps as the file has bytes, whatever they say.
struct SQLiteTree {
  private struct Level {
    var page: SQLitePage
    var layout: Layout
    var nextCell = 0
  }

  private struct Layout {
    var isLeaf: Bool
    var cellCount: Int
    /// The offset of the cell pointers.
    var pointers: Int
    var rightmostChild: UInt32
    /// The number of bytes that further cells may take before they add up to more than the page.
    var unclaimedByteCount: Int
  }

  /// SQLite's own limit: a tree of minimal pages is not deeper.
  private static let depthLimit = 20

  private let source: SQLitePageSource
  private var levels: [Level] = []
  private var visited: Set<UInt32> = []
  private var lastRowID: Int64?
  private var root: UInt32?

  init(root: UInt32, source: SQLitePageSource) {
    self.source = source
    self.root = root
  }

  /// The next row, or `nil` after the last.
  mutating func next() throws(SQLiteError) -> (rowID: Int64, payload: [UInt8])? {
    if let root {
      self.root = nil
      try descend(to: root)
    }
    while var level = levels.popLast() {
      if level.layout.isLeaf {
        guard level.nextCell < level.layout.cellCount else { continue }
        level.nextCell += 1
        let row = try leafCell(level.nextCell - 1, of: &level)
        levels.append(level)
        return row
      }
      let cell = level.nextCell
      guard cell <= level.layout.cellCount else { continue }
      if cell > 0 { try checkKey(of: cell - 1, in: level) }
      level.nextCell += 1
      levels.append(level)
      try descend(to: try child(cell, of: level))
    }
    return nil
  }

  private mutating func descend(to number: UInt32) throws(SQLiteError) {
    let page = try visit(number)
    guard levels.count < Self.depthLimit else {
      throw page.damaged("the tree is deeper than \(Self.depthLimit) pages")
    }
    levels.append(Level(page: page, layout: try layout(of: page)))
  }

  private mutating func visit(_ number: UInt32) throws(SQLiteError) -> SQLitePage {
    let page = try source.page(number)
    guard visited.insert(number).inserted else {
      throw page.damaged("one table has two references to it")
    }
    return page
  }

  private func layout(of page: SQLitePage) throws(SQLiteError) -> Layout {
    let start = page.number == 1 ? SQLiteHeader.byteCount : 0
    let kind = try page.byte(at: start)
    guard kind == 0x0D || kind == 0x05 else {
      throw page.damaged("it should be a table page and is of kind \(kind)")
    }
    let isLeaf = kind == 0x0D
    let cellCount = try page.integer16(at: start + 3)
    let pointers = start + (isLeaf ? 8 : 12)
    let room = source.header.usableSize - pointers - 2 * cellCount
    guard room >= 0 else { throw page.damaged("it has no room for \(cellCount) cells") }
    return Layout(
      isLeaf: isLeaf, cellCount: cellCount, pointers: pointers,
      rightmostChild: isLeaf ? 0 : try page.integer32(at: start + 8), unclaimedByteCount: room)
  }

  private func cellOffset(_ index: Int, in level: Level) throws(SQLiteError) -> Int {
    let offset = try level.page.integer16(at: level.layout.pointers + 2 * index)
    guard offset >= level.layout.pointers + 2 * level.layout.cellCount,
      offset < source.header.usableSize
    else { throw level.page.damaged("cell \(index) is at byte \(offset)") }
    return offset
  }

  private func child(_ index: Int, of level: Level) throws(SQLiteError) -> UInt32 {
    guard index < level.layout.cellCount else { return level.layout.rightmostChild }
    return try level.page.integer32(at: try cellOffset(index, in: level))
  }

  /// The key of an interior cell is an upper bound of the rows to its left.
  private func checkKey(of index: Int, in level: Level) throws(SQLiteError) {
    var offset = try cellOffset(index, in: level) + 4
    let key = try level.page.varint(at: &offset)
    if let lastRowID, lastRowID > key {
      throw level.page.damaged("row \(lastRowID) is left of key \(key)")
    }
  }

  private mutating func leafCell(
    _ index: Int, of level: inout Level
  ) throws(SQLiteError) -> (rowID: Int64, payload: [UInt8]) {
    let page = level.page
    let start = try cellOffset(index, in: level)
    var offset = start
    let claimed = try page.varint(at: &offset)
    let rowID = try page.varint(at: &offset)
    if let lastRowID, lastRowID >= rowID {
      throw page.damaged("row \(rowID) comes after row \(lastRowID)")
    }
    lastRowID = rowID
    let usableSize = source.header.usableSize
    guard claimed >= 0, claimed <= Int64(source.pageCount) * Int64(usableSize) else {
      throw page.damaged("row \(rowID) claims \(claimed) bytes")
    }
    let byteCount = Int(claimed)
    let localCount = Self.localByteCount(of: byteCount, usableSize: usableSize)
    let end = offset + localCount + (localCount < byteCount ? 4 : 0)
    guard end <= usableSize else {
      throw page.damaged("row \(rowID) runs over the end of the page")
    }
    level.layout.unclaimedByteCount -= end - start
    guard level.layout.unclaimedByteCount >= 0 else {
      throw page.damaged("its rows overlap")
    }
    var payload = Array(page.bytes[offset..<offset + localCount])
    if localCount < byteCount {
      try appendOverflow(
        from: try page.integer32(at: offset + localCount), to: &payload, until: byteCount,
        leaf: page, rowID: rowID)
    }
    return (rowID, payload)
  }

  /// The number of bytes of a payload that are in the leaf; the rest is in overflow pages.
  private static func localByteCount(of payload: Int, usableSize: Int) -> Int {
    let most = usableSize - 35
    if payload <= most { return payload }
    let least = (usableSize - 12) * 32 / 255 - 23
    let even = least + (payload - least) % (usableSize - 4)
    return even <= most ? even : least
  }

  private mutating func appendOverflow(
    from first: UInt32, to payload: inout [UInt8], until byteCount: Int, leaf: SQLitePage,
    rowID: Int64
  ) throws(SQLiteError) {
    var number = first
    while payload.count < byteCount {
      guard number != 0 else {
        throw leaf.damaged("row \(rowID) ends after \(payload.count) of \(byteCount) bytes")
      }
      let page = try visit(number)
      let count = min(byteCount - payload.count, source.header.usableSize - 4)
      payload.append(contentsOf: page.bytes[4..<4 + count])
      number = try page.integer32(at: 0)
    }
  }
}
