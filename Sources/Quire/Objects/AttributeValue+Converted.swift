import QuireModel

extension AttributeValue {
  /// The value an attribute stores for a plain one, or for one of a type that stands for attribute
  /// values, such as a case of an enumeration; `nil` when the types do not go together.
  static func converted(_ value: Any, for attribute: AttributeDescription) -> AttributeValue? {
    // Last, as checking a type for a conformance is slow.
    AttributeValue(value, for: attribute)
      ?? (value as? any ManagedAttribute)
      .flatMap { AttributeValue($0.attributeValue.plainValue, for: attribute) }
  }
}
