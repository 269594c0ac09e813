import Quire
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where the rows of a ``RowStore`` are: dictionaries behind a lock, as if they were far away. It
/// counts what it is asked for, and refuses when somebody wants it to.
final class RowServer: Sendable {
  enum Call: CaseIterable { case metadata, fetch, count, values, members, ids, save, close }

  /// A row, and the members of relationships that are more than foreign keys of others.
  struct Record: Equatable {
    var node: IncrementalStoreNode
    var members: [String: [IncrementalStoreKey]] = [:]
  }

  struct Refusal: Error, Equatable {
    let call: Call
  }

  struct State {
    var records: [IncrementalStoreKey: Record] = [:]
    var lastNumbers: [String: Int64] = [:]
    var userMetadata: [String: any Sendable] = [:]
    var versionHashes: [String: VersionHash]?
    var calls: [Call: Int] = [:]
    /// How many rows were told in all.
    var rowCount = 0
    var callCount = 0
    /// The number of the call that is refused, counted from the last ``RowServer/refuse(call:)``.
    var refused: Int?
    var lastSave: IncrementalStoreSave?
    var lastFetch: IncrementalStoreFetch?
    /// Called at the beginning of the next save, by which somebody else is faster.
    var interference: (@Sendable (inout [IncrementalStoreKey: Record]) -> Void)?
  }

  let identifier = UUID()
  private let state = Mutex(State())

  var now: State { state.withLock { $0 } }
  func edit(_ body: (inout sending State) -> Void) { state.withLock { body(&$0) } }

  /// Counts from here on.
  func restartCounting() {
    edit { state in
      state.calls = [:]
      state.rowCount = 0
      state.callCount = 0
    }
  }

  /// Refuses a call: the first from now on is number 1.
  func refuse(call number: Int?) {
    edit { state in
      state.callCount = 0
      state.refused = number
    }
  }

  func answering<Result: Sendable>(
    _ call: Call, _ body: (inout sending State) throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      state.callCount += 1
      state.calls[call, default: 0] += 1
      if state.refused == state.callCount { throw Refusal(call: call) }
      return try body(&state)
    }
  }
}

extension RowServer.State {
  func calls(_ call: RowServer.Call) -> Int { calls[call] ?? 0 }

  func records(of entityNames: [String]) -> [RowServer.Record] {
    records.values.filter { entityNames.contains($0.node.key.entityName) }
      .sorted {
        ($0.node.key.entityName, $0.node.key.number) < ($1.node.key.entityName, $1.node.key.number)
      }
  }

  func record(_ entityName: String, _ name: String, _ value: String) -> RowServer.Record? {
    records.values.first {
      $0.node.key.entityName == entityName && $0.node.values[name] == .string(value)
    }
  }

  /// Writes a save, or nothing.
  mutating func write(_ save: IncrementalStoreSave) throws {
    let conflicts = save.conflicts { records[$0]?.node.version }
    if !conflicts.isEmpty { throw IncrementalStoreConflict(conflicts) }
    for insertion in save.inserted {
      records[insertion.node.key] = RowServer.Record(
        node: insertion.node, members: insertion.members.mapValues { $0.applied(to: []) })
    }
    for update in save.updated {
      records[update.node.key]?.node = update.node
      for (name, change) in update.members {
        let members = records[update.node.key]?.members[name] ?? []
        records[update.node.key]?.members[name] = change.applied(to: members)
      }
    }
    for deletion in save.deleted { records[deletion.key] = nil }
    if let metadata = save.metadata { userMetadata = metadata }
  }

  /// What does not fit together: destinations that are not there, though somebody was to be told,
  /// and relationships that are many-to-many on one side only.
  func findings(_ model: ManagedObjectModel) -> [String] {
    var findings: [String] = []
    for (key, record) in records {
      let relationships = model.entity(named: key.entityName)?.relationships ?? []
      for relationship in relationships {
        guard let name = relationship.inverse,
          let inverse = model.entity(named: relationship.destination)?.relationship(named: name),
          inverse.deleteRule != .noAction
        else { continue }
        let destinations =
          record.node.destinations[relationship.name].map { [$0] }
          ?? record.members[relationship.name] ?? []
        for destination in destinations {
          let other = records[destination]
          let isKnown =
            inverse.isToMany
            ? other?.members[name]?.contains(key) ?? !inverse.isOrdered
            : other?.node.destinations[name] == key
          if other == nil || !isKnown {
            findings.append("\(key).\(relationship.name) leads to \(destination), and not back")
          }
        }
      }
    }
    return findings.sorted()
  }
}
