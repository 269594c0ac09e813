import Foundation
import Quire
import QuireModel

// Functions without the location of their call among their arguments: as values,
// `ids.map(context.object(with:))`, and for protocols of the program's that ask for one of them. A
// call takes the function of the class, as Swift prefers it to one of a protocol.

extension NSFetchRequestResult where Self: NSManagedObject {
  /// The value of a property.
  public func value(forKey key: String) -> Any? {
    value(forKey: key, file: #fileID, line: #line)
  }
  /// Sets a property.
  public func setValue(_ value: Any?, forKey key: String) {
    setValue(value, forKey: key, file: #fileID, line: #line)
  }
  /// The value at the end of a path of names.
  public func value(forKeyPath path: String) -> Any? {
    value(forKeyPath: path, file: #fileID, line: #line)
  }
  /// Sets the property at the end of a path of names.
  public func setValue(_ value: Any?, forKeyPath path: String) {
    setValue(value, forKeyPath: path, file: #fileID, line: #line)
  }
  /// The values of some properties.
  public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    dictionaryWithValues(forKeys: keys, file: #fileID, line: #line)
  }
  /// Sets several properties.
  public func setValuesForKeys(_ values: [String: Any]) {
    setValuesForKeys(values, file: #fileID, line: #line)
  }
  /// The value of a property, without the rest of what an accessor does.
  public func primitiveValue(forKey key: String) -> Any? {
    primitiveValue(forKey: key, file: #fileID, line: #line)
  }
  /// Sets a property, without the rest of what an accessor does.
  public func setPrimitiveValue(_ value: Any?, forKey key: String) {
    setPrimitiveValue(value, forKey: key, file: #fileID, line: #line)
  }
  /// The unordered to-many relationship of a name, to be changed in place.
  public func mutableSetValue(forKey key: String) -> RelationshipSet {
    mutableSetValue(forKey: key, file: #fileID, line: #line)
  }
  /// The ordered relationship of a name, to be changed in place.
  public func mutableOrderedSetValue(forKey key: String) -> RelationshipOrderedSet {
    mutableOrderedSetValue(forKey: key, file: #fileID, line: #line)
  }
  /// The values of the last fetch or save.
  public func committedValues(forKeys keys: [String]?) -> [String: Any] {
    committedValues(forKeys: keys, file: #fileID, line: #line)
  }
  /// The IDs of the objects that a relationship refers to.
  public func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
    objectIDs(forRelationshipNamed: key, file: #fileID, line: #line)
  }
  /// Whether reading a relationship would go to the store.
  public func hasFault(forRelationshipNamed key: String) -> Bool {
    hasFault(forRelationshipNamed: key, file: #fileID, line: #line)
  }
}

extension Sequence where Self == RelationshipSet {
  /// Adds an object, unless it is there.
  public func add(_ object: NSManagedObject) { add(object, file: #fileID, line: #line) }
  /// Removes an object, if it is there.
  public func remove(_ object: NSManagedObject) { remove(object, file: #fileID, line: #line) }
}

extension Sequence where Self == RelationshipOrderedSet {
  /// Adds an object at the end, unless it is there.
  public func add(_ object: NSManagedObject) { add(object, file: #fileID, line: #line) }
  /// Removes an object, if it is there.
  public func remove(_ object: NSManagedObject) { remove(object, file: #fileID, line: #line) }
}

extension NSObjectProtocol where Self: NSManagedObjectContext {
  /// The object with an ID; a fault, if it is not in memory.
  public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    object(with: objectID, file: #fileID, line: #line)
  }
}

extension NSObjectProtocol where Self: NSIncrementalStore {
  /// The ID of the row that the store knows by a reference.
  public func newObjectID(
    for entity: NSEntityDescription, referenceObject data: Any
  ) -> NSManagedObjectID {
    newObjectID(for: entity, referenceObject: data, file: #fileID, line: #line)
  }
  /// The reference by which the store knows the row of an ID.
  public func referenceObject(for objectID: NSManagedObjectID) -> Any {
    referenceObject(for: objectID, file: #fileID, line: #line)
  }
}
