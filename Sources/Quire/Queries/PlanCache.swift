import QuireModel

/// The plans of requests that were made while one state of a store is read, by their shapes.
///
/// A program has few shapes of requests and makes many of each. A look-up compares names and
/// operators, and makes nothing.
private final class PlanCache: StateAttachment {
  private final class Entry {
    let shape: RequestShape
    /// `nil` where requests of this shape need a plan each time.
    let plan: CachedPlan?

    init(_ shape: RequestShape, _ plan: CachedPlan?) { (self.shape, self.plan) = (shape, plan) }
  }

  private static let capacity = 64
  private var entries: [Entry] = []

  func plan(
    _ entityName: String, _ predicate: FetchPredicate, _ model: ModelBinding, in view: StoreView
  ) throws -> CachedPlan? {
    for index in entries.indices where entries[index].shape.fits(entityName, predicate) {
      // What is asked for often comes to the front.
      if index == 0 { return entries[0].plan }
      entries.swapAt(index, index - 1)
      return entries[index - 1].plan
    }
    guard let shape = RequestShape(entityName, predicate) else { return nil }
    let plan = try model.entity(named: entityName).flatMap {
      try CachedPlan(shape, $0, in: view)
    }
    if entries.count == Self.capacity { entries.removeLast() }
    entries.append(Entry(shape, plan))
    return plan
  }
}

extension StoreView {
  fileprivate func cachedPlan(
    _ entityName: String, _ predicate: FetchPredicate, _ model: ModelBinding
  ) throws -> CachedPlan? {
    let cache: PlanCache
    if let kept = attachment as? PlanCache {
      cache = kept
    } else {
      cache = PlanCache()
      attachment = cache
    }
    return try cache.plan(entityName, predicate, model, in: self)
  }
}

extension ManagedObjectContext {
  /// The objects that a request finds by a plan that was made before, or is made for all requests
  /// of its shape.
  ///
  /// - Returns: `nil` if the request needs a plan of its own.
  final func objectsByCachedPlan<Result: ManagedObject>(
    _ request: FetchRequest<Result>, _ intake: FetchIntake
  ) throws -> [Result]? {
    guard request.fetchOffset == 0, let predicate = request.predicate,
      let (plan, session) = try cachedPlan(for: request, predicate)
    else { return nil }
    return try plan.objects(
      predicate, sortedBy: request.sortDescriptors, limit: request.fetchLimit, session, intake)
  }

  /// The number of objects that a request finds, in the same way.
  final func countByCachedPlan<Result: ManagedObject>(
    _ request: FetchRequest<Result>
  ) throws -> Int? {
    guard request.fetchOffset >= 0, let predicate = request.predicate,
      let count = try cachedPlan(for: request, predicate)?.plan.count(
        predicate, sortedBy: request.sortDescriptors)
    else { return nil }
    let rest = max(0, count - request.fetchOffset)
    return request.fetchLimit > 0 ? min(rest, request.fetchLimit) : rest
  }

  /// The plan for saved rows of the only store.
  private func cachedPlan<Result: ManagedObject>(
    for request: FetchRequest<Result>, _ predicate: FetchPredicate
  ) throws -> (plan: CachedPlan, session: StoreSession)? {
    guard request.fetchLimit >= 0, request.affectedStores == nil, family == nil,
      changes.isEmpty || !request.includesPendingChanges
    else { return nil }
    let sessions = presentSessions()
    guard sessions.count == 1, let model = modelBinding else { return nil }
    let view = try sessions[0].latestView()
    guard view.isPlain,
      let plan = try view.cachedPlan(request.entityName, predicate, model)
    else { return nil }
    return (plan, sessions[0])
  }
}
