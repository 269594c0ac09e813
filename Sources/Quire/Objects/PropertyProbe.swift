import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Finds the names of the properties that a key path of a class reads: `\Artwork.artist?.name` is
/// `["artist", "name"]`.
///
/// A key path does not tell names. So it is asked of an object of no context, whose typed
/// properties have been made to forget their slots: each that is read looks for its slot, and is
/// noted. Where a relationship is read, another such object is put there first. What a key path
/// makes of the last property is then told from it by values: a key path that shows another one
/// than the property has is no path of the model.
///
/// `@unchecked Sendable`: a task-local value has to be; it is used within ``names(of:in:)`` alone,
/// by the thread that called it.
final class PropertyProbe: @unchecked Sendable {
  @TaskLocal private static var current: PropertyProbe?

  private let model: ModelBinding
  private let classes: ObjectClasses
  /// The object whose property is read next.
  private var object: ManagedObject
  private var owner: ManagedObject
  private var names: [String] = []
  private var slot: Int?

  private init(_ binding: EntityBinding, _ model: ModelBinding, _ classes: ObjectClasses) {
    (self.model, self.classes) = (model, classes)
    object = PropertyProbe.object(of: binding, classes)
    owner = object
  }

  private static func object(
    of binding: EntityBinding, _ classes: ObjectClasses
  ) -> ManagedObject {
    let object = classes.makeObject(ObjectHome(binding))
    object.forgetProperties()
    return object
  }

  /// Called when a typed property looks for its slot.
  static func note(_ slot: Int, of object: ManagedObject) { current?.note(slot, of: object) }

  private func note(_ slot: Int, of object: ManagedObject) {
    guard object === self.object, slot < object.binding.properties.count else { return }
    names.append(object.binding.name(of: slot))
    (self.slot, owner) = (slot, object)
    guard case .relationship(let relationship) = object.binding.properties[slot],
      !relationship.isToMany, let destination = model.entity(named: relationship.destination)
    else { return }
    let next = PropertyProbe.object(of: destination, classes)
    self.object = next
    try? object.put(next, in: slot)
  }

  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the key path is none of the model's.
  static func names<Object: ManagedObject, Value>(
    of property: KeyPath<Object, Value>, from binding: EntityBinding, in model: ModelBinding,
    _ classes: ObjectClasses
  ) throws -> [String] {
    let probe = PropertyProbe(binding, model, classes)
    let start = probe.object
    defer { withExtendedLifetime(start) {} }
    guard let object = start as? Object else {
      throw PersistenceError(
        .unacceptableValue,
        "the objects of \(binding.entity.name) are \(type(of: start)), not \(Object.self): register the "
          + "class for its entity with the coordinator")
    }
    let value = $current.withValue(probe) { object[keyPath: property] }
    guard let slot = probe.slot, try probe.shows(value, slot, { object[keyPath: property] })
    else {
      throw PersistenceError(
        .undefinedKey,
        "\(property) is no property of \(binding.entity.name) in the model, nor one at the end of to-one "
          + "relationships: name the path, as by Key(\"name\")")
    }
    return probe.names
  }

  /// Whether the key path shows what the property has.
  private func shows<Value>(_ value: Value, _ slot: Int, _ read: () -> Value) throws -> Bool {
    switch owner.binding.properties[slot] {
    case .relationship:
      return owner !== object && (flattened(value) as? ManagedObject) === object
    case .attribute(let attribute):
      for sample in PropertyProbe.samples(of: attribute.type) {
        try owner.setValue(sample, forKey: attribute.name)
        // A case of an enumeration may have any raw value.
        if Value.self is any RawRepresentable.Type { return true }
        guard let shown = flattened(read()) as? any PredicateConvertible else { return false }
        if flattened(shown) is any RawRepresentable { return true }
        guard let wanted = try owner.attribute(slot),
          PredicateValue.value(wanted) == shown.predicateValue
            || wanted.isAlike(shown.predicateValue)
        else { return false }
      }
      return true
    }
  }

  /// Values that few functions leave as they are.
  private static func samples(of type: AttributeType) -> [Any] {
    switch type {
    case .integer16, .integer32, .integer64: [-259, 515]
    case .double, .float: [-1.5, 2.25]
    case .decimal: [Decimal(-15) / 10, Decimal(225) / 100]
    case .boolean: [true, false]
    case .string: ["aB \u{DF}\u{301} ", "Zy"]
    case .date:
      [Date(timeIntervalSinceReferenceDate: -1.5), Date(timeIntervalSinceReferenceDate: 2)]
    case .binaryData: [Data([1, 2, 0, 3]), Data([4])]
    case .uuid: [UUID(), UUID()]
    default: []
    }
  }
}

extension AttributeValue {
  /// Doubles may show floats.
  fileprivate func isAlike(_ other: PredicateValue?) -> Bool {
    if case .value(let other)? = other { isAlike(other) } else { false }
  }
}
