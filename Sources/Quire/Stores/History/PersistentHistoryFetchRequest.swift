import QuireModel

/// A filter and an order for the transactions or the changes of a history.
///
/// ```swift
/// var fetch = PersistentHistoryTransaction.fetchRequest
/// fetch.predicate = Key("author") != "app"
/// let request = PersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
/// ```
///
/// Predicates and sort descriptors have these keys. Of transactions: `author`, `bundleID`,
/// `changeCount`, `contextName`, `processID`, `storeID`, `timestamp`, `token`, `transactionNumber`.
/// Of changes: `changeID`, `changeType` (a raw value), `changedEntity.name`, `changedObjectID`,
/// `updatedProperties` (a collection of names), and `transaction.` followed by a key of
/// transactions.
///
/// `token > %@` with a stored token matches the transactions of the token's stores that were saved
/// after it, and all transactions of other stores. Unlike a request after a token, it is no error
/// if the token has expired.
///
/// If changes are filtered, a request for transactions returns those with matching changes, and
/// only these changes of them.
public struct PersistentHistoryFetchRequest: Sendable {
  enum Subject: Sendable { case transactions, changes }

  let subject: Subject
  /// The condition; `nil` for all.
  public var predicate: FetchPredicate?
  /// The order of the transactions or changes; the order in which they were saved if empty. If
  /// changes are filtered, transactions are in the order of their first matching changes.
  public var sortDescriptors: [FetchSortDescriptor] = []
  /// The largest number of results; 0 is no limit.
  public var fetchLimit = 0
  /// The number of results to skip.
  public var fetchOffset = 0

  init(_ subject: Subject) { self.subject = subject }
}
