#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The constant list of an `IN`, prepared for looking up one value after the other.
///
/// One class rather than sets in an enumeration, so that a look-up copies one reference only.
final class Membership {
  /// Members that are searched one by one: all of a short list, and those of kinds without a set.
  private var others: [PredicateValue?] = []
  private var hasAbsent = false
  private var strings: Set<String> = []
  private var objects: Set<OpaqueIdentity> = []
  private var identifiers: Set<UUID> = []
  private var dates: Set<TimeInterval> = []
  private var hasDateThatIsNone = false
  private var addresses: Set<String> = []
  private var objectAddresses: Set<String> = []
  private var binaries: Set<Data> = []
  private var transformed: Set<Data> = []
  private var numbers = NumberSet()
  private let isShort: Bool
  private let options: FetchComparisonOptions

  init(_ members: [PredicateValue?], _ options: FetchComparisonOptions) {
    self.options = options
    // A short list is searched as fast as a set.
    isShort = members.count < 5
    if isShort {
      others = members
      return
    }
    for member in members { insert(member) }
  }

  private func insert(_ member: PredicateValue?) {
    switch member {
    case nil: hasAbsent = true
    case .object(let identity)?: objects.insert(identity)
    case .collection?: others.append(member)
    case .value(let value)?:
      switch value {
      case .string(let text): strings.insert(CanonicalText.folded(text, options))
      case .uuid(let identifier): identifiers.insert(identifier)
      case .date(let date):
        let seconds = date.timeIntervalSinceReferenceDate
        if seconds.isNaN { hasDateThatIsNone = true } else { dates.insert(seconds) }
      case .uri(let address): addresses.insert(address.absoluteString)
      case .objectID(let address): objectAddresses.insert(address.absoluteString)
      case .binary(let data): binaries.insert(data)
      case .transformed(let data): transformed.insert(data)
      case .composite: others.append(member)
      case .boolean, .integer, .double, .float, .decimal: numbers.insert(value)
      }
    }
  }

  /// Whether the list has a value that a predicate takes for the same.
  ///
  /// - Complexity: O(1), and O(*n*) in the composites and collections of the list for one of these.
  func contain(_ value: PredicateValue?) -> Bool {
    if isShort { return isAmongOthers(value) }
    switch value {
    case nil: return hasAbsent
    case .object(let identity)?: return objects.contains(identity)
    case .collection?: return isAmongOthers(value)
    case .value(let content)?:
      switch content {
      case .string(let text):
        return !strings.isEmpty && strings.contains(CanonicalText.folded(text, options))
      case .uuid(let identifier): return identifiers.contains(identifier)
      case .date(let date):
        let seconds = date.timeIntervalSinceReferenceDate
        return seconds.isNaN ? hasDateThatIsNone : dates.contains(seconds)
      case .uri(let address): return addresses.contains(address.absoluteString)
      case .objectID(let address): return objectAddresses.contains(address.absoluteString)
      case .binary(let data): return binaries.contains(data)
      case .transformed(let data): return transformed.contains(data)
      case .composite: return isAmongOthers(value)
      case .boolean, .integer, .double, .float, .decimal: return numbers.contains(content)
      }
    }
  }

  private func isAmongOthers(_ value: PredicateValue?) -> Bool {
    others.contains { PredicateValue.areAlike($0, value, options) }
  }
}

/// Numbers of all types, found by numbers of all types as ``AttributeValue/isAlike(_:_:)`` has it.
/// That is not transitive (a float equals doubles that are not equal), so each type is kept apart,
/// and looked into with what the other type is in a comparison with it.
private struct NumberSet {
  private var integers: Set<Int64> = []
  private var doubles: Set<Double> = []
  /// The doubles as a float sees them.
  private var roundedDoubles: Set<Float> = []
  private var floats: Set<Float> = []
  private var decimals: Set<DecimalParts> = []
  private var hasNotANumber = false

  mutating func insert(_ value: AttributeValue) {
    if value.isNotANumber {
      hasNotANumber = true
      return
    }
    switch value {
    case .boolean(let flag): integers.insert(flag ? 1 : 0)
    case .integer(let number): integers.insert(number)
    case .double(let number):
      doubles.insert(number)
      roundedDoubles.insert(Float(number))
    case .float(let number): floats.insert(number)
    case .decimal(let number): if let parts = DecimalParts(number) { decimals.insert(parts) }
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: break
    }
  }

  func contains(_ value: AttributeValue) -> Bool {
    if value.isNotANumber { return hasNotANumber }
    switch value {
    case .boolean(let flag): return contains(flag ? 1 : 0 as Int64)
    case .integer(let number): return contains(number)
    case .double(let number):
      return doubles.contains(number)
        || hasInteger(Int64(exactly: number))
        || !floats.isEmpty && floats.contains(Float(number))
        || hasDecimal(DecimalParts(number))
    case .float(let number):
      return floats.contains(number)
        || hasInteger(Int64(exactly: number))
        || roundedDoubles.contains(number)
        || hasDecimal(DecimalParts(number))
    case .decimal(let number): return DecimalParts(number).map(contains) ?? false
    case .string, .date, .binary, .uuid, .uri, .transformed, .objectID, .composite: return false
    }
  }

  private func contains(_ number: Int64) -> Bool {
    integers.contains(number)
      || !doubles.isEmpty && (Double(exactly: number).map(doubles.contains) ?? false)
      || !floats.isEmpty && (Float(exactly: number).map(floats.contains) ?? false)
      || hasDecimal(DecimalParts(number))
  }

  /// The only binary number that a decimal may be the shortest name of is the one that it is read
  /// as.
  private func contains(_ parts: DecimalParts) -> Bool {
    if decimals.contains(parts) || hasInteger(parts.integer) { return true }
    if doubles.isEmpty, floats.isEmpty { return false }
    let text = "\(parts.isNegative ? "-" : "")\(parts.mantissa)e\(parts.exponent)"
    if let number = Double(text), doubles.contains(number), DecimalParts(number) == parts {
      return true
    }
    guard let number = Float(text), floats.contains(number) else { return false }
    return DecimalParts(number) == parts
  }

  private func hasInteger(_ number: Int64?) -> Bool {
    number.map(integers.contains) ?? false
  }

  private func hasDecimal(_ parts: @autoclosure () -> DecimalParts?) -> Bool {
    !decimals.isEmpty && (parts().map(decimals.contains) ?? false)
  }
}

extension DecimalParts {
  fileprivate init(_ number: Int64) {
    self.init(isNegative: number < 0, mantissa: UInt128(number.magnitude), exponent: 0)
  }

  /// The number as an integer, if it is one that 64 bits hold.
  fileprivate var integer: Int64? {
    guard exponent >= 0, exponent < 19 else { return mantissa == 0 ? 0 : nil }
    var magnitude = mantissa
    for _ in 0..<exponent {
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      magnitude = product
    }
    if isNegative, magnitude == UInt128(Int64.min.magnitude) { return .min }
    return Int64(exactly: magnitude).map { isNegative ? -$0 : $0 }
  }
}
