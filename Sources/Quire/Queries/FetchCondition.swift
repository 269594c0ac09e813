import QuireModel

/// A condition on one property that follows from a predicate, in a form that an index can be
/// searched for.
///
/// A condition is necessary, not sufficient: the predicate is evaluated on every row that a search
/// finds.
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

  /// The parts of a predicate that must all be true.
  static func conjuncts(of predicate: FetchPredicate) -> [FetchPredicate] {
    guard case .and(let parts) = predicate else { return [predicate] }
    return parts.flatMap(conjuncts)
  }

  /// The conditions that follow from a predicate; empty if an index cannot help.
  static func conditions(of predicate: FetchPredicate) -> [FetchCondition] {
    var conditions: [FetchCondition] = []
    append(predicate, to: &conditions)
    return conditions
  }

  /// The conditions that one of the values of a conjunct's left side must meet, where a path can
  /// have several: for `ANY artists.name == 'x'` that one of them is `'x'`.
  static func memberConditions(of conjunct: FetchPredicate) -> [FetchCondition] {
    guard case .comparison(var comparison) = conjunct else { return conditions(of: conjunct) }
    if let member = membership(in: comparison) { return [member] }
    if comparison.modifier == .any, comparison.left.pathOfSubject != nil {
      comparison.modifier = .direct
    }
    return conditions(of: .comparison(comparison))
  }

  /// The condition that an object is a member of a relationship.
  private static func membership(in comparison: FetchPredicate.Comparison) -> FetchCondition? {
    guard comparison.modifier == .direct else { return nil }
    let sides: (path: FetchExpression, member: FetchExpression)
    switch comparison.operator {
    case .contains: sides = (comparison.left, comparison.right)
    case .in: sides = (comparison.right, comparison.left)
    default: return nil
    }
    guard let path = sides.path.pathOfSubject, !path.isEmpty,
      case .constant(.object(let object)?) = sides.member
    else { return nil }
    return FetchCondition(path: path, demand: .equal([.object(object)]))
  }

  /// Conditions that together are equivalent to a predicate: each property equals one of some
  /// values, or lies in a range.
  ///
  /// - Returns: `nil` if the predicate demands anything else.
  static func wholeConditions(of predicate: FetchPredicate) -> [FetchCondition]? {
    var found: [FetchCondition] = []
    var equal: Set<[String]> = []
    for conjunct in conjuncts(of: predicate) {
      if let equality = equality(of: conjunct) {
        found.append(equality)
        equal.insert(equality.path)
      } else if let range = range(of: conjunct) {
        found += range
      } else {
        return nil
      }
    }
    // A search takes one list of values for a property, and no other condition on it.
    let isAmbiguous = equal.contains { path in found.count { $0.path == path } > 1 }
    if isAmbiguous || found.isEmpty || found.contains(where: \.isOfObjectItself) { return nil }
    return found
  }

  /// Conditions that are equivalent to a comparison by order; `nil` for other predicates.
  private static func range(of predicate: FetchPredicate) -> [FetchCondition]? {
    guard case .comparison(let comparison) = predicate else { return nil }
    let conditions = conditions(of: predicate)
    switch comparison.operator {
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      return conditions.count == 1 ? conditions : nil
    case .between: return conditions.count == 2 ? conditions : nil
    default: return nil
    }
  }

  /// A condition that is equivalent to a predicate: that a property equals one of some values;
  /// `nil` for other predicates.
  private static func equality(of predicate: FetchPredicate) -> FetchCondition? {
    switch predicate {
    case .comparison(let comparison)
    where comparison.operator == .equal || comparison.operator == .in:
      let conditions = conditions(of: predicate)
      guard conditions.count == 1, case .equal = conditions[0].demand else { return nil }
      return conditions[0]
    case .or(let parts):
      var (path, values): ([String]?, [PredicateValue?]) = (nil, [])
      for part in parts {
        guard let condition = equality(of: part), path == nil || condition.path == path,
          case .equal(let more) = condition.demand
        else { return nil }
        path = condition.path
        values += more
      }
      return path.map { FetchCondition(path: $0, demand: .equal(values)) }
    default: return nil
    }
  }

  private static func append(_ predicate: FetchPredicate, to conditions: inout [FetchCondition]) {
    switch predicate {
    case .and(let parts):
      for part in parts { append(part, to: &conditions) }
    case .or:
      // A disjunction of equalities is one condition with several values.
      if let equality = equality(of: predicate) { conditions.append(equality) }
    case .comparison(let comparison):
      guard comparison.modifier == .direct,
        comparison.options.comparesTextAsItIs
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
    case (_, .constant(.value(let value)?)): return Demand(`operator`, value).map { [$0] } ?? []
    default: return []
    }
  }
}

extension FetchCondition.Demand {
  /// The demand of an operator with a constant, if a range of keys corresponds to it.
  ///
  /// - Returns: `nil` for other operators.
  init?(_ operator: FetchPredicate.Operator, _ value: AttributeValue) {
    switch (`operator`, value) {
    case (.beginsWith, .string(let text)) where !text.isEmpty: self = .prefix(text)
    case (.lessThan, _): self = .less(value, orEqual: false)
    case (.lessThanOrEqual, _): self = .less(value, orEqual: true)
    case (.greaterThan, _): self = .greater(value, orEqual: false)
    case (.greaterThanOrEqual, _): self = .greater(value, orEqual: true)
    default: return nil
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

  /// The members of a list of constants; `nil` for other expressions.
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
  /// The operator with the same meaning when the sides are exchanged; `nil` if there is none.
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
