import QuireModel
import QuireStorage

// What a save does with its objects when it has happened.
extension ManagedObjectContext {
  /// Removes the objects of a save from the lists of changes.
  ///
  /// - Returns: whether no others are left: those that were not saved, and those that have come to
  ///   have changes since the save was prepared, by what it calls or releases.
  final func forgetChanges(of parts: some Collection<SaveOperation>) -> Bool {
    if changes.count == parts.reduce(0, { $0 + $1.objectCount }) {
      changes = PendingObjects()
      return true
    }
    for part in parts {
      for object in part.new + part.touched { object.setPending(nil) }
      for object in part.deleted { changes.remove(object) }
    }
    return false
  }
}

extension SaveOperation {
  /// Gives new objects their permanent references, and makes all objects of the save clean.
  ///
  /// - Parameter view: the state with the new rows; `nil` to make the objects faults.
  func finishObjects(_ view: StoreView?) {
    let context = session.context
    let areAllNew = !hasReturned && context.forgetNewObjects(if: inserted.count)
    session.identityMap.reserve(inserted.count)
    let isAnyIDKnown = TemporaryIdentity.isAnyLiving
    var rows = view.map { RowRun($0) }
    var start = 0
    while start < inserted.count {
      let arena = session.arena(of: inserted[start].storage)
      var end = start
      while end < inserted.count, inserted[end].hasStorage(of: inserted[start]) {
        let reference = inserted[end].reference
        inserted[end].ofObject { object in
          if !areAllNew { context.unregister(object) }
          if isAnyIDKnown, object.reference.isTemporary {
            TemporaryIdentity.record(
              object.reference.key, savedAs: reference.key, in: session.identity)
          }
          object.reference = reference
          object.arena = arena
          session.enter(object)
        }
        end += 1
      }
      start = end
    }
    for item in inserted { item.ofObject { $0.becomeClean(&rows) } }
    var position = 0
    for object in Uncounted(touched) {
      object._withUnsafeGuaranteedRef { object in
        var keepsRow = false
        if position < updated.count, updated[position].ofObject({ $0 === object }) {
          keepsRow = rows != nil && object.hasRow && isRowUntouched(updated[position])
          position += 1
        }
        if keepsRow { object.becomeCleanKeepingRow() } else { object.becomeClean(&rows) }
      }
    }
  }

  /// Whether the row of a changed object is the one that it had before the save.
  private func isRowUntouched(_ update: PendingUpdate) -> Bool {
    if let incrementalWrite, update.ofObject({ incrementalWrite.answered.contains($0.reference) }) {
      return false
    }
    return entities.derivations == nil && !update.hasOwnChange
  }
}

extension ManagedObject {
  /// Becomes clean after a save.
  ///
  /// - Parameter rows: gives the object its new row; `nil` to make the object a fault.
  fileprivate func becomeClean(_ rows: inout RowRun?) {
    becomeCleanKeepingRow()
    // If the row cannot be read the object is a fault, and reading it is an error.
    if rows?.giveRow(to: self) != true { set(nil) }
  }

  /// Becomes clean, and keeps its row.
  fileprivate func becomeCleanKeepingRow() {
    keepTransientSlots()
    state = []
  }
}
