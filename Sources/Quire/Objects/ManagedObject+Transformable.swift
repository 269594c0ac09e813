import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Transformable attributes: bytes in the row, converted to values when they are read.
extension ManagedObject {
  /// An attribute's value as key-value coding shows it.
  final func plainAttribute(_ value: AttributeValue?, _ slot: Int) throws -> Any? {
    guard case .transformed(let data)? = value, let transformer = binding.transformers[slot] else {
      return value?.plainValue
    }
    let plain: Any = try decoding(slot) { try transformer.reverseTransformedValue(data) }
    return plain
  }

  /// See ``EntityBinding/transformedAttribute(_:_:)``.
  final func transformedAttribute(_ value: Any, _ slot: Int) throws -> AttributeValue {
    do {
      return try binding.transformedAttribute(value, slot)
    } catch var error as PersistenceError {
      error.objectID = objectID
      throw error
    }
  }

  /// The value of a typed property.
  final func transformable<Value: Codable>(_ slot: Int) throws -> Value? {
    try checkTransformable(slot, Value.self)
    recordAccess(to: slot)
    guard case .transformed(let data)? = try attribute(slot) else { return nil }
    guard let transformer = binding.transformers[slot] else {
      guard binding.transformerName(slot) == nil else { throw withoutTransformer(slot) }
      return try decoding(slot) { try CodableTransformer<Value>().value(of: data) }
    }
    let value = try decoding(slot) { try transformer.reverseTransformedValue(data) }
    guard let typed = value as? Value else {
      throw unacceptable(value, for: binding.name(of: slot))
    }
    return typed
  }

  final func setTransformable<Value: Codable>(_ slot: Int, _ value: Value?) throws {
    try checkTransformable(slot, Value.self)
    guard let value else { return try put(nil as AttributeValue?, in: slot) }
    let transformer: any ValueTransformer
    if let registered = binding.transformers[slot] {
      transformer = registered
    } else {
      guard binding.transformerName(slot) == nil else { throw withoutTransformer(slot) }
      transformer = CodableTransformer<Value>()
    }
    do {
      try put(.transformed(binding.transformed(value, by: transformer, slot)), in: slot)
    } catch var error as PersistenceError {
      error.objectID = objectID
      throw error
    }
  }

  private func checkTransformable<Value>(_ slot: Int, _ type: Value.Type) throws {
    guard binding.traits[slot].attributeType == .transformable else {
      throw PersistenceError(
        .unacceptableValue,
        "\(entity.name).\(binding.name(of: slot)) is declared as \(type), which only a transformable "
          + "attribute can be; the model says otherwise")
    }
  }

  // MARK: Errors

  private func decoding<Result>(_ slot: Int, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw about(
        slot, .coreData, "has bytes of which its transformer cannot make a value", error)
    }
  }

  private func withoutTransformer(_ slot: Int) -> PersistenceError {
    var error = binding.withoutTransformer(slot)
    error.objectID = objectID
    return error
  }

  private func about(
    _ slot: Int, _ code: PersistenceError.Code, _ words: String, _ underlying: any Error
  ) -> PersistenceError {
    var error = binding.error(about: slot, code, words, underlying)
    error.objectID = objectID
    return error
  }
}

extension EntityBinding {
  /// The bytes of a value, if the attribute has a transformer that is registered; without one the
  /// bytes are the value, and anything else is refused.
  func transformedAttribute(_ value: Any, _ slot: Int) throws -> AttributeValue {
    if let value = value as? AttributeValue, case .transformed = value { return value }
    if let transformer = transformers[slot] {
      return .transformed(try transformed(value, by: transformer, slot))
    }
    if let data = value as? Data ?? (value as? [UInt8]).map({ Data($0) }) {
      return .transformed(data)
    }
    throw withoutTransformer(slot)
  }

  fileprivate func transformed(
    _ value: Any, by transformer: any ValueTransformer, _ slot: Int
  ) throws -> Data {
    do {
      return try transformer.transformedValue(value)
    } catch {
      throw self.error(
        about: slot, .managedObjectValidation,
        "cannot be what it was set to: its transformer refuses it", error)
    }
  }

  fileprivate func transformerName(_ slot: Int) -> String? {
    guard case .attribute(let attribute) = properties[slot] else { return nil }
    return attribute.valueTransformerName
  }

  fileprivate func withoutTransformer(_ slot: Int) -> PersistenceError {
    guard let name = transformerName(slot) else {
      return error(
        about: slot, .unacceptableValue,
        "has no transformer: name one in the model, and until then set it to Data")
    }
    return error(
      about: slot, .unacceptableValue,
      "has the transformer \(name), and none of that name is registered: pass it to the coordinator's "
        + "transformers. Until then the value is Data")
  }

  /// - Parameter words: what is wrong with the property, without its name.
  func error(
    about slot: Int, _ code: PersistenceError.Code, _ words: String,
    _ underlying: (any Error)? = nil
  ) -> PersistenceError {
    let name = name(of: slot)
    var error = PersistenceError(code, "\(entity.name).\(name) \(words)", underlying: underlying)
    error.entityName = entity.name
    error.key = name
    return error
  }
}

// MARK: - Typed properties

/// A `Codable` type as the type of a ``Managed`` property, which stands for a transformable
/// attribute.
///
/// ```swift
/// struct Palette: TransformableValue { var colors: [String] = [] }
///
/// final class Artwork: ManagedObject {
///   @Managed var palette: Palette?
///   @Managed var tags: [String]?
/// }
/// ```
///
/// Arrays, sets and dictionaries of `Codable` types conform already. The attribute's transformer
/// makes the bytes, if its model names one; without a name they are those of
/// ``CodableTransformer``. The value is decoded at each read, and encoded when the property is set.
///
/// A type that conforms to ``ManagedValue`` besides, by saying what it is when it is
/// ``ManagedValue/empty``, can be a property's that is not optional. Dictionaries are such; arrays
/// and sets are not, as those that are not optional stand for relationships.
public protocol TransformableValue: OptionalManagedValue, AttributeManagedValue, Codable {}

extension TransformableValue {
  public static func readOptional(from object: ManagedObject, _ slot: Int) throws -> Self? {
    try object.transformable(slot)
  }

  public static func writeOptional(_ value: Self?, to object: ManagedObject, _ slot: Int) throws {
    try object.setTransformable(slot, value)
  }
}

extension ManagedValue where Self: TransformableValue {
  public static func read(from object: ManagedObject, _ slot: Int) throws -> Self {
    try object.transformable(slot) ?? empty
  }

  public static func write(_ value: Self, to object: ManagedObject, _ slot: Int) throws {
    try object.setTransformable(slot, value)
  }
}

extension Array: OptionalManagedValue, AttributeManagedValue, TransformableValue
where Element: Codable {}
extension Set: OptionalManagedValue, AttributeManagedValue, TransformableValue
where Element: Codable {}
extension Dictionary: OptionalManagedValue, AttributeManagedValue, TransformableValue
where Key: Codable, Value: Codable {}

extension Dictionary: ManagedValue where Key: Codable, Value: Codable {
  public static var empty: [Key: Value] { [:] }
}
