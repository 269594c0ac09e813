/// The constants of the format of a ``ModelArchive``. On disk: add, never renumber.
///
/// An archive is the magic word, the format number, the model, and a checksum of all that. Numbers
/// are variable-length (LEB128, signed ones zigzag), strings are UTF-8 after their length, lists
/// come after their count. A fact that is seldom there has a bit in the flags of its owner, and
/// comes after them, in the order of the bits, only when its bit is set.
enum ModelArchiveFormat {
  static let magic = Array("QMDL".utf8)
  /// Format 2 has flags of the model at its beginning. It is written only for a model that has a
  /// fact of these: any other is written so that earlier releases can read it.
  static let number = 2
  static let numberWithoutModelFlags = 1
  static let checksumByteCount = 8
  /// How deep composites may be nested.
  static let maximumDepth = 64

  /// FNV-1a, 64 bits.
  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}

/// The first byte of an encoded `AttributeValue?`.
enum ValueTag: UInt8 {
  case absent = 0
  case no = 1
  case yes = 2
  case integer = 3
  case double = 4
  case float = 5
  case positiveDecimal = 6
  case negativeDecimal = 7
  case decimalNotANumber = 8
  case string = 9
  case date = 10
  case binary = 11
  case uuid = 12
  case uri = 13
  case transformed = 14
  case objectID = 15
  case composite = 16
}

struct ModelFlags: OptionSet {
  let rawValue: UInt64
  static let userInfo = ModelFlags(rawValue: 1 << 0)
  static let localization = ModelFlags(rawValue: 1 << 1)
  static let all = ModelFlags(rawValue: 1 << 2 - 1)
}

struct AttributeFlags: OptionSet {
  let rawValue: UInt64
  static let optional = AttributeFlags(rawValue: 1 << 0)
  static let transient = AttributeFlags(rawValue: 1 << 1)
  static let externalStorage = AttributeFlags(rawValue: 1 << 2)
  static let keptInHistory = AttributeFlags(rawValue: 1 << 3)
  static let scalar = AttributeFlags(rawValue: 1 << 4)
  static let spotlight = AttributeFlags(rawValue: 1 << 5)
  static let encrypted = AttributeFlags(rawValue: 1 << 6)
  static let indexed = AttributeFlags(rawValue: 1 << 7)
  static let defaultValue = AttributeFlags(rawValue: 1 << 8)
  static let renamingIdentifier = AttributeFlags(rawValue: 1 << 9)
  static let versionHashModifier = AttributeFlags(rawValue: 1 << 10)
  static let elements = AttributeFlags(rawValue: 1 << 11)
  static let minimum = AttributeFlags(rawValue: 1 << 12)
  static let maximum = AttributeFlags(rawValue: 1 << 13)
  static let earliestDate = AttributeFlags(rawValue: 1 << 14)
  static let latestDate = AttributeFlags(rawValue: 1 << 15)
  static let regularExpression = AttributeFlags(rawValue: 1 << 16)
  static let transformer = AttributeFlags(rawValue: 1 << 17)
  static let valueClass = AttributeFlags(rawValue: 1 << 18)
  static let derivation = AttributeFlags(rawValue: 1 << 19)
  static let userInfo = AttributeFlags(rawValue: 1 << 20)
  static let all = AttributeFlags(rawValue: 1 << 21 - 1)
}

struct RelationshipFlags: OptionSet {
  let rawValue: UInt64
  static let optional = RelationshipFlags(rawValue: 1 << 0)
  static let transient = RelationshipFlags(rawValue: 1 << 1)
  static let ordered = RelationshipFlags(rawValue: 1 << 2)
  static let spotlight = RelationshipFlags(rawValue: 1 << 3)
  static let inverse = RelationshipFlags(rawValue: 1 << 4)
  static let renamingIdentifier = RelationshipFlags(rawValue: 1 << 5)
  static let versionHashModifier = RelationshipFlags(rawValue: 1 << 6)
  static let userInfo = RelationshipFlags(rawValue: 1 << 7)
  static let all = RelationshipFlags(rawValue: 1 << 8 - 1)
}

struct EntityFlags: OptionSet {
  let rawValue: UInt64
  static let abstract = EntityFlags(rawValue: 1 << 0)
  static let className = EntityFlags(rawValue: 1 << 1)
  static let parent = EntityFlags(rawValue: 1 << 2)
  static let renamingIdentifier = EntityFlags(rawValue: 1 << 3)
  static let versionHashModifier = EntityFlags(rawValue: 1 << 4)
  static let spotlight = EntityFlags(rawValue: 1 << 5)
  static let userInfo = EntityFlags(rawValue: 1 << 6)
  static let all = EntityFlags(rawValue: 1 << 7 - 1)
}

struct FetchRequestFlags: OptionSet {
  let rawValue: UInt64
  static let subentities = FetchRequestFlags(rawValue: 1 << 0)
  static let propertyValues = FetchRequestFlags(rawValue: 1 << 1)
  static let pendingChanges = FetchRequestFlags(rawValue: 1 << 2)
  static let faults = FetchRequestFlags(rawValue: 1 << 3)
  static let distinct = FetchRequestFlags(rawValue: 1 << 4)
  static let predicate = FetchRequestFlags(rawValue: 1 << 5)
  static let userInfo = FetchRequestFlags(rawValue: 1 << 6)
  static let sorted = FetchRequestFlags(rawValue: 1 << 7)
  static let all = FetchRequestFlags(rawValue: 1 << 8 - 1)
}

/// In the first releases a byte that was 0 or 1.
struct FetchIndexFlags: OptionSet {
  let rawValue: UInt64
  static let partial = FetchIndexFlags(rawValue: 1 << 0)
  static let userInfo = FetchIndexFlags(rawValue: 1 << 1)
  static let all = FetchIndexFlags(rawValue: 1 << 2 - 1)
}

struct FetchedPropertyFlags: OptionSet {
  let rawValue: UInt64
  static let optional = FetchedPropertyFlags(rawValue: 1 << 0)
  static let renamingIdentifier = FetchedPropertyFlags(rawValue: 1 << 1)
  static let versionHashModifier = FetchedPropertyFlags(rawValue: 1 << 2)
  static let userInfo = FetchedPropertyFlags(rawValue: 1 << 3)
  static let all = FetchedPropertyFlags(rawValue: 1 << 4 - 1)
}

struct IndexElementFlags: OptionSet {
  let rawValue: UInt64
  static let ascending = IndexElementFlags(rawValue: 1 << 0)
  static let rTree = IndexElementFlags(rawValue: 1 << 1)
  static let property = IndexElementFlags(rawValue: 1 << 2)
  static let expression = IndexElementFlags(rawValue: 1 << 3)
  static let expressionType = IndexElementFlags(rawValue: 1 << 4)
  static let all = IndexElementFlags(rawValue: 1 << 5 - 1)
}
