/// A checked set of entities that refer to each other.
///
/// A model is immutable and shared freely between threads. Two models with equal entities are
/// interchangeable, however they were made.
///
/// ```swift
/// let model = try ManagedObjectModel {
///   Entity("Artist") {
///     Attribute("name", .string, optional: false)
///     Relationship("artworks", toMany: "Artwork", inverse: "artist", deleteRule: .cascade)
///   }
///   Entity("Artwork") {
///     Attribute("title", .string, default: "Untitled")
///     Relationship("artist", toOne: "Artist", inverse: "artworks")
///   }
/// }
/// ```
public final class ManagedObjectModel: Sendable {
  /// All entities, ordered by name.
  public let entities: [EntityDescription]
  /// Hints for people: never part of a comparison.
  public let versionIdentifiers: [String]
  /// Names of entity subsets, each with the names of its entities in order.
  public let configurations: [String: [String]]
  public let fetchRequestTemplates: [FetchRequestTemplate]
  /// Identifies the model by the version hashes of all its entities.
  ///
  /// Two models with the same checksum read each other's stores without a migration.
  public let versionChecksum: VersionHash

  private let indexes: [String: Int]

  public init(
    entities declarations: [Entity], versionIdentifiers: [String] = [],
    configurations: [String: [String]] = [:],
    fetchRequestTemplates: [FetchRequestTemplate] = []
  ) throws(ModelError) {
    entities = try ModelResolution(declarations).resolve()
    indexes = .init(uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) })
    versionChecksum = VersionHash(ofModel: entities)
    self.versionIdentifiers = versionIdentifiers
    self.configurations = configurations
    self.fetchRequestTemplates = fetchRequestTemplates
  }

  public convenience init(
    versionIdentifiers: [String] = [], @ModelBuilder _ entities: () -> [Entity]
  ) throws(ModelError) {
    try self.init(entities: entities(), versionIdentifiers: versionIdentifiers)
  }

  public func entity(named name: String) -> EntityDescription? {
    indexes[name].map { entities[$0] }
  }

  /// The place of an entity among ``entities``.
  func index(ofEntity name: String) -> Int? { indexes[name] }

  public var entitiesByName: [String: EntityDescription] { indexes.mapValues { entities[$0] } }

  public var entityVersionHashesByName: [String: VersionHash] {
    indexes.mapValues { entities[$0].versionHash }
  }

  /// The entity and all its descendants, parents before children, siblings by name.
  public func family(of entity: EntityDescription) -> [EntityDescription] {
    var result = [entity]
    for name in entity.subentityNames {
      if let child = self.entity(named: name) { result += family(of: child) }
    }
    return result
  }

  /// The relationship that leads back, with the entity that declares it or inherits it.
  public func inverse(
    of relationship: RelationshipDescription
  ) -> (entity: EntityDescription, relationship: RelationshipDescription)? {
    guard let name = relationship.inverse,
      let destination = entity(named: relationship.destination),
      let inverse = destination.relationship(named: name)
    else { return nil }
    return (destination, inverse)
  }
}

extension ManagedObjectModel: Hashable {
  public static func == (left: ManagedObjectModel, right: ManagedObjectModel) -> Bool {
    left === right || left.entities == right.entities
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(entities) }
}
