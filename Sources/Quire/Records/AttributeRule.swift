import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The rules of the model for the values of one attribute beyond their type, prepared once for all
/// objects.
final class AttributeRule: Sendable {
  /// A violation of the rules by a value.
  struct Failure {
    let code: PersistenceError.Code
    /// `born`, or `address.city` for an element of a composite attribute.
    let key: String
    let value: AttributeValue?
    /// The message after the name of the property: `is 7; the largest allowed is 5`.
    let words: String
  }

  let name: String
  let isTransient: Bool
  private let isRequired: Bool
  /// The range of the attribute's integer type; `nil` if the type holds every `Int64`, or is none.
  private let width: ClosedRange<Int64>?
  private let limits: AttributeLimitsByType
  private let elements: [AttributeRule]
  /// Whether the only rule is that there is a value.
  let asksForValueAlone: Bool
  /// The usual Swift type of the values, if the only rule is that there is one.
  private let plainType: Any.Type?

  /// - Parameter prefix: the composite attribute that this is an element of, and a dot.
  /// - Returns: `nil` when every value of the type is valid, and an absent one too.
  init?(_ attribute: AttributeDescription, in prefix: String = "") {
    name = prefix + attribute.name
    isTransient = attribute.isTransient
    isRequired = !attribute.isOptional
    width = attribute.type == .integer64 ? nil : attribute.type.integerRange
    limits = AttributeLimitsByType(attribute.validation, of: attribute.type)
    elements = attribute.elements.compactMap {
      AttributeRule($0, in: prefix + attribute.name + ".")
    }
    if case .none = limits, width == nil, elements.isEmpty {
      if !isRequired { return nil }
      asksForValueAlone = true
      plainType =
        switch attribute.type {
        case .string: String.self
        case .double: Double.self
        case .boolean: Bool.self
        case .date: Date.self
        case .integer64: Int.self
        default: nil
        }
    } else {
      asksForValueAlone = false
      plainType = nil
    }
  }

  /// Whether every value of a Swift type is valid: the only rule is that there is a value, and the
  /// type is the attribute's usual one. A quick test, which may be `false` for other valid types.
  func takesAny(_ valueType: Any.Type) -> Bool {
    plainType.map { $0 == valueType } ?? false
  }

  /// Whether a stored value of the attribute's type can violate the rules.
  var limitsStoredValues: Bool {
    if case .none = limits { return !elements.isEmpty }
    return true
  }

  func check(_ value: AttributeValue?, _ report: (Failure) -> Void) {
    guard let value else {
      if isRequired {
        report(
          Failure(
            code: .validationMissingMandatoryProperty, key: name, value: nil, words: "has no value"
          ))
      }
      return
    }
    func fail(_ code: PersistenceError.Code, _ words: String) {
      report(Failure(code: code, key: name, value: value, words: words))
    }
    switch value {
    case .integer(let number): check(number, fail)
    case .double(let number):
      if case .doubles(let limits) = limits { check(number, limits, fail) }
    case .float(let number):
      if case .floats(let limits) = limits { check(number, limits, fail) }
    case .decimal(let number):
      guard case .decimals(let limits) = limits else { return }
      if number.isNaN {
        fail(.validationNumberTooSmall, "is not a number, and limits are set for it")
      } else {
        check(number, limits, fail)
      }
    case .date(let date):
      guard case .dates(let limits) = limits else { return }
      if date.timeIntervalSinceReferenceDate.isNaN {
        fail(.validationInvalidDate, "is no date")
      } else if limits.isAbove(date), let largest = limits.largest {
        fail(.validationDateTooLate, "is \(date.words); the latest allowed is \(largest.words)")
      } else if limits.isBelow(date), let smallest = limits.smallest {
        fail(.validationDateTooSoon, "is \(date.words); the earliest allowed is \(smallest.words)")
      }
    case .string(let text):
      if case .texts(let length, let pattern) = limits { check(text, length, pattern, fail) }
    case .composite(let values):
      for element in elements {
        element.check(values[element.lastName], report)
      }
    case .boolean, .binary, .uuid, .uri, .transformed, .objectID: return
    }
  }

  /// The name of an element within its composite attribute.
  private var lastName: String {
    name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? name
  }

  private func check(_ number: Int64, _ fail: (PersistenceError.Code, String) -> Void) {
    if let width, !width.contains(number) {
      fail(
        number > width.upperBound ? .validationNumberTooLarge : .validationNumberTooSmall,
        "is \(number); it holds \(width.lowerBound) to \(width.upperBound)")
    } else if case .integers(let limits) = limits {
      check(number, limits, fail)
    }
  }

  private func check<Number>(
    _ number: Number, _ limits: ValueLimits<Number>,
    _ fail: (PersistenceError.Code, String) -> Void
  ) {
    if limits.isAbove(number), let largest = limits.largest {
      fail(.validationNumberTooLarge, "is \(number); the largest allowed is \(largest)")
    } else if limits.isBelow(number), let smallest = limits.smallest {
      fail(.validationNumberTooSmall, "is \(number); the smallest allowed is \(smallest)")
    }
  }

  private func check(
    _ text: String, _ length: ValueLimits<Int64>, _ pattern: TextPattern?,
    _ fail: (PersistenceError.Code, String) -> Void
  ) {
    // Characters are counted only if their number may matter; there are never more than bytes.
    let byteCount = Int64(text.utf8.count)
    if length.smallest != nil || length.isAbove(byteCount) {
      let count = Int64(text.count)
      if length.isAbove(count), let largest = length.largest {
        fail(.validationStringTooLong, "has \(count) characters; the most allowed are \(largest)")
      } else if length.isBelow(count), let smallest = length.smallest {
        fail(
          .validationStringTooShort, "has \(count) characters; the fewest allowed are \(smallest)")
      }
    }
    guard let pattern else { return }
    do {
      if try pattern.matches(text) { return }
      let brief = PersistenceError.briefDescription(of: text)
      fail(
        .validationStringPatternMatching,
        "is “\(brief)”, which does not match the pattern \(pattern.pattern)")
    } catch {
      fail(.validationStringPatternMatching, "has a pattern that cannot be used: \(error)")
    }
  }
}
