import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a request for history results in. Raw values are Core Data's.
public enum PersistentHistoryResultType: Int, Sendable {
  /// A `Bool`: whether there was anything; of a deletion `true`.
  case statusOnly = 0
  /// `[ManagedObjectID]`: the changed objects, each once, in the order of their first change.
  case objectIDs = 1
  /// An `Int`: the number of changes where the request is for changes, else of transactions.
  case count = 2
  /// `[PersistentHistoryTransaction]` without their changes.
  case transactionsOnly = 3
  /// `[PersistentHistoryChange]` without their transactions.
  case changesOnly = 4
  /// `[PersistentHistoryTransaction]` with their changes.
  case transactionsAndChanges = 5
}

/// Asks for what was saved, or deletes what is not needed of that any more; run by
/// ``ManagedObjectContext/execute(_:)``.
///
/// ```swift
/// let request = PersistentHistoryChangeRequest.fetchHistory(after: lastToken)
/// for transaction in try context.execute(request).transactions {
///   context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
///   lastToken = lastToken?.merging(transaction.token) ?? transaction.token
/// }
/// ```
public struct PersistentHistoryChangeRequest: Sendable {
  /// Where in each history the line is drawn.
  enum Line: Sendable {
    case token(PersistentHistoryToken?)
    case date(Date)
  }

  enum Action: Sendable { case fetch, delete }

  let action: Action
  let line: Line
  /// What ``ManagedObjectContext/execute(_:)`` returns: at first transactions with their changes,
  /// and of a deletion the status.
  public var resultType: PersistentHistoryResultType
  /// Chooses among what the request finds, and orders it. Without a meaning in a deletion.
  public var fetchRequest: PersistentHistoryFetchRequest?
  /// The stores that are asked; `nil` for all of the coordinator.
  public var affectedStores: [PersistentStore]?

  private init(_ action: Action, _ line: Line) {
    self.action = action
    self.line = line
    resultType = action == .fetch ? .transactionsAndChanges : .statusOnly
  }

  /// The token that the request was made with.
  public var token: PersistentHistoryToken? {
    if case .token(let token) = line { token } else { nil }
  }

  /// What was saved after the token's place; everything that is there when `nil`, and of stores
  /// that the token does not name.
  public static func fetchHistory(
    after token: PersistentHistoryToken?
  ) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.fetch, .token(token))
  }

  /// What was saved after a transaction in its store, and everything of other stores; all that is
  /// there when `nil`.
  public static func fetchHistory(
    after transaction: PersistentHistoryTransaction?
  ) -> PersistentHistoryChangeRequest {
    fetchHistory(after: transaction?.token)
  }

  /// What was saved later than a time, as far as it is there.
  ///
  /// - Complexity: O(size of the history).
  public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.fetch, .date(date))
  }

  /// What a predicate chooses of everything that is there. To choose of what comes after a token,
  /// set ``fetchRequest`` of another request.
  public static func fetchHistory(
    withFetch fetchRequest: PersistentHistoryFetchRequest
  ) -> PersistentHistoryChangeRequest {
    var request = PersistentHistoryChangeRequest(.fetch, .token(nil))
    request.fetchRequest = fetchRequest
    return request
  }

  /// Deletes what was saved before the token's last transactions, which stay. Older tokens expire.
  ///
  /// Of stores that the token does not name nothing is deleted.
  public static func deleteHistory(
    before token: PersistentHistoryToken
  ) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.delete, .token(token))
  }

  /// Deletes what was saved before a transaction in its store.
  public static func deleteHistory(
    before transaction: PersistentHistoryTransaction
  ) -> PersistentHistoryChangeRequest {
    deleteHistory(before: transaction.token)
  }

  /// Deletes the first transactions up to one that was saved at this time or later; all of them
  /// with `.distantFuture`.
  public static func deleteHistory(before date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.delete, .date(date))
  }
}

/// What a ``PersistentHistoryChangeRequest`` has found or done.
public struct PersistentHistoryResult: Sendable {
  public let resultType: PersistentHistoryResultType
  /// Of the type that ``resultType`` says.
  public let result: (any Sendable)?

  /// The transactions, when these were asked for; else none. Those of several stores by their
  /// times, unless the request has an order of its own.
  public var transactions: [PersistentHistoryTransaction] {
    result as? [PersistentHistoryTransaction] ?? []
  }

  /// The changes, when these were asked for or come with their transactions; else none.
  public var changes: [PersistentHistoryChange] {
    result as? [PersistentHistoryChange] ?? transactions.flatMap { $0.changes ?? [] }
  }

  /// The IDs, when these were asked for; else none.
  public var objectIDs: [ManagedObjectID] { result as? [ManagedObjectID] ?? [] }

  /// The number, when that was asked for; else of what there is.
  public var count: Int {
    switch resultType {
    case .statusOnly: result as? Bool == true ? 1 : 0
    case .objectIDs: objectIDs.count
    case .count: result as? Int ?? 0
    case .transactionsOnly, .transactionsAndChanges: transactions.count
    case .changesOnly: changes.count
    }
  }
}
