/// The write-ahead log of a SQLite file: the pages with a newer state, and their offsets.
///
/// A log is a header and frames; a frame is a header of 24 bytes and a page. A frame counts if its
/// salts are the header's, its checksum, which continues that of the frame before, is right, and a
/// commit frame follows or it is one. The first frame that fails ends the log: everything after it
/// is left from an earlier round. A log whose own header is not valid is no log: it is ignored, as
/// in SQLite, and ``state`` shows this.
struct SQLiteLog {
  enum State: Hashable {
    case none
    /// There is a log of `byteCount` bytes, but it holds nothing that was committed.
    case ignored(byteCount: Int, reason: String)
    case applied(frameCount: Int)
  }

  static let headerByteCount = 32
  static let frameHeaderByteCount = 24

  let file: SQLiteSourceFile
  private(set) var state = State.none
  /// The page count of the database after the last commit of the log.
  private(set) var pageCount: UInt32?
  private var frameOffsets: [UInt32: Int] = [:]

  init(_ file: SQLiteSourceFile, pageSize: Int) throws(SQLiteError) {
    self.file = file
    let header = try file.read(Self.headerByteCount, at: 0)
    guard header.count == Self.headerByteCount else {
      if !header.isEmpty { ignore("it is shorter than its header") }
      return
    }
    let magic = header.bigEndian32(at: 0)
    guard magic & ~1 == 0x377F_0682 else {
      ignore("its first bytes are not those of a log")
      return
    }
    var checksum = Checksum(bigEndian: magic & 1 == 1)
    checksum.add(header, 0..<24)
    guard checksum.matches(header, at: 24) else {
      ignore("its header fails its checksum")
      return
    }
    guard header.bigEndian32(at: 4) == 3_007_000 else {
      throw SQLiteError(
        file: file.path,
        reason: .unsupported("its log has format \(header.bigEndian32(at: 4)), 3007000 is known"))
    }
    guard header.bigEndian32(at: 8) == UInt32(pageSize) else {
      throw SQLiteError(
        file: file.path,
        reason: .unsupported(
          "its pages have \(header.bigEndian32(at: 8)) bytes and those of the database \(pageSize)")
      )
    }
    try scan(salts: header[16..<24], checksum: checksum, pageSize: pageSize)
  }

  /// The newest committed content of a page, or `nil` when the log does not have it.
  func page(_ number: UInt32, pageSize: Int) throws(SQLiteError) -> [UInt8]? {
    guard let offset = frameOffsets[number] else { return nil }
    let bytes = try file.read(pageSize, at: offset)
    guard bytes.count == pageSize else {
      throw SQLiteError(file: file.path, reason: .changedWhileReading)
    }
    return bytes
  }

  private mutating func ignore(_ reason: String) {
    state = .ignored(byteCount: file.byteCount, reason: reason)
  }

  private mutating func scan(
    salts: ArraySlice<UInt8>, checksum: Checksum, pageSize: Int
  ) throws(SQLiteError) {
    var checksum = checksum
    var uncommitted: [UInt32: Int] = [:]
    var offset = Self.headerByteCount
    var frameCount = 0
    var committedFrameCount = 0
    while true {
      let frame = try file.read(Self.frameHeaderByteCount + pageSize, at: offset)
      guard frame.count == Self.frameHeaderByteCount + pageSize, frame[8..<16] == salts else {
        break
      }
      checksum.add(frame, 0..<8)
      checksum.add(frame, Self.frameHeaderByteCount..<frame.count)
      let number = frame.bigEndian32(at: 0)
      guard checksum.matches(frame, at: 16), number > 0 else { break }
      frameCount += 1
      uncommitted[number] = offset + Self.frameHeaderByteCount
      offset += frame.count
      let count = frame.bigEndian32(at: 4)
      if count > 0 {
        pageCount = count
        frameOffsets.merge(uncommitted) { $1 }
        uncommitted.removeAll()
        committedFrameCount = frameCount
      }
    }
    if pageCount == nil {
      if file.byteCount > Self.headerByteCount { ignore("it holds no whole transaction") }
    } else {
      state = .applied(frameCount: committedFrameCount)
    }
  }

  /// SQLite's log checksum: two sums that feed each other, over pairs of 32-bit words.
  struct Checksum {
    let bigEndian: Bool
    private(set) var first: UInt32 = 0
    private(set) var second: UInt32 = 0

    init(bigEndian: Bool) { self.bigEndian = bigEndian }

    /// - Precondition: the range is within `bytes` and its length a multiple of eight.
    mutating func add(_ bytes: [UInt8], _ range: Range<Int>) {
      precondition(range.count % 8 == 0 && range.upperBound <= bytes.count)
      var (first, second) = (first, second)
      let bigEndian = bigEndian
      bytes.withUnsafeBytes { raw in
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
          let left = raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
          let right = raw.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
          first &+= (bigEndian ? left.bigEndian : left.littleEndian) &+ second
          second &+= (bigEndian ? right.bigEndian : right.littleEndian) &+ first
        }
      }
      (self.first, self.second) = (first, second)
    }

    func matches(_ bytes: [UInt8], at offset: Int) -> Bool {
      bytes.bigEndian32(at: offset) == first && bytes.bigEndian32(at: offset + 4) == second
    }
  }
}
