import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes keys of index trees: bytes whose order is the order of the values.
///
/// A key consists of elements, then the object's reference, which makes it unique. An element is a
/// tag byte for the kind of value, then the value, big-endian if it is a number; a descending
/// element is the complement of that. `docs/file-format.md` has the table. For the elements *a* and
/// *b* of two keys that are equal before them:
///
/// - *a* comes before *b* in ascending order if and only if the bytes of *a* are less than those of
///   *b*; values that are equal in predicates have equal bytes;
/// - neither is a prefix of the other, unless they are equal.
///
/// A value that is too long for the key is cut off, and no element follows it. Equal bytes then do
/// not mean equal values: keys select candidates, and the rows decide.
struct IndexKeyWriter {
  /// The largest number of bytes of all elements of a key. On disk, for ever.
  static let byteLimit = 240
  /// The room that must be left for another element to begin: more than any number needs.
  private static let minimumRoom = 48

  /// The byte before each value. On disk, for ever.
  enum Tag {
    static let absent: UInt8 = 0
    static let notANumber: UInt8 = 1
    static let value: UInt8 = 2
  }

  private(set) var bytes: [UInt8] = []
  /// Whether the key is incomplete: a value was cut off, or an element left out.
  private(set) var isCut = false
  private let byteLimit: Int

  init() {
    byteLimit = IndexKeyWriter.byteLimit
    bytes.reserveCapacity(64)
  }

  /// A writer of keys in memory that are never cut: equal keys mean equal values.
  static var unlimited: IndexKeyWriter { IndexKeyWriter(byteLimit: .max / 2) }

  private init(byteLimit: Int) { self.byteLimit = byteLimit }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    isCut = false
  }

  /// Whether there is room for another element. If not, the key is marked as cut.
  mutating func hasRoom() -> Bool {
    if !isCut, byteLimit - bytes.count < IndexKeyWriter.minimumRoom { isCut = true }
    return !isCut
  }

  mutating func append(_ reference: Reference) { append(reference.rawValue) }

  mutating func append(contentsOf other: [UInt8]) { bytes.append(contentsOf: other) }

  mutating func complement(from start: Int) {
    for index in start..<bytes.count { bytes[index] = ~bytes[index] }
  }

  // MARK: Values

  /// Appends an element for the value of an attribute of a kind. A value of another kind is written
  /// as absent.
  mutating func append(_ value: AttributeValue?, _ kind: FieldKind) {
    switch kind {
    case .boolean:
      if case .boolean(let flag)? = value { return append(tagged: flag ? 1 : 0 as UInt8) }
    case .integer16:
      if case .integer(let number)? = value {
        return append(signed: Int16(truncatingIfNeeded: number))
      }
    case .integer32:
      if case .integer(let number)? = value {
        return append(signed: Int32(truncatingIfNeeded: number))
      }
    case .integer64: if case .integer(let number)? = value { return append(signed: number) }
    case .double: if case .double(let number)? = value { return append(number) }
    case .date:
      if case .date(let date)? = value { return append(date.timeIntervalSinceReferenceDate) }
    case .float: if case .float(let number)? = value { return append(number) }
    case .decimal: if case .decimal(let number)? = value { return append(DecimalParts(number)) }
    case .uuid:
      if case .uuid(let uuid)? = value {
        bytes.append(Tag.value)
        return withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
      }
    case .string: if case .string(let text)? = value { return append(text) }
    case .uri: if case .uri(let url)? = value { return append(url.absoluteString) }
    case .objectID: if case .objectID(let url)? = value { return append(url.absoluteString) }
    // These have no keys, or keys that `append(to:)` makes.
    case .binary, .transformed, .composite, .reference: break
    }
    appendAbsent()
  }

  mutating func appendAbsent() { bytes.append(Tag.absent) }

  mutating func append(to reference: Reference?) {
    guard let reference else { return appendAbsent() }
    append(tagged: reference.rawValue)
  }

  mutating func append(signed number: some FixedWidthInteger & SignedInteger) {
    bytes.append(Tag.value)
    // With the sign bit inverted, negative numbers come before others.
    let bits = number ^ (1 << (type(of: number).bitWidth - 1))
    withUnsafeBytes(of: bits.bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func append(_ number: Double) {
    if number.isNaN { return bytes.append(Tag.notANumber) }
    // Both zeros have one key.
    let bits = number == 0 ? 0 : number.bitPattern
    append(tagged: bits >> 63 == 0 ? bits | 1 << 63 : ~bits)
  }

  mutating func append(_ number: Float) {
    if number.isNaN { return bytes.append(Tag.notANumber) }
    let bits = number == 0 ? 0 : number.bitPattern
    append(tagged: bits >> 31 == 0 ? bits | 1 << 31 : ~bits)
  }

  private mutating func append(tagged number: some FixedWidthInteger & UnsignedInteger) {
    bytes.append(Tag.value)
    append(number)
  }

  private mutating func append(_ number: some FixedWidthInteger & UnsignedInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  /// Appends an element for a decimal: a sign, the exponent of the first digit, and the digits, two
  /// in a byte; for a negative number the complement of what follows the sign.
  ///
  /// - Parameter parts: `nil` for NaN.
  mutating func append(_ parts: DecimalParts?) {
    guard let parts else { return bytes.append(Tag.notANumber) }
    bytes.append(Tag.value)
    guard parts.mantissa != 0 else { return bytes.append(1) }
    bytes.append(parts.isNegative ? 0 : 2)
    let start = bytes.count
    var digits: [UInt8] = []
    var rest = parts.mantissa
    while rest != 0 {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      digits.append(UInt8(truncatingIfNeeded: digit))
      rest = quotient
    }
    let leading = Int16(clamping: parts.exponent + digits.count)
    append(UInt16(bitPattern: leading) ^ 1 << 15)
    digits.reverse()
    for index in stride(from: 0, to: digits.count, by: 2) {
      let second = index + 1 < digits.count ? digits[index + 1] : 0
      bytes.append(digits[index] * 10 + second + 1)
    }
    bytes.append(0)
    if parts.isNegative { complement(from: start) }
  }

  mutating func append(_ text: String) {
    var text = text
    if text.withUTF8({ appendSimple(UnsafeRawBufferPointer($0)) }) { return }
    bytes.append(Tag.value)
    var composed: [UInt8] = []
    CanonicalText.appendComposed(text, to: &composed)
    composed.withUnsafeBytes { appendEscaped($0) }
  }

  /// Appends an element for a string, given its UTF-8 in a row.
  mutating func append(utf8: UnsafeRawBufferPointer) {
    if appendSimple(utf8) { return }
    // Normalisation does not change ASCII.
    guard utf8.allSatisfy({ $0 < 0x80 }) else {
      return append(String(decoding: utf8, as: UTF8.self))
    }
    bytes.append(Tag.value)
    appendEscaped(utf8)
  }

  /// Appends an element for an ASCII text without zeros for which there is room, as most texts are.
  ///
  /// - Returns: `false`, with nothing appended, for any other text.
  private mutating func appendSimple(_ utf8: UnsafeRawBufferPointer) -> Bool {
    guard utf8.count <= byteLimit - 3 - bytes.count else { return false }
    let ones: UInt64 = 0x0101_0101_0101_0101
    var index = 0
    // Eight bytes at a time: a byte above 127 has its upper bit set, and the lowest zero byte gets
    // it when 1 is subtracted from each byte.
    while index + 8 <= utf8.count {
      let word = utf8.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if (word | (word &- ones)) & (ones << 7) != 0 { return false }
      index += 8
    }
    while index < utf8.count {
      if utf8[index] == 0 || utf8[index] >= 0x80 { return false }
      index += 1
    }
    bytes.append(Tag.value)
    bytes.append(contentsOf: utf8)
    bytes.append(0)
    bytes.append(0)
    return true
  }

  /// Appends the bytes with which the keys of all texts with a prefix begin, as far as there is
  /// room.
  mutating func append(prefix: String) {
    bytes.append(Tag.value)
    var composed: [UInt8] = []
    CanonicalText.appendComposed(prefix, to: &composed)
    composed.withUnsafeBytes { _ = appendContent($0) }
  }

  /// Appends a text and its end. A zero byte is followed by 255, so that two zeros mark the end. A
  /// value that is cut off ends in 0, 1, which comes after the value that ends there and before any
  /// longer one.
  private mutating func appendEscaped(_ content: UnsafeRawBufferPointer) {
    let isWhole = appendContent(content)
    bytes.append(0)
    bytes.append(isWhole ? 0 : 1)
    if !isWhole { isCut = true }
  }

  /// - Returns: whether there was room for all of it.
  private mutating func appendContent(_ content: UnsafeRawBufferPointer) -> Bool {
    let room = byteLimit - 2 - bytes.count
    if content.count <= room, !content.contains(0) {
      bytes.append(contentsOf: content)
      return true
    }
    let end = bytes.count + room
    for byte in content {
      guard bytes.count + (byte == 0 ? 2 : 1) <= end else { return false }
      bytes.append(byte)
      if byte == 0 { bytes.append(255) }
    }
    return true
  }
}

/// Decoding of index keys.
package enum IndexKey {
  static let referenceByteCount = 8

  /// The elements of a key, for tests; `nil` if a type has no keys.
  package static func elements(
    _ values: [(value: AttributeValue?, type: AttributeType, isAscending: Bool)]
  ) -> (bytes: [UInt8], isCut: Bool)? {
    var writer = IndexKeyWriter()
    for (value, type, isAscending) in values {
      guard let kind = FieldKind(type), kind.hasKeys else { return nil }
      guard writer.hasRoom() else { break }
      let start = writer.bytes.count
      writer.append(value, kind)
      if !isAscending { writer.complement(from: start) }
    }
    return (writer.bytes, writer.isCut)
  }

  /// The reference of a key's object; `nil` if the key is too short to have one.
  static func reference(of key: UnsafeRawBufferPointer) -> Reference? {
    guard key.count > referenceByteCount else { return nil }
    let start = key.count - referenceByteCount
    return Reference(
      rawValue: UInt64(bigEndian: key.loadUnaligned(fromByteOffset: start, as: UInt64.self)))
  }

  /// The offset after the first elements of a key; that of its reference, if it has no more
  /// elements.
  static func end(ofFirst count: Int, _ elements: [StoredIndex.Element], in key: [UInt8]) -> Int {
    let valuesEnd = max(0, key.count - referenceByteCount)
    var end = 0
    for element in elements.prefix(count) where end < valuesEnd {
      end = min(valuesEnd, self.end(of: element, from: end, in: key))
    }
    return end
  }

  private static func end(
    of element: StoredIndex.Element, from start: Int, in key: [UInt8]
  ) -> Int {
    let mask: UInt8 = element.isAscending ? 0 : 255
    guard key[start] ^ mask == IndexKeyWriter.Tag.value else { return start + 1 }
    if element.kind == .decimal {
      guard start + 1 < key.count else { return key.count }
      let sign = key[start + 1] ^ mask
      if sign == 1 { return start + 2 }
      let last = sign == 0 ? ~mask : mask
      var offset = start + 4
      while offset < key.count, key[offset] != last { offset += 1 }
      return offset + 1
    }
    if let width = element.kind.fixedWidth { return start + 1 + width }
    var offset = start + 1
    while offset + 1 < key.count {
      guard key[offset] ^ mask == 0 else {
        offset += 1
        continue
      }
      if key[offset + 1] ^ mask != 255 { return offset + 2 }
      offset += 2
    }
    return key.count
  }

  /// Whether each element of a key has a value, as far as the key is not cut off.
  static func hasAllValues(_ elements: [StoredIndex.Element], in key: [UInt8]) -> Bool {
    let valuesEnd = key.count - referenceByteCount
    var offset = 0
    for element in elements where offset < valuesEnd {
      let tag = key[offset] ^ (element.isAscending ? 0 : 255)
      if tag == IndexKeyWriter.Tag.absent { return false }
      offset = end(of: element, from: offset, in: key)
    }
    return true
  }

  /// The lowest bytes that come after everything with a prefix; `nil` if there are none.
  static func successor(of prefix: [UInt8]) -> [UInt8]? {
    prefix.withUnsafeBytes { withSuccessor(of: $0) { $0.map(Array.init) } }
  }

  /// The same without an array.
  static func withSuccessor<Result>(
    of prefix: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer?) throws -> Result
  ) rethrows -> Result {
    guard let last = prefix.lastIndex(where: { $0 < 255 }) else { return try body(nil) }
    return try withUnsafeTemporaryAllocation(byteCount: last + 1, alignment: 1) { bytes in
      bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: prefix[...last]))
      bytes[last] += 1
      return try body(UnsafeRawBufferPointer(bytes))
    }
  }
}
