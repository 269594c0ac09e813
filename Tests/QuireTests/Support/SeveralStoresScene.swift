import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A coordinator with two stores of one model, in files or in memory.
struct SeveralStoresScene {
  static let model = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string)
      Attribute("born", .integer32)
      Relationship("works", toMany: "Work", inverse: "artist", deleteRule: .cascade)
    }
    Entity("Work") {
      Attribute("title", .string)
      Relationship("artist", toOne: "Artist", inverse: "works")
      Relationship("likes", toMany: "Work", inverse: "likes")
    }
    Entity("Note") { Attribute("text", .string) }
    ModelConfiguration("Collection", "Artist", "Work")
    ModelConfiguration("Private", "Note")
    ModelConfiguration("Torn", "Work")
  }

  let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
  let first: PersistentStore
  let second: PersistentStore
  let context = ManagedObjectContext()

  private init(
    _ folder: URL, _ homes: (GotchaHome, GotchaHome), _ configurations: (String?, String?)
  ) throws {
    first = try coordinator.addPersistentStore(
      homes.0, "first", configurations.0, in: folder)
    second = try coordinator.addPersistentStore(
      homes.1, "second", configurations.1, in: folder)
    context.persistentStoreCoordinator = coordinator
  }

  static func with(
    _ homes: (GotchaHome, GotchaHome) = (.memory, .memory),
    configurations: (String?, String?) = (nil, nil),
    _ body: (SeveralStoresScene) throws -> Void
  ) throws {
    try withTemporaryFolder { folder in
      let scene = try SeveralStoresScene(folder, homes, configurations)
      try body(scene)
      for store in scene.coordinator.persistentStores { try scene.coordinator.remove(store) }
    }
  }

  /// Another context of the same stores.
  func sibling() -> ManagedObjectContext { GotchaHome.context(of: coordinator) }

  /// A new object that is to be in the second store.
  @discardableResult
  func insertSecond(_ entity: String, _ values: [String: Any]) throws -> ManagedObject {
    let object = try context.insert(entity, values)
    context.assign(object, to: second)
    return object
  }

  /// An artist in each store, in the same place there: they differ in the store alone.
  func artists() throws -> (ManagedObject, ManagedObject) {
    let one = try context.insert("Artist", ["name": "Hilma", "born": 1862])
    let two = try insertSecond("Artist", ["name": "Wassily", "born": 1866])
    try context.save()
    return (one, two)
  }
}

extension PersistentStoreCoordinator {
  @discardableResult
  func addPersistentStore(
    _ home: GotchaHome, _ name: String, _ configuration: String?, in folder: URL,
    options: PersistentStoreOptions = [:]
  ) throws -> PersistentStore {
    try addPersistentStore(
      type: home == .memory ? .inMemory : .quire, configuration: configuration,
      at: home == .memory ? nil : folder.appending(path: "\(name).quire"), options: options)
  }
}

extension ManagedObject {
  func text(_ key: String) -> String? { (try? value(forKey: key)) as? String }
}
