/// Finds mistakes in predicates before anything is searched: without it `age == 'abc'` would be
/// false of every object, without an error.
///
/// Types are compared as far as the model determines them. A type that it does not determine, such
/// as that of the result of an application's own function, may be any.
package struct PredicateCheck {
  let paths: PathCheck
  /// The entity of the objects that the predicate is evaluated on.
  let entity: EntityDescription
  private var variables: [String: ExpressionType] = [:]

  /// - Parameter entities: finds those of the model by their names.
  package init(
    of entity: EntityDescription, _ entities: @escaping (String) -> EntityDescription?
  ) {
    self.entity = entity
    paths = PathCheck(entities: entities)
  }

  /// - Throws: the first mistake.
  package func check(_ predicate: FetchPredicate) throws(PredicateMistake) {
    switch predicate {
    case .constant: return
    case .comparison(let comparison): try check(comparison)
    case .and(let parts), .or(let parts): for part in parts { try check(part) }
    case .not(let part): try check(part)
    }
  }

  /// The type of what a key path refers to from an object of the entity.
  package func type(of names: [String]) throws(PredicateMistake) -> ExpressionType {
    try paths.type(of: names, from: .object(entity: entity.name))
  }

  /// Makes sure that a sort key has one value for each object.
  package func check(_ descriptor: FetchSortDescriptor) throws(PredicateMistake) {
    let type = try type(of: descriptor.keyPath)
    guard type.isCollection else { return }
    let path = descriptor.keyPath.joined(separator: ".")
    throw PredicateMistake(
      .type,
      "the sort key \(path) of \(entity.name) is \(type), which has no order: sort by one "
        + "value, such as \(path).@count",
      entityName: entity.name, key: path)
  }

  // MARK: Expressions

  package func type(of expression: FetchExpression) throws(PredicateMistake) -> ExpressionType {
    switch expression {
    case .constant(let value): return ExpressionType(value)
    case .evaluatedObject: return .object(entity: entity.name)
    case .keyPath(let names): return try type(of: names)
    case .aggregate(let members): return .collection(.common(try types(of: members)))
    case .variable(let name): return try type(ofVariable: name)
    case .path(let operand, let names): return try paths.type(of: names, from: type(of: operand))
    case .function(let function, let arguments):
      let types = try types(of: arguments)
      switch function {
      case .element, .first, .last: try checkOrder(of: arguments.first, in: expression)
      default: break
      }
      return result(of: function, types, arguments)
    case .call(let operand, let selector, let arguments):
      let type = try type(of: operand)
      _ = try types(of: arguments)
      guard let question = KindQuestion(rawValue: selector) else { return .unknown }
      try check(question, of: type, arguments.first, in: expression)
      return .number
    case .conditional(let predicate, let yes, let no):
      try check(predicate)
      return .common([try type(of: yes), try type(of: no)])
    case .subquery(let collection, let variable, let predicate):
      return try type(ofSubquery: expression, collection, variable, predicate)
    case .fetch: return .unknown
    }
  }

  private func types(
    of expressions: [FetchExpression]
  ) throws(PredicateMistake) -> [ExpressionType] {
    var types: [ExpressionType] = []
    for expression in expressions { types.append(try type(of: expression)) }
    return types
  }

  private func type(ofVariable name: String) throws(PredicateMistake) -> ExpressionType {
    if let type = variables[name] { return type }
    throw PredicateMistake(
      .variable,
      "the variable $\(name) has no value: give it one by "
        + "withSubstitutionVariables(_:), or bind it by a SUBQUERY around")
  }

  private func type(
    ofSubquery expression: FetchExpression, _ collection: FetchExpression, _ variable: String,
    _ predicate: FetchPredicate
  ) throws(PredicateMistake) -> ExpressionType {
    let type = try type(of: collection)
    guard type.isCollection || type.may(be: .unknown) else {
      throw PredicateMistake(
        .type,
        "\(expression) looks for members in \(collection), which is \(type): give it a to-many "
          + "relationship, or another collection")
    }
    var inner = self
    inner.variables[variable] = type.isCollection ? type.element : .unknown
    try inner.check(predicate)
    return .collection(type.isCollection ? type.element : .unknown)
  }

  private func result(
    of function: FetchExpression.Function, _ types: [ExpressionType],
    _ arguments: [FetchExpression]
  ) -> ExpressionType {
    switch function {
    case .add, .subtract:
      // A date and a number of seconds give a date, two dates give seconds.
      let dates = types.filter { $0 == .date }.count
      if types.contains(.unknown) { return .unknown }
      return dates == 1 ? .date : .number
    case .multiply, .divide, .power, .negate, .modulus, .absolute, .ceiling, .floor, .truncated,
      .squareRoot, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement,
      .sum, .average, .median, .standardDeviation, .count, .length, .random, .randomBelow,
      .year, .month, .day, .weekday, .hour, .minute, .second:
      return .number
    case .minimum, .maximum: return .common(types.map(\.element))
    case .uppercase, .lowercase, .canonical: return .text
    case .withoutIndex: return types.first ?? .unknown
    case .now: return .date
    case .cast:
      guard case .constant(.value(.string(let name))?)? = arguments.last else { return .unknown }
      return CastTarget(named: name)?.expressionType ?? .unknown
    case .element, .first, .last: return types.first?.element ?? .unknown
    case .union: return .collection(.common(types.map(\.element)))
    case .intersection, .difference: return .collection(types.first?.element ?? .unknown)
    }
  }
}
