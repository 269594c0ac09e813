import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension AttributeValue {
  /// The value in the Swift type that users of key-value coding expect.
  package var plainValue: Any {
    switch self {
    case .boolean(let value): value
    case .integer(let value): Int(exactly: value) ?? value
    case .double(let value): value
    case .float(let value): value
    case .decimal(let value): value
    case .string(let value): value
    case .date(let value): value
    case .binary(let value), .transformed(let value): value
    case .uuid(let value): value
    case .uri(let value), .objectID(let value): value
    case .composite(let values): values.mapValues(\.plainValue)
    }
  }

  /// The value an attribute stores for a plain one; `nil` when the types do not go together.
  package init?(_ value: Any, for attribute: AttributeDescription) {
    if let value = value as? AttributeValue {
      guard value.isOf(attribute.type) else { return nil }
      self = value
      return
    }
    switch attribute.type {
    case .integer16, .integer32, .integer64:
      guard let number = Int64(plain: value) else { return nil }
      self = .integer(number)
    case .boolean:
      if let flag = value as? Bool {
        self = .boolean(flag)
      } else if let number = Int64(plain: value), number == 0 || number == 1 {
        self = .boolean(number == 1)
      } else {
        return nil
      }
    case .double:
      guard let number = Double(plain: value) else { return nil }
      self = .double(number)
    case .float:
      guard let number = Double(plain: value) else { return nil }
      // Fractions are rounded to the nearest, as everywhere; whole numbers are kept or refused.
      if value is any BinaryInteger, Float(exactly: number) == nil { return nil }
      if Float(number).isInfinite, !number.isInfinite { return nil }
      self = .float(Float(number))
    case .decimal:
      if let number = value as? Decimal {
        self = .decimal(number)
      } else if let integer = value as? any BinaryInteger {
        guard let number = Decimal(exactly: integer) else { return nil }
        self = .decimal(number)
      } else if let number = Int64(plain: value) {
        self = .decimal(Decimal(number))
      } else if let decimal = (value as? Float).map(Decimal.init(shortest:))
        ?? Double(plain: value).map(Decimal.init(shortest:)), let decimal
      {
        self = .decimal(decimal)
      } else {
        return nil
      }
    case .string:
      guard let text = value as? String ?? (value as? Substring).map(String.init) else {
        return nil
      }
      self = .string(text)
    case .date:
      guard let date = value as? Date else { return nil }
      self = .date(date)
    case .binaryData, .transformable:
      guard let data = value as? Data ?? (value as? [UInt8]).map({ Data($0) }) else { return nil }
      self = attribute.type == .binaryData ? .binary(data) : .transformed(data)
    case .uuid:
      guard let uuid = value as? UUID else { return nil }
      self = .uuid(uuid)
    case .uri:
      guard let url = value as? URL else { return nil }
      self = .uri(url)
    case .objectID:
      guard let url = (value as? ManagedObjectID)?.uriRepresentation() ?? value as? URL else {
        return nil
      }
      self = .objectID(url)
    case .composite:
      guard let values = value as? [String: Any] else { return nil }
      var composite: [String: AttributeValue] = [:]
      for (name, value) in values {
        guard let element = attribute.elements.first(where: { $0.name == name }),
          let converted = AttributeValue(value, for: element)
        else { return nil }
        composite[name] = converted
      }
      self = .composite(composite)
    case .undefined:
      return nil
    }
  }
}

extension Int64 {
  /// Any integer that fits; floating-point numbers only when they are whole.
  fileprivate init?(plain value: Any) {
    switch value {
    case let value as Int: self = Int64(value)
    case let value as Bool: self = value ? 1 : 0
    case let value as any BinaryInteger:
      guard let number = Int64(exactly: value) else { return nil }
      self = number
    case let value as any BinaryFloatingPoint:
      guard let number = Int64(exactly: value) else { return nil }
      self = number
    default: return nil
    }
  }
}

extension Double {
  fileprivate init?(plain value: Any) {
    switch value {
    case let value as Double: self = value
    case let value as any BinaryFloatingPoint: self = Double(value)
    case let value as any BinaryInteger:
      guard let number = Double(exactly: value) else { return nil }
      self = number
    default: return nil
    }
  }
}

extension Decimal {
  fileprivate init?(exactly number: some BinaryInteger) {
    guard let magnitude = UInt128(exactly: number.magnitude),
      let decimal = DecimalParts(isNegative: number < 0, mantissa: magnitude, exponent: 0).decimal
    else { return nil }
    self = decimal
  }
}
