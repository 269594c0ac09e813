import Foundation
import Quire

// Properties of the classes `NSNumber` and `NSDecimalNumber`, which Core Data's code has for
// optional numbers and for decimals: `@Managed var amount: NSDecimalNumber?`.
extension NSNumber: OptionalManagedValue, AttributeManagedValue {
  /// The number of a property; `nil` where the object has none.
  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Self? {
    let name = object.propertyName(ofSlot: slot)
    guard let value = try object.value(forKey: name) else { return nil }
    if let number = cocoaNumber(value) as? Self { return number }
    if let number = cocoaNumber(value) as? NSNumber,
      let decimal = NSDecimalNumber(decimal: number.decimalValue) as? Self
    {
      return decimal
    }
    throw PersistenceError(.unacceptableValue, "\(name) is no number: \(value)")
  }

  /// Sets the number of a property.
  public static func writeOptional(
    _ value: NSNumber?, to object: ManagedObject, _ slot: Int
  ) throws {
    try object.setValue(plainValue(value), forKey: object.propertyName(ofSlot: slot))
  }
}
