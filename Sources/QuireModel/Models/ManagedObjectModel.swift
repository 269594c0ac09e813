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
///   ModelConfiguration("Cloud", "Artist", "Artwork")
///   FetchRequestTemplate("byTitle", of: "Artwork", where: "title == $TITLE")
/// }
/// ```
///
/// ## Example
///
/// A model of two entities, and one that is refused since it names an entity that is not there:
///
/// ```swift
/// let model = try ManagedObjectModel {
///   Entity("Artist") { Attribute("name", .string, optional: false) }
///   Entity("Artwork") {
///     Attribute("title", .string, default: "Untitled")
///     Attribute("price", .double, default: 0)
///   }
/// }
/// for entity in model.entities {
///   print(entity.name, entity.attributes.map(\.name))
/// }
/// do {
///   _ = try ManagedObjectModel {
///     Entity("Artwork") { Relationship("artist", toOne: "Artits") }
///   }
/// } catch {
///   print(error)
/// }
/// ```
///
/// prints
///
/// ```
/// Artist ["name"]
/// Artwork ["title", "price"]
/// entity Artwork has a relationship artist to Artits, which the model does not have
/// ```
public final class ManagedObjectModel: Sendable {
  /// The model as it was declared, with entities ordered by name and inverses named on both sides.
  public let declaration: ModelDeclaration
  /// All entities, ordered by name.
  public let entities: [EntityDescription]
  /// Identifies the model by the version hashes of all its entities.
  ///
  /// Two models with the same checksum read each other's stores without a migration.
  public let versionChecksum: VersionHash

  private let indexes: [String: Int]
  /// What is worked out of the model once, by those that use it.
  package let attachments = Attachments()

  /// - Throws: ``ModelError`` when the declaration contradicts itself, or refers to something that
  ///   does not exist.
  public convenience init(_ declaration: ModelDeclaration) throws(ModelError) {
    try self.init(unchecked: declaration)
    try ModelReferences(entities).check(declaration)
  }

  /// A model that need not pass ``ModelReferences``: an earlier release may have let it through,
  /// and its store has to open.
  package init(unchecked declaration: ModelDeclaration) throws(ModelError) {
    entities = try ModelResolution(declaration.entities).resolve()
    indexes = .init(uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) })
    versionChecksum = VersionHash(ofModel: entities)
    var declaration = declaration
    declaration.entities = entities.map(\.declaration)
    self.declaration = declaration
  }

  /// A model of entities and of what else a model has, in lists.
  ///
  /// - Parameters:
  ///   - versionIdentifiers: hints for people, never part of a comparison.
  ///   - configurations: names of entity subsets, each with the names of its entities.
  /// - Throws: ``ModelError`` when the declarations contradict each other, or name what is not
  ///   there.
  public convenience init(
    entities declarations: [Entity], versionIdentifiers: [String] = [],
    configurations: [String: [String]] = [:],
    fetchRequestTemplates: [FetchRequestTemplate] = []
  ) throws(ModelError) {
    var declaration = ModelDeclaration()
    declaration.entities = declarations
    declaration.versionIdentifiers = versionIdentifiers
    declaration.configurations = configurations
    declaration.fetchRequestTemplates = fetchRequestTemplates
    try self.init(declaration)
  }

  /// A model of the members between the braces.
  ///
  /// - Parameters:
  ///   - versionIdentifiers: hints for people, never part of a comparison.
  ///   - userInfo: texts of the application's own by its own keys.
  /// - Throws: ``ModelError`` when the declarations contradict each other, or name what is not
  ///   there.
  public convenience init(
    versionIdentifiers: [String] = [], userInfo: [String: String] = [:],
    @ModelBuilder _ members: () -> [any ModelMember]
  ) throws(ModelError) {
    var declaration = ModelDeclaration(members)
    declaration.versionIdentifiers = versionIdentifiers
    declaration.userInfo = userInfo
    try self.init(declaration)
  }

  /// Readable hints: never part of a comparison.
  public var versionIdentifiers: [String] { declaration.versionIdentifiers }
  /// Names of entity subsets, each with the names of its entities in order.
  public var configurations: [String: [String]] { declaration.configurations }
  /// The fetch requests that the model keeps, in the order of their declarations.
  public var fetchRequestTemplates: [FetchRequestTemplate] { declaration.fetchRequestTemplates }
  /// Texts of the application's own by its own keys.
  public var userInfo: [String: String] { declaration.userInfo }

  /// The entity of that name; `nil` when there is none.
  ///
  /// - Complexity: O(1).
  public func entity(named name: String) -> EntityDescription? {
    indexes[name].map { entities[$0] }
  }

  /// The position of an entity among ``entities``.
  package func index(ofEntity name: String) -> Int? { indexes[name] }

  /// All entities by name.
  ///
  /// - Complexity: O(*n*): the dictionary is made anew; ``entity(named:)`` finds one without it.
  public var entitiesByName: [String: EntityDescription] { indexes.mapValues { entities[$0] } }

  /// The version hash of each entity, by the entity's name.
  public var entityVersionHashesByName: [String: VersionHash] {
    indexes.mapValues { entities[$0].versionHash }
  }

  /// The entity and all its descendants, parents before children, siblings by name.
  public func family(of entity: EntityDescription) -> [EntityDescription] {
    var result: [EntityDescription] = []
    var waiting = [entity]
    while let next = waiting.popLast() {
      result.append(next)
      waiting += next.subentityNames.reversed().compactMap(self.entity(named:))
    }
    return result
  }

  /// The relationship that refers back, with the entity that declares it or inherits it.
  public func inverse(
    of relationship: RelationshipDescription
  ) -> (entity: EntityDescription, relationship: RelationshipDescription)? {
    guard let name = relationship.inverse,
      let destination = entity(named: relationship.destination),
      let inverse = destination.relationship(named: name)
    else { return nil }
    return (destination, inverse)
  }

  /// A template of a fetch request in the model, with its variables.
  ///
  /// Templates with variables are found, too; they become requests when their variables get values.
  public func fetchRequestTemplate(forName name: String) -> FetchRequestTemplate? {
    fetchRequestTemplates.first { $0.name == name }
  }
}

extension ManagedObjectModel: Hashable {
  public static func == (left: ManagedObjectModel, right: ManagedObjectModel) -> Bool {
    left === right || left.entities == right.entities
  }
  public func hash(into hasher: inout Hasher) { hasher.combine(entities) }
}
