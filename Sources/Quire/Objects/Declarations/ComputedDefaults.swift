import QuireModel
import Synchronization

/// The default values of a class that are made for each new object: `UUID()`, `Date()`.
final class ComputedDefaults: Sendable {
  private let values: [(slot: Int, make: @Sendable () throws -> AttributeValue?)]

  /// - Returns: `nil` where there is none.
  init?(_ type: ManagedObject.Type, _ binding: EntityBinding) {
    if type == ManagedObject.self { return nil }
    values = DeclaredClass.of(type).properties.compactMap { property in
      guard let slot = binding.slot(named: property.name),
        binding.traits[slot].attributeType != nil, binding.defaultValues[slot] == nil,
        case .computed(let make) = property.defaultValue
      else { return nil }
      return (slot, make)
    }
    if values.isEmpty { return nil }
  }

  /// Calls `body` with a new value for each property that has one.
  func forEach(_ body: (_ slot: Int, _ value: AttributeValue) throws -> Void) rethrows {
    for (slot, make) in values {
      // What can be made once can be made again.
      if let value = try? make() { try body(slot, value) }
    }
  }
}
