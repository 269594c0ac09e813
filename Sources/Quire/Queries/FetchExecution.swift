import QuireModel
import QuireStorage

/// Runs one fetch request: from predicate to rows, with a context's unsaved changes on top.
///
/// The result is what it would be after a save: rows whose object was changed or deleted in the
/// context are passed over, and the objects themselves are asked instead. One evaluator and one
/// order serve rows and objects, so that it makes no difference where an object is found.
struct FetchExecution {
  /// The paths of one concrete entity.
  private struct Target {
    let storage: EntityStorage
    let predicatePaths: [FetchPath]
    let sortPaths: [FetchPath]
  }

  private let view: StoreView
  private let evaluator: PredicateEvaluator?
  private let sortDescriptors: [FetchSortDescriptor]
  private let limit: Int
  private let offset: Int
  private var targets: [Target?]
  private let pending: [ManagedObject]
  /// The objects that stand for rows, with their unsaved changes.
  private let changed: [Reference: ManagedObject]
  /// Whether a path leads from a row to another, for which a changed object may stand.
  private let followsChanges: Bool

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
      try visitMatches(&counting)
      count = counting.count
    }
    count = max(0, count - offset)
    return limit > 0 ? min(count, limit) : count
  }

  /// The matches in the order of the request, offset and limit applied.
  func matches() throws -> [FetchMatch] {
    // Rows come in order, so that without sort keys and changes the first ones are the result.
    let (end, isTooMany) = offset.addingReportingOverflow(limit)
    var list = MatchList(
      sortDescriptors, isOrdered: sortDescriptors.isEmpty && pending.isEmpty,
      capacity: limit == 0 || isTooMany ? .max : end)
    try visitMatches(&list)
    var matches = list.sorted()
    if offset > 0 { matches.removeFirst(min(offset, matches.count)) }
    return matches
  }

  private func visitMatches(_ visitor: inout some MatchVisitor) throws {
    for object in pending {
      guard let target = targets[object.binding.index] else { continue }
      let subject = PendingSubject(source: .object(object), view: view, changed: changed)
      guard try isMatch(subject, target) else { continue }
      let goesOn = try visitor.visit(
        subject, at: object.reference, sortedBy: target.sortPaths, object, row: { nil })
      if !goesOn { return }
    }
    let numbered = targets.compactMap { $0 }.sorted {
      $0.storage.stored.number < $1.storage.stored.number
    }
    for target in numbered {
      if try !visitRows(of: target, &visitor) { return }
    }
  }

  private func isMatch(_ subject: some PathSubject, _ target: Target) throws -> Bool {
    guard let evaluator else { return true }
    do {
      return try evaluator.evaluate(PathsOfSubject(subject: subject, paths: target.predicatePaths))
    } catch let error as FetchPredicateError {
      throw PersistenceError(error)
    }
  }

  private func visitRows(
    of target: Target, _ visitor: inout some MatchVisitor
  ) throws -> Bool {
    guard let tree = try view.rows(of: target.storage) else { return true }
    let number = target.storage.stored.number
    let layout = target.storage.layout
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      let reference = Reference(entity: number, key: try cursor.key)
      if changed.isEmpty || changed[reference] == nil {
        let row = RowSubject(
          reference: reference,
          source: .borrowed(try RowReader(try cursor.valueBytes, layout: layout, scratch)),
          storage: target.storage, view: view)
        let goesOn =
          followsChanges
          ? try visit(
            PendingSubject(source: .row(row), view: view, changed: changed), at: reference, cursor,
            target, &visitor)
          : try visit(row, at: reference, cursor, target, &visitor)
        if !goesOn { return false }
      }
      isInside = try cursor.next()
    }
    return true
  }

  @inline(__always)
  private func visit(
    _ subject: some PathSubject, at reference: Reference, _ cursor: RecordCursor, _ target: Target,
    _ visitor: inout some MatchVisitor
  ) throws -> Bool {
    guard try isMatch(subject, target) else { return true }
    return try visitor.visit(subject, at: reference, sortedBy: target.sortPaths, nil) {
      try Row(try cursor.storedValue(), layout: target.storage.layout)
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
  /// - Complexity: O(*n*) in the objects of the entity, O(*n* log *n*) when sorted.
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

  /// How many objects ``fetch(_:)`` would return.
  public final func count<Result: ManagedObject>(for request: FetchRequest<Result>) throws -> Int {
    settlePendingChanges()
    try throwUnreported()
    return try FetchExecution(request, in: self, try latestView()).count()
  }
}
