import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Others' saves, brought into a context: by itself, or because somebody asks for it.
//
// A merge is told which objects somebody has saved, and looks at the store's newest state for what
// has become of them. So it does not matter in which order saves are told, or whether one is told
// twice.
extension ManagedObjectContext {
  /// Whether what other contexts save is merged here by itself: the main actor's context of a
  /// container does so soon after the save, every context when it next performs something,
  /// fetches, saves or processes its changes.
  ///
  /// Merged are saves of all contexts of this process that have the store open, by whichever
  /// coordinator.
  public final var automaticallyMergesChangesFromParent: Bool {
    get { commitInbox != nil }
    set {
      guard newValue != automaticallyMergesChangesFromParent else { return }
      if newValue {
        commitInbox = CommitInbox(wake: wakeOnCommit)
        if let store { joinCommits(of: store) }
      } else {
        if let commitInbox { joinedHub?.remove(commitInbox) }
        commitInbox = nil
        joinedHub = nil
      }
    }
  }

  /// From now on the store's saves wait in the inbox, if there is one.
  final func joinCommits(of store: PersistentStore) {
    guard let commitInbox, joinedHub !== store.hub else { return }
    joinedHub?.remove(commitInbox)
    commitInbox.begin()
    joinedHub = store.hub
    store.hub.add(commitInbox)
  }

  /// Merges what waits. Nothing is merged while a save is under way: the next call will do it.
  final func mergeWaitingCommits() {
    guard let commitInbox, commitInbox.isWaiting, !isSaving, !isProcessingChanges else { return }
    let content = commitInbox.takeAll()
    if content.isTooMuch {
      merge(registeredObjects.filter(\.isStored).map { ($0.reference, false) })
    } else {
      merge(content.places.map { ($0.key, $0.value.isInsertion) })
    }
  }

  /// Brings into this context what another one has saved.
  ///
  /// Clean objects read their values anew; unsaved changes stay, on top of the new values, property
  /// by property, and will be saved without a conflict; objects that were deleted leave, with their
  /// unsaved changes. Objects that this context does not know stay unknown, except that
  /// ``ContextNotice/Kind/didChangeObjects`` names those that are new.
  ///
  /// Errors of the store are thrown by the next fetch or save.
  ///
  /// - Parameter notice: one of another context of the same store that tells of a save. IDs of
  ///   other stores, and temporary ones, are passed over.
  public final func mergeChanges(fromContextDidSave notice: ObjectIDNotice) {
    mergeChanges(
      inserted: notice.insertedObjectIDs,
      changed: notice.updatedObjectIDs.union(notice.deletedObjectIDs)
        .union(notice.refreshedObjectIDs))
  }

  /// The same, in the isolation that both contexts belong to.
  public final func mergeChanges(fromContextDidSave notice: ContextNotice) {
    mergeChanges(fromContextDidSave: notice.objectIDs)
  }

  /// Brings into contexts what was saved elsewhere, such as by a batch operation.
  ///
  /// - Parameters:
  ///   - changes: arrays or sets of ``ManagedObjectID`` or of their URIs, by Core Data's keys: raw
  ///     values of ``NotificationKey`` or its cases.
  ///   - contexts: contexts of the caller's isolation.
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when something else is among them;
  ///   nothing is merged then. IDs of other stores are passed over.
  public static func mergeChanges(
    fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [ManagedObjectContext]
  ) throws {
    let remote = try RemoteChanges(changes)
    for context in contexts {
      let coordinator = context.persistentStoreCoordinator
      func ids(_ names: [RemoteChanges.Name]) -> Set<ManagedObjectID> {
        Set(
          names.compactMap { name in
            switch name {
            case .id(let id): id
            case .uri(let uri): coordinator?.managedObjectID(forURIRepresentation: uri)
            }
          })
      }
      context.mergeChanges(inserted: ids(remote.inserted), changed: ids(remote.changed))
    }
  }

  private func mergeChanges(inserted: Set<ManagedObjectID>, changed: Set<ManagedObjectID>) {
    func places(_ ids: Set<ManagedObjectID>, _ isInsertion: Bool) -> [(Reference, Bool)] {
      ids.compactMap { id in
        id.isTemporaryID ? nil : reference(for: id).map { ($0, isInsertion) }
      }
    }
    merge(places(inserted, true) + places(changed.subtracting(inserted), false))
    processPendingChanges()
  }
}

// MARK: - One merge

extension ManagedObjectContext {
  /// - Parameter places: where something was saved, and whether an object was inserted there.
  private func merge(_ places: [(reference: Reference, isInsertion: Bool)]) {
    guard !places.isEmpty else { return }
    do {
      try moveQueryGeneration()
      let view = try latestView()
      var ids = ObjectIDNotice(.didMergeChangesObjectIDs, self)
      var merged: [ManagedObject] = []
      var new: [Reference] = []
      // In order, so that the same saves make the same context.
      for (reference, isInsertion) in places.sorted(by: { $0.reference < $1.reference }) {
        guard let id = objectID(of: reference) else { continue }
        let object = registered(reference)
        if try !view.contains(reference) {
          ids.deletedObjectIDs.insert(id)
          if let object { mergeDeletion(of: object) }
          continue
        }
        if isInsertion { ids.insertedObjectIDs.insert(id) } else { ids.updatedObjectIDs.insert(id) }
        if let object {
          merged.append(object)
        } else if isInsertion, noticeCenter != nil {
          new.append(reference)
        }
      }
      for object in merged { try mergeRow(of: object, view) }
      // When all rows are the new ones: both sides of a relationship are looked at.
      for object in merged where !object.slots.isEmpty { try object.settlePendingMembers() }
      for object in merged where !object.slots.isEmpty && !object.isDeleted {
        try object.displaceStoredDestinations()
      }
      for object in merged { noticeCenter?.didRefresh(object) }
      for reference in new { noticeCenter?.didInsert(try object(at: reference)) }
      noticeCenter?.postMerge(ids)
    } catch {
      report(error)
    }
  }

  private func objectID(of reference: Reference) -> ManagedObjectID? {
    guard let store, let storage = store.entities.storage(of: reference) else { return nil }
    return ManagedObjectID(
      entity: storage.binding.entity, store: store.identity, key: reference.key)
  }

  /// The object's row is gone, by somebody else's doing. That wins over what was changed here.
  private func mergeDeletion(of object: ManagedObject) {
    if object.isDeleted {
      // Nobody has to delete it any more.
      changes.deleted.remove(object)
    } else {
      noticeCenter?.didDelete(object)
    }
    preparation?.isOutdated = true
    release(object)
  }

  private func mergeRow(of object: ManagedObject, _ view: StoreView) throws {
    if object.slots.isEmpty {
      let deletion = object.state.intersection([.deleted, .propagated])
      object.turnIntoFault()
      object.state.formUnion(deletion)
    } else {
      try exchangeRow(of: object, view)
      object.tell(of: .refresh)
    }
  }
}

/// Changes by Core Data's keys, as some program has put them together.
private struct RemoteChanges {
  enum Name {
    case id(ManagedObjectID)
    case uri(URL)
  }

  var inserted: [Name] = []
  var changed: [Name] = []

  init(_ changes: [AnyHashable: Any]) throws {
    for (key, value) in changes {
      let key =
        key.base as? ManagedObjectContext.NotificationKey
        ?? (key.base as? String).flatMap(ManagedObjectContext.NotificationKey.init(rawValue:))
      switch key {
      case .insertedObjects?, .insertedObjectIDs?: inserted += try Self.names(in: value)
      case .updatedObjects?, .deletedObjects?, .refreshedObjects?, .invalidatedObjects?,
        .updatedObjectIDs?, .deletedObjectIDs?, .refreshedObjectIDs?, .invalidatedObjectIDs?:
        changed += try Self.names(in: value)
      case .sourceContext?, .invalidatedAllObjects?, nil: continue
      }
    }
  }

  private static func names(in value: Any) throws -> [Name] {
    switch value {
    case let ids as [ManagedObjectID]: return ids.map(Name.id)
    case let ids as Set<ManagedObjectID>: return ids.map(Name.id)
    case let uris as [URL]: return uris.map(Name.uri)
    case let uris as Set<URL>: return uris.map(Name.uri)
    case let names as [Any]:
      return try names.map { name in
        if let id = name as? ManagedObjectID { return .id(id) }
        if let uri = name as? URL { return .uri(uri) }
        throw unacceptable(name)
      }
    default: throw unacceptable(value)
    }
  }

  private static func unacceptable(_ value: Any) -> PersistenceError {
    PersistenceError(
      .unacceptableValue,
      "changes to merge are arrays or sets of object IDs or their URIs, not \(type(of: value))")
  }
}
