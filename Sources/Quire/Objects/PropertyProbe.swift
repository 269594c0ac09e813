import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Finds the names of the properties that a key path of a class reads: `\Artwork.artist?.name` is
/// `["artist", "name"]`.
///
/// A key path does not contain names. So it is evaluated on an object without a context, whose
/// typed properties do not know their slots: each property that is read looks its slot up, which
/// records its name. Where a to-one relationship is read, another such object is made its
/// destination. At the end the last property is set to sample values: a key path that does not read
/// them back is no path of the model, such as one that computes something of a property.
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
  /// All that is read, by its path: also what does not lead to the value.
  private var reads: [String] = []
  /// The path to the object whose property is read next, with a dot behind each name.
  private var start = ""
  private var slot: Int?
  private var isOfSeveral = false

  private init(_ binding: EntityBinding, _ model: ModelBinding, _ classes: ObjectClasses) {
    (self.model, self.classes) = (model, classes)
    object = PropertyProbe.object(of: binding, classes)
    owner = object
  }

  private static func object(
    of binding: EntityBinding, _ classes: ObjectClasses
  ) -> ManagedObject {
    let object = classes.makeObject(ObjectArena(binding))
    object.forgetProperties()
    return object
  }

  /// Called when a typed property looks for its slot.
  static func record(_ slot: Int, of object: ManagedObject) { current?.record(slot, of: object) }

  private func record(_ slot: Int, of object: ManagedObject) {
    guard object === self.object, slot < object.binding.properties.count else { return }
    // The key path reads two properties of one object.
    if self.slot != nil, owner === object { isOfSeveral = true }
    let name = object.binding.name(of: slot)
    names.append(name)
    if !reads.contains(start + name) { reads.append(start + name) }
    (self.slot, owner) = (slot, object)
    guard case .relationship(let relationship) = object.binding.properties[slot],
      !relationship.isToMany, let destination = model.entity(named: relationship.destination)
    else { return }
    let next = PropertyProbe.object(of: destination, classes)
    self.object = next
    start += name + "."
    try? object.put(next, in: slot)
  }

  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the key path is none of the model's.
  static func names<Object, Value>(
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
    guard !probe.isOfSeveral, let slot = probe.slot,
      try probe.shows(value, slot, { object[keyPath: property] })
    else {
      throw probe.notFound(property, binding.entity.name)
    }
    return probe.names
  }

  /// The error for a key path that reads no property of the model. A key path does not tell its
  /// name on all systems; so the error says of what type it is, and what it reads.
  private func notFound<Object, Value>(
    _ property: KeyPath<Object, Value>, _ entityName: String
  ) -> PersistenceError {
    var error: PersistenceError
    if let name = ManagedObject.nameOfOwnMember(property) {
      error = PersistenceError(
        .undefinedKey,
        "\(Object.self).\(name) is known of objects in memory alone, and of no row of a store: filter the "
          + "objects that were fetched, as by filter(\\.\(name)), or leave it out")
    } else {
      let read =
        reads.isEmpty
        ? "reads no property of the model" : "reads \(Self.list(of: reads))"
      error = PersistenceError(
        .undefinedKey,
        "\(Object.self) is asked for a value of type \(Value.self) that Swift works out, and not the store: "
          + "it \(read). A store has the properties of the model alone: write what is done with these "
          + "instead, keep the value as an attribute (derivedFrom: in @Managed), or filter and sort the "
          + "objects that were fetched")
    }
    error.entityName = entityName
    return error
  }

  /// `title, year and artist.name`
  private static func list(of names: [String]) -> String {
    let first = names.dropLast().joined(separator: ", ")
    return first.isEmpty ? names.joined() : "\(first) and \(names[names.count - 1])"
  }

  /// Whether the key path reads the value of the property.
  private func shows<Value>(_ value: Value, _ slot: Int, _ read: () -> Value) throws -> Bool {
    switch owner.binding.properties[slot] {
    case .relationship(let relationship) where relationship.isToMany:
      guard let destination = model.entity(named: relationship.destination) else { return false }
      let member = PropertyProbe.object(of: destination, classes)
      try owner.setMembers(slot, [member])
      let shown = KeyValue(read()).members ?? []
      return shown.count == 1 && shown[0].plain as? ManagedObject === member
    case .relationship:
      return owner !== object && (flattened(value) as? ManagedObject) === object
    case .attribute where Value.self is any OptionalTransformable.Type:
      // No sample is a value of any such type. All that is asked of one is whether it is there.
      try owner.setAttribute(slot, nil)
      return flattened(read()) == nil
    case .attribute(let attribute):
      let samples = PropertyProbe.cases(of: Value.self) ?? PropertyProbe.samples(of: attribute.type)
      for sample in samples {
        try owner.setAttribute(slot, sample)
        guard let shown = (flattened(read()) as? any PredicateConvertible)?.predicateValue,
          case .value(let shown) = shown,
          sample.isAlike(shown)
            || sample.plainValue as? URL == shown.plainValue as? URL
              && shown.plainValue is URL
        else { return false }
      }
      // Without samples nothing was compared.
      return !samples.isEmpty
    }
  }

  /// The raw values of an enumeration, as it has no others; `nil` of another type.
  private static func cases<Value>(of type: Value.Type) -> [AttributeValue]? {
    func present<Property: AggregateValue>(_ type: Property.Type) -> Any.Type {
      Property.Present.self
    }
    func values<Cases: CaseIterable>(_ type: Cases.Type) -> [AttributeValue] {
      Cases.allCases.compactMap { ($0 as? any ManagedAttribute)?.attributeValue }
    }
    let present = (type as? any AggregateValue.Type).map { present($0) } ?? type
    return (present as? any CaseIterable.Type).map { values($0) }
  }

  /// Values that most functions of a value change.
  private static func samples(of type: AttributeType) -> [AttributeValue] {
    switch type {
    case .integer16, .integer32, .integer64: [.integer(-259), .integer(515)]
    case .double: [.double(-1.5), .double(2.25)]
    case .float: [.float(-1.5), .float(2.25)]
    case .decimal: [.decimal(Decimal(-15) / 10), .decimal(Decimal(225) / 100)]
    case .boolean: [.boolean(true), .boolean(false)]
    case .string: [.string("aB \u{DF}\u{301} "), .string("Zy")]
    case .date:
      [-1.5, 2].map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .binaryData: [.binary(Data([1, 2, 0, 3])), .binary(Data([4]))]
    case .uuid: [.uuid(UUID()), .uuid(UUID())]
    case .uri: PropertyProbe.addresses.map { .uri($0) }
    case .objectID: PropertyProbe.addresses.map { .objectID($0) }
    case .undefined, .transformable, .composite: []
    }
  }

  private static let addresses = ["scheme://host:1/path/a?query#part", "other:b"]
    .compactMap { URL(string: $0) }
}

/// The type of a property with values that are kept as JSON, or by another transformer.
private protocol OptionalTransformable {}

extension Optional: OptionalTransformable where Wrapped: TransformableValue {}

extension ManagedObject {
  /// The name of a property that every object has, and no entity of a model; `nil` of others.
  fileprivate static func nameOfOwnMember<Object, Value>(
    _ property: KeyPath<Object, Value>
  ) -> String? {
    (Object.self as? any PropertyReading.Type)?.ownMembers.first { $0.path == property }?.name
  }
}

extension PropertyReading {
  fileprivate static var ownMembers: [(path: AnyKeyPath, name: String)] {
    [
      (\Self.hasChanges, "hasChanges"), (\Self.isInserted, "isInserted"),
      (\Self.isUpdated, "isUpdated"), (\Self.isDeleted, "isDeleted"), (\Self.isFault, "isFault"),
      (\Self.hasPersistentChangedValues, "hasPersistentChangedValues"),
      (\Self.isInaccessible, "isInaccessible"),
      (\Self.managedObjectContext, "managedObjectContext"),
      (\Self.entity, "entity"), (\Self.description, "description"),
    ]
  }
}
