import QuireModel
import QuireStorage

/// Runs one fetch request: from predicate to rows, with a context's unsaved changes on top.
///
/// The result is what it would be after a save: rows whose object was changed or deleted in the
/// context are passed over, and the objects themselves are asked instead. One evaluator and one
/// order serve rows and objects, so that it makes no difference where an object is found.
struct FetchExecution {
  /// A row or an object that the predicate is true of.
  struct Match {
    let reference: Reference
    /// The row, when the store had it; `nil` for objects with changes.
    var row: Row?
    var object: ManagedObject?
    /// The values of the sort keys.
    var keys: [PredicateValue?] = []
  }

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
      try forEachMatch(withKeys: false) { _ in
        count += 1
        return true
      }
    }
    count = max(0, count - offset)
    return limit > 0 ? min(count, limit) : count
  }

  /// The matches in the order of the request, offset and limit applied.
  func matches() throws -> [Match] {
    var matches: [Match] = []
    // Rows come in order, so that without sort keys and changes the first ones are the result.
    let isOrdered = sortDescriptors.isEmpty && pending.isEmpty
    try forEachMatch(withKeys: true) { match in
      matches.append(match)
      return !(isOrdered && limit > 0 && matches.count - offset >= limit)
    }
    if !isOrdered { matches.sort(by: precedes) }
    if offset > 0 { matches.removeFirst(min(offset, matches.count)) }
    if limit > 0, matches.count > limit { matches.removeLast(matches.count - limit) }
    return matches
  }

  private func precedes(_ left: Match, _ right: Match) -> Bool {
    for (index, descriptor) in sortDescriptors.enumerated() {
      let order = descriptor.compare(left.keys[index], right.keys[index])
      if order != 0 { return order < 0 }
    }
    return left.reference < right.reference
  }

  /// - Parameter body: returns whether to go on.
  private func forEachMatch(withKeys: Bool, _ body: (Match) throws -> Bool) throws {
    for object in pending {
      guard let target = targets[object.binding.index] else { continue }
      let subject = PendingSubject(source: .object(object), view: view, changed: changed)
      guard try isMatch(subject, target) else { continue }
      var match = Match(reference: object.reference, object: object)
      if withKeys { match.keys = try target.sortPaths.map { try subject.value(at: $0) } }
      if try !body(match) { return }
    }
    let numbered = targets.compactMap { $0 }.sorted {
      $0.storage.stored.number < $1.storage.stored.number
    }
    for target in numbered {
      if try !forEachRow(of: target, withKeys: withKeys, body) { return }
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

  private func forEachRow(
    of target: Target, withKeys: Bool, _ body: (Match) throws -> Bool
  ) throws -> Bool {
    guard let tree = try view.rows(of: target.storage) else { return true }
    let number = target.storage.stored.number
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      let reference = Reference(entity: number, key: try cursor.key)
      if changed.isEmpty || changed[reference] == nil {
        let row = RowSubject(
          reference: reference,
          source: .borrowed(
            try RowReader(try cursor.valueBytes, layout: target.storage.layout, scratch)),
          storage: target.storage, view: view)
        let match =
          followsChanges
          ? try match(
            PendingSubject(source: .row(row), view: view, changed: changed), at: reference, cursor,
            target, withKeys: withKeys)
          : try match(row, at: reference, cursor, target, withKeys: withKeys)
        if let match, try !body(match) { return false }
      }
      isInside = try cursor.next()
    }
    return true
  }

  /// - Returns: `nil` when the predicate is not true of the row.
  private func match(
    _ subject: some PathSubject, at reference: Reference, _ cursor: RecordCursor, _ target: Target,
    withKeys: Bool
  ) throws -> Match? {
    guard try isMatch(subject, target) else { return nil }
    var match = Match(reference: reference)
    if withKeys {
      match.row = try Row(try cursor.storedValue(), layout: target.storage.layout)
      match.keys = try target.sortPaths.map { try subject.value(at: $0) }
    }
    return match
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
