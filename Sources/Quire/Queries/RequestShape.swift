import QuireModel

/// What requests of one kind have in common: the entity, and a conjunction of comparisons of its
/// properties with constants, whatever these are.
struct RequestShape {
  struct Part {
    let name: String
    let `operator`: FetchPredicate.Operator
    /// Whether the constant is an object.
    let isOfObject: Bool
  }

  let entityName: String
  let parts: [Part]

  /// The largest number of comparisons. A predicate of more is rarely written twice.
  private static let limit = 8

  /// The shape of the requests that are like one of an entity.
  ///
  /// - Returns: `nil` for predicates of another kind.
  init?(_ entityName: String, _ predicate: FetchPredicate) {
    let count = predicate.conjunctCount
    guard (1...Self.limit).contains(count) else { return nil }
    var parts: [Part] = []
    for index in 0..<count {
      guard let comparison = predicate.comparison(index), let part = comparison.shape else {
        return nil
      }
      parts.append(part)
    }
    (self.entityName, self.parts) = (entityName, parts)
  }

  /// Whether requests of an entity with this predicate have the shape.
  func fits(_ entityName: String, _ predicate: FetchPredicate) -> Bool {
    guard self.entityName == entityName else { return false }
    switch predicate {
    case .comparison(let comparison): return parts.count == 1 && comparison.has(parts[0])
    case .and(let conjuncts):
      guard conjuncts.count == parts.count else { return false }
      for index in parts.indices {
        guard case .comparison(let comparison) = conjuncts[index], comparison.has(parts[index])
        else { return false }
      }
      return true
    default: return false
    }
  }
}

extension FetchPredicate {
  /// The number of predicates of which this is the conjunction, as it was written.
  fileprivate var conjunctCount: Int {
    switch self {
    case .comparison: 1
    case .and(let parts): parts.count
    default: 0
    }
  }

  /// The constant with which a conjunct compares a property.
  func constant(_ index: Int) -> PredicateValue? {
    switch self {
    case .comparison(let comparison):
      if case .constant(let value) = comparison.right { return value }
    case .and(let parts): return parts[index].constant(0)
    default: break
    }
    return nil
  }

  /// A conjunct that is a comparison.
  func comparison(_ index: Int) -> Comparison? {
    switch self {
    case .comparison(let comparison): return comparison
    case .and(let parts):
      if case .comparison(let comparison) = parts[index] { return comparison }
      return nil
    default: return nil
    }
  }
}

extension FetchPredicate.Comparison {
  /// What a comparison of a property with a constant has in common with others.
  fileprivate var shape: RequestShape.Part? {
    guard modifier == .direct, options.comparesTextAsItIs, case .keyPath(let path) = left,
      path.count == 1, case .constant(let constant?) = right
    else { return nil }
    switch (constant, `operator`) {
    case (.object, .equal): return .init(name: path[0], operator: .equal, isOfObject: true)
    case (.value, .equal), (.value, .notEqual), (.value, .lessThan), (.value, .lessThanOrEqual),
      (.value, .greaterThan), (.value, .greaterThanOrEqual), (.value, .beginsWith):
      return .init(name: path[0], operator: `operator`, isOfObject: false)
    default: return nil
    }
  }

  fileprivate func has(_ part: RequestShape.Part) -> Bool {
    guard `operator` == part.operator, modifier == .direct, options.comparesTextAsItIs,
      case .keyPath(let path) = left, path.count == 1, path[0] == part.name
    else { return false }
    switch right {
    case .constant(.value?): return !part.isOfObject
    case .constant(.object?): return part.isOfObject
    default: return false
    }
  }
}
