import QuireModel
import QuireStorage

// The objects of a context that would break a uniqueness constraint of the store.
extension ManagedObjectContext {
  /// The conflicts that a save would meet; searched when one has met some.
  final func constraintConflicts(against views: StoreViews) throws -> [ConstraintConflict] {
    var conflicts: [ConstraintConflict] = []
    for session in presentSessions() {
      guard let view = views[session] else { continue }
      let indexes = try view.entities.indexes(in: view.snapshot)
      for index in indexes.list where index.kind == .unique {
        conflicts += try ConstraintSearch(index, indexes, view, session).conflicts()
      }
    }
    return conflicts
  }

  final func constraintError(_ reports: [ConstraintConflict.Report]) -> PersistenceError {
    let list = reports.map(\.description).joined(separator: "; ")
    var error = PersistenceError(
      .managedObjectConstraintMerge,
      reports.isEmpty
        ? "a uniqueness constraint forbids this save: an attribute that is derived from other objects "
          + "would have a value that another object has"
        : "a uniqueness constraint forbids this save: \(list)")
    error.constraintConflicts = reports
    error.entityName = reports.first?.entityName
    return error
  }
}

/// A search for the conflicts about one constraint.
private struct ConstraintSearch {
  private struct Group {
    var objects: [ManagedObject] = []
    /// The key as the store's tree has it, without a reference.
    let key: IndexKeyWriter
  }

  private let index: StoredIndex
  private let indexes: StoreIndexes
  private let view: StoreView
  private let session: StoreSession
  /// Stored objects whose values in the store do not count, as they are deleted or changed here.
  private var moved: Set<Reference> = []
  private var changed: [ManagedObject] = []

  init(
    _ index: StoredIndex, _ indexes: StoreIndexes, _ view: StoreView,
    _ session: StoreSession
  ) {
    self.index = index
    self.indexes = indexes
    self.view = view
    self.session = session
    let context = session.context
    for object in context.changes.inserted.sorted where isCovered(object) {
      changed.append(object)
      // An object whose deletion was undone.
      if object.isPersistent { moved.insert(object.reference) }
    }
    for object in context.changes.updated.sorted where isCovered(object) {
      let isChanged = index.elements.contains { element in
        guard let slot = object.binding.slot(named: element.path[0]) else { return false }
        // A derived value may change with any other.
        return object.isChanged(slot) || object.binding.traits[slot].isDerived
      }
      guard isChanged else { continue }
      changed.append(object)
      moved.insert(object.reference)
    }
    for object in context.changes.deleted.objects where object.session === session {
      moved.insert(object.reference)
    }
  }

  private func isCovered(_ object: ManagedObject) -> Bool {
    guard (try? session.context.targetSession(of: object)) === session else { return false }
    let storage = view.entities.byIndex[object.binding.index]
    return storage.map { index.entities.contains($0.stored.number) } ?? false
  }

  func conflicts() throws -> [ConstraintConflict] {
    var groups: [[UInt8]: Group] = [:]
    var order: [[UInt8]] = []
    for object in changed {
      guard let whole = try key(of: object, IndexKeyWriter.unlimited),
        let key = try key(of: object, IndexKeyWriter())
      else { continue }
      if groups[whole.bytes] == nil { order.append(whole.bytes) }
      groups[whole.bytes, default: Group(key: key)].objects.append(object)
    }
    return try order.compactMap { whole in
      guard let group = groups[whole] else { return nil }
      let stored = try self.stored(whole, group.key)
      guard stored != nil || group.objects.count > 1 else { return nil }
      return try conflict(group.objects, stored)
    }
  }

  /// - Returns: `nil` when a value is absent.
  private func key(
    of object: ManagedObject, _ writer: IndexKeyWriter
  ) throws -> IndexKeyWriter? {
    var writer = writer
    for element in index.elements where writer.hasRoom() {
      guard let slot = object.binding.slot(named: element.path[0]) else { return nil }
      if element.kind == .reference {
        guard let destination = try object.one(slot), !destination.isDeleted else { return nil }
        writer.append(to: destination.reference)
      } else {
        guard let value = try value(of: object, element, slot) else { return nil }
        writer.append(value, element.kind)
      }
    }
    return writer
  }

  private func value(
    of object: ManagedObject, _ element: StoredIndex.Element, _ slot: Int
  ) throws -> AttributeValue? {
    var value =
      object.binding.traits[slot].isDerived
      ? try UnsavedSubject(object).derivedValue(slot) : try object.attribute(slot)
    for name in element.path.dropFirst() {
      guard case .composite(let elements)? = value else { return nil }
      value = elements[name]
    }
    return value
  }

  /// The object of the store that has the values.
  private func stored(_ whole: [UInt8], _ key: IndexKeyWriter) throws -> Reference? {
    guard let tree = try view.indexTree(index) else { return nil }
    var entries = tree.entries(withPrefix: key.bytes)
    while try entries.next() {
      guard let reference = IndexKey.reference(of: try entries.key), !moved.contains(reference)
      else { continue }
      if !key.isCut { return reference }
      let entity = indexes.indexes(of: reference.entity).first {
        $0.stored.number == index.number
      }
      let bytes = try view.row(reference)?.withReader { try entity?.wholeKey(of: $0) }
      if bytes == whole { return reference }
    }
    return nil
  }

  private func conflict(
    _ objects: [ManagedObject], _ stored: Reference?
  ) throws -> ConstraintConflict {
    let database = try stored.map(session.object(at:))
    var values: [String: MergeConflict.Value] = [:]
    for element in index.elements {
      let path = element.path.joined(separator: ".")
      guard let object = objects.first, let slot = object.binding.slot(named: element.path[0])
      else { continue }
      values[path] =
        element.kind == .reference
        ? try object.one(slot).map { .object($0.objectID) }
        : try value(of: object, element, slot).map { .attribute($0) }
    }
    return ConstraintConflict(
      report: ConstraintConflict.Report(
        entityName: index.entityName,
        constraint: index.elements.map { $0.path.joined(separator: ".") }, values: values,
        databaseObjectID: database?.objectID, conflictingObjectIDs: objects.map(\.objectID),
        databaseValues: try database.flatMap { object in
          try view.row(object.reference)?.conflictValues(object)
        },
        conflictingValues: try objects.map { try $0.row?.conflictValues($0) ?? [:] }),
      databaseObject: database, conflictingObjects: objects)
  }
}

/// An object with its unsaved values, for working out what its derived attributes will be.
private final class UnsavedSubject: KeyValueCoding {
  private let object: ManagedObject
  /// The derived attributes that are being worked out: of two that lead to each other, one is read
  /// as it was.
  private let underWay: Set<Int>

  init(_ object: ManagedObject, _ underWay: Set<Int> = []) {
    self.object = object
    self.underWay = underWay
  }

  func derivedValue(_ slot: Int) throws -> AttributeValue? {
    guard let derivation = object.binding.derivations.first(where: { $0.slot == slot }) else {
      return try object.attribute(slot)
    }
    return try derivation.value(for: UnsavedSubject(object, underWay.union([slot])))
  }

  func value(forKey key: String) throws -> Any? {
    guard let slot = object.binding.slot(named: key), object.binding.traits[slot].isDerived,
      !underWay.contains(slot)
    else { return try object.value(forKey: key) }
    return try derivedValue(slot)?.plainValue
  }
}
