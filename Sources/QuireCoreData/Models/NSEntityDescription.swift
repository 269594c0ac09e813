import Foundation
import Quire
import QuireModel

/// An entity of a model, which can be changed until its model is used.
open class NSEntityDescription: NSObject {
  private var declaration: Entity
  /// The name of the entity.
  open var name: String?
  /// The name of the class of its objects, with or without its module.
  open var managedObjectClassName: String!
  /// Whether there are objects of its subentities alone.
  open var isAbstract: Bool {
    get { declaration.isAbstract }
    set { declaration.isAbstract = newValue }
  }
  /// The entities that inherit from this one.
  open var subentities: [NSEntityDescription] = [] {
    didSet { for entity in subentities { entity.superentity = self } }
  }
  /// The entity that this one inherits from.
  open internal(set) weak var superentity: NSEntityDescription?
  /// Texts of the application's own.
  open var userInfo: [AnyHashable: Any]? = [:]
  /// The name of the entity in an earlier version of the model.
  open var renamingIdentifier: String?
  /// A text that makes another version of the entity.
  open var versionHashModifier: String?
  /// Lists of properties, by name or description, whose values are unique together.
  open var uniquenessConstraints: [[Any]]
  /// The indexes that requests may use.
  open var indexes: [NSFetchIndexDescription] {
    didSet { for index in indexes { index.entity = self } }
  }
  /// The model that has the entity.
  open internal(set) weak var managedObjectModel: NSManagedObjectModel?
  private var ownProperties: [NSPropertyDescription] = []

  /// An entity without a name.
  public convenience override init() { self.init(Entity("")) }

  init(_ entity: Entity) {
    declaration = entity
    name = entity.name.isEmpty ? nil : entity.name
    managedObjectClassName = entity.managedObjectClassName ?? "NSManagedObject"
    if !entity.userInfo.isEmpty { userInfo = entity.userInfo }
    renamingIdentifier = entity.renamingIdentifier
    versionHashModifier = entity.versionHashModifier
    uniquenessConstraints = entity.uniquenessConstraints
    indexes = entity.indexes.map(NSFetchIndexDescription.init)
    super.init()
    for index in indexes { index.entity = self }
    ownProperties =
      entity.attributes.map { attribute -> NSPropertyDescription in
        guard let derivation = attribute.derivationExpression else {
          return NSAttributeDescription.of(attribute)
        }
        let derived = NSDerivedAttributeDescription(attribute)
        derived.derivationExpression = NSExpression(format: derivation)
        return derived
      } + entity.relationships.map(NSRelationshipDescription.init)
      + entity.fetchedProperties.map(NSFetchedPropertyDescription.init)
    for property in ownProperties { property.entity = self }
  }

  /// A description of an entity whose model is not known, with its inherited properties.
  convenience init(detached entity: EntityDescription) {
    var flat = entity.declaration
    flat.attributes = entity.attributes
    flat.relationships = entity.relationships
    self.init(flat)
  }

  /// All properties, inherited ones first. Setting them sets the entity's own.
  open var properties: [NSPropertyDescription] {
    get { (superentity?.properties ?? []) + ownProperties }
    set {
      let inherited = superentity?.properties ?? []
      ownProperties = newValue.filter { property in !inherited.contains { $0 === property } }
      for property in ownProperties { property.entity = self }
    }
  }

  /// All properties by name, inherited ones included.
  open var propertiesByName: [String: NSPropertyDescription] {
    Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
  }

  /// All attributes by name, inherited ones included.
  open var attributesByName: [String: NSAttributeDescription] {
    propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
  }

  /// All relationships by name, inherited ones included.
  open var relationshipsByName: [String: NSRelationshipDescription] {
    propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
  }

  /// The entities that inherit from this one, by name.
  open var subentitiesByName: [String: NSEntityDescription] {
    Dictionary(subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { $1 })
  }

  /// The relationships that refer to an entity.
  open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription]
  {
    properties.compactMap { $0 as? NSRelationshipDescription }.filter {
      $0.destinationEntity === entity
    }
  }

  /// Whether this entity is another, or inherits from it.
  open func isKindOf(entity: NSEntityDescription) -> Bool {
    self === entity || name == entity.name || superentity?.isKindOf(entity: entity) ?? false
  }

  /// The digest of what decides how objects are stored. It is Quire's, with other bytes than Core
  /// Data's.
  open var versionHash: Data {
    managedObjectModel?.entityVersionHashesByName[name ?? ""] ?? Data()
  }

  /// Whether the other object is an entity that says the same.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSEntityDescription else { return false }
    if self === other { return true }
    guard name == other.name, let mine = try? declared(), let its = try? other.declared() else {
      return false
    }
    return mine == its && superentity == other.superentity && [self].hasConditions(of: [other])
  }

  /// Equal entities have equal hashes.
  open override var hash: Int { name.hashValue }

  /// Whether an entity of Quire's, such as that of an object ID, has this name.
  public static func == (left: EntityDescription, right: NSEntityDescription) -> Bool {
    left.name == right.name
  }

  /// Whether an entity of Quire's, such as that of an object ID, has this name.
  public static func == (left: NSEntityDescription, right: EntityDescription) -> Bool {
    left.name == right.name
  }

  func declared() throws -> Entity {
    var entity = declaration
    entity.name = name ?? ""
    let className = managedObjectClassName
    entity.managedObjectClassName = className == "NSManagedObject" ? nil : className
    entity.parent = superentity.map { $0.name ?? "" }
    entity.userInfo = [:]
    for (key, value) in userInfo ?? [:] { entity.userInfo["\(key.base)"] = "\(value)" }
    entity.renamingIdentifier = renamingIdentifier
    entity.versionHashModifier = versionHashModifier
    entity.uniquenessConstraints = uniquenessConstraints.map { constraint in
      constraint.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
    }
    entity.indexes = try indexes.map { try $0.declared() }
    entity.attributes = []
    entity.relationships = []
    entity.fetchedProperties = []
    for property in ownProperties { try property.declared()?.add(to: &entity) }
    return entity
  }

  /// The entity of the model of a context, or of its own model without one.
  func resolved(in context: NSManagedObjectContext?) throws -> EntityDescription {
    let model =
      try context?.persistentStoreCoordinator?.quireCoordinator.managedObjectModel
      ?? managedObjectModel?.resolved()
    guard let name, let entity = model?.entity(named: name) else {
      throw PersistenceError(
        .undefinedKey, "the entity \(name ?? "without a name") is in no model that is in use")
    }
    return entity
  }

  // MARK: In a context

  /// The entity of a name in the model of a context.
  open class func entity(
    forEntityName name: String, in context: NSManagedObjectContext
  ) -> NSEntityDescription? {
    context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[name]
  }

  /// A new object of an entity, inserted into a context. A name that the model does not have stops
  /// the program.
  open class func insertNewObject(
    forEntityName name: String, into context: NSManagedObjectContext,
    file: StaticString = #fileID, line: UInt = #line
  ) -> NSManagedObject {
    raising(file, line) {
      try EntityDescription.insertNewObject(forEntityName: name, into: context.quireContext)
    } as! NSManagedObject
  }
}
