public import Foundation
public import QuireCoreData

/// The store, and what is done with it. Objects stay within contexts; identifiers and values leave.
public actor Cellar {
  public nonisolated let container: NSPersistentContainer
  public nonisolated let changes: ChangeFeed

  private var backgroundContext: NSManagedObjectContext

  public enum Location: Sendable {
    case memory
    case file(URL)
  }

  nonisolated(unsafe) private static let model: NSManagedObjectModel? = {
    guard let url = Bundle.module.url(forResource: "Cellar", withExtension: "xcdatamodeld") else {
      return nil
    }
    return NSManagedObjectModel(contentsOf: url)
  }()

  public init(_ location: Location) async throws {
    guard let model = Cellar.model else { throw CellarError.noModel }
    let container = NSPersistentContainer(name: "Cellar", managedObjectModel: model)
    let description =
      switch location {
      case .memory: NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
      case .file(let url): NSPersistentStoreDescription(url: url)
      }
    description.shouldAddStoreAsynchronously = true
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    try await Cellar.load(container)
    self.container = container
    changes = ChangeFeed(container: container)
    backgroundContext = Cellar.context(of: container)
    await container.viewContext.perform {
      container.viewContext.automaticallyMergesChangesFromParent = true
      container.viewContext.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
    }
  }

  private static func load(_ container: NSPersistentContainer) async throws {
    try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Void, any Error>) in
      container.loadPersistentStores { _, error in
        if let error {
          continuation.resume(throwing: error)
        } else {
          continuation.resume()
        }
      }
    }
  }

  private static func context(of container: NSPersistentContainer) -> NSManagedObjectContext {
    let context = container.newBackgroundContext()
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    context.transactionAuthor = "cellar"
    return context
  }

  // MARK: Work

  /// Runs a block on the context of this actor, and saves it.
  public func write<Value: Sendable>(
    _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Value
  ) async throws -> Value {
    let context = backgroundContext
    return try await context.perform(schedule: .immediate) {
      do {
        let value = try body(context)
        if context.hasChanges { try context.save() }
        return value
      } catch {
        context.rollback()
        throw error
      }
    }
  }

  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (NSManagedObjectContext) throws -> Value
  ) async throws -> Value {
    try await container.performBackgroundTask { context in
      try body(context)
    }
  }

  /// Work on one object that a caller knows by its identifier.
  public func update<Object: NSManagedObject, Value: Sendable>(
    _ type: Object.Type, _ identifier: NSManagedObjectID,
    _ body: @escaping @Sendable (Object) throws -> Value
  ) async throws -> Value {
    try await write { context in
      let object = try context.existingObject(with: identifier, as: Object.self)
      return try body(object)
    }
  }

  public func delete(_ identifiers: [NSManagedObjectID]) async throws {
    try await write { context in
      for identifier in identifiers {
        context.delete(try context.existingObject(with: identifier))
      }
    }
  }

  /// Drops what the context knows, as after a memory warning.
  public func forget() async {
    let context = backgroundContext
    await context.perform { context.refreshAllObjects() }
    backgroundContext = Cellar.context(of: container)
  }

  // MARK: Wines

  @discardableResult
  public func addRedWine(
    _ name: String, producer: String? = nil, tannin: Double = 0.5
  ) async throws -> NSManagedObjectID {
    try await write { context in
      let wine = RedWine(name: name, producer: producer, in: context)
      wine.tannin = tannin
      try context.obtainPermanentIDs(for: [wine])
      return wine.objectID
    }
  }

  @discardableResult
  public func add(
    _ quantity: Int, of wine: NSManagedObjectID, vintage: Int, barcode: String? = nil,
    price: Decimal? = nil
  ) async throws -> NSManagedObjectID {
    try await write { context in
      let wine = try context.existingObject(with: wine, as: Wine.self)
      let bottle = Bottle(of: wine, vintage: vintage, barcode: barcode, in: context)
      bottle.quantity = Int64(quantity)
      bottle.price = price.map { $0 as NSDecimalNumber }
      try context.obtainPermanentIDs(for: [bottle])
      return bottle.objectID
    }
  }

  public func rate(
    _ bottle: NSManagedObjectID, stars: Int, text: String
  ) async throws {
    try await update(Bottle.self, bottle) { bottle in
      let note = Note(context: bottle.managedObjectContext!)
      note.setValuesForKeys(["stars": stars, "text": text])
      bottle.addToNotes(note)
    }
  }

  public func total() async throws -> Int {
    try await read { context in
      try context.aggregate(Bottle.self, "sum:", of: "quantity") ?? 0
    }
  }
}
