import QuireModel

/// Converts the values of a composite attribute to another set of elements: renamed, removed, added
/// with their default, or of another number type.
struct CompositeConversion: Hashable, Sendable {
  private struct Element: Hashable, Sendable {
    var name: String
    /// The former name of the element; `nil` if it is new.
    var oldName: String?
    var defaultValue: AttributeValue?
    /// Set if the number type changes.
    var number: NumberConversion?
    /// Set, as the only member, if the element is a composite whose elements change.
    var conversion: [CompositeConversion]
  }

  private let elements: [Element]

  /// - Returns: `nil` when the values can stay as they are.
  init?(_ change: AttributeChange) {
    elements = change.elements.compactMap { element in
      guard let new = element.destination else { return nil }
      return Element(
        name: new.name, oldName: element.source?.name, defaultValue: new.defaultValue,
        number: element.numberConversion,
        conversion: CompositeConversion(element).map { [$0] } ?? [])
    }
    let isSame = change.elements.allSatisfy { element in
      element.source != nil && element.source?.name == element.destination?.name
    }
    if isSame, elements.allSatisfy({ $0.conversion.isEmpty && $0.number == nil }) { return nil }
  }

  /// Whether a number may be out of range for its new type.
  var isNarrowing: Bool {
    elements.contains {
      $0.number?.direction == .narrowing || $0.conversion.first?.isNarrowing ?? false
    }
  }

  /// - Parameter path: the name of the attribute in the new model, for error messages.
  /// - Throws: ``NumberRefusal`` if a number cannot be converted.
  func callAsFunction(
    _ value: AttributeValue, path: String
  ) throws(NumberRefusal) -> AttributeValue {
    guard case .composite(let values) = value else { return value }
    var result: [String: AttributeValue] = [:]
    for element in elements {
      guard let oldName = element.oldName else {
        result[element.name] = element.defaultValue
        continue
      }
      guard let old = values[oldName] else { continue }
      let path = "\(path).\(element.name)"
      if let number = element.number {
        result[element.name] = try number(old, path: path)
      } else {
        result[element.name] = try element.conversion.first?(old, path: path) ?? old
      }
    }
    return .composite(result)
  }
}

extension AttributeDescription {
  /// The value of a new object: the default, or for a composite without one the defaults of its
  /// elements.
  var initialValue: AttributeValue? {
    guard type == .composite, defaultValue == nil else { return defaultValue }
    var values: [String: AttributeValue] = [:]
    for element in elements { values[element.name] = element.initialValue }
    return values.isEmpty ? nil : .composite(values)
  }
}
