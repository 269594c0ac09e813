import QuireModel

/// What has happened to the objects of a context since its last notice.
struct ContextEvent {
  /// What a property was when the event began.
  enum Former {
    case value(AttributeValue?)
    case one(ManagedObject?)
    case list([ManagedObject])
    /// The difference from now, so that nobody has to read a set to add to it.
    case set(added: Set<ManagedObject>, removed: Set<ManagedObject>)
  }

  private(set) var inserted: Set<ManagedObject> = []
  private(set) var deleted: Set<ManagedObject> = []
  private(set) var refreshed: Set<ManagedObject> = []
  /// Objects with changes that were read anew under them: more than what was set may be another.
  private(set) var reread: Set<ManagedObject> = []
  /// By object and property.
  private(set) var changed: [ManagedObject: [String: Former]] = [:]

  var isEmpty: Bool {
    inserted.isEmpty && deleted.isEmpty && refreshed.isEmpty && changed.isEmpty
  }

  mutating func recordInsertion(of object: ManagedObject) {
    if deleted.remove(object) == nil { inserted.insert(object) }
  }

  /// What comes and goes within one event was never there.
  mutating func recordDeletion(of object: ManagedObject) {
    if inserted.remove(object) == nil { deleted.insert(object) }
  }

  /// - Returns: what is held no more, to go when the event is whole.
  mutating func recordRefresh(of object: ManagedObject) -> [String: Former]? {
    guard object.hasChanges else {
      refreshed.insert(object)
      return changed.removeValue(forKey: object)
    }
    if changed[object] == nil { changed[object] = [:] }
    reread.insert(object)
    return nil
  }

  /// - Returns: `false` when it is the property's first change.
  mutating func recordAgain(
    _ property: String, of object: ManagedObject, _ change: SlotChange
  ) -> Bool {
    changed[object]?[property]?.record(change) != nil
  }

  /// The first change of a property.
  ///
  /// - Parameter former: `nil` where that cannot be read.
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

  /// What is to be told, each object under one key.
  func notice(of context: ManagedObjectContext) -> ContextNotice? {
    var notice = ContextNotice(.didChangeObjects, context)
    notice.insertedObjects = inserted.filter { $0.context === context && !$0.isDeleted }
    notice.deletedObjects = deleted
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
    if notice.insertedObjects.isEmpty, notice.updatedObjects.isEmpty, deleted.isEmpty,
      notice.refreshedObjects.isEmpty
    {
      return nil
    }
    notice.completeIDs()
    return notice
  }
}

extension ContextEvent.Former {
  /// Takes note of what comes or goes after the first change.
  fileprivate mutating func record(_ change: SlotChange) {
    guard case .set(var added, var removed) = self else { return }
    // Nobody else may hold the sets while they change: each change would copy them.
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
  /// What a property is that is about to change.
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

  /// The former values of the stored properties that have changed since the context's last
  /// ``ContextNotice/Kind/didChangeObjects``, by name; also while that is posted.
  ///
  /// Known from when somebody observes the context; before that, and for objects that nobody has
  /// changed, it is empty.
  public final func changedValuesForCurrentEvent() -> [String: Any?] {
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
