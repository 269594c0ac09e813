import QuireModel

/// The translation of a request with groups: its expressions become one query, and the results of
/// the query become the values of the expressions.
struct GroupTable {
  let columns: [ExpressionDescription]
  /// The values by which objects are grouped.
  let groups: [ExpressionDescription]
  /// The aggregates in the expressions.
  private var aggregates: [GroupQuery.Aggregate] = []
  /// The expressions of the columns, with variables for groups and aggregates.
  private var expressions: [FetchExpression] = []

  init(columns: [ExpressionDescription], groups: [ExpressionDescription]) {
    self.columns = columns
    self.groups = groups
  }

  var query: GroupQuery {
    var query = GroupQuery()
    query.groups = groups.map(\.expression)
    query.aggregates = aggregates
    return query
  }

  // MARK: What is asked for

  /// Names of variables for groups and aggregates. Formats cannot contain such names.
  private static func groupVariable(_ number: Int) -> String { "\u{1}group \(number)" }
  private static func aggregateVariable(_ number: Int) -> String { "\u{1}aggregate \(number)" }

  mutating func takeColumns() throws {
    for column in columns {
      let taken = try takingAggregates(in: column.expression)
      expressions.append(
        try taken.replacingLeaves { leaf, _ in try group(leaf) ?? differing(leaf, column.name) })
    }
  }

  /// Prepares a condition on groups, whose keys are names of columns and groups, for evaluation on
  /// the values of a group.
  mutating func having(_ predicate: FetchPredicate) throws -> FetchPredicate {
    switch predicate {
    case .constant: return predicate
    case .comparison(var comparison):
      comparison.left = try groupValue(of: comparison.left)
      comparison.right = try groupValue(of: comparison.right)
      return .comparison(comparison)
    case .not(let part): return .not(try having(part))
    case .and(let parts): return .and(try having(parts))
    case .or(let parts): return .or(try having(parts))
    }
  }

  /// Names of columns in the place of variables: in Core Data a condition on groups has to name
  /// computed columns by these, as in `$count > 1`.
  func namingColumns(_ predicate: FetchPredicate) throws -> FetchPredicate {
    try predicate.substituting { name, path in
      guard path.isEmpty, columns.contains(where: { $0.name == name }) else {
        throw unknown("$\(name)", "a variable of havingPredicate")
      }
      return .keyPath([name])
    }
  }

  private mutating func having(_ predicates: [FetchPredicate]) throws -> [FetchPredicate] {
    var result: [FetchPredicate] = []
    for predicate in predicates { result.append(try having(predicate)) }
    return result
  }

  private mutating func groupValue(of expression: FetchExpression) throws -> FetchExpression {
    // The name of a column stands for its expression.
    let columns = columns
    let groups = groups
    let named = expression.aggregatesKept { leaf in
      guard case .keyPath(let names) = leaf, !groups.contains(where: { $0.expression == leaf })
      else { return nil }
      let name = names.joined(separator: ".")
      return columns.first { $0.name == name }?.expression
    }
    let taken = try takingAggregates(in: named)
    return try taken.replacingLeaves { leaf, _ in
      if let group = group(leaf) { return group }
      guard case .keyPath(let names) = leaf else { return nil }
      throw unknown(names.joined(separator: "."), "a key of havingPredicate")
    }
  }

  private func group(_ leaf: FetchExpression) -> FetchExpression? {
    groups.firstIndex { $0.expression == leaf }.map { .variable(Self.groupVariable($0)) }
  }

  /// - Throws: an error for a leaf whose value may differ within a group.
  private func differing(_ leaf: FetchExpression, _ name: String) throws -> FetchExpression? {
    switch leaf {
    case .keyPath(let names) where names.contains(where: CollectionOperator.isOperator):
      throw PersistenceError(
        .invalidExpression,
        "\(name) asks for \(leaf), which each object has for itself, and which no value of a group can "
          + "be made of here: keep it in a derived attribute, and make one value of that, as by max:"
      )
    case .keyPath, .evaluatedObject, .path:
      throw PersistenceError(
        .invalidExpression,
        "\(name) asks for \(leaf), which differs within a group: group by it, or make one value of it, "
          + "as by max:(\(leaf))")
    default: return nil
    }
  }

  func unknown(_ name: String, _ role: String) -> PersistenceError {
    var error = PersistenceError(
      .undefinedKey,
      "\(name), \(role), is none of the values that are fetched: "
        + columns.map(\.name).joined(separator: ", "))
    error.key = name
    return error
  }

  private mutating func takingAggregates(
    in expression: FetchExpression
  ) throws -> FetchExpression {
    if let group = group(expression) { return group }
    if let aggregate = expression.aggregate {
      aggregates.append(aggregate)
      return .variable(Self.aggregateVariable(aggregates.count - 1))
    }
    guard case .function(let function, let arguments) = expression else { return expression }
    var taken: [FetchExpression] = []
    for argument in arguments { taken.append(try takingAggregates(in: argument)) }
    return .function(function, taken)
  }

  // MARK: What comes out

  /// The values of a group, by the names of variables.
  func values(of result: GroupResult) -> [String: KeyValue] {
    var values: [String: KeyValue] = [:]
    for (number, value) in result.group.enumerated() {
      values[Self.groupVariable(number)] = KeyValue(value)
    }
    for (number, value) in result.values.enumerated() {
      values[Self.aggregateVariable(number)] = KeyValue(value)
    }
    return values
  }

  func row(_ values: [String: KeyValue]) throws -> [PredicateValue?] {
    let evaluation = Evaluation(.one(nil), values)
    return try expressions.map { try evaluation.comparedValue(of: $0) }
  }
}

extension FetchExpression {
  /// The aggregate over the objects of a group that the expression is; `nil` for other expressions.
  ///
  /// That is also a key path that begins with an operator: `@sum.price`.
  var aggregate: GroupQuery.Aggregate? {
    if case .keyPath(let names) = self { return Self.aggregate(names) }
    guard case .function(let function, let arguments) = self, arguments.count == 1 else {
      return nil
    }
    switch (function, arguments[0]) {
    case (.count, .evaluatedObject): return GroupQuery.Aggregate(function: .count, path: nil)
    case (_, .keyPath(let names)) where !names.contains(where: CollectionOperator.isOperator):
      let aggregate: AggregateFunction? =
        switch function {
        case .sum: .sum
        case .average: .average
        case .minimum: .minimum
        case .maximum: .maximum
        case .median: .median
        case .standardDeviation: .standardDeviation
        case .count: .count
        default: nil
        }
      return aggregate.map { GroupQuery.Aggregate(function: $0, path: names) }
    default: return nil
    }
  }

  private static func aggregate(_ names: [String]) -> GroupQuery.Aggregate? {
    let path = Array(names.dropFirst())
    guard let first = names.first.flatMap(CollectionOperator.init(rawValue:)),
      !path.contains(where: CollectionOperator.isOperator)
    else { return nil }
    if first == .count, path.isEmpty { return GroupQuery.Aggregate(function: .count, path: nil) }
    let function: AggregateFunction? =
      switch first {
      case .count: .count
      case .sum: .sum
      case .average: .average
      case .minimum: .minimum
      case .maximum: .maximum
      default: nil
      }
    guard let function, !path.isEmpty else { return nil }
    return GroupQuery.Aggregate(function: function, path: path)
  }

  /// The same expression with leaves replaced, except inside aggregates.
  fileprivate func aggregatesKept(
    _ body: (FetchExpression) -> FetchExpression?
  ) -> FetchExpression {
    if aggregate != nil { return self }
    guard case .function(let function, let arguments) = self else {
      return replacingLeaves { leaf, _ in body(leaf) }
    }
    return .function(function, arguments.map { $0.aggregatesKept(body) })
  }

  /// Whether a part of the expression is an aggregate over the objects of a group.
  var hasAggregate: Bool {
    if aggregate != nil { return true }
    guard case .function(_, let arguments) = self else { return false }
    return arguments.contains(where: \.hasAggregate)
  }
}
