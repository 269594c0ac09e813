import QuireModel

/// The error for a number that cannot be converted to another type.
struct NumberRefusal: Error {
  /// The attribute of the new model; for an element of a composite, its path.
  let path: String
  let value: AttributeValue
  let conversion: NumberConversion
}

/// The conversion of a field's values, where they are neither copied nor the same for all rows.
struct FieldConversion: Sendable {
  /// With the name of the new field.
  enum Kind: Sendable {
    case composite(CompositeConversion, String)
    case number(NumberConversion, String)
  }

  let field: Int
  /// The field of the old row.
  let from: Int
  let kind: Kind
  /// The bytes for a row without a value; `nil` for none.
  let orDefault: [UInt8]?
  /// The offset of a fixed field in the new row; `nil` for a variable one.
  let offset: Int?

  /// The bytes of the new field.
  ///
  /// - Throws: ``NumberRefusal``.
  func bytes(of value: AttributeValue) throws(NumberRefusal) -> [UInt8] {
    switch kind {
    case .composite(let conversion, let name): try conversion(value, path: name).archived()
    case .number(let conversion, let name):
      try conversion.numberBytes(of: conversion(value, path: name))
    }
  }
}

extension NumberConversion {
  /// - Throws: ``NumberRefusal`` if the number is out of range for the destination type.
  func callAsFunction(
    _ value: AttributeValue, path: String
  ) throws(NumberRefusal) -> AttributeValue {
    guard let number = converted(value) else {
      throw NumberRefusal(path: path, value: value, conversion: self)
    }
    return number
  }

  /// The bytes of a number of the destination type in a row.
  fileprivate func numberBytes(of value: AttributeValue) -> [UInt8] {
    func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
    switch value {
    case .boolean(let flag): return [flag ? 1 : 0]
    case .integer(let number):
      switch destination {
      case .integer16: return bytes(Int16(number))
      case .integer32: return bytes(Int32(number))
      default: return bytes(number)
      }
    case .double(let number): return bytes(number.bitPattern)
    case .float(let number): return bytes(number.bitPattern)
    case .decimal(let number): return Array(number.rowText.utf8)
    // No conversion of numbers makes these.
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: return []
    }
  }
}
