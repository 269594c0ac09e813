import Quire
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store on a simulated disk, to be opened with one model after another.
struct IndexScene {
  static let url = URL(filePath: "/store.quire")
  var disk = SimulatedDisk()

  func open(
    _ model: ManagedObjectModel, _ options: PersistentStoreOptions = [:]
  ) throws -> ManagedObjectContext {
    try open(VersionedModel(model), options)
  }

  func open(
    _ model: VersionedModel, _ options: PersistentStoreOptions = [:]
  ) throws -> ManagedObjectContext {
    try TestStore.open(model, options, at: Self.url, in: disk)
  }

  func close(_ context: ManagedObjectContext) throws { try TestStore.close(context) }

  /// Calls `body` with the trees of the store, which nobody has open.
  func reading<Result>(_ body: (Snapshot) throws -> Result) throws -> Result {
    let pages = try PageStore.open(Self.url.path(percentEncoded: false), in: disk)
    defer { try? pages.close() }
    return try pages.read(body)
  }

  /// The names of the store's index trees, with how many keys each has.
  func trees() throws -> [String] {
    try reading {
      try $0.treeNames().filter { $0.name.hasPrefix("indexes/") }.map { "\($0.name) \($0.count)" }
    }
  }

  /// The number of the store's object format.
  func format() throws -> UInt8 {
    try reading { snapshot in
      let tree = try #require(try snapshot.indexTree("schema"))
      return try #require(try tree.withValue(for: Array("format".utf8)) { $0[0] })
    }
  }
}

extension ManagedObjectContext {
  @discardableResult
  func add(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
    let object = try EntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return object
  }

  func found(
    _ entity: String, _ predicate: FetchPredicate? = nil, by sort: [FetchSortDescriptor] = [],
    limit: Int = 0
  ) throws -> (plan: String, objects: [ManagedObject]) {
    var request = FetchRequest<ManagedObject>(entityName: entity)
    request.predicate = predicate
    request.sortDescriptors = sort
    request.fetchLimit = limit
    return (try plans(for: request).map(\.description).joined(separator: "; "), try fetch(request))
  }
}
