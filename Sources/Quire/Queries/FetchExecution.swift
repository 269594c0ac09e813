import QuireModel
import QuireStorage

/// Runs one fetch request: from predicate to rows, with a context's unsaved changes on top.
///
/// The result is what it would be after a save: rows whose object was changed or deleted in the
/// context are passed over, and the objects themselves are asked instead. One evaluator and one
/// order serve rows and objects, so that it makes no difference where an object is found.
struct FetchExecution {
  /// The paths of one concrete entity.
  struct Target {
    let storage: EntityStorage
    let predicatePaths: [FetchPath]
    let sortPaths: [FetchPath]
  }

  let view: StoreView
  let evaluator: PredicateEvaluator?
  private let sortDescriptors: [FetchSortDescriptor]
  private let limit: Int
  private let offset: Int
  var targets: [Target?]
  private let pending: [ManagedObject]
  /// The objects that stand for rows, with their unsaved changes.
  let changed: [Reference: ManagedObject]
  /// Whether a path leads from a row to another, for which a changed object may stand.
  let followsChanges: Bool
  private let predicate: FetchPredicate?
  private let entityName: String
  private let model: ModelBinding

  init<Result>(
    _ request: FetchRequest<Result>, in context: ManagedObjectContext, _ view: StoreView
  ) throws {
    // A class need not be called like its entity: then the model's name for the class decides.
    let classes = context.persistentStoreCoordinator?.classes
    guard let model = context.modelBinding,
      let binding = model.entity(named: request.entityName)
        ?? (request.entityName == Result.entityName ? classes?.entity(of: Result.self) : nil)
    else {
      var error = PersistenceError(
        .undefinedKey, "the context's model has no entity \(request.entityName)")
      error.entityName = request.entityName
      throw error
    }
    guard request.fetchLimit >= 0, request.fetchOffset >= 0 else {
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType,
        "a fetch of \(request.fetchLimit) objects from number \(request.fetchOffset) makes no sense"
      )
    }
    self.view = view
    self.model = model
    predicate = request.predicate
    entityName = binding.entity.name
    limit = request.fetchLimit
    offset = request.fetchOffset
    sortDescriptors = request.sortDescriptors
    do {
      evaluator = try request.predicate.map { predicate throws(FetchPredicateError) in
        try PredicateEvaluator(predicate)
      }
    } catch {
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType, "the predicate cannot be evaluated",
        underlying: error)
    }
    // Checked against the entity that was asked for, whose properties all its descendants have.
    for names in (evaluator?.paths ?? []) + sortDescriptors.map(\.keyPath) {
      _ = try FetchPath(names, from: binding, in: model)
    }
    targets = Array(repeating: nil, count: model.entities.count)
    let family =
      request.includesSubentities ? model.model.family(of: binding.entity) : [binding.entity]
    for entity in family {
      guard let member = model.entity(named: entity.name),
        let storage = view.entities.byIndex[member.index]
      else { continue }
      targets[member.index] = Target(
        storage: storage,
        predicatePaths: try (evaluator?.paths ?? []).map {
          try FetchPath($0, from: member, in: model)
        },
        sortPaths: try sortDescriptors.map { try FetchPath($0.keyPath, from: member, in: model) })
    }
    if request.includesPendingChanges {
      let changes = context.changes
      let targets = targets
      pending = (changes.inserted.objects + changes.updated.objects).filter {
        targets[$0.binding.index] != nil
      }
      changed = Dictionary(
        uniqueKeysWithValues: (changes.updated.objects + changes.deleted.objects
          + changes.inserted.objects.lazy.filter(\.isPersistent)).map { ($0.reference, $0) })
    } else {
      pending = []
      changed = [:]
    }
    let paths = (evaluator?.paths ?? []) + sortDescriptors.map(\.keyPath)
    followsChanges = !changed.isEmpty && paths.contains { $0.count > 1 }
  }

  /// How many objects ``matches()`` would return.
  ///
  /// - Complexity: O(1) for each entity when there is no predicate and nothing unsaved.
  func count() throws -> Int {
    var count = 0
    if evaluator == nil && pending.isEmpty && changed.isEmpty {
      for target in targets.compactMap({ $0 }) { count += try view.count(of: target.storage) }
    } else {
      var counting = MatchCount()
      try visitMatches(&counting, try plan(capacity: .max))
      count = counting.count
    }
    count = max(0, count - offset)
    return limit > 0 ? min(count, limit) : count
  }

  /// The matches in the order of the request, offset and limit applied.
  func matches() throws -> [FetchMatch] {
    // Rows come in order, so that without sort keys and changes the first ones are the result.
    var list = MatchList(
      sortDescriptors, isOrdered: sortDescriptors.isEmpty && pending.isEmpty, capacity: capacity)
    try visitMatches(&list, try plan(capacity: capacity))
    var matches = list.sorted()
    if offset > 0 { matches.removeFirst(min(offset, matches.count)) }
    return matches
  }

  /// How many matches are wanted, those before the offset among them.
  private var capacity: Int {
    let (end, isTooMany) = offset.addingReportingOverflow(limit)
    return limit == 0 || isTooMany ? .max : end
  }

  /// How rows are found.
  ///
  /// - Parameter capacity: how many matches are enough, in the order of the request.
  private func plan(capacity: Int) throws -> FetchPlan {
    let planning = FetchPlanning(
      targets: targets.compactMap { $0?.storage }, entityName: entityName, predicate: predicate,
      sortDescriptors: sortDescriptors, capacity: capacity, model: model, view: view)
    return try planning.plan()
  }

  func plan() throws -> FetchPlan { try plan(capacity: capacity) }

  private func visitMatches(_ visitor: inout some MatchVisitor, _ plan: FetchPlan) throws {
    for object in pending {
      guard let target = targets[object.binding.index] else { continue }
      let subject = PendingSubject(source: .object(object), view: view, changed: changed)
      guard try isMatch(subject, target) else { continue }
      let goesOn = try visitor.visit(
        subject, at: object.reference, sortedBy: target.sortPaths, object, row: { nil })
      if !goesOn { return }
    }
    switch plan.access {
    case .scan: break
    case .candidates(let references, let source):
      return try visitCandidates(references, mustExist: source.isIndex, &visitor)
    case .walk(let walk):
      // A walk that is given up has not happened.
      var copy = visitor
      if try visitRows(on: walk, &copy) {
        visitor = copy
        return
      }
    }
    let numbered = targets.compactMap { $0 }.sorted {
      $0.storage.stored.number < $1.storage.stored.number
    }
    for target in numbered {
      if try !visitRows(of: target, &visitor) { return }
    }
  }
}

extension ManagedObjectContext {
  /// The objects that a request asks for, from the store's last saved state with this context's
  /// changes on top.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the model lacks the entity or a name in
  ///   a key path; ``PersistenceError/Code/unacceptableValue`` when an object found is not a
  ///   `Result`; ``PersistenceError/Code/invalidExpression`` when the predicate has no answer for
  ///   an object, such as a division by zero; errors that properties had to keep back; what the
  ///   engine throws.
  /// - Complexity: O(*n*) in the objects of the entity, O(*n* log *n*) when sorted; O(*m* log *n*)
  ///   in those that an index finds, or that have one of the objects which the predicate names.
  public final func fetch<Result: ManagedObject>(_ request: FetchRequest<Result>) throws -> [Result]
  {
    settlePendingChanges()
    try throwUnreported()
    let execution = try FetchExecution(request, in: self, try latestView())
    return try execution.matches().map { match in
      let object = try match.object ?? object(at: match.reference)
      if request.shouldRefreshRefetchedObjects, !object.isFault {
        refresh(object, mergeChanges: true)
      }
      if object.row == nil, object.slots.isEmpty, let row = match.row { object.fulfil(with: row) }
      guard let result = object as? Result else {
        throw PersistenceError(
          .unacceptableValue,
          "\(object.objectID) is a \(type(of: object)), not a \(Result.self): register the class for "
            + "its entity with the coordinator")
      }
      return result
    }
  }

  /// How ``fetch(_:)`` would find the rows of a request.
  package final func plan<Result: ManagedObject>(
    for request: FetchRequest<Result>
  ) throws -> FetchPlan {
    settlePendingChanges()
    return try FetchExecution(request, in: self, try latestView()).plan()
  }

  /// How many objects ``fetch(_:)`` would return.
  public final func count<Result: ManagedObject>(for request: FetchRequest<Result>) throws -> Int {
    settlePendingChanges()
    try throwUnreported()
    return try FetchExecution(request, in: self, try latestView()).count()
  }
}
