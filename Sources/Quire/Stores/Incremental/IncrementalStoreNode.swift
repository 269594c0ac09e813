import QuireModel

/// Names a row of a store of another make.
///
/// A number and not a name, as object IDs are: a store whose rows have names keeps a table of the
/// numbers it has given them.
public struct IncrementalStoreKey: Hashable, Sendable, CustomStringConvertible {
  /// The concrete entity, never an ancestor.
  public var entityName: String
  /// From 1 to ``maximumNumber``; no other row of the entity ever has it.
  public var number: Int64

  public static let maximumNumber = Reference.maximumKey

  public init(_ entityName: String, _ number: Int64) {
    self.entityName = entityName
    self.number = number
  }

  /// The row that an ID names; `nil` for a temporary ID.
  public init?(_ objectID: ManagedObjectID) {
    if objectID.isTemporaryID { return nil }
    self.init(objectID.entity.name, objectID.key)
  }

  public var description: String { "\(entityName)/p\(number)" }
}

/// What a row of a store of another make holds.
public struct IncrementalStoreNode: Hashable, Sendable {
  public var key: IncrementalStoreKey
  /// At least 1, and another one after each change: by it a save finds that it is outdated.
  ///
  /// A save proposes one more than the last. A store that counts otherwise answers a save with what
  /// it has made of that.
  public var version: UInt32
  /// Attributes by their names; those without a value are left out. Transient ones do not exist
  /// here.
  public var values: [String: AttributeValue]
  /// The rows that to-one relationships lead to, by their names; none where one leads nowhere.
  public var destinations: [String: IncrementalStoreKey]

  public init(
    key: IncrementalStoreKey, version: UInt32, values: [String: AttributeValue] = [:],
    destinations: [String: IncrementalStoreKey] = [:]
  ) {
    self.key = key
    self.version = version
    self.values = values
    self.destinations = destinations
  }
}
