import QuireModel

/// What a predicate demands of one property, in a form that an index can be searched for.
///
/// All that is demanded must hold for the predicate to be true; that it does is no proof, and the
/// predicate is evaluated all the same.
struct FetchCondition {
  enum Demand {
    /// Equal to one of these.
    case equal([PredicateValue?])
    case less(AttributeValue, orEqual: Bool)
    case greater(AttributeValue, orEqual: Bool)
    case prefix(String)
  }

  /// Empty for the object itself.
  let path: [String]
  let demand: Demand

  var isOfObjectItself: Bool { path.isEmpty }

  /// Whether objects are demanded.
  var namesObjects: Bool {
    if isOfObjectItself { return true }
    guard case .equal(let values) = demand, case .object? = values.first ?? nil else {
      return false
    }
    return true
  }

  /// The parts of a predicate that all must be true.
  static func conjuncts(of predicate: FetchPredicate) -> [FetchPredicate] {
    guard case .and(let parts) = predicate else { return [predicate] }
    return parts.flatMap(conjuncts)
  }

  /// What the conjuncts of a predicate demand; nothing where an index cannot tell.
  static func conditions(of predicate: FetchPredicate) -> [FetchCondition] {
    var conditions: [FetchCondition] = []
    append(predicate, to: &conditions)
    return conditions
  }

  /// The conditions that say all that a predicate does: each property equals one of some values.
  ///
  /// - Returns: `nil` when it says something else.
  static func equalities(of predicate: FetchPredicate) -> [FetchCondition]? {
    var found: [FetchCondition] = []
    for conjunct in conjuncts(of: predicate) {
      let conditions = conditions(of: conjunct)
      guard case .comparison(let comparison) = conjunct, conditions.count == 1,
        comparison.operator == .equal || comparison.operator == .in,
        case .equal = conditions[0].demand, !conditions[0].isOfObjectItself,
        !found.contains(where: { $0.path == conditions[0].path })
      else { return nil }
      found.append(conditions[0])
    }
    return found
  }

  private static func append(_ predicate: FetchPredicate, to conditions: inout [FetchCondition]) {
    switch predicate {
    case .and(let parts):
      for part in parts { append(part, to: &conditions) }
    case .comparison(let comparison):
      guard comparison.modifier == .direct,
        comparison.options.subtracting(.normalized).isEmpty
      else { return }
      if let path = comparison.left.pathOfSubject {
        append(comparison.operator, comparison.right, path, to: &conditions)
      } else if let path = comparison.right.pathOfSubject,
        let mirrored = comparison.operator.mirrored
      {
        append(mirrored, comparison.left, path, to: &conditions)
      }
    default: break
    }
  }

  private static func append(
    _ operator: FetchPredicate.Operator, _ right: FetchExpression, _ path: [String],
    to conditions: inout [FetchCondition]
  ) {
    switch (`operator`, right) {
    case (.equal, .constant(.collection?)): break
    case (.equal, .constant(let value)):
      conditions.append(FetchCondition(path: path, demand: .equal([value])))
    default:
      for demand in demands(`operator`, right) {
        conditions.append(FetchCondition(path: path, demand: demand))
      }
    }
  }

  private static func demands(
    _ operator: FetchPredicate.Operator, _ right: FetchExpression
  ) -> [Demand] {
    switch (`operator`, right) {
    case (.in, _):
      return right.constantMembers.map { [.equal($0)] } ?? []
    case (.between, _):
      guard let bounds = right.constantMembers, bounds.count == 2,
        case .value(let low)? = bounds[0], case .value(let high)? = bounds[1]
      else { return [] }
      return [.greater(low, orEqual: true), .less(high, orEqual: true)]
    case (.beginsWith, .constant(.value(.string(let text))?)):
      return text.isEmpty ? [] : [.prefix(text)]
    case (.lessThan, .constant(.value(let value)?)): return [.less(value, orEqual: false)]
    case (.lessThanOrEqual, .constant(.value(let value)?)): return [.less(value, orEqual: true)]
    case (.greaterThan, .constant(.value(let value)?)): return [.greater(value, orEqual: false)]
    case (.greaterThanOrEqual, .constant(.value(let value)?)):
      return [.greater(value, orEqual: true)]
    default: return []
    }
  }
}

extension FetchExpression {
  fileprivate var pathOfSubject: [String]? {
    switch self {
    case .keyPath(let path): path
    case .evaluatedObject: []
    default: nil
    }
  }

  /// The members of a list of constants.
  var constantMembers: [PredicateValue?]? {
    switch self {
    case .constant(.collection(let members)?): return members
    case .aggregate(let parts):
      var members: [PredicateValue?] = []
      for part in parts {
        guard case .constant(let value) = part else { return nil }
        members.append(value)
      }
      return members
    default: return nil
    }
  }
}

extension FetchPredicate.Operator {
  /// The operator that says the same with the sides exchanged.
  var mirrored: FetchPredicate.Operator? {
    switch self {
    case .equal: .equal
    case .notEqual: .notEqual
    case .lessThan: .greaterThan
    case .lessThanOrEqual: .greaterThanOrEqual
    case .greaterThan: .lessThan
    case .greaterThanOrEqual: .lessThanOrEqual
    default: nil
    }
  }
}
