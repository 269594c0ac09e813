import Foundation
import QuireCoreData

/// Brings what other contexts and other processes have written into the root context, and forgets
/// history that everybody has seen.
final class PersistentHistoryTracker {
  private let stack: CoreDataStack
  private let defaults: UserDefaults
  private let tokenURL: URL
  private var observer: NSObjectProtocol?
  private let queue = DispatchQueue(label: "history")
  private(set) var mergedTransactionCount = 0

  init(stack: CoreDataStack, folder: URL, defaults: UserDefaults = .standard) {
    self.stack = stack
    self.defaults = defaults
    tokenURL = folder.appendingPathComponent("token.data", isDirectory: false)
    if let data = try? Data(contentsOf: tokenURL) {
      do {
        lastToken = try JSONDecoder().decode(NSPersistentHistoryToken.self, from: data)
      } catch {
        print("Failed to unarchive NSPersistentHistoryToken: \(error)")
      }
    }
  }

  private var lastToken: NSPersistentHistoryToken? {
    didSet {
      guard let token = lastToken,
        let data = try? JSONEncoder().encode(token)
      else { return }
      do {
        try data.write(to: tokenURL)
      } catch {
        print("Failed to write token data: \(error)")
      }
    }
  }

  func start() {
    observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: stack.persistentStoreCoordinator, queue: nil
    ) { [weak self] notification in
      let url = notification.userInfo?[NSPersistentStoreURLKey] as? URL
      self?.queue.async { [self] in self?.process(storeURL: url) }
    }
  }

  func stop() {
    if let observer = observer { NotificationCenter.default.removeObserver(observer) }
    observer = nil
  }

  /// Waits for everything that was announced until now.
  func processNow() {
    queue.sync { self.process(storeURL: nil) }
  }

  private func process(storeURL: URL?) {
    let context = stack.newImportContext()
    context.transactionAuthor = "history"
    context.performAndWait {
      do {
        try self.mergeTransactions(in: context)
        try self.purge(in: context)
      } catch {
        print("Persistent history failed: \(error)")
      }
    }
  }

  private func mergeTransactions(in context: NSManagedObjectContext) throws {
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
    if let historyRequest = NSPersistentHistoryTransaction.fetchRequest {
      historyRequest.predicate = NSPredicate(format: "%K != %@", "author", "app")
      request.fetchRequest = historyRequest
    }
    guard let result = try context.execute(request) as? NSPersistentHistoryResult,
      let transactions = result.result as? [NSPersistentHistoryTransaction], !transactions.isEmpty
    else { return }
    for transaction in transactions {
      stack.rootContext.perform {
        self.stack.rootContext.mergeChanges(
          fromContextDidSave: transaction.objectIDNotification())
      }
      record(transaction)
    }
    mergedTransactionCount += transactions.count
    lastToken = transactions.last?.token
  }

  private func record(_ transaction: NSPersistentHistoryTransaction) {
    guard let changes = transaction.changes else { return }
    var counts = defaults.dictionary(forKey: "changes") as? [String: Int] ?? [:]
    for change in changes where change.changeType != .delete {
      let name = change.changedObjectID.entity.name
      counts[name, default: 0] += 1
      if let updated = change.updatedProperties {
        for property in updated { counts["\(name).\(property.name)", default: 0] += 1 }
      }
    }
    defaults.set(counts, forKey: "changes")
  }

  private func purge(in context: NSManagedObjectContext) throws {
    guard let week = Calendar.current.date(byAdding: .day, value: -7, to: Date()) else { return }
    let request = NSPersistentHistoryChangeRequest.deleteHistory(before: week)
    try context.execute(request)
  }
}
