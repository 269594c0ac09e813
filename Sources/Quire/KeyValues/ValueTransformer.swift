#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Makes bytes of the values of a transformable attribute, and values of the bytes.
///
/// A store keeps the bytes. The value is made into them when the attribute is set, and made of them
/// each time it is read: changing what a reference leads to, without setting the attribute again,
/// is not seen.
///
/// A transformer is registered under the name that models know it by
/// (``AttributeDescription/valueTransformerName``); see ``ValueTransformers``. Equal values should
/// make equal bytes, as bytes are what a save compares.
///
/// Foundation has a class of this name. Where both are imported, this is `Quire.ValueTransformer`.
public protocol ValueTransformer: Sendable {
  /// The bytes that a store keeps of a value, which is never `nil`.
  ///
  /// - Throws: when it is no value of the attribute. Who sets it gets an error of code
  ///   ``PersistenceError/Code/managedObjectValidation`` with this one behind it.
  func transformedValue(_ value: Any) throws -> Data

  /// The value that ``transformedValue(_:)`` made the bytes of.
  ///
  /// - Throws: when the bytes are no value. Who reads it gets an error of code
  ///   ``PersistenceError/Code/coreData`` with this one behind it.
  func reverseTransformedValue(_ data: Data) throws -> Any
}

/// Keeps any `Codable` value as JSON.
///
/// Keys are sorted, so that equal values make equal bytes; but for sets, and dictionaries whose
/// keys are neither texts nor integers, the members of which come in any order. Numbers come back
/// exactly as they were; those that are not finite are kept as texts.
public struct CodableTransformer<Value: Codable>: ValueTransformer {
  public init(_ type: Value.Type = Value.self) {}

  /// A value is of another type than the transformer's.
  public struct WrongType: Error, CustomStringConvertible {
    public let description: String
  }

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
/// An attribute whose transformer is not among them is the bytes themselves, as `Data`.
public struct ValueTransformers: Sendable, ExpressibleByDictionaryLiteral {
  private var byName: [String: any ValueTransformer] = [:]

  public init() {}

  /// Of two with one name, the later.
  public init(dictionaryLiteral elements: (String, any ValueTransformer)...) {
    for (name, transformer) in elements { byName[name] = transformer }
  }

  public subscript(name: String) -> (any ValueTransformer)? {
    get { byName[name] }
    set { byName[name] = newValue }
  }

  /// The names of all, in order.
  public var names: [String] { byName.keys.sorted() }

  public var isEmpty: Bool { byName.isEmpty }
}
