import Foundation
public import QuireCoreData

/// What a save has changed, as identifiers.
public struct ChangeSet: Sendable, Equatable {
  public var inserted: Set<NSManagedObjectID>
  public var updated: Set<NSManagedObjectID>
  public var deleted: Set<NSManagedObjectID>

  public init(
    inserted: Set<NSManagedObjectID> = [], updated: Set<NSManagedObjectID> = [],
    deleted: Set<NSManagedObjectID> = []
  ) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
  }

  init(_ notification: Notification) {
    func identifiers(_ key: NSManagedObjectContext.NotificationKey) -> Set<NSManagedObjectID> {
      notification.userInfo?[key.rawValue] as? Set<NSManagedObjectID> ?? []
    }
    self.init(
      inserted: identifiers(.insertedObjectIDs), updated: identifiers(.updatedObjectIDs),
      deleted: identifiers(.deletedObjectIDs))
  }

  @inlinable
  public func contains(_ identifier: NSManagedObjectID) -> Bool {
    inserted.contains(identifier) || updated.contains(identifier) || deleted.contains(identifier)
  }

  @inlinable
  public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  public func entityNames() -> [String] {
    let all = inserted.union(updated).union(deleted)
    return Set(all.compactMap(\.entity.name)).sorted()
  }

  public mutating func formUnion(_ other: ChangeSet) {
    inserted.formUnion(other.inserted)
    updated.formUnion(other.updated)
    deleted.formUnion(other.deleted)
  }
}

/// A stream of what saves have changed, for each that asks.
public final class ChangeFeed: @unchecked Sendable {
  private let lock = NSLock()
  private var continuations: [UUID: AsyncStream<ChangeSet>.Continuation] = [:]
  private var token: (any NSObjectProtocol)?

  init(container: NSPersistentContainer) {
    let coordinator = container.persistentStoreCoordinator
    token = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, queue: nil
    ) { [weak self] notification in
      guard let context = notification.object as? NSManagedObjectContext,
        context.persistentStoreCoordinator === coordinator, context.parent == nil
      else { return }
      self?.send(ChangeSet(notification))
    }
  }

  deinit {
    if let token { NotificationCenter.default.removeObserver(token) }
  }

  private func send(_ changes: ChangeSet) {
    lock.lock()
    let all = Array(continuations.values)
    lock.unlock()
    for continuation in all { continuation.yield(changes) }
  }

  public func stream() -> AsyncStream<ChangeSet> {
    let key = UUID()
    let (stream, continuation) = AsyncStream.makeStream(of: ChangeSet.self)
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      self.lock.lock()
      self.continuations[key] = nil
      self.lock.unlock()
    }
    lock.lock()
    continuations[key] = continuation
    lock.unlock()
    return stream
  }
}
