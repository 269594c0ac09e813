import Quire
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a store holds, as lines that can be compared.
enum StoreLines {
  /// Every object, named by its entity and its place among the entity's objects in the order of
  /// their keys: the same for two stores that differ in keys alone.
  static func lines(_ context: ManagedObjectContext) throws -> [String] {
    let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
    var objects: [ManagedObject] = []
    var names: [ManagedObjectID: String] = [:]
    for entity in model.entities where !entity.isAbstract {
      var request = FetchRequest<ManagedObject>(entityName: entity.name)
      request.includesSubentities = false
      let found = try context.fetch(request).sorted { key($0) < key($1) }
      for (index, object) in found.enumerated() {
        names[object.objectID] = "\(entity.name)#\(index)"
      }
      objects += found
    }
    return try objects.map { object in
      let attributes = try object.entity.attributes.filter { !$0.isTransient }.map {
        "\($0.name)=\(try object.value(forKey: $0.name).map { "\($0)" } ?? "nil")"
      }
      let links = try object.entity.relationships.map { relationship in
        let members: [String] =
          switch try object.value(forKey: relationship.name) {
          case let list as [ManagedObject]: list.map { names[$0.objectID] ?? "?" }
          case let set as Set<ManagedObject>: set.map { names[$0.objectID] ?? "?" }.sorted()
          case let one as ManagedObject: [names[one.objectID] ?? "?"]
          default: []
          }
        return "\(relationship.name)=\(members)"
      }
      let all = (attributes + links).joined(separator: " ")
      return "\(names[object.objectID] ?? "?") \(all)"
    }
  }

  private static func key(_ object: ManagedObject) -> Int {
    Int(object.objectID.uriRepresentation().lastPathComponent.dropFirst()) ?? 0
  }

  static func keys(_ context: ManagedObjectContext) throws -> Set<String> {
    let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
    return Set(
      try model.entities.flatMap { entity in
        try context.fetch(FetchRequest<ManagedObject>(entityName: entity.name)).map {
          "\($0.objectID.uriRepresentation().pathComponents.dropFirst())"
        }
      })
  }
}

/// Opens stores on a simulated disk, or a real one.
enum TestStore {
  static let url = URL(filePath: "/store.quire")

  /// A context whose coordinator has opened the store, creating or migrating it.
  static func open(
    _ model: VersionedModel, _ options: PersistentStoreOptions = [:], at url: URL = url,
    in disk: any FileSystem
  ) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    try coordinator.addPersistentStore(type: .quire, at: url, options: options, in: disk)
    return GotchaHome.context(of: coordinator)
  }

  static func close(_ context: ManagedObjectContext) throws {
    guard let coordinator = context.persistentStoreCoordinator else { return }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// The files of a closed store of a version.
  static func files(
    _ model: VersionedModel, at version: String,
    _ fill: (ManagedObjectContext) throws -> Void
  ) throws -> [String: [UInt8]] {
    let disk = SimulatedDisk()
    let context = try open(try #require(model.endingAt(version)), in: disk)
    try fill(context)
    try context.save()
    try close(context)
    return disk.files
  }

  static func insert(
    _ entity: String, _ values: [String: Any], _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    let object = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return object
  }
}

extension ManagedObjectContext {
  /// The store the context reads.
  var openStore: PersistentStore? { persistentStoreCoordinator?.persistentStores.first }
}
