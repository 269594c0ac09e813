import QuireModel

extension FetchExpression {
  /// The value of the expression.
  ///
  /// ```swift
  /// let expression = try FetchExpression(format: "$source.price * (1 + $tax)")
  /// try expression.expressionValue(with: nil, context: ["source": artwork, "tax": 0.19])
  /// ```
  ///
  /// Values are those of ``KeyValueCoding``: integers are `Int`, collections are arrays of `Any` or
  /// sets of `AnyHashable` unless a property has another type. Objects among the constants of a
  /// format are given as their IDs. `FUNCTION` tries, in this order, key-value coding
  /// (`valueForKey:`, `valueForKeyPath:`), a ``FunctionReceiver``, a property of the name, and the
  /// functions of texts, numbers, dates and collections. With an absent receiver the result is
  /// absent.
  ///
  /// Inside `TERNARY` and `SUBQUERY`, predicates mean what ``FetchPredicate`` says: a path through
  /// several collections is one flat collection, and absent values are in it.
  ///
  /// - Parameters:
  ///   - object: the value of `SELF`, where key paths start.
  ///   - bindings: the values of variables, by their names without the dollar sign.
  /// - Throws: ``PersistenceError`` with ``PersistenceError/Code/undefinedKey``,
  ///   ``PersistenceError/Code/unrecognizedSelector`` or
  ///   ``PersistenceError/Code/invalidExpression``; and what objects and receivers throw.
  /// - Complexity: O(*n*) in the size of the expression, and for each subquery in its members.
  public func expressionValue(
    with object: Any?, context bindings: [String: Any?] = [:]
  ) throws -> Any? {
    do {
      try checkDepth()
    } catch {
      throw PersistenceError(error)
    }
    return try Evaluation(object, bindings).value(of: self).plain
  }
}

extension FetchPredicate {
  /// Whether the predicate is true of an object.
  ///
  /// The result is the same as in a fetch. All kinds of expression are allowed, see
  /// ``FetchExpression/expressionValue(with:context:)``.
  ///
  /// - Throws: what the value of an expression throws.
  public func evaluate(
    with object: Any?, substitutionVariables bindings: [String: Any?] = [:]
  ) throws -> Bool {
    do {
      try checkDepth()
    } catch {
      throw PersistenceError(error)
    }
    return try Evaluation(object, bindings).holds(self)
  }
}

extension Sequence {
  /// The members that match a predicate, in their order.
  ///
  /// ```swift
  /// let cheap = try artist.works.filtered(using: Key("price") < 100)
  /// ```
  ///
  /// The result is the same as in a fetch. The predicate is prepared once, so that for many objects
  /// this is much faster than `FetchPredicate.evaluate(with:substitutionVariables:)` for each.
  ///
  /// - Parameter bindings: the values of the predicate's variables.
  /// - Throws: what the value of an expression throws.
  public func filtered(
    using predicate: FetchPredicate, substitutionVariables bindings: [String: Any?] = [:]
  ) throws -> [Element] {
    do {
      try predicate.checkDepth()
    } catch {
      throw PersistenceError(error)
    }
    let evaluator = try Evaluation.prepared(predicate)
    let bindings = bindings.mapValues { KeyValue($0) }
    return try filter { try Evaluation(KeyValue($0), bindings).holds(evaluator) }
  }
}

/// Evaluates expressions and predicates on one object. Their depth must have been checked.
struct Evaluation {
  let object: KeyValue
  private var bindings: [String: KeyValue]

  init(_ object: KeyValue, _ bindings: [String: KeyValue]) {
    self.object = object
    self.bindings = bindings
  }

  fileprivate init(_ object: Any?, _ bindings: [String: Any?]) {
    self.init(KeyValue(object), bindings.mapValues { KeyValue($0) })
  }

  /// The value as predicates compare it: nested collections are flattened.
  ///
  /// - Parameter ofEachOnce: whether it makes no difference how often a value is in a collection.
  func comparedValue(
    of expression: FetchExpression, ofEachOnce: Bool = false
  ) throws -> PredicateValue? {
    switch expression {
    case .keyPath(let names): try object.comparedValue(at: names, ofEachOnce: ofEachOnce)
    case .path(.subquery, [FetchExpression.countOperator]):
      try value(of: expression).predicateValue
    case .path(let operand, let names):
      try value(of: operand).comparedValue(at: names, ofEachOnce: ofEachOnce)
    default: try value(of: expression).predicateValue
    }
  }

  func value(of expression: FetchExpression) throws -> KeyValue {
    switch expression {
    case .constant(let value): return KeyValue(value)
    case .evaluatedObject: return object
    case .keyPath(let names): return try object.value(at: names[...])
    case .path(.subquery(let collection, let variable, let predicate), let names)
    where names == [FetchExpression.countOperator]:
      if let members = try countedMembers(of: collection) {
        return .one(try count(members, variable, predicate))
      }
      return try subquery(value(of: collection), variable, predicate).value(at: names[...])
    case .path(let operand, let names): return try value(of: operand).value(at: names[...])
    case .aggregate(let members): return .array(try members.map(value))
    case .variable(let name):
      guard let value = bindings[name] else {
        throw PersistenceError(
          .invalidExpression, "the variable $\(name) has no value; bind it to a value")
      }
      return value
    case .function(let function, let arguments):
      return try compute(Computation(function), try arguments.map(value))
    case .call(let operand, let selector, let arguments):
      if let question = KindQuestion(rawValue: selector), arguments.count == 1 {
        return try answer(question, value(of: operand), value(of: arguments[0]))
      }
      return try call(
        selector, on: value(of: operand).withObjects,
        try arguments.map { try value(of: $0).withObjects.plain })
    case .conditional(let predicate, let yes, let no):
      return try value(of: holds(predicate) ? yes : no)
    case .subquery(let collection, let variable, let predicate):
      return try subquery(value(of: collection), variable, predicate)
    case .fetch(let request, let context, let countOnly):
      return try fetch(value(of: request).plain, in: value(of: context).plain, countOnly)
    }
  }

  // MARK: Functions

  private func compute(_ computation: Computation, _ arguments: [KeyValue]) throws -> KeyValue {
    do {
      // These return members, which need not be comparable.
      switch computation.function {
      case .withoutIndex where arguments.count == 1: return arguments[0]
      case .count where arguments.count == 1:
        if let members = arguments[0].members { return .one(members.count) }
      case .element, .first, .last:
        let position = try arguments.dropFirst().first?.predicateValue
        switch arguments.first?.expanded {
        case .array(let members)?:
          return try computation.index(position, of: members.count).map { members[$0] } ?? .one(nil)
        case .one(nil)?: return .one(nil)
        default:
          throw computation.error("it needs an array or an ordered relationship")
        }
      case .union, .intersection, .difference:
        guard arguments.count == 2, let left = arguments[0].expanded.setMembers,
          let right = arguments[1].expanded.setMembers
        else { throw computation.error("it needs two collections of values that can be compared") }
        return .set(computation.combined(left, right).map(\.value))
      default: break
      }
      return KeyValue(try computation.value(try arguments.map { try $0.predicateValue }))
    } catch let error as FetchPredicateError {
      throw PersistenceError(error)
    }
  }

  private func call(
    _ selector: String, on receiver: KeyValue, _ arguments: [Any?]
  ) throws -> KeyValue {
    let count = BuiltInSelector(selector).argumentCount
    guard count == arguments.count else {
      throw PersistenceError(
        .invalidExpression,
        "the function \(selector) takes \(count) arguments, but it was given \(arguments.count)")
    }
    if receiver.isAbsent { return receiver }
    if selector == "valueForKey:" || selector == "valueForKeyPath:" {
      guard let path = arguments[0] as? String else {
        throw PersistenceError(.invalidExpression, "\(selector) needs a text")
      }
      let names = selector == "valueForKey:" ? [path] : FetchExpression.names(in: path)
      return try receiver.value(at: names[...])
    }
    guard let object = receiver.plain else { return receiver }
    if let object = object as? any FunctionReceiver {
      return KeyValue(try object.call(selector, arguments))
    }
    if let object = object as? any KeyValueCoding, arguments.isEmpty, selector != "description" {
      return KeyValue(try object.value(forKey: selector))
    }
    return KeyValue(try BuiltInSelector(selector).call(on: object, arguments))
  }

  private func answer(
    _ question: KindQuestion, _ subject: KeyValue, _ kind: KeyValue
  ) throws -> KeyValue {
    guard case .one(let subject) = subject, let kind = kind.plain else { return .one(false) }
    let name: String
    switch kind {
    case let text as String: name = text
    case let entity as EntityDescription: name = entity.name
    case let type as any EntityClass.Type: name = type.modelEntityName
    default:
      throw PersistenceError(
        .invalidExpression,
        "\(question.rawValue) needs an entity, its name or its class, but there is "
          + PersistenceError.briefDescription(of: kind))
    }
    guard let member = subject as? any EntityMember else { return .one(false) }
    return .one(question.answer(for: member.entity, name))
  }

  private func fetch(_ request: Any?, in context: Any?, _ countOnly: Bool) throws -> KeyValue {
    guard let request, let context else {
      throw PersistenceError(
        .invalidExpression, "FETCH has no \(request == nil ? "request" : "context to ask")")
    }
    guard let receiver = context as? any FetchReceiver else {
      throw PersistenceError(
        .invalidExpression,
        "FETCH needs a context, but \(PersistenceError.briefDescription(of: context)) of type "
          + "\(type(of: context)) runs no requests")
    }
    return countOnly
      ? .one(try receiver.count(ofFetch: request))
      : KeyValue(try receiver.results(ofFetch: request))
  }

  // MARK: Predicates

  func holds(_ predicate: FetchPredicate) throws -> Bool {
    try holds(Self.prepared(predicate))
  }

  fileprivate static func prepared(_ predicate: FetchPredicate) throws -> PredicateEvaluator {
    do {
      return try PredicateEvaluator(predicate, asksForExpressions: true)
    } catch {
      throw PersistenceError(error)
    }
  }

  fileprivate func holds(_ evaluator: PredicateEvaluator) throws -> Bool {
    do {
      return try evaluator.evaluate(Subject(evaluation: self, evaluator: evaluator))
    } catch let error as FetchPredicateError {
      throw PersistenceError(error)
    }
  }

  private func subquery(
    _ collection: KeyValue, _ variable: String, _ predicate: FetchPredicate
  ) throws -> KeyValue {
    if collection.isAbsent { return .array([]) }
    guard let members = collection.flatMembers else {
      throw PersistenceError(
        .invalidExpression,
        "SUBQUERY needs a collection, but there is "
          + PersistenceError.briefDescription(of: collection.plain as Any))
    }
    let evaluator = try Self.prepared(predicate)
    var inner = self
    let found = try members.filter { member in
      inner.bindings[variable] = member
      return try inner.holds(evaluator)
    }
    if case .set = collection.expanded { return .set(found) }
    return .array(found)
  }

  /// The members of the collection of a subquery, each with the number of the ways to it;
  /// `nil` for what is not a path to many.
  private func countedMembers(
    of collection: FetchExpression
  ) throws -> [(member: KeyValue, count: Int)]? {
    switch collection {
    case .keyPath(let names): try object.countedMembers(at: names)
    case .path(.variable(let name), let names): try bindings[name]?.countedMembers(at: names)
    default: nil
    }
  }

  private func count(
    _ members: [(member: KeyValue, count: Int)], _ variable: String, _ predicate: FetchPredicate
  ) throws -> Int {
    let evaluator = try Self.prepared(predicate)
    var inner = self
    var count = 0
    for (member, ways) in members {
      inner.bindings[variable] = member
      if try inner.holds(evaluator) { count = count.addingSaturated(ways) }
    }
    return count
  }

  private struct Subject: PredicateSubject {
    let evaluation: Evaluation
    let evaluator: PredicateEvaluator

    func value(ofExpression index: Int) throws -> PredicateValue? {
      try evaluation.comparedValue(
        of: evaluator.expressions[index], ofEachOnce: evaluator.expressionsTakeEachOnce[index])
    }

    // The prepared predicate has no paths, as even `SELF` is one of its expressions.
    func value(atPath index: Int) throws -> PredicateValue? { nil }
    var identity: OpaqueIdentity { OpaqueIdentity(0) }
  }
}

extension KeyValue {
  fileprivate struct SetMember: Hashable {
    let key: AnyHashable
    let value: KeyValue

    static func == (left: SetMember, right: SetMember) -> Bool { left.key == right.key }
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  /// The members by what identifies them; `nil` if the value is no collection, or a member cannot
  /// be compared.
  fileprivate var setMembers: [SetMember]? {
    if isAbsent { return [] }
    guard let members else { return nil }
    let present = members.filter { !$0.isAbsent }
    let keyed = present.compactMap { value in
      value.identity.map { SetMember(key: $0, value: value) }
    }
    return keyed.count == present.count ? keyed : nil
  }
}
