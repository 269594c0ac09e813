import QuireModel

// Values of the members of a to-many relationship.
extension PathSubject {
  /// The value at the end of a path from several objects: one flat collection, or a single value if
  /// the path has an operator.
  static func value(of members: [Self], at names: ArraySlice<String>) throws -> PredicateValue? {
    guard let first = names.first else {
      return .collection(members.map { .object($0.objectIdentity) })
    }
    if first == FetchExpression.countOperator, names.count == 1 {
      return .value(.integer(Int64(members.count)))
    }
    guard let index = names.firstIndex(where: CollectionOperator.isOperator),
      index < names.endIndex - 1 || names[index] != FetchExpression.countOperator
    else { return .collection(try values(of: members, at: names)) }
    let behind = names[(index + 1)...]
    if let function = CollectionOperator(rawValue: names[index])?.function,
      !behind.contains(where: CollectionOperator.isOperator)
    {
      let values = try values(of: members, at: names[..<index] + behind)
      return try Computation(function).aggregate(values)
    }
    return try KeyValue.array(members.map { .one(StandIn($0, nil)) }).value(at: names)
      .predicateValue
  }

  private static func values(
    of members: [Self], at names: ArraySlice<String>
  ) throws -> [PredicateValue?] {
    guard let first = names.first else { return members.map { .object($0.objectIdentity) } }
    var values: [PredicateValue?] = []
    values.reserveCapacity(members.count)
    for member in members {
      let value = try member.value(at: names, slot: member.binding.slot(named: first) ?? -1)
      if case .collection(let more)? = value { values += more } else { values.append(value) }
    }
    return values
  }
}

extension CollectionOperator {
  /// The function of an operator that makes one value of many; `nil` for other operators.
  var function: FetchExpression.Function? {
    switch self {
    case .sum: .sum
    case .average: .average
    case .minimum: .minimum
    case .maximum: .maximum
    case .count, .unionOfObjects, .distinctUnionOfObjects, .unionOfArrays, .distinctUnionOfArrays,
      .unionOfSets, .distinctUnionOfSets:
      nil
    }
  }
}
