import Foundation
import Quire

/// The numbers of a store's rows, which object IDs have, by the references that the store knows
/// its rows by.
///
/// A whole number from 1 below 2⁴⁷ is its own number. Another reference has a number above,
/// computed from its text, so that an ID means the same row whenever the store is opened. What the
/// row is called is known when the store has named it once.
struct ReferenceTable {
  /// The first number of references that are no such numbers.
  private static let firstComputed: Int64 = 1 << 47

  private var references: [IncrementalStoreKey: Any] = [:]
  private var texts: [IncrementalStoreKey: String] = [:]

  /// The number of a row.
  mutating func number(of reference: Any, in entityName: String) throws -> Int64 {
    if let number = Self.wholeNumber(reference), (1..<Self.firstComputed).contains(number) {
      return number
    }
    guard let text = Self.text(of: reference) else {
      throw PersistenceError(
        .unacceptableValue,
        "a reference object is a text, a number or a UUID, and not a \(type(of: reference))")
    }
    var key = IncrementalStoreKey(entityName, Self.firstComputed + Self.digest(text))
    // Two texts of an entity have one digest about once in a hundred thousand million pairs.
    while let known = texts[key], known != text {
      let next = (key.number + 1) % Self.firstComputed
      key.number = Self.firstComputed + next
    }
    if texts.updateValue(text, forKey: key) == nil { references[key] = reference }
    return key.number
  }

  /// The reference of a row; `nil` when the store has not named the row since it was opened.
  func reference(of key: IncrementalStoreKey) -> Any? {
    if key.number < Self.firstComputed { return NSNumber(value: key.number) }
    return references[key]
  }

  private static func wholeNumber(_ reference: Any) -> Int64? {
    switch reference {
    case let number as NSNumber: Int64(exactly: number)
    case let number as any BinaryInteger: Int64(exactly: number)
    default: nil
    }
  }

  /// A text that no other reference has.
  private static func text(of reference: Any) -> String? {
    switch reference {
    case let text as String: "s" + text
    case let number as NSNumber: "n" + number.stringValue
    case let number as any BinaryInteger: "n\(number)"
    case let uuid as UUID: "u" + uuid.uuidString
    case let url as URL: "l" + url.absoluteString
    default: nil
    }
  }

  /// A number from 0 below 2⁴⁷, the same in every run: FNV-1a, with its bits mixed once more. Part
  /// of IDs that programs keep, so it never changes.
  private static func digest(_ text: String) -> Int64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
    return Int64(hash >> 17)
  }
}

extension Int64 {
  /// The number, unless it has a fraction or is out of range.
  fileprivate init?(exactly number: NSNumber) {
    switch UInt8(bitPattern: Int8(number.objCType.pointee)) {
    case UInt8(ascii: "f"), UInt8(ascii: "d"):
      guard let whole = Int64(exactly: number.doubleValue) else { return nil }
      self = whole
    case UInt8(ascii: "Q"):
      guard let whole = Int64(exactly: number.uint64Value) else { return nil }
      self = whole
    default: self = number.int64Value
    }
  }
}
