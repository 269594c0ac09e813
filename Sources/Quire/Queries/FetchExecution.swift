import QuireModel
import QuireStorage

/// Runs one fetch request: from predicate to rows, with a context's unsaved changes on top.
///
/// The result is what it would be after a save: rows of objects that were changed or deleted in the
/// context are skipped, and the predicate is evaluated on the objects themselves. Rows and objects
/// share one evaluator and one order, and the matches of all stores, which are searched in turn, go
/// into one list. The result does not depend on where an object is found.
struct FetchExecution {
  /// In the order of the stores.
  let parts: [StoreFetch]
  let sortDescriptors: [FetchSortDescriptor]
  let limit: Int
  let offset: Int

  /// - Parameters:
  ///   - others: paths to read in addition to the sort keys, after them.
  ///   - values: expressions whose values are read of each match.
  ///   - state: the state of each store to search, without unsaved changes; `nil` for what the
  ///     context shows.
  init<Result>(
    _ request: FetchRequest<Result>, in context: ManagedObjectContext,
    reading others: [[String]] = [], values: [FetchExpression] = [],
    of state: ((StoreSession) -> StoreView?)? = nil
  ) throws {
    let target = try FetchTarget(request, in: context, reading: others, values: values)
    guard request.fetchLimit >= 0, request.fetchOffset >= 0 else {
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType,
        "a fetch of \(request.fetchLimit) objects from number \(request.fetchOffset) makes no sense"
      )
    }
    limit = request.fetchLimit
    offset = request.fetchOffset
    sortDescriptors = request.sortDescriptors
    let sessions = try context.sessions(of: request.affectedStores)
    if let state {
      parts = try sessions.map {
        try StoreFetch($0, target, pending: [], changed: [:], in: state($0))
      }
      return
    }
    if context.parent != nil {
      parts = try sessions.map { session in
        let changes = try InheritedChanges(session, target, request)
        return try StoreFetch(
          session, target, pending: changes.pending, changed: changes.changed,
          inherited: changes.inherited, hidden: changes.hidden)
      }
      return
    }
    guard request.includesPendingChanges, !context.changes.isEmpty else {
      parts = try sessions.map { try StoreFetch($0, target, pending: [], changed: [:]) }
      return
    }
    let changes = context.changes
    let isOnlyStore = !context.hasSeveralStores
    parts = try sessions.enumerated().map { index, session in
      func isHere(_ object: ManagedObject) -> Bool {
        if isOnlyStore { return true }
        if let own = object.session { return own === session }
        // An object that no store can take is found in the first store; the save reports why.
        guard let own = try? context.targetSession(of: object) else {
          return index == 0 && request.affectedStores == nil
        }
        return own === session
      }
      let pending = (changes.inserted.objects + changes.updated.objects).filter {
        // A save does not restore an object that is gone from the store.
        target.paths[$0.binding.index] != nil && isHere($0) && !$0.state.contains(.inaccessible)
      }
      let changed =
        (changes.updated.objects + changes.deleted.objects
        + changes.inserted.objects).lazy.filter { $0.isPersistent && isHere($0) }
      return try StoreFetch(
        session, target, pending: pending,
        changed: Dictionary(uniqueKeysWithValues: changed.map { ($0.reference, $0) }))
    }
  }

  /// The number of objects that ``objects(_:)`` would return.
  ///
  /// - Complexity: O(1) for each entity when there is no predicate and nothing unsaved.
  func count() throws -> Int {
    var count = 0
    for part in parts {
      if let rowCount = try part.rowCount() {
        count += rowCount
      } else {
        var counting = MatchCount()
        _ = try part.visitMatches(&counting, part.plan(capacity: .max))
        count += counting.count
      }
    }
    count = max(0, count - offset)
    return limit > 0 ? min(count, limit) : count
  }

  /// The number of objects that a request without a predicate finds, if row counts tell it and it
  /// is small enough to reserve memory for without verification.
  private var expectedCount: Int? {
    get throws {
      guard parts.count == 1, sortDescriptors.isEmpty, offset == 0, limit == 0,
        let part = parts.first, part.target.predicate == nil, part.view.isPlain,
        let count = try part.rowCount(),
        (1...IdentityMap.believedCount).contains(count)
      else { return nil }
      return count
    }
  }

  /// The objects in the order of the request, offset and limit applied.
  ///
  /// - Parameter intake: checks that each object is a `Result`.
  func objects<Result: ManagedObject>(_ intake: FetchIntake) throws -> [Result] {
    if let expectedCount = try expectedCount {
      return try ObjectBuffer.array(of: expectedCount) { try buffer(intake, $0) }
    }
    var objects = try buffer(intake, nil)
    return objects.take(as: Result.self)
  }

  /// - Parameter room: reserved memory for the objects, used if they are appended one by one.
  private func buffer(_ intake: FetchIntake, _ room: ObjectBuffer.Room?) throws -> ObjectBuffer {
    // Rows come in order, so that without sort keys and changes the first ones are the result.
    let first = try parts.first?.plan(capacity: capacity)
    let isInOrder = sortDescriptors.isEmpty || parts.count == 1 && first?.isSorted ?? false
    if let session = parts.first?.session, isInOrder, !parts.contains(where: \.isPending) {
      var fetched = FetchedObjects(intake, session, offset: offset, limit: limit, room)
      for (index, part) in parts.enumerated() {
        fetched.session = part.session
        let plan = index == 0 ? first : nil
        if try !part.visitMatches(&fetched, plan ?? part.plan(capacity: capacity)) { break }
      }
      return fetched.objects
    }
    var list = MatchList(sortDescriptors, capacity: capacity)
    for (index, part) in parts.enumerated() {
      list.storeIndex = index
      let plan = index == 0 ? first : nil
      if try !part.visitMatches(&list, plan ?? part.plan(capacity: capacity)) { break }
    }
    let matches = list.sorted().dropFirst(offset)
    var objects = ObjectBuffer()
    objects.reserve(matches.count)
    for match in matches {
      objects.append(
        try intake.take(
          match.object ?? parts[match.storeIndex].session.object(at: match.reference), match.row))
    }
    return objects
  }

  /// The number of matches wanted, those before the offset included; `Int.max` without a limit.
  var capacity: Int {
    let (end, isTooMany) = offset.addingReportingOverflow(limit)
    return limit == 0 || isTooMany ? .max : end
  }

  /// The plan for each store.
  func plans() throws -> [FetchPlan] { try parts.map { try $0.plan(capacity: capacity) } }
}

extension ManagedObjectContext {
  /// The objects that a request finds in the last saved state of all stores, or of those that it
  /// names, with this context's changes on top.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the model lacks the entity or a name in
  ///   a key path; ``PersistenceError/Code/unacceptableValue`` when an object found is not a
  ///   `Result`; ``PersistenceError/Code/invalidExpression`` when the predicate compares values
  ///   that can never be equal, or has no answer for an object, such as a division by zero; an
  ///   error that an access to a property met earlier and could not throw; errors of the storage
  ///   engine.
  /// - Complexity: O(*n*) in the objects of the entity, O(*n* log *n*) when sorted; O(*m* log *n*)
  ///   in those that an index finds, or that have one of the objects which the predicate names.
  public final func fetch<Result: ManagedObject>(_ request: FetchRequest<Result>) throws -> [Result]
  {
    try bringUpToDate()
    if request.preparesObjects {
      try checkPrefetching(request)
      var plain = request
      (plain.returnsObjectsAsFaults, plain.relationshipKeyPathsForPrefetching) = (true, [])
      let objects = try fetch(plain)
      try prepare(objects, for: request)
      return objects
    }
    let intake = FetchIntake(
      Result.self, in: self, refreshesObjects: request.shouldRefreshRefetchedObjects)
    return try inOneState {
      if !request.includesPropertyValues { return try fetchWithoutRows(request, intake) }
      if let objects = try objectsByCachedPlan(request, intake) { return objects }
      return try FetchExecution(request, in: self).objects(intake)
    }
  }

  private func fetchWithoutRows<Result: ManagedObject>(
    _ request: FetchRequest<Result>, _ intake: FetchIntake
  ) throws -> [Result] {
    let execution = try FetchExecution(request, in: self)
    let fetched = try execution.references()
    var objects = ObjectBuffer()
    objects.reserve(fetched.count)
    for (index, reference) in fetched.references.enumerated() {
      let session = execution.parts[fetched.store(at: index)].session
      objects.append(try intake.take(session.object(at: reference), nil))
    }
    return objects.take(as: Result.self)
  }

  /// The result of a request in the form that its ``FetchRequest/resultType`` says. Requests made
  /// of a model's template have the template's.
  ///
  /// - Throws: what ``fetch(_:)`` or ``dictionaries(for:)`` throws.
  public final func execute<Result: ManagedObject>(
    _ request: FetchRequest<Result>
  ) throws -> FetchRequestResult<Result> {
    switch request.resultType {
    case .managedObjects: .managedObjects(try fetch(request))
    case .managedObjectIDs: .managedObjectIDs(try objectIDs(for: request))
    case .dictionaries: .dictionaries(try dictionaries(for: request))
    case .count: .count(try count(for: request))
    }
  }

  /// The plans by which ``fetch(_:)`` would find the rows of a request, one for each store.
  package final func plans<Result: ManagedObject>(
    for request: FetchRequest<Result>
  ) throws -> [FetchPlan] {
    processPendingChangesOfEvent()
    return try inOneState { try FetchExecution(request, in: self).plans() }
  }

  /// The number of objects that ``fetch(_:)`` would return.
  public final func count<Result: ManagedObject>(for request: FetchRequest<Result>) throws -> Int {
    try bringUpToDate()
    return try inOneState {
      if let count = try countByCachedPlan(request) { return count }
      return try FetchExecution(request, in: self).count()
    }
  }

  /// The IDs of the objects that ``fetch(_:)`` would return, in the same order. No object is made.
  ///
  /// An object that was never saved has a temporary ID.
  public final func objectIDs<Result: ManagedObject>(
    for request: FetchRequest<Result>
  ) throws -> [ManagedObjectID] { try objectIDs(for: request, nil) }

  final func objectIDs<Result: ManagedObject>(
    for request: FetchRequest<Result>, _ watch: FetchWatch?
  ) throws -> [ManagedObjectID] {
    try bringUpToDate()
    let (execution, fetched) = try inOneState {
      let execution = try FetchExecution(request, in: self)
      return (execution, try execution.references(watch))
    }
    return try fetched.references.enumerated().map { index, reference in
      let session = execution.parts[fetched.store(at: index)].session
      // In a family of contexts an object may have another ID than the one of its reference.
      if family == nil, !reference.isTemporary, let id = session.objectID(of: reference) {
        return id
      }
      return try session.object(at: reference).objectID
    }
  }

  /// The sessions of the stores that a request asks, in their order.
  final func sessions(of stores: [PersistentStore]?) throws -> [StoreSession] {
    let sessions = try requiredSessions()
    guard let stores else { return sessions }
    for store in stores where !sessions.contains(where: { $0.store === store }) {
      throw PersistenceError(
        .persistentStoreOperation,
        "the request names the store \(store.identifier), which is not of the context's "
          + "coordinator")
    }
    return sessions.filter { session in stores.contains { $0 === session.store } }
  }
}
