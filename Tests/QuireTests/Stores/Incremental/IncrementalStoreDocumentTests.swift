import Quire
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

struct ServiceStore: IncrementalStore {
  let service: Service

  func loadMetadata() throws -> IncrementalStoreMetadata {
    IncrementalStoreMetadata(identifier: service.identifier)
  }

  func execute(_ request: IncrementalStoreFetch) throws -> IncrementalStoreAnswer {
    IncrementalStoreAnswer(try request.entityNames.flatMap { try service.keys(of: $0) })
  }

  func newValues(forObjectsWith keys: [IncrementalStoreKey]) throws -> [IncrementalStoreNode] {
    try service.rows(at: keys)
  }

  func obtainPermanentIDs(for entityNames: [String]) throws -> [Int64] {
    try service.takeNumbers(entityNames)
  }

  func execute(_ request: IncrementalStoreSave) throws -> [IncrementalStoreNode] {
    try service.write(request)
    return []
  }
}

/// What the document leaves to its reader: rows, and who else writes them.
final class Service: Sendable {
  let identifier = UUID()
  let url: URL?
  private let rows = Mutex<[IncrementalStoreKey: IncrementalStoreNode]>([:])
  private let lastNumber = Mutex<Int64>(6)
  static let opened = Mutex<[URL: Service]>([:])

  init(_ url: URL?) {
    self.url = url
    if let url { Service.opened.withLock { $0[url] = self } }
  }

  func keys(of entityName: String) throws -> [IncrementalStoreKey] {
    rows.withLock { rows in
      rows.keys.filter { $0.entityName == entityName }.sorted { $0.number < $1.number }
    }
  }

  func rows(at keys: [IncrementalStoreKey]) throws -> [IncrementalStoreNode] {
    rows.withLock { rows in keys.compactMap { rows[$0] } }
  }

  func takeNumbers(_ entityNames: [String]) throws -> [Int64] {
    entityNames.map { _ in
      lastNumber.withLock { number in
        number += 1
        return number
      }
    }
  }

  func write(_ request: IncrementalStoreSave) throws {
    try rows.withLock { rows in
      func version(of key: IncrementalStoreKey) throws -> UInt32? { rows[key]?.version }
      let conflicts = try request.conflicts { key in try version(of: key) }
      if !conflicts.isEmpty { throw IncrementalStoreConflict(conflicts) }
      for insertion in request.inserted { rows[insertion.node.key] = insertion.node }
      for update in request.updated { rows[update.node.key] = update.node }
      for deletion in request.deleted { rows[deletion.key] = nil }
    }
  }

  /// Somebody else changes a row.
  func rename(_ key: IncrementalStoreKey, _ name: String) {
    rows.withLock { rows in
      rows[key]?.values["name"] = .string(name)
      rows[key]?.version += 1
    }
  }
}

/// The examples of `docs/incremental-stores.md`: each is here line by line, and runs.
@Suite struct IncrementalStoreDocumentTests {
  @Test func `the store of the document keeps objects, and meets conflicts`() throws {
    let url = try #require(URL(string: "service://gallery/\(UUID())"))
    let model = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Relationship("artworks", toMany: "Artwork", inverse: "artist")
      }
      Entity("Artwork") { Relationship("artist", toOne: "Artist", inverse: "artworks") }
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let type = StoreType(rawValue: "Service")
    try coordinator.registerStoreClass(forStoreType: type) { place in
      ServiceStore(service: Service(place.url))
    }
    try coordinator.addPersistentStore(type: type, at: url)
    let service = try #require(Service.opened.withLock { $0[url] })
    let context = GotchaHome.context(of: coordinator)
    let artist = try context.insert("Artist", ["name": "Hilma"])
    try context.save()
    for _ in 0..<2 { try context.insert("Artwork").setValue(artist, forKey: "artist") }
    try context.save()
    context.reset()

    let all = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artist"))
    let found = try #require(all.first)
    #expect(try found.value(forKey: "name") as? String == "Hilma")
    #expect(try (found.value(forKey: "artworks") as? Set<ManagedObject>)?.count == 2)

    // What others write is seen when somebody tells the context.
    service.rename(IncrementalStoreKey("Artist", 7), "Wassily")
    #expect(try found.value(forKey: "name") as? String == "Hilma")
    let store = try #require(coordinator.persistentStores.first)
    if let id = store.objectID(for: IncrementalStoreKey("Artist", 7)) {
      try ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: ["updated_objectIDs": [id]], into: [context])
    }
    #expect(try found.value(forKey: "name") as? String == "Wassily")

    try found.setValue("mine", forKey: "name")
    service.rename(IncrementalStoreKey("Artist", 7), "theirs")
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .managedObjectMerge)
  }

  @Test func `the document shows the lines that are tested here`() throws {
    let file = URL(filePath: #filePath)
    var root = file
    for _ in 0..<5 { root.deleteLastPathComponent() }
    func lines(_ url: URL) throws -> [String] {
      try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map {
        String($0.drop { $0 == " " })
      }
    }
    let document = try lines(root.appending(path: "docs/incremental-stores.md"))
    let tested = Set(try lines(file))
    var isCode = false
    var count = 0
    for line in document {
      if line.hasPrefix("```") {
        isCode = line == "```swift"
      } else if isCode {
        count += 1
        #expect(tested.contains(line), "\(line)")
      }
    }
    #expect(count > 25)
  }
}
