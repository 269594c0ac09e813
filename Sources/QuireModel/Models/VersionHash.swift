/// A SHA-256 digest over what decides how the objects of an entity are stored.
///
/// Two versions of an entity with the same hash store their objects in the same way, so that no
/// migration is needed between them. What counts, and what does not:
///
/// - Of the entity: its name, the name of its parent, whether it is abstract, its
///   ``Entity/versionHashModifier``, and all its attributes and relationships, inherited ones too.
/// - Of an attribute: name, type, whether it is optional, whether it is transient, modifier, and
///   the elements of a composite in the same way.
/// - Of a relationship: name, destination, name of the inverse, smallest and largest count, and
///   whether it is optional, transient, ordered; modifier.
/// - Not counted: delete rules, classes, user info, validation, default values, renaming
///   identifiers, indexes, uniqueness constraints, and fetched properties, of which nothing is
///   stored.
///
/// The order of declarations does not matter. Hashes are written into stores: what enters a hash
/// never changes under the same format word (see `docs/decisions/0010-version-hashes.md`).
public struct VersionHash: Hashable, Sendable {
  /// 32 bytes.
  public let bytes: [UInt8]

  /// A hash read from a store; `nil` unless there are 32 bytes.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  /// A hash in the form of its ``description``; `nil` unless there are 64 hexadecimal digits.
  public init?(hex: some StringProtocol) {
    let digits = hex.utf8.compactMap(Self.value(ofHexDigit:))
    guard digits.count == 64, hex.utf8.count == 64 else { return nil }
    bytes = stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  private static func value(ofHexDigit digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x41 + 10
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
  }
}

extension VersionHash: CustomStringConvertible {
  /// 64 hexadecimal digits, lowercase.
  public var description: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}

extension VersionHash {
  /// - Parameters:
  ///   - lineage: the entity and its ancestors, nearest first.
  ///   - countsDeleteRules: whether to make the hash that releases made which counted delete rules;
  ///     it is this one where all rules are nullify.
  init(of entity: Entity, lineage: [Entity], countsDeleteRules: Bool = false) {
    var text = HashedText("quire-entity-1")
    text.append(entity.name)
    text.append(entity.parent)
    text.append(entity.isAbstract)
    text.append(entity.versionHashModifier)
    text.append(lineage.flatMap(\.attributes))
    text.append(lineage.flatMap(\.relationships), countsDeleteRules: countsDeleteRules)
    bytes = SHA256.digest(of: text.bytes)
  }

  /// - Parameter hash: of an entity; they are in the order of their names.
  init(
    ofModel entities: [EntityDescription],
    _ hash: (EntityDescription) -> VersionHash = \.versionHash
  ) {
    var text = HashedText("quire-model-1")
    text.append(entities.count)
    for entity in entities.sorted(by: { $0.name < $1.name }) {
      text.append(entity.name)
      text.bytes += hash(entity).bytes
    }
    bytes = SHA256.digest(of: text.bytes)
  }
}

// Releases that counted delete rules wrote other hashes into stores, and people wrote them into
// programs: `docs/decisions/0052-version-hashes-ignore-delete-rules.md`.
extension EntityDescription {
  /// The hash that releases made which counted delete rules.
  package var formerVersionHash: VersionHash {
    VersionHash(of: declaration, lineage: lineage, countsDeleteRules: true)
  }

  private var lineage: [Entity] {
    var result = [declaration]
    var level = parent
    while let ancestor = level {
      result.append(ancestor.declaration)
      level = ancestor.parent
    }
    return result
  }

  /// Whether a recorded hash is one of this version of the entity, counting delete rules or not.
  package func hasVersionHash(_ hash: VersionHash) -> Bool {
    hash == versionHash || hash == formerVersionHash
  }
}

extension ManagedObjectModel {
  /// The hashes that releases made which counted delete rules.
  package var formerVersionHashesByName: [String: VersionHash] {
    entitiesByName.mapValues(\.formerVersionHash)
  }

  package var formerVersionChecksum: VersionHash {
    VersionHash(ofModel: entities, \.formerVersionHash)
  }

  /// Whether a recorded checksum is one of this version of the model, counting delete rules or not.
  package func hasVersionChecksum(_ checksum: VersionHash) -> Bool {
    checksum == versionChecksum || checksum == formerVersionChecksum
  }
}

/// Facts, one after the other, in bytes that no other list of facts has.
///
/// Every string is preceded by its length and every list by its count; numbers are eight bytes,
/// most significant first. The leading word names the meaning of what follows: a hash of other
/// facts gets another word.
private struct HashedText {
  var bytes: [UInt8] = []

  init(_ formatWord: String) { append(formatWord) }

  mutating func append(_ number: Int) {
    withUnsafeBytes(of: Int64(number).bigEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func append(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

  mutating func append(_ string: String) {
    // Composed, because two names that Swift calls equal must be one name in a hash.
    let start = bytes.count
    append(0)
    CanonicalText.appendComposed(string, to: &bytes)
    var length = bytes.count - start - 8
    for index in stride(from: start + 7, through: start, by: -1) where length != 0 {
      bytes[index] = UInt8(truncatingIfNeeded: length)
      length >>= 8
    }
  }

  mutating func append(_ string: String?) {
    append(string != nil)
    if let string { append(string) }
  }

  mutating func append(_ attributes: [AttributeDescription]) {
    append(attributes.count)
    // Positions are sorted, because descriptions are large.
    for index in attributes.indices.sorted(by: { attributes[$0].name < attributes[$1].name }) {
      let attribute = attributes[index]
      append(attribute.name)
      append(attribute.isOptional)
      append(attribute.isTransient)
      append(attribute.type.rawValue)
      append(attribute.versionHashModifier)
      append(attribute.elements)
    }
  }

  mutating func append(_ relationships: [RelationshipDescription], countsDeleteRules: Bool) {
    append(relationships.count)
    let indexes = relationships.indices.sorted { relationships[$0].name < relationships[$1].name }
    for index in indexes {
      let relationship = relationships[index]
      append(relationship.name)
      append(relationship.isOptional)
      append(relationship.isTransient)
      append(relationship.destination)
      append(relationship.inverse)
      append(relationship.minCount)
      append(relationship.maxCount)
      // Hashes that do not count delete rules have the default rule in their place.
      let rule = countsDeleteRules ? relationship.deleteRule : .nullify
      append(rule.rawValue)
      append(relationship.isOrdered)
      append(relationship.versionHashModifier)
    }
  }
}
