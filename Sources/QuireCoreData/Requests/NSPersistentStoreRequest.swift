import Foundation
import Quire
import QuireModel

/// The kind of a request.
public enum NSPersistentStoreRequestType: UInt, Sendable {
  /// A fetch.
  case fetchRequestType = 1
  /// A save.
  case saveRequestType = 2
  /// The insertion of many objects.
  case batchInsertRequestType = 5
  /// The change of many objects.
  case batchUpdateRequestType = 6
  /// The deletion of many objects.
  case batchDeleteRequestType = 7
}

/// Something that a context executes.
open class NSPersistentStoreRequest: NSObject {
  /// The stores that are asked; `nil` for all.
  open var affectedStores: [NSPersistentStore]?
  /// The kind of the request.
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  var stores: [PersistentStore]? { affectedStores?.map(\.quireStore) }

  /// The result of the request in a context.
  func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    throw PersistenceError(
      .persistentStoreUnsupportedRequestType, "a context cannot execute a \(type(of: self))")
  }
}

/// The result of a request that a context has executed.
open class NSPersistentStoreResult: NSObject {}

extension NSManagedObjectContext {
  /// Executes any request: a fetch, a batch request, a request for history.
  @discardableResult
  public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    try translatingErrors { try request.run(in: self) }
  }

  /// The result of a fetch: objects, IDs, dictionaries or a number, as the request says.
  public func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType] {
    try translatingErrors { try request.results(in: self) }
  }

  /// The number of objects that a fetch would find.
  public func count<ResultType>(for request: NSFetchRequest<ResultType>) throws -> Int {
    try translatingErrors { try quireContext.count(for: try request.quireRequest(in: self)) }
  }
}
