import Foundation
import QuireCoreData

/// A store in one JSON file, as Apple's documentation leads to it: rows have UUIDs, fetches compare
/// objects, relationships are lists of UUIDs, and the whole file is written by each save.
final class JSONStore: NSIncrementalStore {
  static let storeType = "JSONStore"

  private var rows: [String: [String: [String: Any]]] = [:]

  override var type: String { Self.storeType }

  override func loadMetadata() throws {
    guard let url, FileManager.default.fileExists(atPath: url.path) else {
      metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: Self.storeType]
      return
    }
    let content = try JSONSerialization.jsonObject(with: Data(contentsOf: url))
    guard let content = content as? [String: Any],
      let metadata = content["metadata"] as? [String: Any]
    else { throw CocoaError(.fileReadCorruptFile) }
    self.metadata = metadata
    rows = content["rows"] as? [String: [String: [String: Any]]] ?? [:]
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    switch request.requestType {
    case .fetchRequestType:
      return try fetch(request as! NSFetchRequest<NSFetchRequestResult>, context!)
    case .saveRequestType:
      try save(request as! NSSaveChangesRequest)
      return []
    default:
      throw NSError(
        domain: NSCocoaErrorDomain, code: NSPersistentStoreUnsupportedRequestTypeError)
    }
  }

  private func entities(_ entity: NSEntityDescription) -> [NSEntityDescription] {
    [entity] + entity.subentities.flatMap(entities)
  }

  private func fetch(
    _ request: NSFetchRequest<NSFetchRequestResult>, _ context: NSManagedObjectContext
  ) throws -> Any {
    let entity = request.entity!
    let searched = request.includesSubentities ? entities(entity) : [entity]
    var objects = searched.flatMap { entity in
      rows[entity.name!, default: [:]].keys.sorted().map {
        context.object(with: newObjectID(for: entity, referenceObject: $0))
      }
    }
    if let predicate = request.predicate {
      objects = objects.filter { predicate.evaluate(with: $0) }
    }
    if let descriptors = request.sortDescriptors {
      objects =
        NSArray(array: objects).sortedArray(using: descriptors) as! [NSManagedObject]
    }
    objects = Array(objects.dropFirst(request.fetchOffset))
    if request.fetchLimit > 0 { objects = Array(objects.prefix(request.fetchLimit)) }
    switch request.resultType {
    case .countResultType: return [NSNumber(value: objects.count)]
    case .managedObjectIDResultType: return objects.map(\.objectID)
    default: return objects
    }
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    let row = try row(of: objectID)
    var values: [String: Any] = [:]
    let entity = persistentStoreCoordinator!.managedObjectModel.entitiesByName[
      objectID.entity.name]!
    for (name, attribute) in entity.attributesByName {
      guard let value = row[name], !(value is NSNull) else {
        values[name] = NSNull()
        continue
      }
      switch attribute.attributeType {
      case .dateAttributeType:
        values[name] = Date(timeIntervalSinceReferenceDate: value as! TimeInterval)
      case .decimalAttributeType: values[name] = NSDecimalNumber(string: value as? String)
      default: values[name] = value
      }
    }
    let version = (row["version"] as? NSNumber)?.uint64Value ?? 1
    return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: version)
  }

  private func row(of objectID: NSManagedObjectID) throws -> [String: Any] {
    let reference = referenceObject(for: objectID) as! String
    if let row = rows[objectID.entity.name]?[reference] { return row }
    throw NSError(domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription,
    forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
  ) throws -> Any {
    let references = try row(of: objectID)[relationship.name] as? [String] ?? []
    let ids = references.compactMap { reference in
      entities(relationship.destinationEntity!).first { rows[$0.name!]?[reference] != nil }.map {
        newObjectID(for: $0, referenceObject: reference)
      }
    }
    if relationship.isToMany { return ids }
    return ids.first ?? NSNull()
  }

  override func obtainPermanentIDs(
    for array: [NSManagedObject]
  ) throws -> [NSManagedObjectID] {
    array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
  }

  private func save(_ request: NSSaveChangesRequest) throws {
    var new = rows
    for object in (request.insertedObjects ?? []).union(request.updatedObjects ?? []) {
      let reference = referenceObject(for: object.objectID) as! String
      let version = new[object.entity.name!]?[reference]?["version"] as? Int ?? 0
      var row: [String: Any] = ["version": version + 1]
      for name in object.entity.attributesByName.keys {
        switch object.value(forKey: name) {
        case let date as Date: row[name] = date.timeIntervalSinceReferenceDate
        case let decimal as NSDecimalNumber: row[name] = decimal.stringValue
        case let value?: row[name] = value
        case nil: row[name] = NSNull()
        }
      }
      for name in object.entity.relationshipsByName.keys {
        row[name] = object.objectIDs(forRelationshipNamed: name).map {
          referenceObject(for: $0) as! String
        }
      }
      new[object.entity.name!, default: [:]][reference] = row
    }
    for object in request.deletedObjects ?? [] {
      new[object.entity.name!]?[referenceObject(for: object.objectID) as! String] = nil
    }
    let content = ["metadata": metadata!, "rows": new] as [String: Any]
    try JSONSerialization.data(withJSONObject: content, options: .sortedKeys).write(to: url!)
    rows = new
  }
}
