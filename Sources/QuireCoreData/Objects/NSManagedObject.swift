import Foundation
import Quire
import QuireModel

/// An object of an entity, with Core Data's key-value coding, which does not throw.
///
/// A name that the entity does not have, and a value of another type, stop the program with the
/// text of the error, where Core Data raises an exception. Typed properties are `@Managed`; hooks
/// and validation are those of `ManagedObject`, whose superclass this is. There is no key-value
/// observing, and classes are not found by the Objective-C runtime: see
/// ``NSManagedObject/register(_:)``.
open class NSManagedObject: ManagedObject {
  /// A new object of the class's entity, inserted into a context.
  public required convenience init(context moc: NSManagedObjectContext) {
    self.init(context: moc.quireContext)
  }

  /// A new object of an entity, inserted into a context unless that is `nil`.
  public required convenience init(
    entity: NSEntityDescription, insertInto context: NSManagedObjectContext?
  ) {
    self.init(
      entity: raising { try entity.resolved(in: context) }, insertInto: context?.quireContext)
  }

  /// Answers ``value(forKey:)`` for a name that the entity does not have, and a controller's
  /// section names: stops the program, unless a class overrides it.
  ///
  /// A function that can throw asks as well, and throws where no class overrides it.
  open override func value(forUndefinedKey key: String) -> Any? {
    if let question = UndefinedKeyQuestion.current {
      question.isUnanswered = true
      return nil
    }
    return raising { try super.value(forUndefinedKey: key) }
  }

  /// Answers ``setValue(_:forKey:)`` for a name that the entity does not have: stops the program,
  /// unless a class overrides it.
  open override func setValue(_ value: Any?, forUndefinedKey key: String) {
    if let question = UndefinedKeyQuestion.current {
      question.isUnanswered = true
      return
    }
    raising { try super.setValue(value, forUndefinedKey: key) }
  }

  /// Checks a value by the rules of the model, and by the validation predicates that were set in
  /// code.
  ///
  /// - Throws: an error of Core Data's code, as `validateValue(_:forKey:)` of `ManagedObject` does.
  open override func validateValue(_ value: inout Any?, forKey key: String) throws {
    try super.validateValue(&value, forKey: key)
    try ValidationConditions.check(value, of: self, key)
  }

  // MARK: Class

  /// Always `true`: a property that the model does not have is in no change of an object, as there
  /// is no key-value observing. It cannot be overridden.
  public static var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  /// The entity of this class, in one of the models that are in use.
  ///
  /// A class that no model in use names stops the program, as an exception does in Core Data.
  open class func entity() -> NSEntityDescription {
    guard let entity = ModelsInUse.entity(of: self) else {
      fatalError("no model in use has an entity of the class \(self)")
    }
    return entity
  }
}

extension NSManagedObject: NSFetchRequestResult {}

extension NSFetchRequestResult where Self: NSManagedObject {
  // Not a member of the class: Xcode writes a function of this name with another result into each
  // class, and Swift then prefers that one.
  /// A request for all objects of this class's entity.
  public static func fetchRequest() -> NSFetchRequest<NSFetchRequestResult> {
    NSFetchRequest(entityName: ModelsInUse.entity(of: self)?.name ?? modelEntityName)
  }
}

// Members that Quire has with other types.
extension NSManagedObject {
  /// The entity of the object.
  public var entity: NSEntityDescription {
    let facts = entityFacts
    let model = managedObjectContext?.persistentStoreCoordinator?.managedObjectModel
    return model?.entitiesByName[facts.name] ?? NSEntityDescription(detached: facts)
  }

  /// The context that the object belongs to.
  public var managedObjectContext: NSManagedObjectContext? {
    (self as ManagedObject).managedObjectContext.map(NSManagedObjectContext.of)
  }

  /// The resolved entity, in Quire's form.
  var entityFacts: EntityDescription { (self as ManagedObject).entity }

  // MARK: Key-value coding

  /// The value of a property: an `NSSet` or an `NSOrderedSet` of objects for a to-many
  /// relationship, an `NSNumber` for a number or a flag, else a value of Swift's type.
  public func value(forKey key: String) -> Any? {
    guard hasProperty(key) else { return value(forUndefinedKey: key) }
    return raising { cocoaValue(try (self as ManagedObject).value(forKey: key), key) }
  }

  /// Sets a property; of a relationship, the other side as well.
  ///
  /// - Parameter value: as ``value(forKey:)`` returns it, or of Swift's types.
  public func setValue(_ value: Any?, forKey key: String) {
    guard hasProperty(key) else { return setValue(value, forUndefinedKey: key) }
    raising { try (self as ManagedObject).setValue(plainValue(value), forKey: key) }
  }

  /// The value at the end of a path of names, with collection operators.
  public func value(forKeyPath path: String) -> Any? {
    if !path.contains(where: { $0 == "." || $0 == "@" }) { return value(forKey: path) }
    let value = raising { cocoaValue(try (self as ManagedObject).value(forKeyPath: path), nil) }
    // What an ordered relationship leads to has an order, and each value once; results of
    // operators, such as @unionOfObjects, are arrays.
    guard let values = value as? [Any], !path.contains("@") else { return value }
    let set = NSMutableOrderedSet()
    for value in values { set.add(value) }
    return set
  }

  /// Sets the property at the end of a path of names.
  public func setValue(_ value: Any?, forKeyPath path: String) {
    raising { try (self as ManagedObject).setValue(plainValue(value), forKeyPath: path) }
  }

  /// The values of some properties; `NSNull` for those without a value.
  public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(uniqueKeysWithValues: keys.map { ($0, value(forKey: $0) ?? NSNull()) })
  }

  /// Sets several properties.
  public func setValuesForKeys(_ values: [String: Any]) {
    for (key, value) in values.sorted(by: { $0.key < $1.key }) { setValue(value, forKey: key) }
  }

  /// The value of a property, without the rest of what an accessor does.
  public func primitiveValue(forKey key: String) -> Any? {
    raising { cocoaValue(try (self as ManagedObject).primitiveValue(forKey: key), key) }
  }

  /// Sets a property, without the rest of what an accessor does.
  public func setPrimitiveValue(_ value: Any?, forKey key: String) {
    raising { try (self as ManagedObject).setPrimitiveValue(plainValue(value), forKey: key) }
  }

  /// The unordered to-many relationship of a name, to be changed in place.
  public func mutableSetValue(forKey key: String) -> RelationshipSet {
    RelationshipSet(raising { try (self as ManagedObject).mutableSetValue(forKey: key) })
  }

  /// The ordered relationship of a name, to be changed in place.
  public func mutableOrderedSetValue(forKey key: String) -> RelationshipOrderedSet {
    RelationshipOrderedSet(
      raising { try (self as ManagedObject).mutableOrderedSetValue(forKey: key) })
  }

  // MARK: Changes

  /// The values of properties that were changed since the last fetch or save; `NSNull` for none.
  public func changedValues() -> [String: Any] {
    present((self as ManagedObject).changedValues())
  }

  /// The values that properties had before the changes of the present event; `NSNull` for none.
  public func changedValuesForCurrentEvent() -> [String: Any] {
    present((self as ManagedObject).changedValuesForCurrentEvent())
  }

  /// The values of the last fetch or save; `NSNull` for none. An object that was never saved has no
  /// such values at all.
  ///
  /// - Parameter keys: the names of the properties; `nil` for all.
  public func committedValues(forKeys keys: [String]?) -> [String: Any] {
    if isInserted || objectID.isTemporaryID { return [:] }
    let names = keys ?? entityFacts.propertyNames
    let values = raising { try (self as ManagedObject).committedValues(forKeys: names) }
    return present(Dictionary(uniqueKeysWithValues: names.map { ($0, values[$0]) }))
  }

  /// The IDs of the objects that a relationship leads to, without making the objects.
  public func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
    raising { try (self as ManagedObject).objectIDs(forRelationshipNamed: key) }
  }

  /// Whether reading a relationship would go to the store.
  public func hasFault(forRelationshipNamed key: String) -> Bool {
    raising { try (self as ManagedObject).hasFault(forRelationshipNamed: key) }
  }

  private func present(_ values: [String: Any?]) -> [String: Any] {
    Dictionary(
      uniqueKeysWithValues: values.map { ($0, cocoaValue($1, $0) ?? NSNull()) })
  }

  private func hasProperty(_ key: String) -> Bool {
    let entity = entityFacts
    return entity.attribute(named: key) != nil || entity.relationship(named: key) != nil
      || entity.fetchedProperty(named: key) != nil || key == "objectID" || key == "entity"
  }

  /// A value of Quire's key-value coding as Core Data's returns it.
  ///
  /// - Parameter key: the property that it is of; `nil` at the end of a path.
  private func cocoaValue(_ value: Any?, _ key: String?) -> Any? {
    switch value {
    case nil: return nil
    case let members as Set<ManagedObject>: return NSSet(array: Array(members))
    case let members as [ManagedObject]:
      let isOrdered = key.flatMap { entityFacts.relationship(named: $0) } != nil
      return isOrdered ? NSOrderedSet(array: members) : members
    case is EntityDescription: return entity
    case let value?: return cocoaNumber(value)
    }
  }
}

extension EntityDescription {
  /// The names of all attributes and relationships.
  var propertyNames: [String] { attributes.map(\.name) + relationships.map(\.name) }
}
