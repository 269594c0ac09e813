/// What a salvage has found of a damaged store, and what is lost.
public struct SalvageReport: Hashable, Sendable, Codable {
  /// The objects of one entity.
  public struct Entity: Hashable, Sendable, Codable {
    /// The name of the entity.
    public var name: String
    /// The number of objects in the new store.
    public internal(set) var keptCount = 0
    /// The number of objects that are lost. Where the store's catalog is damaged as well it is the
    /// number of those whose keys are known, and there may be more.
    public internal(set) var lostCount = 0
    /// The keys of lost objects, as far as something else in the store has told of them: links of
    /// other objects, and indexes.
    public internal(set) var lostKeys: [Int64] = []

    init(name: String) { self.name = name }
  }

  /// A link to a lost object.
  public struct BrokenLink: Hashable, Sendable, Codable {
    /// The entity of the object that had the link, and is kept.
    public var entity: String
    /// The key of that object.
    public var key: Int64
    /// The name of the relationship.
    public var relationship: String
    /// The entity of the lost object.
    public var destination: String
    /// The key of the lost object.
    public var destinationKey: Int64
  }

  /// A value that is lost, of an object that is kept and has none instead.
  public struct LostValue: Hashable, Sendable, Codable {
    /// The entity of the object.
    public var entity: String
    /// The key of the object.
    public var key: Int64
    /// The name of the attribute.
    public var attribute: String
  }

  /// Links that are lost between objects of which one or both are kept: those of which nothing else
  /// in the store tells.
  public struct LostLinks: Hashable, Sendable, Codable {
    /// The entity of the objects that had the links.
    public var entity: String
    /// The name of the relationship.
    public var relationship: String
    /// The number of links that were on lost pages and did not come back.
    public var count: Int
  }

  /// The file that was read.
  public var source: String
  /// The store that was written.
  public var store: String
  /// The name of the model's version; `nil` if it has none.
  public internal(set) var versionName: String?
  /// The concrete entities that have or had objects, by name.
  public internal(set) var entities: [Entity] = []
  /// The links to lost objects, which are left out.
  public internal(set) var brokenLinks: [BrokenLink] = []
  /// Values that are lost while their objects are kept: those outside of rows.
  public internal(set) var lostValues: [LostValue] = []
  /// The links that are lost without being known, by relationship.
  public internal(set) var lostLinks: [LostLinks] = []
  /// The number of links that only one of their two sides had left, and that have both again.
  public internal(set) var restoredLinkCount = 0
  /// The damage that was found, with the numbers of pages.
  public internal(set) var damage: [String] = []
  /// What else is different from the store before.
  public internal(set) var notes: [String] = []

  /// Whether every object, link and value of the store is in the new one, as far as can be known.
  public var isComplete: Bool {
    entities.allSatisfy { $0.lostCount == 0 } && brokenLinks.isEmpty && lostLinks.isEmpty
      && lostValues.isEmpty
  }

  /// The number of objects in the new store.
  public var keptCount: Int { entities.reduce(0) { $0 + $1.keptCount } }
  /// The number of objects that are lost.
  public var lostCount: Int { entities.reduce(0) { $0 + $1.lostCount } }
}
