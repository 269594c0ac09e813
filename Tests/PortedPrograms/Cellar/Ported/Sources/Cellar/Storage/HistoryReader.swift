import Foundation
public import QuireCoreData

/// Reads what others have written since it was asked last.
public actor HistoryReader {
  public struct Entry: Sendable, Equatable {
    public enum Kind: String, Sendable { case inserted, updated, deleted }
    public var kind: Kind
    public var identifier: NSManagedObjectID
    public var keys: [String]
  }

  private let context: NSManagedObjectContext
  private var token: NSPersistentHistoryToken?

  public init(_ container: NSPersistentContainer) {
    context = container.newBackgroundContext()
    context.name = "history"
  }

  /// Everything that was written until now counts as read.
  public func skip() async {
    let coordinator = context.persistentStoreCoordinator
    token = coordinator?.currentPersistentHistoryToken(fromStores: nil)
  }

  public func entries(by author: String? = nil) async throws -> [Entry] {
    let (entries, last) = try await context.perform { [context, token] in
      try Self.read(after: token, author: author, in: context)
    }
    token = last ?? token
    return entries
  }

  private static func read(
    after token: NSPersistentHistoryToken?, author: String?, in context: NSManagedObjectContext
  ) throws -> ([Entry], NSPersistentHistoryToken?) {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
    let result = try context.execute(request) as? NSPersistentHistoryResult
    let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
    let entries = transactions.filter { author == nil || $0.author == author }
      .flatMap { $0.changes ?? [] }
      .map { change in
        Entry(
          kind: kind(change.changeType), identifier: change.changedObjectID,
          keys: (change.updatedProperties ?? []).map(\.name).sorted())
      }
    return (entries, transactions.last?.token)
  }

  private static func kind(_ type: NSPersistentHistoryChangeType) -> Entry.Kind {
    switch type {
    case .insert: .inserted
    case .update: .updated
    case .delete: .deleted
    @unknown default: .updated
    }
  }
}
