import QuireModel

/// The changes of a context's objects since its last notice.
struct ContextEvent {
  /// The value of a property when the event began.
  enum Former {
    case value(AttributeValue?)
    case one(ManagedObject?)
    case list([ManagedObject])
    /// The difference from now, so that adding to a relationship does not read it.
    case set(added: Set<ManagedObject>, removed: Set<ManagedObject>)
  }

  private(set) var inserted: Set<ManagedObject> = []
  private(set) var deleted: Set<ManagedObject> = []
  /// Objects that were inserted and deleted in this event, where notices have them.
  private(set) var dropped: Set<ManagedObject> = []
  private(set) var refreshed: Set<ManagedObject> = []
  /// Objects with changes that were refreshed: other properties may differ than those that were
  /// set.
  private(set) var reread: Set<ManagedObject> = []
  /// By object and property.
  private(set) var changed: [ManagedObject: [String: Former]] = [:]

  var isEmpty: Bool {
    inserted.isEmpty && deleted.isEmpty && dropped.isEmpty && refreshed.isEmpty && changed.isEmpty
  }

  mutating func recordInsertion(of object: ManagedObject) {
    dropped.remove(object)
    if deleted.remove(object) == nil { inserted.insert(object) }
  }

  /// Records a deletion. An object that was inserted in the same event is dropped instead.
  ///
  /// - Parameter noticesDropped: whether the notice is to have it nevertheless.
  mutating func recordDeletion(of object: ManagedObject, noticesDropped: Bool = false) {
    if inserted.remove(object) == nil {
      deleted.insert(object)
    } else if noticesDropped {
      dropped.insert(object)
    }
  }

  /// Records a refresh.
  ///
  /// - Returns: values to release, which the caller does when the event is not being changed.
  mutating func recordRefresh(of object: ManagedObject) -> [String: Former]? {
    guard object.hasChanges else {
      refreshed.insert(object)
      return changed.removeValue(forKey: object)
    }
    if changed[object] == nil { changed[object] = [:] }
    reread.insert(object)
    return nil
  }

  /// Records a change after the first one.
  ///
  /// - Returns: `false` when it is the property's first change.
  mutating func recordAgain(
    _ property: String, of object: ManagedObject, _ change: SlotChange
  ) -> Bool {
    changed[object]?[property]?.record(change) != nil
  }

  /// Records the first change of a property.
  ///
  /// - Parameter former: the value before it; `nil` where that cannot be read.
  mutating func record(_ property: String, of object: ManagedObject, _ former: Former?) {
    changed[object, default: [:]][property] = former
  }

  mutating func recordRollback(of dropped: PendingObjects) {
    for object in dropped.inserted.objects { recordDeletion(of: object) }
    for object in dropped.deleted.objects where object.isStored {
      if deleted.remove(object) == nil { inserted.insert(object) } else { refreshed.insert(object) }
    }
    for object in dropped.updated.objects { refreshed.insert(object) }
    changed = [:]
  }

  /// The notice of the event, with each object in one set; `nil` when all would be empty.
  func notice(of context: ManagedObjectContext) -> ContextNotice? {
    var notice = ContextNotice(.didChangeObjects, context)
    notice.insertedObjects = inserted.filter { $0.context === context && !$0.isDeleted }
    notice.deletedObjects = deleted.union(dropped)
    for (object, formers) in changed
    where object.context === context && object.hasChanges && !object.isDeleted
      && !inserted.contains(object) && !deleted.contains(object)
    {
      notice.updatedObjects.insert(object)
      notice.objectIDs.changedProperties[object.objectID] = Set(formers.keys)
    }
    notice.rereadObjects = reread
    notice.refreshedObjects = refreshed.filter { object in
      object.context === context && !inserted.contains(object) && !deleted.contains(object)
        && !notice.updatedObjects.contains(object)
    }
    if notice.insertedObjects.isEmpty, notice.updatedObjects.isEmpty,
      notice.deletedObjects.isEmpty, notice.refreshedObjects.isEmpty
    {
      return nil
    }
    notice.completeIDs()
    return notice
  }
}

extension ContextEvent.Former {
  /// Records a member that is added or removed after the first change.
  fileprivate mutating func record(_ change: SlotChange) {
    guard case .set(var added, var removed) = self else { return }
    // With another reference to the sets while they change, each change would copy them.
    self = .set(added: [], removed: [])
    switch change {
    case .addition(let member): if removed.remove(member) == nil { added.insert(member) }
    case .removal(let member): if added.remove(member) == nil { removed.insert(member) }
    default: break
    }
    self = .set(added: added, removed: removed)
  }
}

extension ManagedObject {
  /// The value of a property that is about to change.
  func former(_ property: String, _ change: SlotChange) -> ContextEvent.Former? {
    guard let slot = binding.slot(named: property) else { return nil }
    do {
      switch change {
      case .value: return .value(try attribute(slot))
      case .one: return .one(try one(slot))
      case .addition, .removal, .order:
        if binding.relationship(slot).isOrdered { return .list(try members(slot)) }
        switch change {
        case .addition(let member): return .set(added: [member], removed: [])
        case .removal(let member): return .set(added: [], removed: [member])
        default: return nil
        }
      }
    } catch {
      context?.report(error)
      return nil
    }
  }
}

extension PropertyReading {
  /// The former values of the stored properties that have changed since the context's last
  /// ``ContextNotice/Kind/didChangeObjects``, by name; also while that is posted.
  ///
  /// They are recorded while the context has observers; without observers, and for unchanged
  /// objects, the result is empty. Core Data needs no observer for it.
  public func changedValuesForCurrentEvent() -> [String: Any?] { formerValuesOfEvent() }
}

extension ManagedObject {
  /// What ``PropertyReading/changedValuesForCurrentEvent()`` returns.
  final func formerValuesOfEvent() -> [String: Any?] {
    guard let formers = context?.noticeCenter?.formers(of: self) else { return [:] }
    var values: [String: Any?] = [:]
    for (property, former) in formers {
      guard let slot = binding.slot(named: property), !binding.traits[slot].isTransient else {
        continue
      }
      switch former {
      case .value(let value):
        do {
          values[property] = .some(try plainAttribute(value, slot))
        } catch {
          context?.report(error)
        }
      case .one(let object): values[property] = .some(object)
      case .list(let objects): values[property] = .some(objects)
      case .set(let added, let removed):
        do {
          values[property] = .some(
            Set(try members(slot)).subtracting(added).union(
              removed.filter { $0.context === context })
          )
        } catch {
          context?.report(error)
        }
      }
    }
    return values
  }
}
