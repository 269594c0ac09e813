import QuireModel

// Enumerations as types of properties. The raw value is stored.
//
// ```swift
// enum Technique: String, CaseIterable, ManagedAttribute { case painting, print, sculpture }
//
// final class Artwork: ManagedObject {
//   @Managed var technique: Technique
//   @Managed var formerTechnique: Technique?
// }
//
// request.predicate = Key("technique") == Technique.print
// ```
//
// The attribute has the type of the raw value. A row may have a raw value that is no case, which
// another version of the program has written: the property then reads as empty, and the context's
// next fetch or save throws an error that names object and value.

extension ManagedAttribute where Self: RawRepresentable, RawValue: ManagedAttribute {
  public static var attributeTypes: [AttributeType] { RawValue.attributeTypes }

  public init?(attributeValue: AttributeValue) {
    guard let rawValue = RawValue(attributeValue: attributeValue) else { return nil }
    self.init(rawValue: rawValue)
  }

  public var attributeValue: AttributeValue { rawValue.attributeValue }
}

extension ManagedAttribute where Self: CaseIterable {
  /// The first case. A type with another default declares it: `static let empty = Technique.print`.
  public static var empty: Self {
    guard let first = allCases.first else {
      preconditionFailure("\(Self.self) has no case, so no property can have one")
    }
    return first
  }
}
