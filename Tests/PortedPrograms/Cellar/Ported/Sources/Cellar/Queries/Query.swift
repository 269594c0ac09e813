import Foundation
public import QuireCoreData

/// A class that can be asked for by a query.
public protocol Managed: NSManagedObject {
  static var entityName: String { get }
  static var defaultOrder: [NSSortDescriptor] { get }
}

extension Managed {
  @inlinable
  public static var entityName: String { entity().name ?? String(describing: self) }

  public static var defaultOrder: [NSSortDescriptor] { [] }

  @inlinable
  public static func query() -> Query<Self> { Query<Self>() }

  @inlinable
  public static func all(in context: NSManagedObjectContext) throws -> [Self] {
    try Query<Self>().fetch(in: context)
  }

  @inlinable
  public static func object(
    _ identifier: NSManagedObjectID, in context: NSManagedObjectContext
  ) -> Self? {
    context.registeredObject(for: identifier) as? Self
      ?? (try? context.existingObject(with: identifier)) as? Self
  }
}

extension Wine: Managed {
  public static let defaultOrder = [
    NSSortDescriptor(key: "name", ascending: true),
    NSSortDescriptor(key: "producer", ascending: true),
  ]
}

extension Bottle: Managed {
  public static let defaultOrder = [
    NSSortDescriptor(key: "wine.name", ascending: true),
    NSSortDescriptor(key: "vintage", ascending: true),
  ]
}

extension Note: Managed {
  public static var defaultOrder: [NSSortDescriptor] {
    [NSSortDescriptor(keyPath: \Note.writtenAt, ascending: false)]
  }
}

extension Shelf: Managed {
  public static var entityName: String { "Shelf" }
  public static let defaultOrder = [
    NSSortDescriptor(
      key: "label", ascending: true,
      selector: .localizedStandardCompare)
  ]
}

/// A request in parts, which is a value and can be kept.
public struct Query<Object: Managed> {
  public private(set) var predicates: [NSPredicate] = []
  public private(set) var order: [NSSortDescriptor]?
  public private(set) var limit = 0
  public private(set) var offset = 0
  public private(set) var prefetched: [String] = []

  public init() {}

  public func `where`(_ format: String, _ arguments: Any...) -> Query {
    var copy = self
    copy.predicates.append(NSPredicate(format: format, argumentArray: arguments))
    return copy
  }

  public func `where`(_ predicate: NSPredicate) -> Query {
    var copy = self
    copy.predicates.append(predicate)
    return copy
  }

  public func matching<Value>(_ keyPath: KeyPath<Object, Value>, _ value: Value) -> Query {
    let left = NSExpression(forKeyPath: keyPath)
    let right = NSExpression(forConstantValue: value)
    return self.where(
      NSComparisonPredicate(
        leftExpression: left, rightExpression: right, modifier: .direct, type: .equalTo,
        options: []))
  }

  public func sorted(by descriptors: NSSortDescriptor...) -> Query {
    var copy = self
    copy.order = descriptors
    return copy
  }

  public func sorted<Value>(
    by keyPath: KeyPath<Object, Value>, ascending: Bool = true
  ) -> Query {
    var copy = self
    copy.order = (order ?? []) + [NSSortDescriptor(keyPath: keyPath, ascending: ascending)]
    return copy
  }

  public func limited(to limit: Int, from offset: Int = 0) -> Query {
    var copy = self
    copy.limit = limit
    copy.offset = offset
    return copy
  }

  public func prefetching(_ keyPaths: String...) -> Query {
    var copy = self
    copy.prefetched += keyPaths
    return copy
  }

  // MARK: Running

  public var predicate: NSPredicate? {
    switch predicates.count {
    case 0: nil
    case 1: predicates[0]
    default: NSCompoundPredicate(andPredicateWithSubpredicates: predicates)
    }
  }

  public func request() -> NSFetchRequest<Object> {
    let request = NSFetchRequest<Object>(entityName: Object.entityName)
    configure(request)
    return request
  }

  private func configure<Result>(_ request: NSFetchRequest<Result>) {
    request.predicate = predicate
    request.sortDescriptors = order ?? Object.defaultOrder
    request.fetchLimit = limit
    request.fetchOffset = offset
    if !prefetched.isEmpty { request.relationshipKeyPathsForPrefetching = prefetched }
  }

  public func fetch(in context: NSManagedObjectContext) throws -> [Object] {
    try context.fetch(request())
  }

  public func first(in context: NSManagedObjectContext) throws -> Object? {
    try limited(to: 1).fetch(in: context).first
  }

  public func count(in context: NSManagedObjectContext) throws -> Int {
    try context.count(for: request())
  }

  public func identifiers(in context: NSManagedObjectContext) throws -> [NSManagedObjectID] {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: Object.entityName)
    configure(request)
    request.resultType = .managedObjectIDResultType
    return try context.fetch(request)
  }

  public func values(
    of keys: [String], in context: NSManagedObjectContext
  ) throws -> [[String: Any]] {
    let request = NSFetchRequest<NSDictionary>(entityName: Object.entityName)
    configure(request)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = keys
    return try context.fetch(request) as! [[String: Any]]
  }

  /// Deletes in the store, and tells contexts of it.
  @discardableResult
  public func deleteAll(
    in context: NSManagedObjectContext, merging others: [NSManagedObjectContext] = []
  ) throws -> Int {
    let request = NSFetchRequest<any NSFetchRequestResult>(self.request())
    request.sortDescriptors = nil
    let delete = NSBatchDeleteRequest(fetchRequest: request)
    delete.resultType = .resultTypeObjectIDs
    let result = try context.execute(delete) as? NSBatchDeleteResult
    let identifiers = result?.result as? [NSManagedObjectID] ?? []
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSDeletedObjectsKey: identifiers], into: [context] + others)
    return identifiers.count
  }
}
