/// An entity as it is declared: its own properties and the name of its parent.
///
/// A declaration is plain data that refers to other entities by name. ``ManagedObjectModel`` checks
/// a set of declarations and resolves each to an ``EntityDescription``, which has the inherited
/// properties too.
public struct Entity: Hashable, Sendable {
  public var name: String
  /// The name of the class of its objects; `nil` for plain managed objects.
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

  public init(
    _ name: String, parent: String? = nil, abstract: Bool = false,
    renamedFrom renamingIdentifier: String? = nil,
    @EntityBuilder _ properties: () -> [any EntityMember] = { [] }
  ) {
    self.name = name
    self.parent = parent
    self.isAbstract = abstract
    self.renamingIdentifier = renamingIdentifier
    for property in properties() { property.add(to: &self) }
  }
}

/// Anything that can stand between the braces of an ``Entity``.
public protocol EntityMember {
  func add(to entity: inout Entity)
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

@resultBuilder
public enum EntityBuilder {
  public static func buildExpression(_ member: any EntityMember) -> [any EntityMember] { [member] }
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

@resultBuilder
public enum ModelBuilder {
  public static func buildExpression(_ entity: Entity) -> [Entity] { [entity] }
  public static func buildBlock(_ entities: [Entity]...) -> [Entity] { entities.flatMap { $0 } }
  public static func buildOptional(_ entities: [Entity]?) -> [Entity] { entities ?? [] }
  public static func buildEither(first: [Entity]) -> [Entity] { first }
  public static func buildEither(second: [Entity]) -> [Entity] { second }
  public static func buildArray(_ entities: [[Entity]]) -> [Entity] { entities.flatMap { $0 } }
}

/// A one-way link computed by a fetch request.
public struct FetchedPropertyDescription: Hashable, Sendable {
  public var name: String
  public var request: FetchRequestTemplate
  public var isOptional = true
  public var renamingIdentifier: String?
  public var versionHashModifier: String?
  public var userInfo: [String: String] = [:]

  public init(_ name: String, request: FetchRequestTemplate) {
    self.name = name
    self.request = request
  }
}

/// A fetch request as a model keeps it: text that becomes a request when it is used.
public struct FetchRequestTemplate: Hashable, Sendable {
  public var name: String
  public var entityName: String
  public var predicateFormat: String?
  public var fetchLimit = 0
  public var fetchBatchSize = 0
  /// Core Data's number: 0 objects, 1 object IDs, 2 dictionaries, 4 a count.
  public var resultType = 0
  public var includesSubentities = true
  public var includesPropertyValues = true
  public var includesPendingChanges = true
  public var returnsObjectsAsFaults = true
  public var returnsDistinctResults = false

  public init(name: String, entityName: String, predicateFormat: String? = nil) {
    self.name = name
    self.entityName = entityName
    self.predicateFormat = predicateFormat
  }
}

/// An index over properties of an entity, used to find objects without reading all of them.
public struct FetchIndexDescription: Hashable, Sendable {
  public enum Kind: String, Sendable { case binary = "Binary", rTree = "RTree" }

  public struct Element: Hashable, Sendable {
    /// The name of an indexed property, when the element is one.
    public var property: String?
    /// The text of an indexed expression, when the element is one.
    public var expression: String?
    public var expressionType: String?
    public var kind = Kind.binary
    public var isAscending = true

    public init(_ property: String, ascending: Bool = true) {
      self.property = property
      self.isAscending = ascending
    }

    public init(expression: String, type: String?) {
      self.expression = expression
      self.expressionType = type
    }
  }

  public var name: String
  public var elements: [Element]
  public var partialIndexPredicate: String?

  public init(_ name: String, _ elements: [Element]) {
    self.name = name
    self.elements = elements
  }

  /// An ascending index over the named properties.
  public init(_ name: String, on properties: String...) {
    self.init(name, properties.map { Element($0) })
  }
}
