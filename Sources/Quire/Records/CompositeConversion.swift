import QuireModel

/// Gives the values of a composite attribute other elements: some are called otherwise, some are
/// gone, some are new and have their default, some are numbers of another type.
struct CompositeConversion: Hashable, Sendable {
  private struct Element: Hashable, Sendable {
    var name: String
    /// What the element was called before; `nil` when it is new.
    var oldName: String?
    var defaultValue: AttributeValue?
    /// For a number of another type.
    var number: NumberConversion?
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
        number: element.numberConversion,
        conversion: CompositeConversion(element).map { [$0] } ?? [])
    }
    let isSame = change.elements.allSatisfy { element in
      element.source != nil && element.source?.name == element.destination?.name
    }
    if isSame, elements.allSatisfy({ $0.conversion.isEmpty && $0.number == nil }) { return nil }
  }

  /// Whether there are numbers that the new elements may not have.
  var isNarrowing: Bool {
    elements.contains {
      $0.number?.direction == .narrowing || $0.conversion.first?.isNarrowing ?? false
    }
  }

  /// - Parameter path: the name of the attribute in the new model, for an error.
  /// - Throws: ``NumberRefusal`` when a number cannot become what it is to be.
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
  /// What a new object has: the default, and where a composite has none those of its elements.
  var initialValue: AttributeValue? {
    guard type == .composite, defaultValue == nil else { return defaultValue }
    var values: [String: AttributeValue] = [:]
    for element in elements { values[element.name] = element.initialValue }
    return values.isEmpty ? nil : .composite(values)
  }
}
