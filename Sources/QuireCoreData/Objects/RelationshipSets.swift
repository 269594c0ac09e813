import Foundation
import Quire

/// An unordered to-many relationship, to be read and changed in place, with the methods of
/// `NSMutableSet`.
///
/// A view: each call reads what the relationship has at that moment. An object of another entity
/// or context stops the program with the error's text, where Core Data raises an exception.
public final class RelationshipSet: Sequence {
  let members: MutableMembers

  init(_ members: MutableMembers) { self.members = members }

  /// The number of objects.
  public var count: Int { members.count }
  /// The objects, in no order.
  public var allObjects: [Any] { Array(members) }
  /// Any of the objects.
  public func anyObject() -> Any? { members.first { _ in true } }
  /// Whether an object is in the relationship.
  public func contains(_ object: Any) -> Bool {
    (object as? ManagedObject).map(members.contains) ?? false
  }

  /// Each object once.
  public func makeIterator() -> IndexingIterator<[NSManagedObject]> {
    members.map { $0 as! NSManagedObject }.makeIterator()
  }

  /// Adds an object, unless it is there.
  public func add(_ object: Any, file: StaticString = #fileID, line: UInt = #line) {
    raising(file, line) { try members.add(managedObject(object)) }
  }
  /// Adds objects, unless they are there.
  public func addObjects(from array: [Any], file: StaticString = #fileID, line: UInt = #line) {
    for object in array { add(object, file: file, line: line) }
  }
  /// Removes an object, if it is there.
  public func remove(_ object: Any, file: StaticString = #fileID, line: UInt = #line) {
    raising(file, line) { try members.remove(managedObject(object)) }
  }
  /// Removes all objects.
  public func removeAllObjects(file: StaticString = #fileID, line: UInt = #line) {
    raising(file, line) { try members.removeAll() }
  }
  /// Adds the objects of a set.
  public func union(_ other: Set<AnyHashable>, file: StaticString = #fileID, line: UInt = #line) {
    for object in other { add(object.base, file: file, line: line) }
  }
  /// Removes the objects of a set.
  public func minus(_ other: Set<AnyHashable>, file: StaticString = #fileID, line: UInt = #line) {
    for object in other { remove(object.base, file: file, line: line) }
  }
  /// Removes all objects that are not in a set.
  public func intersect(_ other: Set<AnyHashable>) {
    for object in Array(members) where !other.contains(AnyHashable(object)) { remove(object) }
  }
  /// Puts the objects of a set in the place of those that are there.
  public func setSet(_ other: Set<AnyHashable>, file: StaticString = #fileID, line: UInt = #line) {
    intersect(other)
    union(other, file: file, line: line)
  }
  /// Keeps the objects for which a predicate holds.
  public func filter(using predicate: NSPredicate) {
    for object in Array(members) where !predicate.evaluate(with: object) { remove(object) }
  }
}

/// An ordered to-many relationship, to be read and changed in place, with the methods of
/// `NSMutableOrderedSet`. A view, as ``RelationshipSet`` is.
public final class RelationshipOrderedSet: Sequence {
  let members: MutableOrderedMembers

  init(_ members: MutableOrderedMembers) { self.members = members }

  /// The number of objects.
  public var count: Int { members.count }
  /// The objects in order.
  public var array: [Any] { members.array }
  /// The first object.
  public var firstObject: Any? { members.array.first }
  /// The last object.
  public var lastObject: Any? { members.array.last }
  /// Whether an object is in the relationship.
  public func contains(_ object: Any) -> Bool {
    (object as? ManagedObject).map(members.contains) ?? false
  }
  /// The position of an object; `NSNotFound` if it is not there.
  public func index(of object: Any) -> Int {
    (object as? ManagedObject).flatMap(members.index) ?? NSNotFound
  }
  /// The object at a position.
  public func object(
    at index: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> Any {
    raising(file, line) { try members.object(at: index) }
  }
  /// The object at a position.
  public subscript(
    index: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> Any {
    object(at: index, file: file, line: line)
  }

  /// The objects in order.
  public func makeIterator() -> IndexingIterator<[NSManagedObject]> {
    members.array.map { $0 as! NSManagedObject }.makeIterator()
  }

  /// Adds an object at the end, unless it is there.
  public func add(_ object: Any, file: StaticString = #fileID, line: UInt = #line) {
    raising(file, line) { try members.add(managedObject(object)) }
  }
  /// Adds objects at the end, unless they are there.
  public func addObjects(from array: [Any], file: StaticString = #fileID, line: UInt = #line) {
    for object in array { add(object, file: file, line: line) }
  }
  /// Inserts an object before the one at a position.
  public func insert(
    _ object: Any, at index: Int, file: StaticString = #fileID, line: UInt = #line
  ) {
    raising(file, line) { try members.insert(managedObject(object), at: index) }
  }
  /// Removes an object, if it is there.
  public func remove(_ object: Any, file: StaticString = #fileID, line: UInt = #line) {
    raising(file, line) { try members.remove(managedObject(object)) }
  }
  /// Removes the object at a position.
  public func removeObject(at index: Int, file: StaticString = #fileID, line: UInt = #line) {
    raising(file, line) { try members.removeObject(at: index) }
  }
  /// Removes all objects.
  public func removeAllObjects(file: StaticString = #fileID, line: UInt = #line) {
    raising(file, line) { try members.removeAll() }
  }
  /// Puts an object in the place of another.
  public func replaceObject(
    at index: Int, with object: Any, file: StaticString = #fileID, line: UInt = #line
  ) {
    raising(file, line) { try members.replaceObject(at: index, with: managedObject(object)) }
  }
  /// Moves objects before the one at a position, which is counted without them.
  public func moveObjects(
    at indexes: IndexSet, to index: Int, file: StaticString = #fileID, line: UInt = #line
  ) {
    raising(file, line) { try members.moveObjects(at: indexes, to: index) }
  }
  /// Lets two objects change positions.
  public func exchangeObject(
    at first: Int, withObjectAt second: Int, file: StaticString = #fileID, line: UInt = #line
  ) {
    raising(file, line) { try members.exchangeObject(at: first, withObjectAt: second) }
  }
}

// The same for objects whose class is known: without a conversion to `Any` Swift prefers these to
// the functions of Quire's collections, which throw.
extension RelationshipSet {
  /// Adds an object, unless it is there.
  public func add(_ object: NSManagedObject, file: StaticString = #fileID, line: UInt = #line) {
    raising(file, line) { try members.add(object) }
  }
  /// Removes an object, if it is there.
  public func remove(_ object: NSManagedObject, file: StaticString = #fileID, line: UInt = #line) {
    raising(file, line) { try members.remove(object) }
  }
  /// Whether an object is in the relationship.
  public func contains(_ object: NSManagedObject) -> Bool { members.contains(object) }
}

extension RelationshipOrderedSet {
  /// Adds an object at the end, unless it is there.
  public func add(_ object: NSManagedObject, file: StaticString = #fileID, line: UInt = #line) {
    raising(file, line) { try members.add(object) }
  }
  /// Inserts an object before the one at a position.
  public func insert(
    _ object: NSManagedObject, at index: Int, file: StaticString = #fileID, line: UInt = #line
  ) {
    raising(file, line) { try members.insert(object, at: index) }
  }
  /// Removes an object, if it is there.
  public func remove(_ object: NSManagedObject, file: StaticString = #fileID, line: UInt = #line) {
    raising(file, line) { try members.remove(object) }
  }
  /// Puts an object in the place of another.
  public func replaceObject(
    at index: Int, with object: NSManagedObject, file: StaticString = #fileID, line: UInt = #line
  ) {
    raising(file, line) { try members.replaceObject(at: index, with: object) }
  }
  /// Whether an object is in the relationship.
  public func contains(_ object: NSManagedObject) -> Bool { members.contains(object) }
}

private func managedObject(_ object: Any) throws -> ManagedObject {
  if let object = object as? ManagedObject { return object }
  throw PersistenceError(
    .unacceptableValue, "a relationship refers to managed objects, not to \(type(of: object))")
}
