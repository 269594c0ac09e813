import QuireModel

extension PredicateEvaluator {
  /// The evaluator of a request's predicate that is asked of things without relationships.
  init(requested predicate: FetchPredicate) throws(PersistenceError) {
    do {
      try self.init(predicate)
    } catch {
      throw PersistenceError(unsupported: error)
    }
  }

  /// The evaluator of a fetch request's predicate.
  init(fetched predicate: FetchPredicate) throws(PersistenceError) {
    do {
      try self.init(fetching: predicate)
    } catch {
      throw PersistenceError(unsupported: error)
    }
  }
}

extension PersistenceError {
  fileprivate init(unsupported error: FetchPredicateError) {
    self.init(
      .persistentStoreUnsupportedRequestType, "the predicate cannot be evaluated",
      underlying: error)
  }
}

extension PredicateEvaluator.Subquery {
  /// Makes sure that what the subquery asks for is there.
  ///
  /// - Parameter variables: what those of subqueries around stand for.
  func check(
    from binding: EntityBinding, in model: ModelBinding, _ variables: [String: EntityBinding] = [:]
  ) throws {
    func start(
      _ names: [String], _ variables: [String: EntityBinding]
    ) -> (EntityBinding, [String]) {
      guard let first = names.first, let entity = variables[first] else { return (binding, names) }
      return (entity, Array(names.dropFirst()))
    }
    let (owner, names) = start(collection, variables)
    var variables = variables
    variables[variable] = try members(of: names, from: owner, in: model)
    for path in evaluator.paths {
      let (owner, names) = start(path, variables)
      if !names.isEmpty { _ = try FetchPath(names, from: owner, in: model) }
    }
    for subquery in evaluator.subqueries { try subquery.check(from: binding, in: model, variables) }
  }

  /// The entity of the members that a path leads to.
  private func members(
    of names: [String], from binding: EntityBinding, in model: ModelBinding
  ) throws -> EntityBinding {
    _ = try FetchPath(names, from: binding, in: model)
    var level = binding
    for (index, name) in names.enumerated() {
      guard let relationship = level.entity.relationship(named: name),
        relationship.isToMany == (index == names.count - 1),
        let destination = model.entity(named: relationship.destination)
      else { break }
      if relationship.isToMany { return destination }
      level = destination
    }
    throw PersistenceError(
      .persistentStoreUnsupportedRequestType,
      "\(expression) asks for the members of \(names.joined(separator: ".")): in a fetch that must "
        + "be a to-many relationship, with none but to-one relationships before it")
  }
}

/// What a predicate with subqueries is asked of: a row or an object, and the members that variables
/// stand for.
struct SubquerySubject<Subject: PathSubject>: PredicateSubject {
  let subject: Subject
  let evaluator: PredicateEvaluator
  /// By their names with the dollar sign.
  var variables: [String: Subject] = [:]

  var identity: OpaqueIdentity { subject.objectIdentity }

  func value(atPath index: Int) throws -> PredicateValue? {
    let (start, names) = start(of: evaluator.paths[index])
    return names.isEmpty ? .object(start.objectIdentity) : try start.value(at: names)
  }

  func value(ofSubquery index: Int, isCount: Bool) throws -> PredicateValue? {
    let subquery = evaluator.subqueries[index]
    var inner = SubquerySubject(
      subject: subject, evaluator: subquery.evaluator, variables: variables)
    let (start, names) = start(of: subquery.collection)
    let found = try start.members(at: names).filter { member in
      inner.variables[subquery.variable] = member
      return try subquery.evaluator.evaluate(inner)
    }
    if isCount { return .value(.integer(Int64(found.count))) }
    return .collection(found.map { .object($0.objectIdentity) })
  }

  /// What a path starts from, and the rest of it.
  private func start(of names: [String]) -> (Subject, ArraySlice<String>) {
    guard let first = names.first, let start = variables[first] else {
      return (subject, names[...])
    }
    return (start, names.dropFirst())
  }
}

extension PathSubject {
  /// The value at the end of a path that was not resolved beforehand.
  fileprivate func value(at names: ArraySlice<String>) throws -> PredicateValue? {
    guard let first = names.first, let slot = binding.slot(named: first) else { return nil }
    return try value(at: names, slot: slot)
  }

  /// What the to-many relationship at the end of a path leads to.
  fileprivate func members(at names: ArraySlice<String>) throws -> [Self] {
    guard let first = names.first, let slot = binding.slot(named: first) else { return [] }
    if names.count == 1 { return try members(slot) }
    return try one(slot)?.members(at: names.dropFirst()) ?? []
  }
}
