#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A conversion between the values of a transformable attribute and the bytes that a store keeps.
///
/// A value is converted to bytes when the attribute is set, and back each time it is read. Changing
/// an object that the value refers to, without setting the attribute again, has no effect on the
/// store.
///
/// A transformer is registered under the name that models have for it
/// (`AttributeDescription.valueTransformerName`); see ``ValueTransformers``. Equal values should
/// have equal bytes, as a save compares bytes.
///
/// Foundation has a class of this name. Where both are imported, this is `Quire.ValueTransformer`.
public protocol ValueTransformer: Sendable {
  /// The bytes that represent a value, which is never `nil`.
  ///
  /// - Throws: an error if the value is not one of the attribute. Setting the attribute then fails
  ///   with ``PersistenceError/Code/managedObjectValidation``, and this error as the underlying
  ///   one.
  func transformedValue(_ value: Any) throws -> Data

  /// The value that the bytes of ``transformedValue(_:)`` represent.
  ///
  /// - Throws: an error if the bytes represent no value. Reading the attribute then fails with
  ///   ``PersistenceError/Code/coreData``, and this error as the underlying one.
  func reverseTransformedValue(_ data: Data) throws -> Any
}

/// A transformer that stores any `Codable` value as JSON.
///
/// Keys are sorted, so that equal values have equal bytes. The exceptions are sets, and
/// dictionaries whose keys are neither strings nor integers, as their members have no fixed order.
/// Numbers are restored exactly; those that are not finite are stored as strings.
public struct CodableTransformer<Value: Codable>: ValueTransformer {
  /// - Parameter type: the type of the values, where the context does not say it.
  public init(_ type: Value.Type = Value.self) {}

  /// The error for a value of another type than the transformer's.
  public struct WrongType: Error, CustomStringConvertible {
    /// Which value was given, and which type is wanted.
    public let description: String
  }

  /// The value as JSON, with sorted keys.
  ///
  /// - Throws: ``WrongType`` if the value is none of the type; what its encoding throws.
  public func transformedValue(_ value: Any) throws -> Data {
    guard let value = value as? Value else {
      throw WrongType(
        description: "\(PersistenceError.briefDescription(of: value)) is of type "
          + "\(type(of: value)), where \(Value.self) is wanted")
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try encoder.encode(value)
  }

  /// The value that the JSON is one of.
  ///
  /// - Throws: what the decoding of the type throws.
  public func reverseTransformedValue(_ data: Data) throws -> Any { try value(of: data) }

  func value(of data: Data) throws -> Value {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try decoder.decode(Value.self, from: data)
  }
}

/// The transformers of a model's transformable attributes, by the names that the model has for
/// them.
///
/// They belong to a coordinator, never to the process:
///
/// ```swift
/// let coordinator = PersistentStoreCoordinator(
///   managedObjectModel: model, classes: [Artwork.self],
///   transformers: ["Palette": CodableTransformer(Palette.self)])
/// ```
///
/// Without a transformer, the value of an attribute is its bytes, as `Data`.
public struct ValueTransformers: Sendable, ExpressibleByDictionaryLiteral {
  private var byName: [String: any ValueTransformer] = [:]

  /// No transformers.
  public init() {}

  /// If a name occurs twice, the later transformer counts.
  public init(dictionaryLiteral elements: (String, any ValueTransformer)...) {
    for (name, transformer) in elements { byName[name] = transformer }
  }

  /// The transformer of that name; `nil` when there is none. Setting `nil` removes it.
  public subscript(name: String) -> (any ValueTransformer)? {
    get { byName[name] }
    set { byName[name] = newValue }
  }

  /// The names of all transformers, sorted.
  public var names: [String] { byName.keys.sorted() }

  /// Whether there is no transformer.
  public var isEmpty: Bool { byName.isEmpty }
}
