import Foundation
import Quire
import QuireModel

/// A request for the history of stores, or for its deletion.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
  private var request: PersistentHistoryChangeRequest

  private init(_ request: PersistentHistoryChangeRequest) { self.request = request }

  /// The history after a date.
  open class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.fetchHistory(after: date))
  }

  /// The history after a token; all of it for `nil`.
  open class func fetchHistory(
    after token: NSPersistentHistoryToken?
  ) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.fetchHistory(after: token))
  }

  /// The history after a transaction; all of it for `nil`.
  open class func fetchHistory(
    after transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.fetchHistory(after: transaction?.quireTransaction))
  }

  /// The history that a condition chooses: `NSPersistentHistoryTransaction.fetchRequest` or
  /// `NSPersistentHistoryChange.fetchRequest`, with a predicate.
  open class func fetchHistory(
    withFetch fetchRequest: NSFetchRequest<NSFetchRequestResult>
  ) -> NSPersistentHistoryChangeRequest {
    let request = fetchHistory(after: nil as NSPersistentHistoryToken?)
    request.fetchRequest = fetchRequest
    return request
  }

  /// The deletion of the history before a date.
  open class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.deleteHistory(before: date))
  }

  /// The deletion of the history before a token.
  open class func deleteHistory(
    before token: NSPersistentHistoryToken?
  ) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(
      token.map { .deleteHistory(before: $0) } ?? .deleteHistory(before: Date.distantPast))
  }

  /// The deletion of the history before a transaction.
  open class func deleteHistory(
    before transaction: NSPersistentHistoryTransaction?
  ) -> NSPersistentHistoryChangeRequest {
    deleteHistory(before: transaction?.token)
  }

  /// The form of the result.
  open var resultType: NSPersistentHistoryResultType {
    get { request.resultType }
    set { request.resultType = newValue }
  }

  /// The position after which the history is asked for.
  open var token: NSPersistentHistoryToken? { request.token }

  /// A condition on transactions or changes: `NSPersistentHistoryTransaction.fetchRequest` or
  /// `NSPersistentHistoryChange.fetchRequest`, with a predicate.
  open var fetchRequest: NSFetchRequest<NSFetchRequestResult>?

  override func run(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    var request = request
    request.affectedStores = stores
    request.fetchRequest = try fetchRequest.map(PersistentHistoryFetchRequest.init)
    return NSPersistentHistoryResult(try context.quireContext.execute(request))
  }
}

/// The result of a request for history.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
  /// `[NSPersistentHistoryTransaction]`, `[NSPersistentHistoryChange]`, IDs, a number or a flag, as
  /// ``resultType`` says.
  public let result: Any?
  /// The form of the result.
  public let resultType: NSPersistentHistoryResultType

  init(_ result: PersistentHistoryResult) {
    switch result.result {
    case let transactions as [PersistentHistoryTransaction]:
      self.result = transactions.map(NSPersistentHistoryTransaction.init)
    case let changes as [PersistentHistoryChange]:
      self.result = changes.map(NSPersistentHistoryChange.init)
    default: self.result = result.result
    }
    resultType = result.resultType
  }
}
