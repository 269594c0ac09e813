import QuireModel

/// Gives the values of a composite attribute other elements: some are called otherwise, some are
/// gone, some are new and have their default.
struct CompositeConversion: Hashable, Sendable {
  private struct Element: Hashable, Sendable {
    var name: String
    /// What the element was called before; `nil` when it is new.
    var oldName: String?
    var defaultValue: AttributeValue?
    /// For an element that is a composite itself and has other elements too.
    var conversion: [CompositeConversion]
  }

  private let elements: [Element]

  /// - Returns: `nil` when the values can stay as they are.
  init?(_ change: AttributeChange) {
    elements = change.elements.compactMap { element in
      guard let new = element.destination else { return nil }
      return Element(
        name: new.name, oldName: element.source?.name, defaultValue: new.defaultValue,
        conversion: CompositeConversion(element).map { [$0] } ?? [])
    }
    let isSame = change.elements.allSatisfy { element in
      element.source != nil && element.source?.name == element.destination?.name
    }
    if isSame, elements.allSatisfy(\.conversion.isEmpty) { return nil }
  }

  func callAsFunction(_ value: AttributeValue) -> AttributeValue {
    guard case .composite(let values) = value else { return value }
    var result: [String: AttributeValue] = [:]
    for element in elements {
      guard let oldName = element.oldName else {
        result[element.name] = element.defaultValue
        continue
      }
      result[element.name] = values[oldName].map { element.conversion.first?($0) ?? $0 }
    }
    return .composite(result)
  }
}

extension AttributeDescription {
  /// What a new object has: the default, and where a composite has none those of its elements.
  var initialValue: AttributeValue? {
    guard type == .composite, defaultValue == nil else { return defaultValue }
    var values: [String: AttributeValue] = [:]
    for element in elements { values[element.name] = element.initialValue }
    return values.isEmpty ? nil : .composite(values)
  }
}
