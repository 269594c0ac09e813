import QuireModel
import QuireStorage

// What a save does when it has met conflicts.
extension ManagedObjectContext {
  /// How often a save asks its policy: beyond that the objects are changed, by those who are told
  /// of a merge, in ways that make new conflicts.
  private static var mergeLimit: Int { 10 }

  /// Lets the policy resolve the conflicts of a save, and writes what is then to be written, while
  /// nobody else can write: so what was resolved stays resolved.
  ///
  /// - Returns: what was written and the store as it then was; `nil` when nothing was left to save.
  /// - Throws: what the policy, validation or the engine throw. Everything here is as it was then.
  final func commitMerged(
    _ save: SaveOperation, to store: PersistentStore
  ) throws -> (save: SaveOperation, view: StoreView)? {
    let transaction = try beginWrite(to: store)
    let checkpoint = isMerging ? ContextCheckpoint(self) : nil
    // What is merged with is what the store has; a save moves a query generation on.
    let generation = pinnedView
    pinnedView = nil
    do {
      guard let merged = try mergedSave(save, to: store) else {
        transaction.abort()
        if generation != nil { pinnedView = view }
        return nil
      }
      undoRecording?.willCommit(merged)
      let saved = try write(merged, in: transaction, of: store, settling: true)
      if generation != nil { pinnedView = saved }
      return (merged, saved)
    } catch {
      transaction.abort()
      pinnedView = generation
      merge = nil
      checkpoint?.restore(self)
      if error is SaveOperation.Outdated { throw mergeError([]) }
      if error is SaveOperation.Duplicates { throw constraintError([]) }
      throw error
    }
  }

  /// Whether the policy may change anything here.
  private var isMerging: Bool {
    type(of: mergePolicy) != MergePolicy.self || mergePolicy.mergeType != .errorMergePolicyType
  }

  private func mergedSave(
    _ save: SaveOperation, to store: PersistentStore
  ) throws -> SaveOperation? {
    var told: Set<ManagedObject> = []
    save.forEachObject { told.insert($0) }
    var latest: [MergeConflict] = []
    for _ in 1...Self.mergeLimit {
      latest = try remainingConflicts()
      if !latest.isEmpty {
        try resolve(latest)
        try throwUnreported()
      }
      let duplicates = try remainingConstraintConflicts()
      if !duplicates.isEmpty {
        try resolve(duplicates)
        try throwUnreported()
      }
      guard hasChanges else { return nil }
      let merged = try prepareSave(to: store, without: told)
      merged.forEachObject { told.insert($0) }
      guard hasChanges else { return nil }
      if try remainingConflicts().isEmpty {
        let left = try remainingConstraintConflicts()
        if left.isEmpty { return merged }
        if left.map(\.report) == duplicates.map(\.report) {
          throw constraintError(left.map(\.report))
        }
      }
    }
    throw mergeError(latest.map(\.report))
  }

  private func remainingConflicts() throws -> [MergeConflict] {
    // Of the store itself, whatever a query generation shows.
    let store = try requiredStore()
    let newest = try storage { () throws(StorageError) in try store.pages.snapshot() }
    return try conflicts(against: StoreView(store.entities, newest))
  }

  private func remainingConstraintConflicts() throws -> [ConstraintConflict] {
    let store = try requiredStore()
    let newest = try storage { () throws(StorageError) in try store.pages.snapshot() }
    return try constraintConflicts(against: StoreView(store.entities, newest))
  }

  private func resolve(_ conflicts: [ConstraintConflict]) throws {
    // What is read from now on is what the values are compared with.
    view = nil
    _ = try newestView()
    try mergePolicy.resolve(constraintConflicts: conflicts)
    processPendingChanges()
    let left = try remainingConstraintConflicts().map(\.report)
    if left == conflicts.map(\.report) { throw constraintError(left) }
  }

  private func resolve(_ conflicts: [MergeConflict]) throws {
    let merge = try Merge(self, conflicts)
    self.merge = merge
    defer { self.merge = nil }
    try mergePolicy.resolve(optimisticLockingConflicts: conflicts)
    processPendingChanges()
    let left = try remainingConflicts()
    if !left.isEmpty { try merge.resolve(left, by: .mergeByPropertyObjectTrumpMergePolicyType) }
  }
}
