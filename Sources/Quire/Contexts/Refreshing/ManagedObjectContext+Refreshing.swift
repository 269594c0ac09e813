import QuireModel

extension ManagedObjectContext {
  /// Reads an object anew from the store's last saved state when it is next used.
  ///
  /// A change of a relationship changes two objects. Where this object's changes are dropped, the
  /// other side is restored too; only a relationship to a deleted object is not. With an undo
  /// manager, dropping changes is a change that can be undone.
  ///
  /// An object without unsaved changes becomes a fault in either case, and its transient values and
  /// relationships are dropped. ``ManagedObject/awakeFromFetch()`` is the place to compute them
  /// again.
  ///
  /// - Parameter mergeChanges: whether unsaved changes stay on top of what is read; otherwise they
  ///   are dropped.
  public final func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    let object = object.successor ?? object
    during(.refreshing) {
      do {
        guard object.context === self, object.isStored, let session = object.session else { return }
        _ = try session.latestView()
        if mergeChanges || !object.hasSlots {
          try RowExchange(self).exchange([object])
        } else if !object.isDeleted {
          try RowExchange(self).dropChanges(of: object)
        } else {
          noticeCenter?.didRefresh(object)
        }
      } catch {
        report(error)
      }
    }
  }

  /// Refreshes all objects: those without unsaved changes become faults, the others keep their
  /// changes on top of what the store has. A query generation that the context is pinned to moves
  /// on to the store's last saved state.
  ///
  /// Called while the context is busy it changes nothing, and the next fetch or save throws
  /// ``PersistenceError/Code/managedObjectContextBusy``.
  public final func refreshAllObjects() {
    guard isIdle(for: "refreshAllObjects()") else { return }
    during(.refreshing) {
      do {
        try moveQueryGeneration()
      } catch {
        report(error)
      }
      // Objects that are not in memory are to be read from the newest state, too.
      for session in sessions { session.leaveState() }
      // A store that cannot be read keeps no other from being refreshed.
      let objects = allObjects.filter(\.isStored)
      for session in sessions {
        let own = objects.filter { $0.session === session }
        do {
          if !own.isEmpty { _ = try session.latestView() }
          try RowExchange(self).exchange(own)
          session.recordRowsOfState()
        } catch {
          report(error)
        }
      }
    }
  }
}
