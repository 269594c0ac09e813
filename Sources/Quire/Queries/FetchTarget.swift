import QuireModel

/// Which entities a request is for, and the paths that it follows from them.
final class FetchTarget {
  /// The paths of one concrete entity.
  final class Paths {
    let predicate: [FetchPath]
    let sort: [FetchPath]

    fileprivate init(
      _ predicateNames: [[String]], _ sortNames: [[String]], from binding: EntityBinding,
      in model: ModelBinding
    ) throws {
      predicate = try predicateNames.map { try FetchPath($0, from: binding, in: model) }
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
  /// By the entity's index in the model; `nil` for those that are not asked for.
  private(set) var paths: [Paths?]
  /// Whether a path leads from an object to another; or ends at a relationship of which nobody is
  /// told when an object at its other end is deleted.
  let followsRelationships: Bool

  /// - Parameter others: paths whose values are read after those of the sort keys.
  init<Result>(
    _ request: FetchRequest<Result>, in context: ManagedObjectContext, reading others: [[String]]
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
    let own = try Paths(predicateNames, sortNames, from: binding, in: model)
    followsRelationships =
      predicateNames.contains { $0.count > 1 } || sortNames.contains { $0.count > 1 }
      || !(madeEvaluator?.asksPathsAlone ?? true)
      || (own.predicate + own.sort).contains { $0.slot >= 0 && binding.traits[$0.slot].canDangle }
    paths = Array(repeating: nil, count: model.entities.count)
    try check(request.predicate, from: binding, in: model)
    if !binding.entity.isAbstract { paths[binding.index] = own }
    guard request.includesSubentities, !binding.entity.subentityNames.isEmpty else { return }
    for entity in model.model.family(of: binding.entity).dropFirst() where !entity.isAbstract {
      guard let member = model.entity(named: entity.name) else { continue }
      paths[member.index] = try Paths(predicateNames, sortNames, from: member, in: model)
    }
  }
}

extension FetchTarget {
  /// Makes sure that the predicate, as it was written, and the sort keys can be meant.
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

  /// Whether the predicate compares attributes with constants of their types, and no more.
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

  /// Evaluates the predicate.
  ///
  /// Made when it is asked for: most requests are answered by rows' bytes alone.
  func evaluator() throws -> PredicateEvaluator? {
    if madeEvaluator == nil { madeEvaluator = try predicate.map { try .init(fetched: $0) } }
    return madeEvaluator
  }

  /// The key paths that an evaluator would have, in its order, where the predicate compares one
  /// property, or each of several, with a constant: then there is no need to make one only to see
  /// whether the predicate can be evaluated.
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
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the context's model has none such.
  final func entity<Result: ManagedObject>(
    of request: FetchRequest<Result>
  ) throws -> (EntityBinding, ModelBinding) {
    // A class need not be called like its entity: then the model's name for the class decides.
    let classes = persistentStoreCoordinator?.classes
    guard let model = modelBinding,
      let binding = model.entity(named: request.entityName)
        ?? (request.entityName == Result.entityName ? classes?.entity(of: Result.self) : nil)
    else {
      var error = PersistenceError(
        .undefinedKey, "the context's model has no entity \(request.entityName)")
      error.entityName = request.entityName
      throw error
    }
    return (binding, model)
  }
}
