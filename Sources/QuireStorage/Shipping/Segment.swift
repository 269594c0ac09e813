/// The name of a segment: its generation, and which of the numbers in it.
///
/// A segment is one number; one that several were put together to has all of theirs.
struct SegmentName: Hashable {
  let generation: UInt32
  let sequences: ClosedRange<UInt32>

  /// `00000003-00000017.segment`, or `00000003-00000017-00000080.segment`.
  var text: String {
    let (first, last) = (sequences.lowerBound, sequences.upperBound)
    let end = first == last ? "" : "-" + SegmentName.digits(last)
    return "\(SegmentName.digits(generation))-\(SegmentName.digits(first))\(end).segment"
  }

  /// The name of a generation's base.
  static func base(of generation: UInt32) -> String { "\(digits(generation))-base.quire" }

  init(generation: UInt32, sequences: ClosedRange<UInt32>) {
    self.generation = generation
    self.sequences = sequences
  }

  init?(_ text: Substring) {
    guard text.hasSuffix(".segment") else { return nil }
    let parts = text.dropLast(8).split(separator: "-", omittingEmptySubsequences: false)
      .map(SegmentName.number)
    guard parts.count == 2 || parts.count == 3, let generation = parts[0], let first = parts[1],
      let last = parts[parts.count - 1], first <= last
    else { return nil }
    self.init(generation: generation, sequences: first...last)
  }

  /// The generation of a base's name.
  static func generation(ofBase text: Substring) -> UInt32? {
    text.hasSuffix("-base.quire") ? number(text.dropLast(11)) : nil
  }

  /// Higher ones are not ours, so that one more can be counted.
  private static let limit: UInt32 = .max / 2

  private static func digits(_ number: UInt32) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, 8 - text.count)) + text
  }

  private static func number(_ text: Substring) -> UInt32? {
    guard text.count >= 8, text.allSatisfy({ ("0"..."9").contains($0) }),
      let number = UInt32(text), number <= limit
    else { return nil }
    return number
  }
}

/// A whole segment, as its beginning and end describe it.
struct Segment {
  let name: SegmentName
  let path: String
  let store: ShippedStore
  /// The checksum of the frame before its first one, and of its last one.
  let previous: UInt64
  let last: UInt64
  let commitCount: Int
  let commitBefore: CommitNumber
  let lastCommit: CommitNumber
  let firstTime: Int64
  let lastTime: Int64
  let byteCount: Int

  private typealias Header = ShippingFormat.Header
  private typealias Trailer = ShippingFormat.Trailer

  init(
    name: SegmentName, path: String, store: ShippedStore, previous: UInt64, last: UInt64,
    commitCount: Int, commitBefore: CommitNumber, lastCommit: CommitNumber, firstTime: Int64,
    lastTime: Int64, byteCount: Int
  ) {
    self.name = name
    self.path = path
    self.store = store
    self.previous = previous
    self.last = last
    self.commitCount = commitCount
    self.commitBefore = commitBefore
    self.lastCommit = lastCommit
    self.firstTime = firstTime
    self.lastTime = lastTime
    self.byteCount = byteCount
  }

  /// Reads beginning and end.
  ///
  /// - Throws: ``StorageError/shipmentDamaged(path:reason:)`` if it is not a whole segment, or not
  ///   the one that its name says.
  init(_ name: SegmentName, at path: String, in fileSystem: any FileSystem) throws(StorageError) {
    let file = try fileSystem.open(path, .read)
    func damage(_ reason: String) -> StorageError { .shipmentDamaged(path: path, reason: reason) }
    let fileByteCount = try file.byteCount()
    guard fileByteCount >= Header.byteCount + Trailer.byteCount else {
      throw damage("it has only \(fileByteCount) bytes")
    }
    let window = LogWindow(file, path: path, byteCount: fileByteCount, step: Header.byteCount)
    guard let header = try window.bytes(at: 0, count: Header.byteCount),
      header.u64(at: Header.magic) == ShippingFormat.segmentMagic
    else { throw damage("it does not begin as a segment does") }
    let version = FormatVersion(
      major: UInt16(header.u16(at: Header.major)), minor: UInt16(header.u16(at: Header.minor)))
    guard version.major == ShippingFormat.version.major else {
      throw damage("it has format \(version); this release reads \(ShippingFormat.version)")
    }
    let store = ShippedStore(
      identity: StoreIdentity(at: header + Header.identity),
      pageSize: Int(header.u32(at: Header.pageSize)))
    let checksum = store.checksum
    let generation = header.u32(at: Header.generation)
    guard
      header.u64(at: Header.checksum)
        == checksum.ofLog(
          UnsafeRawBufferPointer(start: header, count: Header.checksum), epoch: UInt64(generation)),
      PageGeometry.isLegal(pageSize: store.pageSize)
    else { throw damage("the checksum of its beginning is wrong") }
    let (first, previous) = (
      header.u32(at: Header.firstSequence), header.u64(at: Header.previous)
    )
    let end = LogWindow(file, path: path, byteCount: fileByteCount, step: Trailer.byteCount)
    guard
      let trailer = try end.bytes(
        at: fileByteCount - Trailer.byteCount, count: Trailer.byteCount),
      trailer.u64(at: Trailer.magic) == ShippingFormat.trailerMagic,
      trailer.u64(at: Trailer.checksum)
        == checksum.ofLog(
          UnsafeRawBufferPointer(start: trailer, count: Trailer.checksum), epoch: UInt64(generation)
        ),
      trailer.u64(at: Trailer.fileByteCount) == UInt64(fileByteCount)
    else { throw damage("it does not end as a segment does: it was cut short, or damaged") }
    let last = trailer.u32(at: Trailer.lastSequence)
    guard generation == name.generation, first == name.sequences.lowerBound,
      last == name.sequences.upperBound
    else {
      let real =
        first <= last
        ? SegmentName(generation: generation, sequences: first...last).text : "another"
      throw damage("by its content it is \(real)")
    }
    self.init(
      name: name, path: path, store: store, previous: previous,
      last: trailer.u64(at: Trailer.last), commitCount: Int(trailer.u32(at: Trailer.commitCount)),
      commitBefore: CommitNumber(rawValue: trailer.u64(at: Trailer.commitBefore)),
      lastCommit: CommitNumber(rawValue: trailer.u64(at: Trailer.lastCommit)),
      firstTime: Int64(bitPattern: trailer.u64(at: Trailer.firstTime)),
      lastTime: Int64(bitPattern: trailer.u64(at: Trailer.lastTime)), byteCount: fileByteCount)
  }

  static func writeHeader(
    _ store: ShippedStore, generation: UInt32, firstSequence: UInt32, previous: UInt64,
    to file: any File
  ) throws(StorageError) {
    let memory = PageMemory(byteCount: Header.byteCount)
    let start = memory.base
    start.initializeMemory(as: UInt8.self, repeating: 0, count: Header.byteCount)
    start.setU64(ShippingFormat.segmentMagic, at: Header.magic)
    start.setU16(Int(ShippingFormat.version.major), at: Header.major)
    start.setU16(Int(ShippingFormat.version.minor), at: Header.minor)
    start.setU32(UInt32(store.pageSize), at: Header.pageSize)
    for (index, byte) in store.identity.bytes.enumerated() {
      start.storeBytes(of: byte, toByteOffset: Header.identity + index, as: UInt8.self)
    }
    start.setU32(generation, at: Header.generation)
    start.setU32(firstSequence, at: Header.firstSequence)
    start.setU64(previous, at: Header.previous)
    let bytes = UnsafeRawBufferPointer(start: start, count: Header.checksum)
    start.setU64(store.checksum.ofLog(bytes, epoch: UInt64(generation)), at: Header.checksum)
    try file.write(memory, at: 0)
  }

  func writeTrailer(to file: any File) throws(StorageError) {
    let memory = PageMemory(byteCount: Trailer.byteCount)
    let start = memory.base
    start.initializeMemory(as: UInt8.self, repeating: 0, count: Trailer.byteCount)
    start.setU64(ShippingFormat.trailerMagic, at: Trailer.magic)
    start.setU32(name.sequences.upperBound, at: Trailer.lastSequence)
    start.setU32(UInt32(commitCount), at: Trailer.commitCount)
    start.setU64(UInt64(byteCount), at: Trailer.fileByteCount)
    start.setU64(last, at: Trailer.last)
    start.setU64(commitBefore.rawValue, at: Trailer.commitBefore)
    start.setU64(lastCommit.rawValue, at: Trailer.lastCommit)
    start.setU64(UInt64(bitPattern: firstTime), at: Trailer.firstTime)
    start.setU64(UInt64(bitPattern: lastTime), at: Trailer.lastTime)
    let bytes = UnsafeRawBufferPointer(start: start, count: Trailer.checksum)
    start.setU64(
      store.checksum.ofLog(bytes, epoch: UInt64(name.generation)), at: Trailer.checksum)
    try file.write(memory, at: byteCount - Trailer.byteCount)
  }

  /// Reads the frames in order, until `body` returns `false`.
  ///
  /// - Parameter body: is given a frame and its entries.
  /// - Throws: ``StorageError/shipmentDamaged(path:reason:)`` if one does not follow from the one
  ///   before, or if the last one is not what the end of the segment says.
  func forEachFrame(
    in fileSystem: any FileSystem,
    _ body: (ShippedFrame, UnsafeRawBufferPointer) throws(StorageError) -> Bool
  ) throws(StorageError) {
    typealias Frame = ShippingFormat.Frame
    let file = try fileSystem.open(path, .read)
    let window = LogWindow(file, path: path, byteCount: byteCount)
    let (checksum, end) = (store.checksum, byteCount - Trailer.byteCount)
    var (offset, previous) = (Header.byteCount, self.previous)
    while offset < end {
      guard end - offset >= Frame.headerByteCount + Frame.checksumByteCount,
        let head = try window.bytes(at: offset, count: Frame.headerByteCount),
        let length = ShippedFrame.byteCount(at: head, room: end - offset),
        let start = try window.bytes(at: offset, count: length),
        let frame = ShippedFrame(
          at: start, byteCount: length, checksum, generation: name.generation),
        frame.previous == previous
      else {
        throw .shipmentDamaged(path: path, reason: "what it has from byte \(offset) on is damaged")
      }
      let entries = UnsafeRawBufferPointer(
        start: start + Frame.headerByteCount,
        count: length - Frame.headerByteCount - Frame.checksumByteCount)
      guard try body(frame, entries) else { return }
      offset += length
      previous = frame.checksum
    }
    guard previous == last else {
      throw .shipmentDamaged(path: path, reason: "commits are missing at its end")
    }
  }
}
