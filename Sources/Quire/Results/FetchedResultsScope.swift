import QuireModel

/// Which changes can make a difference to the result of a request.
struct FetchedResultsScope {
  /// Where the names of sections are read with the objects.
  let sectionPath: [String]?
  /// The concrete entities of the request, by their places in the model.
  private let entities: Set<Int>
  private let entityNames: Set<String>
  /// Whether objects of all entities count, as a path leads to others.
  private let isOpen: Bool
  /// The properties that the request asks for; `nil` for all.
  private let properties: Set<String>?
  /// Whether a save works out values that nobody has set.
  let hasDerivations: Bool

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
    hasDerivations = context.modelBinding?.hasDerivations ?? false
    isOpen = target.followsRelationships || hasDerivations
    switch naming {
    case .function: properties = nil
    case .path where sectionPath == nil: properties = nil
    case .none, .path:
      let paths =
        target.predicateNames + request.sortDescriptors.map(\.keyPath)
        + (sectionPath.map { [$0] } ?? [])
      properties = Set(paths.compactMap(\.first))
    }
  }

  private func isInside(_ object: ManagedObject) -> Bool {
    entities.contains(object.binding.index)
  }

  /// What there is to do after a notice; `nil` if nothing.
  func news(in notice: ContextNotice) -> FetchedResultsNews? {
    if notice.kind == .didMergeChangesObjectIDs { return news(inMerge: notice.objectIDs) }
    let isSave = notice.kind == .didSaveObjects
    let changed = [
      notice.insertedObjects, notice.deletedObjects, notice.refreshedObjects,
      notice.updatedObjects,
    ]
    guard isOpen || changed.contains(where: { $0.contains(where: isInside) }) else { return nil }
    var news = FetchedResultsNews()
    // What a save writes was told before it, but what the save has worked out.
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

  /// Others may have saved objects that the context does not know: of these it says no more.
  private func news(inMerge ids: ObjectIDNotice) -> FetchedResultsNews? {
    let isInside = [ids.insertedObjectIDs, ids.updatedObjectIDs, ids.deletedObjectIDs].contains {
      $0.contains { isOpen || entityNames.contains($0.entity.name) }
    }
    return isInside || ids.isOfAll ? FetchedResultsNews(asksAgain: true) : nil
  }
}

/// What has happened since the last time.
struct FetchedResultsNews {
  /// Objects of the request's entities that have changed, or may have.
  var touched: Set<ManagedObject> = []
  /// Whether there may be other objects now, or in another order.
  var asksAgain = false

  mutating func formUnion(_ other: FetchedResultsNews) {
    touched.formUnion(other.touched)
    asksAgain = asksAgain || other.asksAgain
  }
}
