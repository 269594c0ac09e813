extension FetchExpression {
  /// All key paths, from the evaluated object, that evaluating may read. Unlike ``keyPaths``, they
  /// include the paths that variables of subqueries, which are bound to members of a collection,
  /// and results continue. Each path once; more of them than are read does no harm.
  package var readPaths: [[String]] {
    var reader = PathReader()
    _ = reader.read(self, [:])
    return reader.paths
  }
}

/// Follows an expression through its parts.
private struct PathReader {
  private(set) var paths: [[String]] = []
  private var known: Set<[String]> = []

  private mutating func note(_ path: [String]) {
    if known.insert(path).inserted { paths.append(path) }
  }

  /// - Parameter variables: the path to the objects that each variable is bound to.
  /// - Returns: the path to the objects that are the result, if it is objects.
  mutating func read(
    _ expression: FetchExpression, _ variables: [String: [String]]
  ) -> [String]? {
    switch expression {
    case .constant: return nil
    case .evaluatedObject: return []
    case .variable(let name): return variables[name]
    case .keyPath(let names):
      note(names)
      // Within subqueries the path may start from any of their members.
      for path in variables.values { note(path + names) }
      return names
    case .path(let operand, let names):
      guard let base = read(operand, variables) else { return nil }
      note(base + names)
      return base + names
    case .aggregate(let parts), .function(_, let parts):
      for part in parts { _ = read(part, variables) }
      return nil
    case .call(let operand, _, let arguments):
      let base = read(operand, variables)
      for argument in arguments {
        _ = read(argument, variables)
        // The argument of a call may be the path that it reads.
        if let base, case .constant(.value(.string(let text))?) = argument {
          note(base + FetchExpression.names(in: text))
        }
      }
      return nil
    case .conditional(let predicate, let yes, let no):
      read(predicate, variables)
      let ways = [read(yes, variables), read(no, variables)]
      return ways[0] ?? ways[1]
    case .subquery(let collection, let name, let predicate):
      let base = read(collection, variables)
      read(predicate, base.map { variables.merging([name: $0]) { $1 } } ?? variables)
      return base
    case .fetch(let request, let context, _):
      _ = read(request, variables)
      _ = read(context, variables)
      return nil
    }
  }

  private mutating func read(_ predicate: FetchPredicate, _ variables: [String: [String]]) {
    switch predicate {
    case .constant: return
    case .comparison(let comparison):
      _ = read(comparison.left, variables)
      _ = read(comparison.right, variables)
    case .and(let parts), .or(let parts): for part in parts { read(part, variables) }
    case .not(let part): read(part, variables)
    }
  }
}
