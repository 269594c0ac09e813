import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where a store lives: the same must hold in all places.
enum GotchaHome: CaseIterable, CustomStringConvertible {
  case memory, file
  /// A store of another make.
  case elsewhere

  /// Stores of Quire's own makes, for what is about their engine.
  static let own: [GotchaHome] = [.memory, .file]

  var description: String {
    switch self {
    case .memory: "in memory"
    case .file: "in a file"
    case .elsewhere: "elsewhere"
    }
  }

  /// Calls `body` with a context of an empty store of the small gallery.
  func withContext(
    _ model: ManagedObjectModel = SmallGallery.model,
    classes: [ManagedObject.Type] = SmallGallery.classes,
    _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    switch self {
    case .memory:
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: model, classes: classes)
      try coordinator.addPersistentStore(type: .inMemory, at: nil)
      try body(Self.context(of: coordinator))
    case .elsewhere:
      try body(Self.context(of: try RowServer().coordinator(.plain, model, classes: classes)))
    case .file:
      try withTemporaryFolder { folder in
        let coordinator = PersistentStoreCoordinator(
          managedObjectModel: model, classes: classes)
        let store = try coordinator.addPersistentStore(
          type: .quire, at: folder.appending(path: "gallery.quire"))
        try body(Self.context(of: coordinator))
        try coordinator.remove(store)
      }
    }
  }

  static func context(of coordinator: PersistentStoreCoordinator) -> ManagedObjectContext {
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    return context
  }
}

extension ManagedObjectContext {
  /// Inserts an object and sets some of its properties.
  @discardableResult
  func insert(_ entity: String, _ values: [String: Any] = [:]) throws -> ManagedObject {
    let object = try EntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return object
  }

  /// What a property of the objects is that a predicate finds, in their order.
  func values(
    of key: String, _ entity: String, _ format: String? = nil, sortedBy sort: String? = nil
  ) throws -> [String] {
    var request = FetchRequest<ManagedObject>(entityName: entity)
    if let format { request.predicate = try FetchPredicate(format: format) }
    if let sort { request.sortDescriptors = [FetchSortDescriptor(key: sort, ascending: true)] }
    return try fetch(request).map { "\(try $0.value(forKey: key) ?? "nil")" }
  }
}
