import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The values of an object, to be encoded in any format and inserted again anywhere.
///
/// As JSON it is one flat object, with the entity, a name by which others refer to it, and the
/// properties under their names:
///
/// ```
/// {"entity": "Artwork", "id": "Artwork/p7", "title": "The Great Wave", "price": 900,
///  "painted": "1831-01-01T00:00:00Z", "artist": "Artist/p1", "tags": ["Tag/p2", "Tag/p5"]}
/// ```
///
/// | Type of the attribute | Value |
/// |---|---|
/// | integers, Boolean, string | the same |
/// | double, float | a number; `"nan"`, `"inf"`, `"-inf"` and `"-0"` are texts |
/// | decimal | its digits, as a text |
/// | date | as in ISO 8601, with as many digits as name it; far ones as seconds since 2001 |
/// | binary data, transformable | base64; a transformable value as its transformer encodes it |
/// | UUID, URI, object ID | a text |
/// | composite | an object with its elements |
/// | relationship | the name of the destination; a list of them, in order if the relationship is |
///
/// Properties without a value are left out, and so are transient ones, derived attributes, and
/// relationships to nothing. A required attribute without a value, as imported stores may have it,
/// is `null`: what leaves it out means the default. What is decoded again is equal to the last bit,
/// whatever the type.
///
/// ```swift
/// let data = try JSONEncoder().encode(context.export(Artwork.where { $0.price > 500 }))
/// let objects = try other.insert(JSONDecoder().decode([ExportedObject].self, from: data))
/// ```
public struct ExportedObject: Hashable, Sendable {
  /// The name of the object's entity.
  public var entityName: String
  /// The name by which other objects of the same export refer to this one: `Artwork/p7`.
  public var id: String
  /// Values of attributes and destinations of relationships, by their names.
  public var values: [String: ExportedValue]

  /// - Parameter id: different from those of the other objects.
  public init(entityName: String, id: String, values: [String: ExportedValue]) {
    self.entityName = entityName
    self.id = id
    self.values = values
  }
}

extension ExportedObject: Codable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }

    static let entity = Key(stringValue: "entity")
    static let id = Key(stringValue: "id")
  }

  /// The key of a property: its name, with an underscore before it if it is `id` or `entity`, or
  /// begins with one.
  private static func key(_ name: String) -> Key {
    Key(stringValue: name == "id" || name == "entity" || name.hasPrefix("_") ? "_" + name : name)
  }

  private static func name(_ key: Key) -> String {
    key.stringValue.hasPrefix("_") ? String(key.stringValue.dropFirst()) : key.stringValue
  }

  /// - Throws: an error of the decoder; one that says so where the entity or the ID is missing.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    entityName = try container.decode(String.self, forKey: .entity)
    id = try container.decode(String.self, forKey: .id)
    values = [:]
    for key in container.allKeys
    where key.stringValue != Key.entity.stringValue && key.stringValue != Key.id.stringValue {
      values[Self.name(key)] =
        try container.decodeIfPresent(ExportedValue.self, forKey: key) ?? .absent
    }
  }

  /// - Throws: an error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(entityName, forKey: .entity)
    try container.encode(id, forKey: .id)
    for (name, value) in values { try container.encode(value, forKey: Self.key(name)) }
  }
}

/// A value of an ``ExportedObject``: what formats such as JSON can say.
public indirect enum ExportedValue: Hashable, Sendable {
  /// No value, said of an attribute that would have its default otherwise.
  case absent
  /// A truth value.
  case boolean(Bool)
  /// A whole number.
  case integer(Int64)
  /// A number; never infinite, NaN or -0, which are texts.
  case number(Double)
  /// A text.
  case text(String)
  /// The names of the destinations of a relationship to many.
  case list([String])
  /// The elements of a composite attribute, by their names.
  case composite([String: ExportedValue])
}

extension ExportedValue: Codable {
  /// - Throws: an error of the decoder where there is something else.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .absent
    } else if let flag = try? container.decode(Bool.self) {
      self = .boolean(flag)
    } else if let number = try? container.decode(Int64.self) {
      self = .integer(number)
    } else if let number = try? container.decode(Double.self) {
      self = Self.longText(of: container, number).map { .text($0) } ?? .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([String].self) {
      self = .list(list)
    } else {
      self = .composite(try container.decode([String: ExportedValue].self))
    }
  }

  /// The digits of a number that has more of them than a double keeps, as a decimal may.
  private static func longText(
    of container: any SingleValueDecodingContainer, _ number: Double
  ) -> String? {
    guard let decimal = try? container.decode(Decimal.self),
      let parts = DecimalParts(decimal), parts != DecimalParts(number)
    else { return nil }
    return decimal.description
  }

  /// - Throws: an error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .absent: try container.encodeNil()
    case .boolean(let flag): try container.encode(flag)
    case .integer(let number): try container.encode(number)
    case .number(let number): try container.encode(number)
    case .text(let text): try container.encode(text)
    case .list(let list): try container.encode(list)
    case .composite(let elements): try container.encode(elements)
    }
  }
}
