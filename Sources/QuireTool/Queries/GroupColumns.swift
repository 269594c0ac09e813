import Quire
import QuireModel

/// The columns of groups: the values that their objects have in common, and what is made of the
/// others.
struct GroupColumns {
  private let groups: [String]
  private let aggregates: [(function: AggregateFunction, key: String?)]
  /// The names of the columns.
  let names: [String]

  /// - Returns: `nil` when none of the options is given that ask for groups.
  init?(_ arguments: Arguments) throws(UsageError) {
    groups = try arguments.list(of: "group-by")
    var aggregates: [(function: AggregateFunction, key: String?)] = []
    if arguments.has(flag: "count") { aggregates.append((.count, nil)) }
    let functions: [(String, AggregateFunction)] = [
      ("sum", .sum), ("avg", .average), ("min", .minimum), ("max", .maximum),
    ]
    var names = groups + aggregates.map { _ in "count" }
    for (word, function) in functions {
      for key in try arguments.list(of: word) {
        aggregates.append((function, key))
        names.append("\(word)(\(key))")
      }
    }
    if names.isEmpty { return nil }
    self.aggregates = aggregates
    self.names = names
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw arguments.wrong("The column \(twice) is asked for twice.")
    }
  }

  /// The groups in the order of the query, with offset and limit applied.
  ///
  /// - Parameter isForReading: whether a person reads them.
  func rows(
    of query: ObjectQuery, in context: ManagedObjectContext, _ model: ManagedObjectModel,
    isForReading: Bool
  ) throws -> (rows: [[JSONValue]], columns: [ResultColumn]) {
    let results = try context.groupRows(
      of: query.unorderedRequest(in: context, model),
      by: groups.map(Self.group),
      aggregates.map { ($0.function, $0.key.map { FetchExpression.names(in: $0) }) })
    var rows = results.map { $0.group + $0.values }
    let order = query.sort.compactMap { key in
      names.firstIndex(of: key.name).map { (column: $0, ascending: key.ascending) }
    }
    if !order.isEmpty {
      // Groups that are equal in the keys stay in the order of their values.
      let sorted = rows.indices.sorted { left, right in
        for (column, ascending) in order {
          let comparison = compareForSorting(rows[left][column], rows[right][column])
          if comparison != 0 { return (comparison < 0) == ascending }
        }
        return left < right
      }
      rows = sorted.map { rows[$0] }
    }
    let shown = rows.dropFirst(query.offset).prefix(query.limit ?? .max)
    let columns = names.enumerated().map { index, name in
      ResultColumn(name: name, isNumber: shown.contains { $0[index]?.isNumber ?? false })
    }
    return (shown.map { $0.map { JSONValue($0, isForReading: isForReading) } }, columns)
  }
}

extension GroupColumns {
  /// A key path, or an expression with a function in it: `year:(sold)`.
  private static func group(_ text: String) throws -> FetchExpression {
    if text.contains("(") { return try FetchExpression(format: text) }
    return .keyPath(FetchExpression.names(in: text))
  }
}

extension PredicateValue {
  fileprivate var isNumber: Bool {
    guard case .value(let value) = self else { return false }
    return switch value {
    case .integer, .double, .float, .decimal: true
    default: false
    }
  }
}

extension JSONValue {
  /// A value that a predicate could compare: an attribute's, or an object by its ID.
  fileprivate init(_ value: PredicateValue?, isForReading: Bool) {
    switch value {
    case nil: self = .null
    case .value(let value): self.init(value, isForReading: isForReading)
    case .object(let identity): self = .string("\(identity)")
    case .collection(let members):
      self = .array(members.map { JSONValue($0, isForReading: isForReading) })
    }
  }
}
