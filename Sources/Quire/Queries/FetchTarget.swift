import QuireModel

/// The entities of a request, and the paths that are read from their objects.
final class FetchTarget {
  /// The paths of one concrete entity.
  final class Paths {
    let predicate: [FetchPath]
    let sort: [FetchPath]

    fileprivate init(
      _ predicateNames: [[String]], takingEachOnce: [Bool], _ sortNames: [[String]],
      from binding: EntityBinding, in model: ModelBinding
    ) throws {
      predicate = try predicateNames.enumerated().map { number, names in
        var path = try FetchPath(names, from: binding, in: model)
        path.takesEachOnce = takingEachOnce.indices.contains(number) && takingEachOnce[number]
        return path
      }
      sort = try sortNames.map { try FetchPath($0, from: binding, in: model) }
    }
  }

  /// The entity that was asked for.
  let entityName: String
  let predicate: FetchPredicate?
  let sortDescriptors: [FetchSortDescriptor]
  /// The key paths of the predicate, as its evaluator numbers them.
  let predicateNames: [[String]]
  private var madeEvaluator: PredicateEvaluator?
  /// By the entity's index in the model; `nil` for entities that are not asked for.
  private(set) var paths: [Paths?]
  /// Whether the predicate, the sort keys or the values that are read of each match need more than
  /// an object's own values: a path to another object, a subquery or a function, or a reference
  /// that can dangle.
  let followsRelationships: Bool

  /// - Parameters:
  ///   - others: paths to read in addition to the sort keys, after them.
  ///   - values: expressions whose values are read of each match.
  init<Result>(
    _ request: FetchRequest<Result>, in context: ManagedObjectContext, reading others: [[String]],
    values: [FetchExpression] = []
  ) throws {
    let (binding, model) = try context.entity(of: request)
    entityName = binding.entity.name
    sortDescriptors = request.sortDescriptors
    if let paths = request.predicate.map(FetchTarget.plainPaths), let paths {
      predicate = request.predicate
      predicateNames = paths
    } else {
      predicate = request.predicate?.namingKinds(of: model)
      madeEvaluator = try predicate.map { try PredicateEvaluator(fetched: $0) }
      predicateNames = madeEvaluator?.paths ?? []
    }
    let sortNames = request.sortDescriptors.map(\.keyPath) + others
    // Checked against the entity that was asked for, whose properties all its descendants have.
    let takesEachOnce = madeEvaluator?.takesEachOnce ?? []
    let own = try Paths(
      predicateNames, takingEachOnce: takesEachOnce, sortNames, from: binding, in: model)
    followsRelationships =
      predicateNames.contains { $0.count > 1 } || sortNames.contains { $0.count > 1 }
      || !(madeEvaluator?.asksPathsAlone ?? true)
      || (own.predicate + own.sort).contains { $0.slot >= 0 && binding.traits[$0.slot].canDangle }
      || values.contains { Self.readsOthers($0, from: binding) }
    paths = Array(repeating: nil, count: model.entities.count)
    try check(request.predicate, from: binding, in: model)
    if !binding.entity.isAbstract { paths[binding.index] = own }
    guard request.includesSubentities, !binding.entity.subentityNames.isEmpty else { return }
    for entity in model.model.family(of: binding.entity).dropFirst() where !entity.isAbstract {
      guard let member = model.entity(named: entity.name) else { continue }
      paths[member.index] = try Paths(
        predicateNames, takingEachOnce: takesEachOnce, sortNames, from: member, in: model)
    }
  }
}

extension FetchTarget {
  private static func readsOthers(_ value: FetchExpression, from binding: EntityBinding) -> Bool {
    guard case .keyPath(let names) = value, names.count == 1 else { return true }
    return binding.slot(named: names[0]).map { binding.traits[$0].canDangle } ?? false
  }

  /// Checks the predicate, as it was written, and the sort keys against the types in the model.
  private func check(
    _ predicate: FetchPredicate?, from binding: EntityBinding, in model: ModelBinding
  ) throws {
    do {
      let check = PredicateCheck(of: binding, in: model)
      if let predicate, !isPlain(binding) { try check.check(predicate) }
      for descriptor in sortDescriptors { try check.check(descriptor) }
    } catch {
      throw PersistenceError(error)
    }
  }

  /// Whether the predicate only compares properties with constants of their types.
  private func isPlain(_ binding: EntityBinding) -> Bool {
    func isPlain(_ predicate: FetchPredicate) -> Bool {
      switch predicate {
      case .and(let parts): return parts.allSatisfy(isPlain)
      case .comparison(let comparison):
        guard comparison.modifier == .direct, case .keyPath(let path) = comparison.left,
          path.count == 1, let slot = binding.slot(named: path[0])
        else { return false }
        let trait = binding.traits[slot]
        switch (comparison.right, trait.attributeType) {
        case (.constant(.value(let value)?), let type?):
          return value.isOf(type) && (comparison.operator != .beginsWith || type == .string)
        case (.constant(.object?), nil):
          return comparison.operator == .equal && !trait.isToMany && !trait.isTransient
        default: return false
        }
      default: return false
      }
    }
    return madeEvaluator == nil && predicate.map(isPlain) ?? true
  }

  /// The evaluator of the predicate, made on first use: most requests need only the bytes of rows.
  func evaluator() throws -> PredicateEvaluator? {
    if madeEvaluator == nil { madeEvaluator = try predicate.map { try .init(fetched: $0) } }
    return madeEvaluator
  }

  /// The key paths that an evaluator would have, in its order, if the predicate only compares
  /// properties with constants; `nil` for other predicates. It saves making an evaluator only to
  /// see whether the predicate can be evaluated.
  private static func plainPaths(_ predicate: FetchPredicate) -> [[String]]? {
    var paths: [[String]] = []
    return append(predicate, to: &paths) ? paths : nil
  }

  private static func append(_ predicate: FetchPredicate, to paths: inout [[String]]) -> Bool {
    switch predicate {
    case .and(let parts): return parts.allSatisfy { isComparison($0) && append($0, to: &paths) }
    case .comparison(let comparison):
      guard comparison.modifier == .direct, case .keyPath(let path) = comparison.left,
        path.count == 1, case .constant = comparison.right
      else { return false }
      switch comparison.operator {
      case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
        .beginsWith:
        if !paths.contains(path) { paths.append(path) }
        return true
      default: return false
      }
    default: return false
    }
  }

  private static func isComparison(_ predicate: FetchPredicate) -> Bool {
    if case .comparison = predicate { true } else { false }
  }
}

extension ManagedObjectContext {
  /// The entity that a request is for.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the context's model has no such entity.
  final func entity<Result: ManagedObject>(
    of request: FetchRequest<Result>
  ) throws -> (EntityBinding, ModelBinding) {
    // A class may have another name than its entity: then the entity registered for the class
    // counts.
    let classes = persistentStoreCoordinator?.classes
    guard let model = modelBinding,
      let binding = model.entity(named: request.entityName)
        ?? (request.entityName == Result.modelEntityName ? classes?.entity(of: Result.self) : nil)
    else {
      var error = PersistenceError(
        .undefinedKey, "the context's model has no entity \(request.entityName)")
      error.entityName = request.entityName
      throw error
    }
    return (binding, model)
  }
}
