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
public struct Entity: Hashable, Sendable {
  public var name: String
  /// The name of the class of its objects; `nil` for the class registered under the entity's name,
  /// or for plain managed objects.
  public var managedObjectClassName: String?
  public var isAbstract = false
  public var parent: String?
  public var attributes: [AttributeDescription] = []
  public var relationships: [RelationshipDescription] = []
  public var fetchedProperties: [FetchedPropertyDescription] = []
  public var indexes: [FetchIndexDescription] = []
  /// Each constraint is a list of key paths whose values are unique together.
  public var uniquenessConstraints: [[String]] = []
  public var renamingIdentifier: String?
  public var versionHashModifier: String?
  public var coreSpotlightDisplayNameExpression: String?
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
  public var attributes: [AttributeDescription]

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
  public var paths: [String]

  public init(_ paths: String...) { self.paths = paths }

  public func add(to entity: inout Entity) { entity.uniquenessConstraints.append(paths) }
}

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
