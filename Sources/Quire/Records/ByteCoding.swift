/// Appends numbers and strings to bytes in the one order every record of ours uses: little-endian,
/// each string and list behind its length.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  init() {}

  mutating func append(_ integer: some FixedWidthInteger) {
    withUnsafeBytes(of: integer.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func append(_ flag: Bool) { append(UInt8(flag ? 1 : 0)) }

  mutating func append(_ text: String) {
    append(contentsOf: text.utf8)
  }

  mutating func append(contentsOf slice: some Collection<UInt8>) {
    append(UInt32(slice.count))
    bytes.append(contentsOf: slice)
  }

  mutating func append(_ text: String?) {
    append(text != nil)
    if let text { append(text) }
  }
}

/// The bytes ended early, or say something that no writer of ours says.
struct ByteReaderError: Error, Hashable {
  var offset: Int
  var expected: String
}

/// Reads what a ``ByteWriter`` wrote, and believes nothing: every length is compared with what is
/// left.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0

  /// The bytes must stay where they are for as long as the reader is used.
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  func failure(_ expected: String) -> ByteReaderError {
    ByteReaderError(offset: offset, expected: expected)
  }

  mutating func read<T: FixedWidthInteger>(
    _ type: T.Type = T.self
  ) throws(ByteReaderError) -> T {
    let width = MemoryLayout<T>.size
    guard bytes.count - offset >= width else { throw failure("\(width) more bytes") }
    defer { offset += width }
    return T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  mutating func readBool() throws(ByteReaderError) -> Bool {
    switch try read(UInt8.self) {
    case 0: return false
    case 1: return true
    default: throw failure("a flag of 0 or 1")
    }
  }

  /// The slice is a view of the reader's bytes.
  mutating func readSlice() throws(ByteReaderError) -> UnsafeRawBufferPointer {
    let count = Int(try read(UInt32.self))
    guard bytes.count - offset >= count else { throw failure("\(count) more bytes") }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  mutating func readString() throws(ByteReaderError) -> String {
    let slice = try readSlice()
    // Names are short and ASCII mostly, for which the generic way takes ten times as long.
    if slice.allSatisfy({ $0 < 0x80 }) { return String(decoding: slice, as: UTF8.self) }
    guard let text = String(validating: slice, as: UTF8.self) else { throw failure("UTF-8") }
    return text
  }

  mutating func readOptionalString() throws(ByteReaderError) -> String? {
    try readBool() ? try readString() : nil
  }

  /// The length of a list whose elements take at least `minimumWidth` bytes each.
  mutating func readCount(minimumWidth: Int = 1) throws(ByteReaderError) -> Int {
    let count = Int(try read(UInt32.self))
    guard count <= (bytes.count - offset) / max(minimumWidth, 1) else {
      throw failure("a count that fits the bytes left")
    }
    return count
  }
}
