import Foundation
import QuireCoreData

/// A store in a dictionary: rows have numbers, fetches compare dictionaries, rows do not say where
/// their relationships lead, and a save compares versions itself. It counts its calls, and fails
/// where a test wants that.
final class DictionaryStore: NSIncrementalStore {
  static let storeType = "DictionaryStore"

  /// What the stores of all coordinators have in common, as a server would.
  final class Server {
    var rows: [String: [Int: [String: Any]]] = [:]
    var versions: [String: [Int: UInt64]] = [:]
    var lastNumber = 0
    var metadata: [String: Any] = [
      NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: DictionaryStore.storeType,
    ]
    var calls: [String] = []
    var failures: [String: any Error] = [:]
    var usedIDs: [NSManagedObjectID: Int] = [:]
    var lastFetch: NSFetchRequest<NSFetchRequestResult>?
    var lastSave: NSSaveChangesRequest?
    /// What another program does while a save is under way.
    var interference: (() -> Void)?
    /// Versions begin here: at times, in stores that have no counter.
    var firstVersion: UInt64 = 1
    var isOpen = false
    /// What is thrown for a row that is not there.
    var missing: any Error = CocoaError(.managedObjectReferentialIntegrity)
    private(set) var isInside = false
    private(set) var overlapCount = 0

    /// Notices requests that come while another one is answered.
    func answering<Result>(_ body: () throws -> Result) rethrows -> Result {
      if isInside { overlapCount += 1 }
      isInside = true
      defer { isInside = false }
      return try body()
    }
  }

  static let serverOption = "DictionaryStoreServer"
  private var server: Server { options![Self.serverOption] as! Server }

  private func call(_ name: String) throws {
    server.calls.append(name)
    if let error = server.failures[name] { throw error }
  }

  override func loadMetadata() throws {
    try call("loadMetadata")
    metadata = server.metadata
  }

  override func didAdd(to coordinator: NSPersistentStoreCoordinator) { server.isOpen = true }
  override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
    server.isOpen = false
  }

  // MARK: Requests

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    try server.answering { try answer(to: request, context) }
  }

  private func answer(
    to request: NSPersistentStoreRequest, _ context: NSManagedObjectContext?
  ) throws -> Any {
    if let request = request as? NSSaveChangesRequest {
      try call("save")
      try save(request)
      server.metadata = metadata
      return [Any]()
    }
    let request = request as! NSFetchRequest<NSFetchRequestResult>
    server.lastFetch = request
    try call(request.resultType == .countResultType ? "count" : "fetch")
    let found = matches(request)
    if request.resultType == .countResultType { return [NSNumber(value: found.count)] }
    return NSArray(
      array: found.map { name, number in
        context!.object(with: id(name, number))
      })
  }

  private func matches(
    _ request: NSFetchRequest<NSFetchRequestResult>
  ) -> [(name: String, number: Int)] {
    let family = request.includesSubentities ? request.entity!.subentities : []
    var found = ([request.entity!] + family).flatMap { entity in
      server.rows[entity.name!, default: [:]].map { number, row in
        (name: entity.name!, number: number, row: row)
      }
    }
    if let predicate = request.predicate {
      found.removeAll { !predicate.evaluate(with: $0.row) }
    }
    for descriptor in (request.sortDescriptors ?? []).reversed() {
      found.sort { descriptor.compare($0.row, to: $1.row) == .orderedAscending }
    }
    let all = found.map { (name: $0.name, number: $0.number) }
    return request.fetchLimit > 0 ? Array(all.prefix(request.fetchLimit)) : all
  }

  private func id(_ entityName: String, _ number: Int) -> NSManagedObjectID {
    let model = persistentStoreCoordinator!.managedObjectModel
    return newObjectID(for: model.entitiesByName[entityName]!, referenceObject: number)
  }

  // MARK: Rows

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    try call("values")
    let (name, number) = (objectID.entity.name, referenceObject(for: objectID) as! Int)
    guard let row = server.rows[name]?[number] else {
      throw server.missing
    }
    // Relationships are asked for one by one.
    let values = row.filter { !($0.value is [NSManagedObjectID]) }
    return NSIncrementalStoreNode(
      objectID: objectID, withValues: values, version: server.versions[name]![number]!)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription,
    forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
  ) throws -> Any {
    try call("relationship \(relationship.name)")
    let row = server.rows[objectID.entity.name]?[referenceObject(for: objectID) as! Int]
    let ids = row?[relationship.name] as? [NSManagedObjectID] ?? []
    guard relationship.isToMany else { return ids.first ?? NSNull() }
    return relationship.isOrdered ? NSOrderedSet(array: ids) : NSSet(array: ids)
  }

  override func obtainPermanentIDs(
    for array: [NSManagedObject]
  ) throws -> [NSManagedObjectID] {
    try call("ids")
    return array.map { object in
      server.lastNumber += 1
      return newObjectID(for: object.entity, referenceObject: NSNumber(value: server.lastNumber))
    }
  }

  // MARK: Saves

  private func save(_ request: NSSaveChangesRequest) throws {
    server.lastSave = request
    server.interference?()
    server.interference = nil
    for object in request.updatedObjects ?? [] {
      let (name, number) = (object.entity.name!, referenceObject(for: object.objectID) as! Int)
      guard server.versions[name]?[number] != nil else {
        throw NSError(
          domain: NSCocoaErrorDomain, code: NSManagedObjectMergeError,
          userInfo: ["row": "\(name) \(number)"])
      }
    }
    for object in (request.insertedObjects ?? []).union(request.updatedObjects ?? []) {
      write(object)
    }
    for object in request.deletedObjects ?? [] {
      let number = referenceObject(for: object.objectID) as! Int
      server.rows[object.entity.name!]?[number] = nil
      server.versions[object.entity.name!]?[number] = nil
    }
  }

  private func write(_ object: NSManagedObject) {
    let (name, number) = (object.entity.name!, referenceObject(for: object.objectID) as! Int)
    var row = object.dictionaryWithValues(forKeys: Array(object.entity.attributesByName.keys))
    for (name, relationship) in object.entity.relationshipsByName {
      let members: [Any]
      switch object.value(forKey: name) {
      case let set as NSSet: members = set.allObjects
      case let list as NSOrderedSet: members = list.array
      case let one?: members = [one]
      case nil: members = []
      }
      precondition(relationship.isToMany || members.count < 2)
      row[name] = members.map { ($0 as! NSManagedObject).objectID }
    }
    server.rows[name, default: [:]][number] = row
    let version = server.versions[name]?[number].map { $0 + 1 } ?? server.firstVersion
    server.versions[name, default: [:]][number] = version
  }

  // MARK: Objects in use

  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    for id in objectIDs { server.usedIDs[id, default: 0] += 1 }
  }

  override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    for id in objectIDs { server.usedIDs[id, default: 0] -= 1 }
    server.usedIDs = server.usedIDs.filter { $0.value != 0 }
  }
}

extension DictionaryStore.Server {
  func coordinator() throws -> NSPersistentStoreCoordinator {
    try Gallery.coordinator(
      DictionaryStore.self, DictionaryStore.storeType,
      options: [DictionaryStore.serverOption: self])
  }

  func context() throws -> NSManagedObjectContext {
    Gallery.context(of: try coordinator())
  }

  /// Saves an artist with three works.
  func fill(_ context: NSManagedObjectContext) throws -> Artist {
    let artist = Artist(context: context)
    artist.name = "Hokusai"
    for (title, year) in [("Wave", 1831), ("Fuji", 1832), ("Self-portrait", 1839)] {
      Gallery.artwork(title, Int32(year), by: artist, in: context)
    }
    try context.save()
    _ = takeCalls()
    return artist
  }

  /// The calls since the last time.
  func takeCalls() -> [String] {
    defer { calls = [] }
    return calls
  }
}
