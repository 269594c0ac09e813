import Quire
import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A small library whose books leave something behind when they go.
enum HistoryLibrary {
  static let model = try! ManagedObjectModel {
    Entity("Author") {
      Attribute("name", .string)
      Relationship("books", toMany: "Book", inverse: "author")
    }
    Entity("Book") {
      Attribute("isbn", .string).with { $0.preservesValueInHistoryOnDeletion = true }
      Attribute("number", .uuid).with { $0.preservesValueInHistoryOnDeletion = true }
      Attribute("title", .string)
      Attribute("price", .decimal)
      Relationship("author", toOne: "Author", inverse: "books")
    }
  }

  static let tracking: PersistentStoreOptions = [PersistentHistoryTrackingKey: true]

  static func open(
    _ home: GotchaHome, _ folder: URL, _ model: ManagedObjectModel = model,
    _ options: PersistentStoreOptions = tracking
  ) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      type: home == .memory ? .inMemory : .quire,
      at: home == .memory ? nil : folder.appending(path: "library.quire"), options: options)
    return GotchaHome.context(of: coordinator)
  }
}

extension GotchaHome {
  /// Calls `body` with a context of an empty store that keeps a history. What is left of it is
  /// sound.
  func withHistory(_ body: (ManagedObjectContext) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let context = try HistoryLibrary.open(self, folder)
      try body(context)
      let findings = try StoreFacts(context).findings
      if !findings.isEmpty { throw UnsoundStore(findings: findings) }
      try context.closeStores()
    }
  }
}

struct UnsoundStore: Error { let findings: [String] }

extension ManagedObjectContext {
  var historyStore: PersistentStore {
    get throws {
      guard let store = persistentStoreCoordinator?.persistentStores.first else {
        throw UnsoundStore(findings: ["there is no store"])
      }
      return store
    }
  }

  var historyToken: PersistentHistoryToken? {
    persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
  }

  func history(after token: PersistentHistoryToken? = nil) throws -> [PersistentHistoryTransaction]
  {
    try execute(PersistentHistoryChangeRequest.fetchHistory(after: token)).transactions
  }

  func closeStores() throws {
    guard let coordinator = persistentStoreCoordinator else { return }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }
}

extension PersistentHistoryChange {
  /// Short, for comparisons.
  var text: String {
    let names = updatedPropertyNames.sorted().joined(separator: ",")
    return "\(changeType) \(changedObjectID)\(names.isEmpty ? "" : " \(names)")"
  }
}
