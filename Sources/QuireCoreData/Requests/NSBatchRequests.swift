import Foundation
import Quire
import QuireModel

/// The form of the result of a batch insertion.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  /// Whether it succeeded.
  case statusOnly = 0
  /// The IDs of the objects.
  case objectIDs = 1
  /// The number of objects.
  case count = 2
}

/// The form of the result of a batch update.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  /// Whether it succeeded.
  case statusOnlyResultType = 0
  /// The IDs of the objects.
  case updatedObjectIDsResultType = 1
  /// The number of objects.
  case updatedObjectsCountResultType = 2
}

/// The form of the result of a batch deletion.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  /// Whether it succeeded.
  case resultTypeStatusOnly = 0
  /// The IDs of the objects.
  case resultTypeObjectIDs = 1
  /// The number of objects.
  case resultTypeCount = 2
}

private func batchType(_ rawValue: UInt) -> BatchResultType {
  BatchResultType(rawValue: Int(rawValue)) ?? .statusOnly
}

private func plainResult(_ result: BatchResult) -> Any? { result.result.map { cocoaNumber($0) } }

// MARK: - Insertion

/// The insertion of many objects without contexts.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
  /// The name of the entity.
  public let entityName: String
  /// The values of the objects, by name.
  open var objectsToInsert: [[String: Any]]?
  /// Fills the values of the next object, or returns `true` at the end.
  open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
  /// The form of the result.
  open var resultType = NSBatchInsertRequestResultType.statusOnly
  /// The kind of the request.
  open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

  /// The insertion of objects with given values.
  public init(entityName: String, objects dictionaries: [[String: Any]]) {
    self.entityName = entityName
    objectsToInsert = dictionaries
  }

  /// The insertion of objects with given values.
  public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
    self.init(entityName: entity.name ?? "", objects: dictionaries)
  }

  /// The insertion of objects whose values a block gives, one after the other.
  public init(
    entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.entityName = entityName
    dictionaryHandler = handler
  }

  /// The insertion of objects whose values a block gives, one after the other.
  public convenience init(
    entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entityName: entity.name ?? "", dictionaryHandler: handler)
  }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    var request: BatchInsertRequest
    if let handler = dictionaryHandler {
      request = BatchInsertRequest(entityName: entityName) { values in
        let dictionary = NSMutableDictionary()
        if handler(dictionary) { return true }
        values = plainValue(dictionary) as? [String: Any] ?? [:]
        return false
      }
    } else {
      let objects = (objectsToInsert ?? []).map { $0.compactMapValues { plainValue($0) } }
      request = BatchInsertRequest(entityName: entityName, objects: objects)
    }
    request.resultType = batchType(resultType.rawValue)
    request.affectedStores = stores
    return NSBatchInsertResult(try context.quireContext.execute(request), resultType)
  }
}

/// The result of a batch insertion.
open class NSBatchInsertResult: NSPersistentStoreResult {
  /// A flag, `[NSManagedObjectID]` or a number, as ``resultType`` says.
  public let result: Any?
  /// The form of the result.
  public let resultType: NSBatchInsertRequestResultType

  init(_ result: BatchResult, _ type: NSBatchInsertRequestResultType) {
    self.result = plainResult(result)
    resultType = type
  }
}

// MARK: - Update

/// The change of many objects without contexts.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
  /// The name of the entity.
  public let entityName: String
  /// The condition of the objects; `nil` for all.
  open var predicate: NSPredicate?
  /// Whether objects of subentities are changed too.
  open var includesSubentities = true
  /// The new values by name or description: values and `NSExpression`s.
  open var propertiesToUpdate: [AnyHashable: Any]?
  /// The form of the result.
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType
  /// The kind of the request.
  open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

  /// The change of objects of an entity.
  public init(entityName: String) { self.entityName = entityName }

  /// The change of objects of an entity.
  public convenience init(entity: NSEntityDescription) { self.init(entityName: entity.name ?? "") }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    var request = BatchUpdateRequest(entityName: entityName)
    request.predicate = try predicate?.fetchPredicate()
    request.includesSubentities = includesSubentities
    for (key, value) in propertiesToUpdate ?? [:] {
      let name = (key.base as? NSPropertyDescription)?.name ?? "\(key.base)"
      let new = (value as? NSExpression).map { $0.fetchExpression as Any } ?? plainValue(value)
      request.propertiesToUpdate.updateValue(new, forKey: name)
    }
    request.resultType = batchType(resultType.rawValue)
    request.affectedStores = stores
    return NSBatchUpdateResult(try context.quireContext.execute(request), resultType)
  }
}

/// The result of a batch update.
open class NSBatchUpdateResult: NSPersistentStoreResult {
  /// A flag, `[NSManagedObjectID]` or a number, as ``resultType`` says.
  public let result: Any?
  /// The form of the result.
  public let resultType: NSBatchUpdateRequestResultType

  init(_ result: BatchResult, _ type: NSBatchUpdateRequestResultType) {
    self.result = plainResult(result)
    resultType = type
  }
}

// MARK: - Deletion

/// The deletion of many objects without contexts.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
  private let fetch: NSFetchRequest<NSFetchRequestResult>?
  private let ids: [NSManagedObjectID]
  /// A copy of the fetch that finds the objects; for those of IDs, one that finds these.
  open var fetchRequest: NSFetchRequest<NSFetchRequestResult> {
    if let fetch { return fetch.copied() }
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: ids.first?.entity.name ?? "")
    request.predicate = NSPredicate(format: "SELF IN %@", ids)
    return request
  }
  /// The form of the result.
  open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly
  /// The kind of the request.
  open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

  /// The deletion of what a fetch finds, whatever the type of its results.
  public init<ResultType>(fetchRequest fetch: NSFetchRequest<ResultType>) {
    self.fetch = fetch.converted()
    ids = []
  }

  /// The deletion of objects by their IDs.
  public init(objectIDs objects: [NSManagedObjectID]) {
    fetch = nil
    ids = objects
  }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    var request: BatchDeleteRequest
    if let fetch {
      request = BatchDeleteRequest(fetchRequest: try fetch.quireRequest(in: context))
    } else {
      request = BatchDeleteRequest(objectIDs: ids)
    }
    request.resultType = batchType(resultType.rawValue)
    request.affectedStores = stores
    return NSBatchDeleteResult(try context.quireContext.execute(request), resultType)
  }
}

/// The result of a batch deletion.
open class NSBatchDeleteResult: NSPersistentStoreResult {
  /// A flag, `[NSManagedObjectID]` or a number, as ``resultType`` says.
  public let result: Any?
  /// The form of the result.
  public let resultType: NSBatchDeleteRequestResultType

  init(_ result: BatchResult, _ type: NSBatchDeleteRequestResultType) {
    self.result = plainResult(result)
    resultType = type
  }
}
