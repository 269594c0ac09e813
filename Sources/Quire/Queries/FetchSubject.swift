import QuireModel

/// The subject of a predicate that needs more than the values at paths: a row or an object, and the
/// members that the variables of subqueries stand for.
struct FetchSubject<Subject: PathSubject>: PredicateSubject {
  let subject: Subject
  let evaluator: PredicateEvaluator
  /// Makes the objects on which functions are called.
  let session: StoreSession
  /// By their names with the dollar sign.
  var variables: [String: Subject] = [:]

  var identity: OpaqueIdentity { subject.objectIdentity }

  func value(atPath index: Int) throws -> PredicateValue? {
    let (start, names) = start(of: evaluator.paths[index])
    guard let first = names.first else { return .object(start.objectIdentity) }
    let slot = start.binding.slot(named: first) ?? -1
    return evaluator.takesEachOnce[index]
      ? try start.valueOfEachOnce(at: names, slot: slot) : try start.value(at: names, slot: slot)
  }

  func value(ofSubquery index: Int) throws -> PredicateValue? {
    let subquery = evaluator.subqueries[index]
    var inner = FetchSubject(
      subject: subject, evaluator: subquery.evaluator, session: session, variables: variables)
    let (start, names) = start(of: subquery.collection)
    if subquery.names == [FetchExpression.countOperator],
      let members = try start.countedMembers(at: names)
    {
      // As often as ways refer to each.
      var count = 0
      for (member, ways) in members {
        inner.variables[subquery.variable] = member
        if try subquery.evaluator.evaluate(inner) { count = count.addingSaturated(ways) }
      }
      return .value(.integer(Int64(count)))
    }
    guard let members = try start.members(at: names) else {
      let names = subquery.names
      return try value(of: names.isEmpty ? subquery.expression : .path(subquery.expression, names))
    }
    let found = try members.filter { member in
      inner.variables[subquery.variable] = member
      return try subquery.evaluator.evaluate(inner)
    }
    return try Subject.value(of: found, at: subquery.names[...])
  }

  func value(ofExpression index: Int) throws -> PredicateValue? {
    try value(
      of: evaluator.expressions[index], ofEachOnce: evaluator.expressionsTakeEachOnce[index])
  }

  private func value(
    of expression: FetchExpression, ofEachOnce: Bool = false
  ) throws -> PredicateValue? {
    var bindings: [String: KeyValue] = [:]
    for (name, member) in variables {
      bindings[String(name.dropFirst())] = .one(StandIn(member, session))
    }
    return try Evaluation(.one(StandIn(subject, session)), bindings)
      .comparedValue(of: expression, ofEachOnce: ofEachOnce)
  }

  /// The subject at which a path starts, and the rest of the path.
  private func start(of names: [String]) -> (Subject, ArraySlice<String>) {
    guard let first = names.first, let start = variables[first] else {
      return (subject, names[...])
    }
    return (start, names.dropFirst())
  }
}

extension PathSubject {
  /// The value at the end of a path that was not resolved beforehand.
  func value(at names: ArraySlice<String>) throws -> PredicateValue? {
    guard let first = names.first else { return .object(objectIdentity) }
    return try value(at: names, slot: binding.slot(named: first) ?? -1)
  }

  /// The objects at the end of a path through relationships; `nil` for a path to something else.
  fileprivate func members(at names: ArraySlice<String>) throws -> [Self]? {
    guard let first = names.first else { return [self] }
    guard let slot = binding.slot(named: first), binding.traits[slot].attributeType == nil
    else { return nil }
    let rest = names.dropFirst()
    if !binding.traits[slot].isToMany {
      guard let destination = try one(slot) else { return [] }
      return try destination.members(at: rest)
    }
    let members = try members(slot)
    if rest.isEmpty { return members }
    var found: [Self] = []
    for member in members {
      guard let more = try member.members(at: rest) else { return nil }
      found += more
    }
    return found
  }
}
