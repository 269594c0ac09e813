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

  /// A new object of an entity, of this very class, inserted into a context unless that is `nil`.
  ///
  /// ``NSFetchRequestResult/init(entity:insertInto:file:line:)`` makes one of the entity's class.
  public required convenience init(
    ofThisClass entity: EntityDescription, insertInto context: NSManagedObjectContext?
  ) {
    self.init(entity: entity, insertInto: context?.quireContext)
  }

  // Classes override the next two, and `entity()`, so that these cannot have the location of a call
  // among their arguments: the message names the key or the class.

  /// Answers ``value(forKey:file:line:)`` for a name that the entity does not have, and a
  /// controller's section names: stops the program, unless a class overrides it.
  ///
  /// A function that can throw asks as well, and throws where no class overrides it.
  open override func value(forUndefinedKey key: String) -> Any? {
    if let question = UndefinedKeyQuestion.current {
      question.isUnanswered = true
      return nil
    }
    return raising("value(forUndefinedKey:)") { try super.value(forUndefinedKey: key) }
  }

  /// Answers ``setValue(_:forKey:file:line:)`` for a name that the entity does not have: stops the
  /// program, unless a class overrides it.
  open override func setValue(_ value: Any?, forUndefinedKey key: String) {
    if let question = UndefinedKeyQuestion.current {
      question.isUnanswered = true
      return
    }
    raising("setValue(_:forUndefinedKey:)") { try super.setValue(value, forUndefinedKey: key) }
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
      fatalError("\(self).entity(): no model in use has an entity of the class \(self)")
    }
    return entity
  }
}

extension NSManagedObject: NSFetchRequestResult {}

extension NSFetchRequestResult where Self: NSManagedObject {
  // Not a member of the class: the initialiser of a class makes objects of that class alone.
  /// A new object of an entity, inserted into a context unless that is `nil`.
  ///
  /// As in Core Data, it has the class of the entity, where that is this class or inherits from it:
  /// `NSManagedObject(entity: book, insertInto: context)` is a `Book`.
  public init(
    entity: NSEntityDescription, insertInto context: NSManagedObjectContext?,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    let resolved = raising(file, line) { try entity.resolved(in: context) }
    let coordinator = context?.persistentStoreCoordinator?.quireCoordinator
    let known: AnyClass? =
      coordinator.map { $0.objectClass(of: resolved) }
      ?? resolved.managedObjectClassName.flatMap(ClassLookup.type(named:))
    let type = known as? Self.Type ?? Self.self
    self = type.init(ofThisClass: resolved, insertInto: context)
  }

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

  // MARK: Changes

  /// The values of properties that were changed since the last fetch or save; `NSNull` for none.
  /// Of an object that was never saved, those that differ from what it was made with: its defaults.
  public func changedValues() -> [String: Any] {
    let values = present((self as ManagedObject).changedValues())
    guard isInserted else { return values }
    let entity = entityFacts
    return values.filter { name, value in
      guard let initial = entity.attribute(named: name)?.defaultValue else { return true }
      return initial.plainValue as? AnyHashable != plainValue(value) as? AnyHashable
    }
  }

  /// The values that properties had before the changes of the present event; `NSNull` for none.
  public func changedValuesForCurrentEvent() -> [String: Any] {
    present((self as ManagedObject).changedValuesForCurrentEvent())
  }

  /// The values of the last fetch or save; `NSNull` for none. An object that was never saved has no
  /// such values at all.
  ///
  /// - Parameter keys: the names of the properties; `nil` for all.
  public func committedValues(
    forKeys keys: [String]?, file: StaticString = #fileID, line: UInt = #line
  ) -> [String: Any] {
    if isInserted || objectID.isTemporaryID { return [:] }
    let names = keys ?? entityFacts.propertyNames
    let values = raising(file, line) { try (self as ManagedObject).committedValues(forKeys: names) }
    return present(Dictionary(names.map { ($0, values[$0]) }, uniquingKeysWith: { $1 }))
  }

  /// The IDs of the objects that a relationship refers to, without making the objects.
  public func objectIDs(
    forRelationshipNamed key: String, file: StaticString = #fileID, line: UInt = #line
  ) -> [NSManagedObjectID] {
    raising(file, line) { try (self as ManagedObject).objectIDs(forRelationshipNamed: key) }
  }

  /// Whether reading a relationship would go to the store.
  public func hasFault(
    forRelationshipNamed key: String, file: StaticString = #fileID, line: UInt = #line
  ) -> Bool {
    raising(file, line) { try (self as ManagedObject).hasFault(forRelationshipNamed: key) }
  }

  private func present(_ values: [String: Any?]) -> [String: Any] {
    Dictionary(
      uniqueKeysWithValues: values.map { ($0, cocoaValue($1, $0) ?? NSNull()) })
  }
}

extension EntityDescription {
  /// The names of all attributes and relationships.
  var propertyNames: [String] { attributes.map(\.name) + relationships.map(\.name) }
}
