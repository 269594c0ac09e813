import Foundation

/// Reads the binary form of a property list.
///
///     "bplist00", objects, table of their offsets, trailer of 32 bytes
///
/// Each object is read once, however often it is referred to, so that the work is in proportion to
/// the file; lists that contain themselves are errors. The format is Core Foundation's, published
/// with its source (`CFBinaryPList.c`).
struct BinaryPropertyList {
  static let magic = Array("bplist0".utf8)
  private static let trailerLength = 32

  private let bytes: [UInt8]
  private let offsetLength: Int
  private let referenceLength: Int
  private let objectCount: Int
  private let rootIndex: Int
  private let tableOffset: Int
  /// The objects that have been read, by their number.
  private var values: [Int: PropertyList] = [:]
  /// The objects that are being read, each within the one before.
  private var open: Set<Int> = []

  init(_ bytes: [UInt8]) throws(PropertyListError) {
    self.bytes = bytes
    let trailer = bytes.count - Self.trailerLength
    guard trailer >= 8 else { throw PropertyListError("ends too early for a property list") }
    offsetLength = Int(bytes[trailer + 6])
    referenceLength = Int(bytes[trailer + 7])
    let numbers = [8, 16, 24].map { Self.number(bytes, at: trailer + $0, length: 8) }
    guard (1...8).contains(offsetLength), (1...8).contains(referenceLength),
      let count = numbers[0], let root = numbers[1], let table = numbers[2],
      count > 0, root < count, table >= 8, table <= trailer,
      count <= (trailer - table) / offsetLength
    else { throw PropertyListError("has a damaged end", at: "byte \(trailer)") }
    (objectCount, rootIndex, tableOffset) = (count, root, table)
  }

  mutating func root() throws(PropertyListError) -> PropertyList { try object(rootIndex) }

  private mutating func object(_ index: Int) throws(PropertyListError) -> PropertyList {
    if let value = values[index] { return value }
    guard index < objectCount,
      let offset = number(at: tableOffset + index * offsetLength, length: offsetLength),
      offset >= 8, offset < tableOffset
    else { throw PropertyListError("is not in the list", at: "object \(index)") }
    guard open.count < PropertyList.depthLimit else {
      throw PropertyListError("is nested too deep", at: "object \(index)")
    }
    guard open.insert(index).inserted else {
      throw PropertyListError("contains itself", at: "object \(index)")
    }
    let value = try read(at: offset)
    open.remove(index)
    values[index] = value
    return value
  }

  private mutating func read(at offset: Int) throws(PropertyListError) -> PropertyList {
    let (kind, low) = (bytes[offset] >> 4, Int(bytes[offset] & 15))
    func fail(_ words: String) -> PropertyListError {
      PropertyListError(words, at: "byte \(offset)")
    }
    switch kind {
    case 0 where low == 8 || low == 9: return .boolean(low == 9)
    case 1 where low <= 4:
      guard let value = integer(at: offset + 1, length: 1 << low) else {
        throw fail("has an integer that is cut off or too large")
      }
      return .integer(value)
    case 2 where low == 2 || low == 3, 3 where low == 3:
      guard let value = real(at: offset + 1, length: 1 << low) else {
        throw fail("has a number that is cut off")
      }
      return kind == 3 ? .date(Date(timeIntervalSinceReferenceDate: value)) : .real(value)
    case 4, 5, 6:
      let (start, count) = try counted(offset, low, size: kind == 6 ? 2 : 1)
      let content = bytes[start..<start + count * (kind == 6 ? 2 : 1)]
      return kind == 4 ? .data(Data(content)) : .string(try text(content, isWide: kind == 6, fail))
    case 8 where low < 8:
      guard let value = number(at: offset + 1, length: low + 1) else {
        throw fail("has an object's number that is cut off or too large")
      }
      return .uid(value)
    case 10:
      let (start, count) = try counted(offset, low, size: referenceLength)
      var members: [PropertyList] = []
      for index in 0..<count { members.append(try reference(start, index)) }
      return .array(members)
    case 13:
      let (start, count) = try counted(offset, low, size: 2 * referenceLength)
      var entries: [String: PropertyList] = [:]
      for index in 0..<count {
        guard case .string(let key) = try reference(start, index) else {
          throw fail("has a dictionary with a key that is no text")
        }
        entries[key] = try reference(start, count + index)
      }
      return .dictionary(entries)
    default: throw fail("has a value of the unknown kind \(bytes[offset])")
    }
  }

  private mutating func reference(
    _ start: Int, _ index: Int
  ) throws(PropertyListError) -> PropertyList {
    let offset = start + index * referenceLength
    guard let number = number(at: offset, length: referenceLength) else {
      throw PropertyListError("refers to nothing", at: "byte \(offset)")
    }
    return try object(number)
  }

  /// The offset of an object's content, and the number of its parts, each of `size` bytes. All of
  /// them are within the file.
  private func counted(
    _ offset: Int, _ low: Int, size: Int
  ) throws(PropertyListError) -> (start: Int, count: Int) {
    var (start, count) = (offset + 1, low)
    if low == 15 {
      guard start < tableOffset, bytes[start] >> 4 == 1, bytes[start] & 15 <= 3,
        let number = number(at: start + 1, length: 1 << Int(bytes[start] & 15))
      else { throw PropertyListError("has a damaged count", at: "byte \(offset)") }
      (start, count) = (start + 1 + 1 << Int(bytes[start] & 15), number)
    }
    guard start <= tableOffset, count <= (tableOffset - start) / size else {
      throw PropertyListError("has a value that is cut off", at: "byte \(offset)")
    }
    return (start, count)
  }

  private func text(
    _ content: ArraySlice<UInt8>, isWide: Bool, _ fail: (String) -> PropertyListError
  ) throws(PropertyListError) -> String {
    guard isWide else {
      guard content.allSatisfy({ $0 < 128 }) else { throw fail("has a text that is not ASCII") }
      return String(decoding: content, as: UTF8.self)
    }
    let units = stride(from: content.startIndex, to: content.endIndex, by: 2).map {
      UInt16(content[$0]) << 8 | UInt16(content[$0 + 1])
    }
    guard let text = String(validating: units, as: UTF16.self) else {
      throw fail("has a text that is not UTF-16")
    }
    return text
  }

  // MARK: Numbers, all of them big-endian

  /// - Returns: `nil` when it is cut off, or larger than an `Int`.
  private func number(at offset: Int, length: Int) -> Int? {
    Self.number(bytes, at: offset, length: length)
  }

  private static func number(_ bytes: [UInt8], at offset: Int, length: Int) -> Int? {
    bits(bytes, at: offset, length: length).flatMap { Int(exactly: $0) }
  }

  private static func bits(_ bytes: [UInt8], at offset: Int, length: Int) -> UInt64? {
    guard offset >= 0, length <= bytes.count, offset <= bytes.count - length else { return nil }
    return bytes[offset..<offset + length].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Only those of eight bytes and more have a sign.
  private func integer(at offset: Int, length: Int) -> Int64? {
    if length == 16 {
      guard let high = Self.bits(bytes, at: offset, length: 8),
        let low = Self.bits(bytes, at: offset + 8, length: 8)
      else { return nil }
      let value = Int64(bitPattern: low)
      return high == (value < 0 ? UInt64.max : 0) ? value : nil
    }
    return Self.bits(bytes, at: offset, length: length).map { Int64(bitPattern: $0) }
  }

  private func real(at offset: Int, length: Int) -> Double? {
    guard let bits = Self.bits(bytes, at: offset, length: length) else { return nil }
    return length == 4
      ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))) : Double(bitPattern: bits)
  }
}
