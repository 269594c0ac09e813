import QuireModel

// Enumerations as types of properties: what is stored is their raw values.
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
// The attribute is one of the raw value's type. A row with a raw value that is no case, as another
// version of the program may have written, is not another case: the property reads as empty, and
// the context throws an error that names object and value from its next fetch or save.

extension ManagedAttribute where Self: RawRepresentable, RawValue: ManagedAttribute {
  public static var attributeTypes: [AttributeType] { RawValue.attributeTypes }

  public init?(attributeValue: AttributeValue) {
    guard let rawValue = RawValue(attributeValue: attributeValue) else { return nil }
    self.init(rawValue: rawValue)
  }

  public var attributeValue: AttributeValue { rawValue.attributeValue }
}

extension ManagedAttribute where Self: CaseIterable {
  /// The first case. A type that has another default says so: `static let empty = Technique.print`.
  public static var empty: Self {
    guard let first = allCases.first else {
      preconditionFailure("\(Self.self) has no case, so no property can have one")
    }
    return first
  }
}
