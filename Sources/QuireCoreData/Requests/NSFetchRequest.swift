import Foundation
import Quire
import QuireModel

/// What a request may find: objects, IDs, dictionaries, numbers.
///
/// A request for any of them is an `NSFetchRequest<NSFetchRequestResult>`. Swift's generic classes
/// are not cast into each other: in place of `as! NSFetchRequest<NSFetchRequestResult>` the
/// variable gets that type where it is declared, or the request is converted:
/// `NSFetchRequest<NSFetchRequestResult>(request)`.
public protocol NSFetchRequestResult {}

extension ManagedObjectID: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The form of a fetch's result.
public struct NSFetchRequestResultType: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt
  /// A type of given bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }
  /// Objects.
  public static let managedObjectResultType = NSFetchRequestResultType([])
  /// IDs.
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  /// Dictionaries of the properties to fetch.
  public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
  /// The number of objects.
  public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// A search for objects of an entity: an object, which can be changed after it was passed on.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, NSCopying {
  private var name: String?
  /// The entity; that of ``entityName``, if the model that is in use has it.
  open var entity: NSEntityDescription?
  /// The name of the entity whose objects are found.
  open var entityName: String? { entity?.name ?? name }
  /// The condition; `nil` for all objects.
  open var predicate: NSPredicate?
  /// The order; `nil` for none.
  open var sortDescriptors: [NSSortDescriptor]?
  /// The largest number of objects; 0 for no limit.
  open var fetchLimit = 0
  /// The number of objects to leave out at the beginning.
  open var fetchOffset = 0
  /// Accepted: a fetch makes all objects, and each reads its row when it is needed.
  open var fetchBatchSize = 0
  /// Whether objects of subentities are found too.
  open var includesSubentities = true
  /// Whether unsaved changes count.
  open var includesPendingChanges = true
  /// Whether the values of objects are read with them.
  open var includesPropertyValues = true
  /// Whether objects may be faults.
  open var returnsObjectsAsFaults = true
  /// Whether objects in memory are refreshed.
  open var shouldRefreshRefetchedObjects = false
  /// The relationships whose objects are read as well.
  open var relationshipKeyPathsForPrefetching: [String]?
  /// The form of the result.
  open var resultType = NSFetchRequestResultType.managedObjectResultType
  /// The properties of dictionaries: names, attributes, relationships, `NSExpressionDescription`s.
  open var propertiesToFetch: [Any]?
  /// The properties by which dictionaries are grouped.
  open var propertiesToGroupBy: [Any]?
  /// The condition of groups.
  open var havingPredicate: NSPredicate?
  /// Whether equal dictionaries appear once.
  open var returnsDistinctResults = false

  /// A request whose entity is set later.
  public override init() {}

  /// A request for objects of an entity.
  public init(entityName: String) { name = entityName }

  /// A copy of a request with another type of results.
  ///
  /// ```swift
  /// let erased = NSFetchRequest<NSFetchRequestResult>(request)
  /// ```
  public convenience init<Other>(_ request: NSFetchRequest<Other>) {
    self.init()
    take(request)
  }

  /// A copy of a request whose type is not known, such as an incremental store gets it.
  ///
  /// A request that fetches nothing stops the program, as a cast does.
  // Generic, so that a request of a known type takes the initializer above.
  public convenience init(
    _ request: some NSPersistentStoreRequest, file: StaticString = #fileID, line: UInt = #line
  ) {
    guard let request = request as? any CopiedFetch else {
      fatalError("\(type(of: request)) is no NSFetchRequest", file: file, line: line)
    }
    self.init()
    take(request.erased)
  }

  convenience init(template: FetchRequestTemplate) {
    self.init(entityName: template.entityName)
    predicate = template.predicateFormat.map { NSPredicate(format: $0) }
    sortDescriptors = template.sortDescriptors.map {
      NSSortDescriptor(key: $0.key, ascending: $0.ascending)
    }
    fetchLimit = template.fetchLimit
    fetchBatchSize = template.fetchBatchSize
    includesSubentities = template.includesSubentities
    includesPropertyValues = template.includesPropertyValues
    includesPendingChanges = template.includesPendingChanges
    returnsObjectsAsFaults = template.returnsObjectsAsFaults
    returnsDistinctResults = template.returnsDistinctResults
    resultType = NSFetchRequestResultType(rawValue: UInt(template.resultType))
  }

  /// A copy, which can be changed without changing this one.
  public func copy(with zone: NSZone? = nil) -> Any { copied() }

  func copied() -> NSFetchRequest<ResultType> { converted() }

  /// A copy with another type of results.
  func converted<Other>() -> NSFetchRequest<Other> {
    NSFetchRequest<Other>(self)
  }

  private func take<Other>(_ other: NSFetchRequest<Other>) {
    name = other.name
    entity = other.entity
    affectedStores = other.affectedStores
    predicate = other.predicate
    sortDescriptors = other.sortDescriptors
    fetchLimit = other.fetchLimit
    fetchOffset = other.fetchOffset
    fetchBatchSize = other.fetchBatchSize
    includesSubentities = other.includesSubentities
    includesPendingChanges = other.includesPendingChanges
    includesPropertyValues = other.includesPropertyValues
    returnsObjectsAsFaults = other.returnsObjectsAsFaults
    shouldRefreshRefetchedObjects = other.shouldRefreshRefetchedObjects
    relationshipKeyPathsForPrefetching = other.relationshipKeyPathsForPrefetching
    resultType = other.resultType
    propertiesToFetch = other.propertiesToFetch
    propertiesToGroupBy = other.propertiesToGroupBy
    havingPredicate = other.havingPredicate
    returnsDistinctResults = other.returnsDistinctResults
  }

  // MARK: Quire's form

  /// The request as Quire takes it.
  func quireRequest(in context: NSManagedObjectContext?) throws -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: try nameOfEntity())
    request.predicate = try predicate?.fetchPredicate()
    request.sortDescriptors = try (sortDescriptors ?? []).map { try $0.fetchSortDescriptor() }
    request.fetchLimit = fetchLimit
    request.fetchOffset = fetchOffset
    request.fetchBatchSize = fetchBatchSize
    request.includesSubentities = includesSubentities
    request.includesPendingChanges = includesPendingChanges
    request.includesPropertyValues = includesPropertyValues
    request.returnsObjectsAsFaults = returnsObjectsAsFaults
    request.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    request.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching ?? []
    request.havingPredicate = try havingPredicate?.fetchPredicate()
    request.returnsDistinctResults = returnsDistinctResults
    request.propertiesToFetch = try (propertiesToFetch ?? []).map(description)
    request.propertiesToGroupBy = try (propertiesToGroupBy ?? []).map(description)
    request.affectedStores = stores
    return request
  }

  private func nameOfEntity() throws -> String {
    if let entityName { return entityName }
    if let type = ResultType.self as? NSManagedObject.Type { return type.modelEntityName }
    throw PersistenceError(.undefinedKey, "a fetch request has no entity: set entity or entityName")
  }

  private func description(_ property: Any) throws -> ExpressionDescription {
    switch property {
    case let name as String: return ExpressionDescription(name)
    case let computed as NSExpressionDescription:
      guard let expression = computed.expression else {
        throw PersistenceError(
          .invalidExpression, "the expression description \(computed.name) has no expression")
      }
      return ExpressionDescription(computed.name, expression.fetchExpression)
    case let property as NSPropertyDescription: return ExpressionDescription(property.name)
    default:
      throw PersistenceError(.unacceptableValue, "\(property) is no property to fetch")
    }
  }

  /// What the request finds.
  func results(in context: NSManagedObjectContext) throws -> [ResultType] {
    let request = try quireRequest(in: context)
    let base = context.quireContext
    if resultType.contains(.dictionaryResultType) {
      return try base.dictionaries(for: withProperties(request, in: context)).map {
        try cast(dictionary($0))
      }
    }
    if resultType.contains(.countResultType) {
      return [try cast(NSNumber(value: try base.count(for: request)))]
    }
    if resultType.contains(.managedObjectIDResultType) {
      return try base.objectIDs(for: request).map(cast)
    }
    let objects = try base.fetch(request)
    return try objects as? [ResultType] ?? objects.map(cast)
  }

  private func cast(_ value: Any) throws -> ResultType {
    if let result = value as? ResultType { return result }
    throw PersistenceError(
      .unacceptableValue,
      "the fetch of \(entityName ?? "") found a \(type(of: value)), and wants a \(ResultType.self)")
  }

  /// All attributes, where a request for dictionaries names no properties.
  private func withProperties(
    _ request: FetchRequest<ManagedObject>, in context: NSManagedObjectContext
  ) -> FetchRequest<ManagedObject> {
    guard request.propertiesToFetch.isEmpty else { return request }
    let model = context.persistentStoreCoordinator?.quireCoordinator.managedObjectModel
    var request = request
    request.propertiesToFetch =
      model?.entity(named: request.entityName)?.attributes.filter { !$0.isTransient }
      .map { ExpressionDescription($0.name) } ?? []
    return request
  }

  private func dictionary(_ values: [String: Any]) -> NSDictionary {
    let computed = (propertiesToFetch ?? []).compactMap { $0 as? NSExpressionDescription }
    let result = NSMutableDictionary()
    for (name, value) in values {
      guard let value = unwrapped(value) else { continue }
      let description = computed.first { $0.name == name }
      result[name] = description?.typed(value) ?? cocoaNumber(value)
    }
    return result
  }

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    NSAsynchronousFetchResult(self, try results(in: context))
  }

  /// The request as a model keeps it.
  func template(named name: String) throws -> FetchRequestTemplate {
    var template = FetchRequestTemplate(name: name, entityName: try nameOfEntity())
    template.predicateFormat = try predicate?.fetchPredicate().description
    template.sortDescriptors = try (sortDescriptors ?? []).map { try $0.fetchSortDescriptor() }
    template.fetchLimit = fetchLimit
    template.fetchBatchSize = fetchBatchSize
    template.resultType = Int(resultType.rawValue)
    template.includesSubentities = includesSubentities
    template.includesPropertyValues = includesPropertyValues
    template.includesPendingChanges = includesPendingChanges
    template.returnsObjectsAsFaults = returnsObjectsAsFaults
    template.returnsDistinctResults = returnsDistinctResults
    return template
  }
}

/// A fetch whose result is passed to a block when it is there.
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
  /// The fetch.
  public let fetchRequest: NSFetchRequest<ResultType>
  /// The block that gets the result.
  public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  /// Accepted: no estimate is needed.
  open var estimatedResultCount = 0

  /// A fetch and the block that gets its result.
  public init(
    fetchRequest: NSFetchRequest<ResultType>,
    completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  ) {
    self.fetchRequest = fetchRequest
    self.completionBlock = completionBlock
  }

  /// Fetches on the context's queue, later, and calls the block there.
  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let result = NSAsynchronousFetchResult(fetchRequest, nil)
    context.perform { [self] in
      do {
        result.finalResult = try context.fetch(fetchRequest)
      } catch {
        result.operationError = error
      }
      completionBlock?(result)
    }
    return result
  }
}

/// The result of a fetch that a context has executed.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreResult {
  /// The fetch.
  public let fetchRequest: NSFetchRequest<ResultType>
  /// What was found; `nil` before it is there.
  public internal(set) var finalResult: [ResultType]?
  /// The error of the fetch.
  public internal(set) var operationError: (any Error)?

  init(_ request: NSFetchRequest<ResultType>, _ result: [ResultType]?) {
    fetchRequest = request
    finalResult = result
  }
}

/// A fetch request of any type.
private protocol CopiedFetch {
  var erased: NSFetchRequest<any NSFetchRequestResult> { get }
}

extension NSFetchRequest: CopiedFetch {
  fileprivate var erased: NSFetchRequest<any NSFetchRequestResult> { converted() }
}
