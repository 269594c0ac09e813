import Foundation
public import QuireCoreData

extension NSManagedObjectContext {
  /// The object of an identifier, of the type that is asked for.
  public func existingObject<Object: NSManagedObject>(
    with identifier: NSManagedObjectID, as type: Object.Type
  ) throws -> Object {
    let object: NSManagedObject
    do {
      object = try existingObject(with: identifier)
    } catch let error as NSError where error.code == NSManagedObjectReferentialIntegrityError {
      throw CellarError.notFound(identifier)
    }
    guard let typed = object as? Object else {
      throw CellarError.wrongType(expected: "\(type)")
    }
    return typed
  }

  @inlinable
  public func first<Object: NSManagedObject>(
    _ type: Object.Type, _ key: String, _ value: Any
  ) throws -> Object? {
    let request = NSFetchRequest<Object>(entityName: type.entity().name!)
    request.predicate = NSPredicate(format: "%K == %@", argumentArray: [key, value])
    request.fetchLimit = 1
    return try fetch(request).first
  }

  @inlinable
  public func insert<Object: NSManagedObject>(
    _ type: Object.Type, _ configure: (Object) throws -> Void
  ) rethrows -> Object {
    let object = type.init(context: self)
    try configure(object)
    return object
  }

  /// One figure of all objects.
  public func aggregate(
    _ type: NSManagedObject.Type, _ function: String, of key: String
  ) throws -> Int? {
    let description = NSExpressionDescription()
    description.name = "result"
    description.expression = NSExpression(
      forFunction: function, arguments: [NSExpression(forKeyPath: key)])
    description.resultType = .integer64
    let request = NSFetchRequest<NSDictionary>(entityName: type.entity().name!)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [description]
    return try fetch(request).first?["result"] as? Int
  }

  /// Saves this context and its parents.
  public func saveToStore() throws {
    var context: NSManagedObjectContext? = self
    while let current = context {
      try current.performAndWait {
        if current.hasChanges { try current.save() }
      }
      context = current.parent
    }
  }
}

extension Sequence where Element: NSManagedObject {
  /// What can leave the context.
  @inlinable
  public var identifiers: [NSManagedObjectID] { map(\.objectID) }

  @inlinable
  public func sorted(by descriptors: [NSSortDescriptor]) -> [Element] {
    (Array(self) as NSArray).sortedArray(using: descriptors) as! [Element]
  }

  @inlinable
  public func filtered(by predicate: NSPredicate) -> [Element] {
    filter { predicate.evaluate(with: $0) }
  }
}

extension Collection where Element == NSManagedObjectID {
  /// Objects of a context, in the order of their identifiers; those that are gone are left out.
  public func objects<Object: NSManagedObject>(
    _ type: Object.Type, in context: NSManagedObjectContext
  ) -> [Object] {
    compactMap { try? context.existingObject(with: $0, as: type) }
  }
}
