import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Merging the saves of other contexts: automatically, or on request.
//
// A merge gets the references of objects that were saved, and reads their values from the store's
// newest state. So saves may be merged in any order, and more than once.
extension ManagedObjectContext {
  /// Whether saves of other contexts are merged here automatically: by the main actor's context of
  /// a container soon after the save, by every context when it next performs something, fetches,
  /// saves or processes its changes. At first `false`.
  ///
  /// Saves of all contexts of this process that have one of the stores open are merged, also those
  /// of other coordinators. A child context merges what its parent saves, what the parent's other
  /// children save to it, and what the parent merges; at once, unless it is being saved.
  public final var automaticallyMergesChangesFromParent: Bool {
    get { mergesCommits }
    set {
      guard newValue != mergesCommits else { return }
      mergesCommits = newValue
      if newValue {
        for session in presentSessions() { session.joinCommits() }
      } else {
        for session in sessions { session.leaveCommits() }
      }
    }
  }

  /// Merges saves that wait, and drops objects of stores that were removed. Does nothing while the
  /// context is busy; the next call does it.
  final func mergeWaitingCommits() {
    guard presentActivity == nil else { return }
    during(.dropping) { leaveRemovedStores() }
    guard mergesCommits else { return }
    lookForNews()
    var references = takeWaitingReferences().compactMap { waiting, isInsertion in
      session(with: waiting.store).map {
        MergedReference(session: $0, reference: waiting.reference, isInsertion: isInsertion)
      }
    }
    var isOfAll = takeWaitingForAll()
    var commits: [CommitNumber] = []
    var read: [(session: StoreSession, commits: [CommitNumber], isOfAll: Bool)] = []
    for session in sessions {
      guard let inbox = session.inbox, inbox.isWaiting else { continue }
      let content = inbox.takeAll()
      commits += content.commits
      read.append((session, content.commits, content.isTooMuch))
      if content.isTooMuch {
        isOfAll = true
        references += session.objects.filter(\.isStored).map {
          MergedReference(session: session, reference: $0.reference, isInsertion: false)
        }
      } else {
        references += content.references.map {
          MergedReference(session: session, reference: $0.key, isInsertion: $0.value.isInsertion)
        }
      }
    }
    guard SaveMerge(self).merge(references, of: commits, isOfAll: isOfAll) else { return }
    for (session, commits, isOfAll) in read {
      isOfAll ? session.recordRowsOfState() : session.recordRows(of: commits)
    }
  }

  /// Merges what another context has saved.
  ///
  /// Clean objects become faults and read their values anew, without transient ones; unsaved
  /// changes stay, on top of the new values, property by property, and will be saved without a
  /// conflict; objects that were deleted leave the context, with their unsaved changes. No objects
  /// are made for those that are not registered here, except for new ones if the context has
  /// observers: ``ContextNotice/Kind/didChangeObjects`` has them.
  ///
  /// Errors of the store are thrown by the next fetch or save.
  ///
  /// - Parameter notice: the notice of a save, of another context of the same stores. IDs of other
  ///   stores, and temporary ones, are ignored.
  public final func mergeChanges(fromContextDidSave notice: ObjectIDNotice) {
    guard isIdle(for: "mergeChanges(fromContextDidSave:)") else { return }
    mergeChanges(
      inserted: notice.insertedObjectIDs,
      changed: notice.updatedObjectIDs.union(notice.deletedObjectIDs)
        .union(notice.refreshedObjectIDs), commit: notice.commitNumber)
  }

  /// Merges what another context of the same isolation has saved; see
  /// ``mergeChanges(fromContextDidSave:)-(ObjectIDNotice)``.
  public final func mergeChanges(fromContextDidSave notice: ContextNotice) {
    mergeChanges(fromContextDidSave: notice.objectIDs)
  }

  /// Merges what was saved elsewhere, such as by a batch operation, into several contexts.
  ///
  /// - Parameters:
  ///   - changes: arrays or sets of ``ManagedObjectID`` or of their URIs, by Core Data's keys: raw
  ///     values of ``NotificationKey`` or its cases.
  ///   - contexts: contexts of the caller's isolation.
  /// - Throws: ``PersistenceError/Code/unacceptableValue`` when something else is among them, and
  ///   ``PersistenceError/Code/managedObjectContextBusy`` when one of the contexts is busy; nothing
  ///   is merged then. IDs of other stores are ignored.
  public static func mergeChanges(
    fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [ManagedObjectContext]
  ) throws {
    let remote = try RemoteChanges(changes)
    for context in contexts {
      try context.requireIdle(for: "mergeChanges(fromRemoteContextSave:into:)")
    }
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

  /// - Parameter commit: the save that has made all these changes, and no others.
  private func mergeChanges(
    inserted: Set<ManagedObjectID>, changed: Set<ManagedObjectID>, commit: UInt64? = nil
  ) {
    func references(_ ids: Set<ManagedObjectID>, _ isInsertion: Bool) -> [MergedReference] {
      ids.compactMap { id in
        reference(for: id).map {
          MergedReference(session: $0.session, reference: $0.reference, isInsertion: isInsertion)
        }
      }
    }
    let merged = references(inserted, true) + references(changed.subtracting(inserted), false)
    // A save of another store has objects that have no reference here.
    let isWhole = merged.count == inserted.union(changed).count
    let commits = isWhole ? commit.map { [CommitNumber(rawValue: $0)] } ?? [] : []
    if SaveMerge(self).merge(merged, of: commits), sessions.count == 1 {
      sessions[0].recordRows(of: commits)
    }
    processPendingChanges()
  }
}

/// Changes under Core Data's keys, as a program passes them.
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
      case .sourceContext?, .invalidatedAllObjects?, .queryGeneration?, nil: continue
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
