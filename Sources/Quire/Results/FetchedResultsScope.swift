import QuireModel

/// The changes that can affect the result of a request.
struct FetchedResultsScope {
  /// The path of section names that are read with the objects.
  let sectionPath: [String]?
  /// The concrete entities of the request, by their indices in the model.
  private let entities: Set<Int>
  private let entityNames: Set<String>
  /// Whether changes of all entities count, as a path reads other objects.
  private let isOpen: Bool
  /// The properties that the request uses; `nil` for all.
  private let properties: Set<String>?
  /// Whether the result can be brought up to date by the objects that have changed, without
  /// another fetch.
  let allowsUpdates: Bool
  /// Whether the objects have derived attributes, which a save computes.
  private let hasDerivations: Bool

  init<Result>(
    _ request: FetchRequest<Result>, _ naming: SectionNaming<Result>,
    in context: ManagedObjectContext
  ) throws {
    var target = try FetchTarget(request, in: context, reading: [])
    sectionPath = try naming.storedPath(of: target.entityName, in: context)
    if let sectionPath {
      target = try FetchTarget(request, in: context, reading: [sectionPath])
    }
    entities = Set(target.paths.indices.filter { target.paths[$0] != nil })
    entityNames = Set(
      target.paths.indices.compactMap { index in
        target.paths[index].flatMap { _ in context.modelBinding?.entities[index].entity.name }
      })
    switch naming {
    case .function: properties = nil
    case .path where sectionPath == nil: properties = nil
    case .none, .path:
      let paths =
        target.predicateNames + request.sortDescriptors.map(\.keyPath)
        + (sectionPath.map { [$0] } ?? [])
      properties = Set(paths.compactMap(\.first))
    }
    let derivations = entities.compactMap { context.modelBinding?.entities[$0].derivations }
      .joined()
    hasDerivations = !derivations.isEmpty
    isOpen =
      target.followsRelationships
      || FetchedResultsScope.readsDerivations(
        derivations, properties, context)
    let isNamedByRow = if case .none = naming { true } else { sectionPath != nil }
    allowsUpdates =
      !isOpen && isNamedByRow && request.fetchLimit == 0 && request.fetchOffset == 0
      && request.includesPendingChanges
  }

  /// Whether the request uses derived values that a save of other objects changes: no notice names
  /// the objects that have them.
  private static func readsDerivations(
    _ derivations: some Sequence<Derivation>, _ properties: Set<String>?,
    _ context: ManagedObjectContext
  ) -> Bool {
    // A function may read any object.
    guard let properties else { return context.modelBinding?.hasDerivations ?? false }
    return derivations.contains { !$0.isOwn && properties.contains($0.attribute.name) }
  }

  private func isInside(_ object: ManagedObject) -> Bool {
    entities.contains(object.binding.index)
  }

  /// The work to do after a notice; `nil` for none.
  func news(in notice: ContextNotice) -> FetchedResultsNews? {
    let isSave: Bool
    switch notice.kind {
    case .didMergeChangesObjectIDs: return news(inMerge: notice.objectIDs)
    case .didSaveObjects: isSave = true
    case .didChangeObjects, .willSaveObjects, .didSaveObjectIDs: isSave = false
    }
    let changed = [
      notice.insertedObjects, notice.deletedObjects, notice.refreshedObjects,
      notice.updatedObjects,
    ]
    guard isOpen || changed.contains(where: { $0.contains(where: isInside) }) else { return nil }
    var news = FetchedResultsNews()
    if allowsUpdates {
      for objects in changed { news.changed.formUnion(objects.lazy.filter(isInside)) }
    }
    // Changes were reported before the save, except for values that the save has computed.
    if !isSave || hasDerivations {
      for objects in [notice.insertedObjects, notice.refreshedObjects, notice.updatedObjects] {
        news.touched.formUnion(objects.lazy.filter(isInside))
      }
    }
    news.asksAgain =
      isSave || isOpen || changed.dropLast().contains { $0.contains(where: isInside) }
      || notice.updatedObjects.contains { object in
        guard isInside(object), !notice.rereadObjects.contains(object), let properties,
          let names = notice.objectIDs.changedProperties[object.objectID], !names.isEmpty
        else { return isInside(object) }
        return !names.isDisjoint(with: properties)
      }
    return news
  }

  /// The notice has only IDs, as other contexts may have saved objects that this one does not have.
  private func news(inMerge ids: ObjectIDNotice) -> FetchedResultsNews? {
    func inside(_ ids: Set<ManagedObjectID>) -> Set<ManagedObjectID> {
      isOpen ? ids : ids.filter { entityNames.contains($0.entity.name) }
    }
    var news = FetchedResultsNews(asksAgain: true, mustFetch: ids.isOfAll)
    news.mergedIDs = inside(ids.insertedObjectIDs).union(inside(ids.updatedObjectIDs))
    // Deleted objects that this context has are in another notice.
    let isInside = !news.mergedIDs.isEmpty || !inside(ids.deletedObjectIDs).isEmpty
    return isInside || ids.isOfAll ? news : nil
  }
}

/// The observed changes that are not processed yet.
struct FetchedResultsNews {
  /// Objects of the request's entities that have changed, or may have.
  var touched: Set<ManagedObject> = []
  /// The same and those that were deleted or saved, if the result can be brought up to date by
  /// them.
  var changed: Set<ManagedObject> = []
  /// Of objects that others have inserted or changed.
  var mergedIDs: Set<ManagedObjectID> = []
  /// Whether the membership or the order of the result may have changed.
  var asksAgain = false
  /// Whether other objects may have changed than those that are known.
  var mustFetch = false

  mutating func formUnion(_ other: FetchedResultsNews) {
    touched.formUnion(other.touched)
    changed.formUnion(other.changed)
    mergedIDs.formUnion(other.mergedIDs)
    asksAgain = asksAgain || other.asksAgain
    mustFetch = mustFetch || other.mustFetch
  }

  /// All objects that may have changed, come or gone; `nil` if they are too many, or if one is not
  /// of the class, which a fetch tells.
  func changedObjects<Result: ManagedObject>(
    of type: Result.Type, in context: ManagedObjectContext, atMost count: Int
  ) -> [ManagedObject]? {
    guard changed.count + mergedIDs.count <= count else { return nil }
    let objects = changed.union(mergedIDs.compactMap { context.object(with: $0) })
    return objects.allSatisfy { $0 is Result } ? Array(objects) : nil
  }
}
