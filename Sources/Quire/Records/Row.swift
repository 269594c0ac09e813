import QuireModel
import QuireStorage

/// The bytes of a row that a reader has checked, with the object that keeps them in memory.
///
/// A value of more than a quarter of a page is assembled from several pages, and its bytes are
/// released with the owner, even while the snapshot exists.
struct RowBytes {
  let start: UnsafeRawPointer
  let byteCount: Int
  /// The page, the assembled value, or the scratch that has the bytes.
  let owner: AnyObject

  /// - Parameter layout: the current layout; a row of an older one is converted to it.
  init(_ value: StoredValue, layout: RowLayout) throws(RowError) {
    try self.init(value.bytes, value.owner, layout: layout)
  }

  /// - Parameter owner: keeps the bytes in memory.
  init(_ bytes: UnsafeRawBufferPointer, _ owner: AnyObject, layout: RowLayout) throws(RowError) {
    guard RowReader.isCurrent(bytes, layout), let start = bytes.baseAddress else {
      self = try RowBytes(older: bytes, owner, layout)
      return
    }
    _ = try RowReader(current: bytes, layout)
    self.init(start: start, byteCount: bytes.count, owner: owner)
  }

  /// The same for a row that a reader has checked, unless it has converted it.
  init(
    _ bytes: UnsafeRawBufferPointer, _ owner: AnyObject, readBy reader: RowReader,
    layout: RowLayout
  ) throws(RowError) {
    guard let start = bytes.baseAddress, start == reader.bytes.baseAddress else {
      self = try RowBytes(older: bytes, owner, layout)
      return
    }
    self.init(start: start, byteCount: bytes.count, owner: owner)
  }

  init(start: UnsafeRawPointer, byteCount: Int, owner: AnyObject) {
    self.start = start
    self.byteCount = byteCount
    self.owner = owner
  }

  @inline(never)
  private init(
    older bytes: UnsafeRawBufferPointer, _ owner: AnyObject, _ layout: RowLayout
  ) throws(RowError) {
    defer { withExtendedLifetime(owner) {} }
    let scratch = RowScratch()
    let bytes = try RowReader(bytes, layout: layout, scratch).bytes
    guard let start = bytes.baseAddress else { throw RowError(reason: "a row is empty") }
    self.init(start: start, byteCount: bytes.count, owner: scratch)
  }
}

/// A row that can be kept: its bytes, their owner and their layout.
///
/// A ``RowReader`` alone is an unowned pointer, for use where something is known to keep the bytes.
struct Row {
  let bytes: RowBytes
  private let layout: RowLayout

  /// - Parameter bytes: a row of this layout.
  init(_ bytes: RowBytes, _ layout: RowLayout) {
    self.bytes = bytes
    self.layout = layout
  }

  /// - Parameter layout: the current layout; a row of an older one is converted to it.
  init(_ value: StoredValue, layout: RowLayout) throws(RowError) {
    bytes = try RowBytes(value, layout: layout)
    self.layout = layout
  }

  init(_ encoded: EncodedRow, layout: RowLayout) throws(RowError) {
    let bytes = try RowReader(encoded.bytes, layout: layout).bytes
    guard let start = bytes.baseAddress else { throw RowError(reason: "a row is empty") }
    self.bytes = RowBytes(start: start, byteCount: bytes.count, owner: encoded)
    self.layout = layout
  }

  private var reader: RowReader {
    RowReader(checked: UnsafeRawBufferPointer(start: bytes.start, count: bytes.byteCount), layout)
  }

  var version: UInt32 { withExtendedLifetime(bytes.owner) { reader.version } }

  var byteCount: Int { bytes.byteCount }

  /// Whether all bytes are equal.
  func isEqual(to other: Row) -> Bool {
    guard byteCount == other.byteCount else { return false }
    if bytes.start == other.bytes.start { return true }
    return withReader { one in other.withReader { one.bytes.elementsEqual($0.bytes) } }
  }

  /// Whether the row was encoded from an object of a parent context with unsaved changes.
  var isEncoded: Bool { (bytes.owner as? EncodedRow).map { !$0.isSaved } ?? false }

  /// Whether the row has values outside of it.
  var hasExternal: Bool { withExtendedLifetime(bytes.owner) { reader.hasExternal } }

  func reference(_ field: Int) -> Reference? {
    withExtendedLifetime(bytes.owner) { reader.reference(field) }
  }

  func value(_ field: Int) throws -> AttributeValue? {
    try withExtendedLifetime(bytes.owner) { try reader.value(field) }
  }

  /// Calls `body` with a reader that is valid within the call.
  func withReader<Result>(_ body: (RowReader) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(bytes.owner) { try body(reader) }
  }
}

extension StoredValue {
  /// Calls `body` with the bytes, which are kept for the duration of the call.
  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(owner) {} }
    return try body(bytes)
  }

  /// Whether the bytes are equal. They are compared eight at a time, as each save compares some,
  /// which mostly are equal.
  func isEqual(to other: [UInt8]) -> Bool {
    withBytes { bytes in
      other.withUnsafeBytes { other in
        guard bytes.count == other.count else { return false }
        var offset = 0
        while offset &+ 8 <= bytes.count {
          let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          if word != other.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
          offset &+= 8
        }
        return bytes[offset...].elementsEqual(other[offset...])
      }
    }
  }

  /// The bytes as one little-endian integer; `nil` if their number is not that of the type.
  func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T? {
    withBytes {
      $0.count == MemoryLayout<T>.size ? T(littleEndian: $0.loadUnaligned(as: T.self)) : nil
    }
  }
}
