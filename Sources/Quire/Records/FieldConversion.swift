import QuireModel

/// A number that cannot become one of another type.
struct NumberRefusal: Error {
  /// The attribute of the new model; an element of a composite with its path.
  let path: String
  let value: AttributeValue
  let conversion: NumberConversion
}

/// What becomes of a field's values that are neither copied nor the same in all rows.
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
  /// What a row gets that has no value; `nil` for none.
  let orDefault: [UInt8]?
  /// Where a fixed field lies in the new row; `nil` for a variable one.
  let place: Int?

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
  /// - Throws: ``NumberRefusal`` when the destination type does not have the number.
  func callAsFunction(
    _ value: AttributeValue, path: String
  ) throws(NumberRefusal) -> AttributeValue {
    guard let number = converted(value) else {
      throw NumberRefusal(path: path, value: value, conversion: self)
    }
    return number
  }

  /// A number of the destination type as rows have it.
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
    default: return []
    }
  }
}
