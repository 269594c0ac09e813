import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The bounds, as elements of index keys, of a value that predicates compare with an attribute.
///
/// A number of another type than the attribute's may lie between two values that the attribute can
/// have. The bounds then enclose it, so that a search finds too many candidates rather than too
/// few.
struct KeyBounds {
  let low: [UInt8]
  let high: [UInt8]
  /// Whether both bounds are the element of the value itself, in full.
  let isExact: Bool

  /// - Parameters:
  ///   - prefix: the bytes of a key before the element; their number decides how much room is left.
  /// - Returns: `nil` if the value cannot be compared with the attribute, or has no order, such as
  ///   NaN.
  init?(_ value: AttributeValue, _ kind: FieldKind, after prefix: [UInt8]) {
    func element(_ append: (inout IndexKeyWriter) -> Void) -> (bytes: [UInt8], isCut: Bool) {
      var writer = IndexKeyWriter()
      if prefix.isEmpty {
        append(&writer)
        return (writer.bytes, writer.isCut)
      }
      writer.append(contentsOf: prefix)
      append(&writer)
      return (Array(writer.bytes[prefix.count...]), writer.isCut)
    }
    switch kind {
    case .boolean, .integer16, .integer32, .integer64:
      guard let range = KeyBounds.integers(value, kind) else { return nil }
      let flags = kind == .boolean
      func bytes(_ number: Int64) -> [UInt8] {
        element { $0.append(flags ? .boolean(number == 1) : .integer(number), kind) }.bytes
      }
      (low, high, isExact) = (bytes(range.low), bytes(range.high), range.isExact)
    case .double:
      guard let range = KeyBounds.doubles(value) else { return nil }
      low = element { $0.append(range.low) }.bytes
      high = element { $0.append(range.high) }.bytes
      isExact = range.isExact
    case .float:
      guard let range = KeyBounds.floats(value) else { return nil }
      low = element { $0.append(range.low) }.bytes
      high = element { $0.append(range.high) }.bytes
      isExact = range.isExact
    case .decimal:
      guard let parts = KeyBounds.decimal(value) else { return nil }
      low = element { $0.append(parts) }.bytes
      (high, isExact) = (low, true)
    case .date, .uuid, .string, .uri, .objectID, .binary, .transformed, .composite, .reference:
      guard KeyBounds.isOfKind(value, kind) else { return nil }
      let made = element { $0.append(value, kind) }
      (low, high, isExact) = (made.bytes, made.bytes, !made.isCut)
    }
  }

  private static func isOfKind(_ value: AttributeValue, _ kind: FieldKind) -> Bool {
    switch value {
    case .string: kind == .string
    case .uuid: kind == .uuid
    case .uri: kind == .uri
    case .objectID: kind == .objectID
    case .date: kind == .date && !value.isNaN
    // Numbers have bounds of their own, the others no keys.
    case .boolean, .integer, .double, .float, .decimal, .binary, .transformed, .composite: false
    }
  }

  // MARK: Numbers

  private typealias Range<Number> = (low: Number, high: Number, isExact: Bool)

  private static func integers(_ value: AttributeValue, _ kind: FieldKind) -> Range<Int64>? {
    let range: Range<Int64>
    switch value {
    case .integer(let number): range = (number, number, true)
    case .boolean(let flag): range = (flag ? 1 : 0, flag ? 1 : 0, true)
    case .double(let number): range = integers(number, number)
    case .float(let number): range = integers(Double(number), Double(number))
    case .decimal(let number):
      guard let near = Double(number.description) else { return nil }
      range = integers(near.nextDown, near.nextUp)
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: return nil
    }
    if value.isNaN { return nil }
    let limits: ClosedRange<Int64> =
      switch kind {
      case .boolean: 0...1
      case .integer16: Int64(Int16.min)...Int64(Int16.max)
      case .integer32: Int64(Int32.min)...Int64(Int32.max)
      default: .min ... .max
      }
    let low = min(max(range.low, limits.lowerBound), limits.upperBound)
    let high = min(max(range.high, limits.lowerBound), limits.upperBound)
    return (low, high, range.isExact && low == range.low)
  }

  private static func integers(_ low: Double, _ high: Double) -> Range<Int64> {
    func clamped(_ number: Double) -> Int64 {
      number >= 0x1p63 ? .max : number < -0x1p63 || number.isNaN ? .min : Int64(number)
    }
    let isExact = low == high && abs(low) < 0x1p63 && low.rounded() == low
    return (clamped(low.rounded(.down)), clamped(high.rounded(.up)), isExact)
  }

  private static func doubles(_ value: AttributeValue) -> Range<Double>? {
    if value.isNaN { return nil }
    switch value {
    case .double(let number): return (number, number, true)
    case .boolean(let flag): return (flag ? 1 : 0, flag ? 1 : 0, true)
    case .integer(let number):
      let near = Double(number)
      return Int64(exactly: near) == number
        ? (near, near, true) : (near.nextDown, near.nextUp, false)
    // A double that is compared with a float is rounded to one.
    case .float(let number): return (Double(number.nextDown), Double(number.nextUp), false)
    case .decimal(let number):
      return Double(number.description).map { ($0.nextDown, $0.nextUp, false) }
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: return nil
    }
  }

  private static func floats(_ value: AttributeValue) -> Range<Float>? {
    if value.isNaN { return nil }
    switch value {
    case .float(let number): return (number, number, true)
    case .double(let number): return (Float(number), Float(number), true)
    case .boolean(let flag): return (flag ? 1 : 0, flag ? 1 : 0, true)
    case .integer(let number): return (Float(number).nextDown, Float(number).nextUp, false)
    case .decimal(let number):
      return Float(number.description).map { ($0.nextDown, $0.nextUp, false) }
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: return nil
    }
  }

  private static func decimal(_ value: AttributeValue) -> DecimalParts? {
    switch value {
    case .decimal(let number): DecimalParts(number)
    case .integer(let number): DecimalParts(Decimal(number))
    case .boolean(let flag): DecimalParts(Decimal(flag ? 1 : 0))
    case .double(let number): DecimalParts(number)
    case .float(let number): DecimalParts(number)
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: nil
    }
  }
}

extension AttributeValue {
  /// Whether the value is NaN, as a number or as a date.
  var isNaN: Bool {
    switch self {
    case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
    case .double(let number): number.isNaN
    case .float(let number): number.isNaN
    case .decimal(let number): number.isNaN
    case .boolean, .integer, .string, .binary, .uuid, .uri, .transformed, .objectID, .composite:
      false
    }
  }
}
