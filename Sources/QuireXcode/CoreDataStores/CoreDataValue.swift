import Foundation
import QuireModel

/// Turns what a column stores into the value of an attribute.
///
/// The attribute's type decides, not the column's: SQLite keeps the class of each value by itself,
/// and Core Data's declarations are advice. A date without a fraction is stored as an integer, a
/// decimal as an integer, a real or text, whichever keeps it.
enum CoreDataValue {
  /// The value, or `nil` when what is stored is no value of this type.
  static func value(_ stored: SQLiteValue, as type: AttributeType) -> AttributeValue? {
    switch type {
    case .integer16, .integer32, .integer64:
      guard let number = integer(stored), type.integerRange?.contains(number) == true else {
        return nil
      }
      return .integer(number)
    case .boolean: return integer(stored).map { .boolean($0 != 0) }
    case .decimal: return decimal(stored).map { .decimal($0) }
    case .double: return double(stored).map { .double($0) }
    case .float: return double(stored).map { .float(Float($0)) }
    case .date:
      return double(stored).flatMap {
        $0.isFinite ? .date(Date(timeIntervalSinceReferenceDate: $0)) : nil
      }
    case .string: return text(stored).map { .string($0) }
    case .binaryData: return bytes(stored).map { .binary($0) }
    case .transformable: return bytes(stored).map { .transformed($0) }
    case .uuid: return uuid(stored).map { .uuid($0) }
    case .uri: return text(stored).flatMap { URL(string: $0) }.map { .uri($0) }
    case .objectID: return text(stored).flatMap { URL(string: $0) }.map { .objectID($0) }
    case .undefined: return asStored(stored)
    case .composite: return nil
    }
  }

  private static func integer(_ stored: SQLiteValue) -> Int64? {
    switch stored {
    case .integer(let number): number
    case .real(let number): Int64(exactly: number)
    case .text(let text): Int64(text)
    case .null, .blob: nil
    }
  }

  private static func double(_ stored: SQLiteValue) -> Double? {
    switch stored {
    case .integer(let number): Double(number)
    case .real(let number): number
    case .text(let text): Double(text)
    case .null, .blob: nil
    }
  }

  private static func decimal(_ stored: SQLiteValue) -> Decimal? {
    switch stored {
    case .integer(let number): Decimal(number)
    // The shortest digits that name the real are those of the decimal it was made from.
    case .real(let number): DecimalText.parse("\(number)")
    case .text(let text): DecimalText.parse(text)
    case .null, .blob: nil
    }
  }

  private static func text(_ stored: SQLiteValue) -> String? {
    switch stored {
    case .text(let text): text
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .null, .blob: nil
    }
  }

  private static func bytes(_ stored: SQLiteValue) -> Data? {
    switch stored {
    case .blob(let data): data
    case .text(let text): Data(text.utf8)
    case .null, .integer, .real: nil
    }
  }

  private static func uuid(_ stored: SQLiteValue) -> UUID? {
    switch stored {
    case .blob(let data) where data.count == 16:
      data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    case .text(let text): UUID(uuidString: text)
    case .null, .integer, .real, .blob: nil
    }
  }

  private static func asStored(_ stored: SQLiteValue) -> AttributeValue? {
    switch stored {
    case .null: nil
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .text(let text): .string(text)
    case .blob(let data): .binary(data)
    }
  }
}
