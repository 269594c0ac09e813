import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The form of a history request's result. The raw values are those of Core Data.
public enum PersistentHistoryResultType: Int, Sendable {
  /// A `Bool`: whether anything was found; `true` for a deletion.
  case statusOnly = 0
  /// `[ManagedObjectID]`: the changed objects, each once, in the order of their first change.
  case objectIDs = 1
  /// An `Int`: the number of changes if the request is for changes, otherwise of transactions.
  case count = 2
  /// `[PersistentHistoryTransaction]` without their changes.
  case transactionsOnly = 3
  /// `[PersistentHistoryChange]` without their transactions.
  case changesOnly = 4
  /// `[PersistentHistoryTransaction]` with their changes.
  case transactionsAndChanges = 5
}

/// A request for the history of stores, or for deleting history that is no longer needed; executed
/// by `ManagedObjectContext.execute(_:)`.
///
/// ```swift
/// let request = PersistentHistoryChangeRequest.fetchHistory(after: lastToken)
/// for transaction in try context.execute(request).transactions {
///   context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
///   lastToken = lastToken?.merging(transaction.token) ?? transaction.token
/// }
/// ```
///
/// ## Example
///
/// What was saved to a store that was opened with ``PersistentStoreOptions/tracksHistory``, and by
/// what author:
///
/// ```swift
/// context.transactionAuthor = "import"
/// Artwork(context: context).title = "The Great Wave"
/// try context.save()
///
/// let lastToken: PersistentHistoryToken? = nil
/// let request = PersistentHistoryChangeRequest.fetchHistory(after: lastToken)
/// for transaction in try context.execute(request).transactions {
///   for change in transaction.changes ?? [] {
///     print(transaction.author ?? "", change.changeType, change.changedObjectID.entity.name)
///   }
/// }
/// ```
///
/// prints
///
/// ```
/// import insert Artwork
/// ```
public struct PersistentHistoryChangeRequest: Sendable {
  /// The limit between requested and other transactions.
  enum Line: Sendable {
    case token(PersistentHistoryToken?)
    case date(Date)
  }

  enum Action: Sendable { case fetch, delete }

  let action: Action
  let line: Line
  /// The form of the result of `ManagedObjectContext.execute(_:)`; by default transactions with
  /// their changes, and the status for a deletion.
  public var resultType: PersistentHistoryResultType
  /// A filter and an order for what the request finds. Ignored by a deletion.
  public var fetchRequest: PersistentHistoryFetchRequest?
  /// The stores of the request; `nil` for all of the coordinator.
  public var affectedStores: [PersistentStore]?

  private init(_ action: Action, _ line: Line) {
    self.action = action
    self.line = line
    resultType = action == .fetch ? .transactionsAndChanges : .statusOnly
  }

  /// The token with which the request was made.
  public var token: PersistentHistoryToken? {
    if case .token(let token) = line { token } else { nil }
  }

  /// A request for everything that was saved after a token; for the whole history of stores that
  /// the token does not name, and of all stores if it is `nil`.
  public static func fetchHistory(
    after token: PersistentHistoryToken?
  ) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.fetch, .token(token))
  }

  /// A request for everything that was saved after a transaction in its store, and for the whole
  /// history of other stores; for all history if it is `nil`.
  public static func fetchHistory(
    after transaction: PersistentHistoryTransaction?
  ) -> PersistentHistoryChangeRequest {
    fetchHistory(after: transaction?.token)
  }

  /// A request for everything that was saved after a time.
  ///
  /// - Complexity: O(size of the history).
  public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.fetch, .date(date))
  }

  /// A request for the transactions or changes that match a predicate, in the whole history. To
  /// filter what comes after a token, set ``fetchRequest`` of another request.
  public static func fetchHistory(
    withFetch fetchRequest: PersistentHistoryFetchRequest
  ) -> PersistentHistoryChangeRequest {
    var request = PersistentHistoryChangeRequest(.fetch, .token(nil))
    request.fetchRequest = fetchRequest
    return request
  }

  /// A request to delete all transactions before the token's last ones, which are kept. Older
  /// tokens expire.
  ///
  /// Nothing is deleted in stores that the token does not name.
  public static func deleteHistory(
    before token: PersistentHistoryToken
  ) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.delete, .token(token))
  }

  /// A request to delete everything that was saved before a transaction in its store.
  public static func deleteHistory(
    before transaction: PersistentHistoryTransaction
  ) -> PersistentHistoryChangeRequest {
    deleteHistory(before: transaction.token)
  }

  /// A request to delete transactions from the first up to the one before the first that was saved
  /// at this time or later; all of them with `.distantFuture`.
  public static func deleteHistory(before date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.delete, .date(date))
  }
}

/// The result of a ``PersistentHistoryChangeRequest``.
public struct PersistentHistoryResult: Sendable {
  /// What ``result`` is, as the request asked for it.
  public let resultType: PersistentHistoryResultType
  /// The result, of the type that ``resultType`` says.
  public let result: (any Sendable)?

  /// The transactions, if they were requested; otherwise empty. Those of several stores are sorted
  /// by their times, unless the request has another order.
  public var transactions: [PersistentHistoryTransaction] {
    result as? [PersistentHistoryTransaction] ?? []
  }

  /// The changes, if they were requested, alone or with their transactions; otherwise empty.
  public var changes: [PersistentHistoryChange] {
    result as? [PersistentHistoryChange] ?? transactions.flatMap { $0.changes ?? [] }
  }

  /// The IDs, if they were requested; otherwise empty.
  public var objectIDs: [ManagedObjectID] { result as? [ManagedObjectID] ?? [] }

  /// The number of results, or the number that was requested.
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
