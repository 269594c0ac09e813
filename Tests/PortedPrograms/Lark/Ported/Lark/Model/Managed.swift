//
//  Managed.swift
//  Lark
//

import Foundation
import QuireCoreData

/// What every entity of the app can do: it knows its name, its usual order and which objects are
/// shown by default.
protocol Managed: AnyObject, NSFetchRequestResult {
  static var entity: NSEntityDescription { get }
  static var entityName: String { get }
  static var defaultSortDescriptors: [NSSortDescriptor] { get }
  static var defaultPredicate: NSPredicate { get }
  var managedObjectContext: NSManagedObjectContext? { get }
}

extension Managed {
  static var defaultSortDescriptors: [NSSortDescriptor] { return [] }
  static var defaultPredicate: NSPredicate { return NSPredicate(value: true) }

  static var sortedFetchRequest: NSFetchRequest<Self> {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.sortDescriptors = defaultSortDescriptors
    request.predicate = defaultPredicate
    return request
  }

  static func sortedFetchRequest(with predicate: NSPredicate) -> NSFetchRequest<Self> {
    let request = sortedFetchRequest
    guard let existing = request.predicate else { fatalError("must have predicate") }
    request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [existing, predicate])
    return request
  }

  static func predicate(format: String, _ args: Any...) -> NSPredicate {
    let p = NSPredicate(format: format, argumentArray: args)
    return predicate(p)
  }

  static func predicate(_ predicate: NSPredicate) -> NSPredicate {
    return NSCompoundPredicate(andPredicateWithSubpredicates: [defaultPredicate, predicate])
  }
}

extension Managed where Self: NSManagedObject {
  static var entity: NSEntityDescription { return entity() }
  static var entityName: String { return entity.name! }

  static func findOrCreate(
    in context: NSManagedObjectContext, matching predicate: NSPredicate, configure: (Self) -> Void
  ) -> Self {
    guard let object = findOrFetch(in: context, matching: predicate) else {
      let newObject: Self = context.insertObject()
      configure(newObject)
      return newObject
    }
    return object
  }

  static func findOrFetch(
    in context: NSManagedObjectContext, matching predicate: NSPredicate
  ) -> Self? {
    guard let object = materializedObject(in: context, matching: predicate) else {
      return fetch(in: context) { request in
        request.predicate = predicate
        request.returnsObjectsAsFaults = false
        request.fetchLimit = 1
      }.first
    }
    return object
  }

  static func materializedObject(
    in context: NSManagedObjectContext, matching predicate: NSPredicate
  ) -> Self? {
    for object in context.registeredObjects where !object.isFault {
      guard let result = object as? Self, predicate.evaluate(with: result) else { continue }
      return result
    }
    return nil
  }

  static func fetch(
    in context: NSManagedObjectContext,
    configurationBlock: (NSFetchRequest<Self>) -> Void = { _ in }
  ) -> [Self] {
    let request = NSFetchRequest<Self>(entityName: Self.entityName)
    configurationBlock(request)
    return try! context.fetch(request)
  }

  static func count(
    in context: NSManagedObjectContext, configure: (NSFetchRequest<Self>) -> Void = { _ in }
  ) -> Int {
    let request = NSFetchRequest<Self>(entityName: entityName)
    configure(request)
    return try! context.count(for: request)
  }
}

/// An object that is marked first, and deleted for good later.
protocol DelayedDeletable: AnyObject {
  var markedForDeletionDate: Date? { get set }
  func markForLocalDeletion()
}

let markedForDeletionDateKey = "markedForDeletionDate"

/// How long marked objects stay.
private let deletionAge = TimeInterval(2 * 60)

extension DelayedDeletable {
  static var notMarkedForLocalDeletionPredicate: NSPredicate {
    return NSPredicate(format: "%K == NULL", markedForDeletionDateKey)
  }
}

extension DelayedDeletable where Self: NSManagedObject {
  func markForLocalDeletion() {
    guard isFault || markedForDeletionDate == nil else { return }
    markedForDeletionDate = Date()
  }

  var hasChangedForDelayedDeletion: Bool {
    return changedValues()[markedForDeletionDateKey] as? Date != nil
  }
}

extension NSManagedObjectContext {
  /// Deletes for good what was marked a while ago.
  func batchDeleteObjectsMarkedForLocalDeletion(before date: Date = Date()) throws -> Int {
    let cutoff = date.addingTimeInterval(-deletionAge)
    let request = NSFetchRequest<NSFetchRequestResult>(entityName: Sighting.entityName)
    request.predicate = NSPredicate(
      format: "%K != NULL AND %K < %@", markedForDeletionDateKey, markedForDeletionDateKey,
      cutoff as NSDate)
    let batchRequest = NSBatchDeleteRequest(fetchRequest: request)
    batchRequest.resultType = .resultTypeCount
    let result = try execute(batchRequest) as! NSBatchDeleteResult
    return result.result as! Int
  }
}
