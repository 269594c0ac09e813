/// An entity as it is declared: its own properties and the name of its parent.
///
/// A declaration is plain data that refers to other entities by name. ``ManagedObjectModel`` checks
/// a set of declarations and resolves each to an ``EntityDescription``, which has the inherited
/// properties too.
///
/// ```swift
/// Entity("Artwork", class: "FolioArtwork", renamedFrom: "Work") {
///   Attribute("title", .string, optional: false, length: 1...200)
///   Attributes(.decimal, "width", "height", default: 0)
///   Relationship("artist", toOne: "Artist", inverse: "artworks")
///   UniquenessConstraint("slug")
///   FetchIndex("byRatingAndPrice", on: "rating", .descending("price"), where: "price > 0")
///   FetchedProperty("namesakes", of: "Artwork", where: "title == $FETCH_SOURCE.title")
/// }
/// ```
///
/// ## Example
///
/// An entity that inherits the attributes of another one:
///
/// ```swift
/// let model = try ManagedObjectModel {
///   Entity("Person", abstract: true) { Attribute("name", .string, optional: false) }
///   Entity("Artist", parent: "Person") { Attribute("born", .integer16) }
/// }
/// if let artist = model.entity(named: "Artist") {
///   print(artist.attributes.map(\.name), artist.parent?.name ?? "no parent")
/// }
/// ```
///
/// prints
///
/// ```
/// ["name", "born"] Person
/// ```
public struct Entity: Hashable, Sendable {
  /// The name, unique in the model.
  public var name: String
  /// The name of the class of its objects; `nil` for the class registered under the entity's name,
  /// or for plain managed objects.
  public var managedObjectClassName: String?
  /// Whether there are no objects of this entity, only of its subentities.
  public var isAbstract = false
  /// The name of the entity whose properties this one inherits; `nil` for none.
  public var parent: String?
  /// The attributes that the entity declares itself.
  public var attributes: [AttributeDescription] = []
  /// The relationships that the entity declares itself.
  public var relationships: [RelationshipDescription] = []
  /// The fetched properties that the entity declares itself.
  public var fetchedProperties: [FetchedPropertyDescription] = []
  /// The fetch indexes that the entity declares itself. They cover its subentities as well.
  public var indexes: [FetchIndexDescription] = []
  /// Each constraint is a list of key paths whose values are unique together.
  public var uniquenessConstraints: [[String]] = []
  /// The name this entity had in an earlier version, when it was renamed.
  public var renamingIdentifier: String?
  /// Changes the version hash without any other change of the model.
  public var versionHashModifier: String?
  /// The expression that Core Data gives to Spotlight as the name of an object. Kept from the
  /// model; nothing here depends on it.
  public var coreSpotlightDisplayNameExpression: String?
  /// Texts of the application's own by its own keys, no part of the version hash.
  public var userInfo: [String: String] = [:]

  /// - Parameters:
  ///   - managedObjectClassName: the class of the entity's objects, with its module before it where
  ///     two have the name; `nil` for the class that is called like the entity.
  ///   - renamingIdentifier: the name in an earlier version of the model.
  ///   - versionHashModifier: any text; another one makes another version of the entity.
  public init(
    _ name: String, class managedObjectClassName: String? = nil, parent: String? = nil,
    abstract: Bool = false, renamedFrom renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil, userInfo: [String: String] = [:],
    @EntityBuilder _ properties: () -> [any EntityMember] = { [] }
  ) {
    self.name = name
    self.managedObjectClassName = managedObjectClassName
    self.parent = parent
    self.isAbstract = abstract
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
    for property in properties() { property.add(to: &self) }
  }
}

/// Anything that can stand between the braces of an ``Entity``.
public protocol EntityMember: Sendable {
  /// Adds the member to the entity that it stands in.
  func add(to entity: inout Entity)
}

extension EntityMember {
  /// A copy with changes, for the facts that no initialiser has a parameter for:
  /// `Attribute("title", .string).with { $0.isIndexedBySpotlight = true }`.
  public func with(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}

extension AttributeDescription: EntityMember {
  public func add(to entity: inout Entity) { entity.attributes.append(self) }
}

extension RelationshipDescription: EntityMember {
  public func add(to entity: inout Entity) { entity.relationships.append(self) }
}

extension FetchedPropertyDescription: EntityMember {
  public func add(to entity: inout Entity) { entity.fetchedProperties.append(self) }
}

extension FetchIndexDescription: EntityMember {
  public func add(to entity: inout Entity) { entity.indexes.append(self) }
}

/// Several attributes that differ in their names only.
///
/// ```swift
/// Attributes(.string, "name", "slug", "summary")
/// ```
public struct Attributes: EntityMember {
  /// The attributes, in the order of their names as given.
  public var attributes: [AttributeDescription]

  /// One attribute for each name, all with the same facts.
  ///
  /// - Parameters:
  ///   - defaultValue: what new objects have, and rows that lack a value after a migration.
  ///   - transient: whether the values live in memory only.
  ///   - indexed: the index flag of old models; ``FetchIndexDescription`` says more.
  public init(
    _ type: AttributeType, _ names: String..., optional: Bool = true,
    default defaultValue: AttributeValue? = nil, transient: Bool = false, indexed: Bool = false
  ) {
    attributes = names.map {
      AttributeDescription(
        $0, type, optional: optional, default: defaultValue, transient: transient,
        indexed: indexed)
    }
  }

  public func add(to entity: inout Entity) { entity.attributes += attributes }
}

/// Properties whose values no two objects of an entity share, taken together.
///
/// The paths name attributes, elements of composite attributes, and to-one relationships.
public struct UniquenessConstraint: EntityMember {
  /// The key paths whose values are unique together.
  public var paths: [String]

  /// - Parameter paths: names of attributes, of elements of composite attributes (`"home.city"`),
  ///   and of to-one relationships. At least one.
  public init(_ paths: String...) { self.paths = paths }

  public func add(to entity: inout Entity) { entity.uniquenessConstraints.append(paths) }
}

/// Collects the members between the braces of an ``Entity``.
@resultBuilder
public enum EntityBuilder {
  public static func buildExpression(_ member: any EntityMember) -> [any EntityMember] { [member] }
  public static func buildExpression(_ members: [any EntityMember]) -> [any EntityMember] {
    members
  }
  public static func buildBlock(_ members: [any EntityMember]...) -> [any EntityMember] {
    members.flatMap { $0 }
  }
  public static func buildOptional(_ members: [any EntityMember]?) -> [any EntityMember] {
    members ?? []
  }
  public static func buildEither(first: [any EntityMember]) -> [any EntityMember] { first }
  public static func buildEither(second: [any EntityMember]) -> [any EntityMember] { second }
  public static func buildArray(_ members: [[any EntityMember]]) -> [any EntityMember] {
    members.flatMap { $0 }
  }
}
