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

  let path: [String]
  let demand: Demand

  /// Whether objects are demanded.
  var namesObjects: Bool {
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

  /// What a conjunct demands; nothing if an index cannot tell.
  static func conditions(of conjunct: FetchPredicate) -> [FetchCondition] {
    guard case .comparison(let comparison) = conjunct, comparison.modifier == .direct,
      comparison.options.subtracting(.normalized).isEmpty
    else { return [] }
    if case .keyPath(let path) = comparison.left {
      return demands(comparison.operator, comparison.right).map {
        FetchCondition(path: path, demand: $0)
      }
    }
    guard case .keyPath(let path) = comparison.right, let mirrored = comparison.operator.mirrored
    else { return [] }
    return demands(mirrored, comparison.left).map { FetchCondition(path: path, demand: $0) }
  }

  private static func demands(
    _ operator: FetchPredicate.Operator, _ right: FetchExpression
  ) -> [Demand] {
    switch (`operator`, right) {
    case (.equal, .constant(let value)):
      if case .collection? = value { return [] }
      return [.equal([value])]
    case (.in, _):
      return members(of: right).map { [.equal($0)] } ?? []
    case (.between, _):
      guard let bounds = members(of: right), bounds.count == 2,
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

  /// The members of a list of constants.
  private static func members(of expression: FetchExpression) -> [PredicateValue?]? {
    switch expression {
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
  fileprivate var mirrored: FetchPredicate.Operator? {
    switch self {
    case .equal: .equal
    case .lessThan: .greaterThan
    case .lessThanOrEqual: .greaterThanOrEqual
    case .greaterThan: .lessThan
    case .greaterThanOrEqual: .lessThanOrEqual
    default: nil
    }
  }
}
