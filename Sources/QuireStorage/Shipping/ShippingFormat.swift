// What a folder has to which the commits of a store are shipped (`docs/file-format.md`).
//
// A *generation* is a base, which is a closed store, and segments with the commits that followed.
// Each segment names the last frame of the one before, so that one that is missing is an error.

/// The parts of the format that are on disk: never changed within a version.
enum ShippingFormat {
  static let version = FormatVersion(major: 1, minor: 0)
  /// `\x89 Q S e g CR LF \x1A`: damaged by every transfer that takes the file for text.
  static let segmentMagic: UInt64 = 0x1A0A_0D67_6553_5189
  /// `Q s h i p p e d`.
  static let frameMagic: UInt64 = 0x6465_7070_6968_7351
  /// `Q s e g E n d 1`.
  static let trailerMagic: UInt64 = 0x3164_6E45_6765_7351

  /// What a segment begins with.
  enum Header {
    static let magic = 0
    static let major = 8
    static let minor = 10
    static let pageSize = 12
    static let identity = 16
    static let generation = 32
    static let firstSequence = 36
    /// The checksum of the frame before the first one; in the first segment of a generation that of
    /// the generation before, or 0 if nothing tells that this one goes on from there.
    static let previous = 40
    static let checksum = 48
    static let byteCount = 56
  }

  /// What a segment ends with.
  enum Trailer {
    static let magic = 0
    static let lastSequence = 8
    static let commitCount = 12
    static let fileByteCount = 16
    /// The checksum of the last frame.
    static let last = 24
    /// The commit before the first one of the segment.
    static let commitBefore = 32
    static let lastCommit = 40
    static let firstTime = 48
    static let lastTime = 56
    static let checksum = 64
    static let byteCount = 72
  }

  /// A commit, or a part of one.
  enum Frame {
    static let magic = 0
    static let commit = 8
    static let commitBefore = 16
    /// When the commit was seen, in microseconds since 1970.
    static let time = 24
    /// The checksum of the frame before.
    static let previous = 32
    static let byteCount = 40
    static let pageCount = 48
    static let freePageCount = 52
    /// Where the log was after the commit: its epoch, and the checksum of its last record.
    static let logEpoch = 56
    static let logChain = 64
    /// The page checksum of the first page map after the commit.
    static let mapChecksum = 72
    static let entryCount = 80
    static let flags = 84
    static let headerByteCount = 88
    static let checksumByteCount = 8

    /// Flag: more of the commit follows in the next frame.
    static let goesOn: UInt32 = 1
    /// Flag: the commits between were not to be had; the entries are what differs.
    static let isJump: UInt32 = 2
    /// Flag: what the base shows. It has no entries.
    static let isBase: UInt32 = 4
  }
}

/// A commit as it was shipped.
package struct ShippedCommit: Hashable, Sendable {
  package var commit: CommitNumber
  /// The commit shipped before: the one before, but for a jump.
  var commitBefore: CommitNumber
  /// When it was seen, in microseconds since 1970.
  package var time: Int64
  var pageCount: UInt32
  var freePageCount: UInt32
  var logEpoch: UInt64
  var logChain: UInt64
  var mapChecksum: UInt64
  /// Whether commits between were not to be had.
  var isJump = false
}

/// A frame of a segment that is whole in itself.
struct ShippedFrame {
  let commit: ShippedCommit
  let goesOn: Bool
  let isBase: Bool
  let previous: UInt64
  let checksum: UInt64
  let entryCount: Int
  let byteCount: Int

  /// - Parameter room: the bytes up to the end of the frames.
  /// - Returns: `nil` if there is none.
  init?(at start: UnsafeRawPointer, byteCount: Int, _ sums: Checksum, generation: UInt32) {
    typealias Format = ShippingFormat.Frame
    let checked = byteCount - Format.checksumByteCount
    let bytes = UnsafeRawBufferPointer(start: start, count: checked)
    guard start.u64(at: checked) == sums.ofLog(bytes, epoch: UInt64(generation)) else { return nil }
    self.byteCount = byteCount
    checksum = start.u64(at: checked)
    previous = start.u64(at: Format.previous)
    entryCount = Int(start.u32(at: Format.entryCount))
    let flags = start.u32(at: Format.flags)
    goesOn = flags & Format.goesOn != 0
    isBase = flags & Format.isBase != 0
    commit = ShippedCommit(
      commit: CommitNumber(rawValue: start.u64(at: Format.commit)),
      commitBefore: CommitNumber(rawValue: start.u64(at: Format.commitBefore)),
      time: Int64(bitPattern: start.u64(at: Format.time)),
      pageCount: start.u32(at: Format.pageCount),
      freePageCount: start.u32(at: Format.freePageCount),
      logEpoch: start.u64(at: Format.logEpoch), logChain: start.u64(at: Format.logChain),
      mapChecksum: start.u64(at: Format.mapChecksum), isJump: flags & Format.isJump != 0)
    guard StoreLimits.allows(pageCount: commit.pageCount, freePageCount: commit.freePageCount)
    else { return nil }
  }

  /// The length that a frame says it has; `nil` if there is none.
  static func byteCount(at start: UnsafeRawPointer, room: Int) -> Int? {
    typealias Format = ShippingFormat.Frame
    guard start.u64(at: Format.magic) == ShippingFormat.frameMagic,
      let byteCount = Int(exactly: start.u64(at: Format.byteCount)),
      byteCount >= Format.headerByteCount + Format.checksumByteCount, byteCount <= room,
      byteCount % LogFormat.Record.alignment == 0
    else { return nil }
    return byteCount
  }

  static func write(
    _ commit: ShippedCommit, flags: UInt32, previous: UInt64, byteCount: Int, entryCount: Int,
    in start: UnsafeMutableRawPointer
  ) {
    typealias Format = ShippingFormat.Frame
    start.setU64(ShippingFormat.frameMagic, at: Format.magic)
    start.setU64(commit.commit.rawValue, at: Format.commit)
    start.setU64(commit.commitBefore.rawValue, at: Format.commitBefore)
    start.setU64(UInt64(bitPattern: commit.time), at: Format.time)
    start.setU64(previous, at: Format.previous)
    start.setU64(UInt64(byteCount), at: Format.byteCount)
    start.setU32(commit.pageCount, at: Format.pageCount)
    start.setU32(commit.freePageCount, at: Format.freePageCount)
    start.setU64(commit.logEpoch, at: Format.logEpoch)
    start.setU64(commit.logChain, at: Format.logChain)
    start.setU64(commit.mapChecksum, at: Format.mapChecksum)
    start.setU32(UInt32(entryCount), at: Format.entryCount)
    start.setU32(flags | (commit.isJump ? Format.isJump : 0), at: Format.flags)
  }
}

/// Whose commits they are, in which layout.
struct ShippedStore: Equatable {
  let identity: StoreIdentity
  let pageSize: Int
  var checksum: Checksum { Checksum(identity) }
}
