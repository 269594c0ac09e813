import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A position in the histories of stores. It represents everything that was saved up to there.
///
/// It can be archived and sent. It is valid for the stores that it names by their UUIDs, as long as
/// their histories reach back to it.
///
/// A store that is restored from a backup goes on with the numbers of the backup. A token that is
/// ahead of them is an error until the store has counted up to it, and valid from then on, although
/// it represents saves that are gone: forget the tokens that were kept when a store is restored.
public struct PersistentHistoryToken: Hashable, Sendable {
  /// The number of the last known transaction of each store.
  public private(set) var transactionNumbers: [UUID: Int64]

  init(_ transactionNumbers: [UUID: Int64]) { self.transactionNumbers = transactionNumbers }

  /// The token for everything that one of two tokens represents.
  ///
  /// A transaction's token names only its own store: with several stores, merge it into the token
  /// that is kept.
  public func merging(_ other: PersistentHistoryToken) -> PersistentHistoryToken {
    PersistentHistoryToken(
      transactionNumbers.merging(other.transactionNumbers) { Swift.max($0, $1) })
  }
}

extension PersistentHistoryToken: Codable {
  /// - Throws: `DecodingError` if a key is no UUID.
  public init(from decoder: any Decoder) throws {
    let numbers = try [String: Int64](from: decoder)
    transactionNumbers = [:]
    for (name, number) in numbers {
      guard let uuid = UUID(uuidString: name) else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: decoder.codingPath, debugDescription: "\(name) is no store's UUID"))
      }
      transactionNumbers[uuid] = number
    }
  }

  /// Encodes a dictionary of numbers by UUIDs.
  public func encode(to encoder: any Encoder) throws {
    try Dictionary(
      uniqueKeysWithValues: transactionNumbers.map { ($0.key.uuidString, $0.value) }
    ).encode(to: encoder)
  }
}

extension PersistentHistoryToken: CustomStringConvertible {
  public var description: String {
    let parts = transactionNumbers.map { "\($0.key.uuidString): \($0.value)" }.sorted()
    return "[\(parts.joined(separator: ", "))]"
  }
}

extension PersistentHistoryToken: PredicateConvertible {
  public var predicateValue: PredicateValue? {
    .object(OpaqueIdentity(ordered: HistoryPosition(token: self, isOfTransaction: false)))
  }

  /// The value of a transaction's own token, which names one store.
  var transactionValue: PredicateValue {
    .object(OpaqueIdentity(ordered: HistoryPosition(token: self, isOfTransaction: true)))
  }
}

/// A token as predicates compare it: `token > %@` matches transactions that were saved after the
/// argument, and all of stores that the argument does not name, as a request after that token does.
private struct HistoryPosition: OrderedIdentity, CustomStringConvertible {
  let token: PersistentHistoryToken
  /// Whether it is the token of a transaction, and not one that a program keeps.
  let isOfTransaction: Bool

  static func == (left: HistoryPosition, right: HistoryPosition) -> Bool {
    left.token == right.token
  }
  func hash(into hasher: inout Hasher) { hasher.combine(token) }
  var description: String { "\(token)" }

  func order(comparedTo other: HistoryPosition) -> ValueOrder? {
    if isOfTransaction { return orderOfTransaction(comparedTo: other.token) }
    switch other.orderOfTransaction(comparedTo: token) {
    case .ascending: return .descending
    case .descending: return .ascending
    case let same: return same
    }
  }

  private func orderOfTransaction(comparedTo known: PersistentHistoryToken) -> ValueOrder? {
    guard isOfTransaction, let (store, number) = token.transactionNumbers.first else { return nil }
    // Transactions are numbered from 1.
    let last = known.transactionNumbers[store] ?? 0
    return number < last ? .ascending : number > last ? .descending : .same
  }
}

extension PersistentStoreCoordinator {
  /// A token for the present end of the stores' histories. A ``PersistentHistoryChangeRequest``
  /// with it returns everything that is saved from now on.
  ///
  /// - Parameter stores: some stores of the coordinator; `nil` for all.
  /// - Returns: `nil` if none of the stores keeps a history, or none can be read.
  public func currentPersistentHistoryToken(
    fromStores stores: [PersistentStore]?
  ) -> PersistentHistoryToken? {
    var numbers: [UUID: Int64] = [:]
    for store in stores ?? persistentStores {
      if let number = try? store.pages.read({ try StoredHistory(in: $0)?.lastNumber }) {
        numbers[store.identifier] = number
      }
    }
    return numbers.isEmpty ? nil : PersistentHistoryToken(numbers)
  }
}
