extension FetchExpression {
  /// - Throws: ``FetchPredicateError/Reason/depth(maximum:)`` when parts are nested deeper than
  ///   ``PredicateEvaluator/maximumDepth``. After that check the parts may be followed recursively.
  package func checkDepth(_ depth: Int = 0) throws(FetchPredicateError) {
    try FetchPredicate.check(depth)
    switch self {
    case .constant, .keyPath, .evaluatedObject, .variable: break
    case .aggregate(let members), .function(_, let members):
      for member in members { try member.checkDepth(depth + 1) }
    case .path(let operand, _): try operand.checkDepth(depth + 1)
    case .call(let operand, _, let arguments):
      try operand.checkDepth(depth + 1)
      for argument in arguments { try argument.checkDepth(depth + 1) }
    case .conditional(let predicate, let yes, let no):
      try predicate.checkDepth(depth + 1)
      try yes.checkDepth(depth + 1)
      try no.checkDepth(depth + 1)
    case .subquery(let collection, _, let predicate):
      try collection.checkDepth(depth + 1)
      try predicate.checkDepth(depth + 1)
    case .fetch(let request, let context, _):
      try request.checkDepth(depth + 1)
      try context.checkDepth(depth + 1)
    }
  }
}

extension FetchPredicate {
  /// The counterpart of ``FetchExpression/checkDepth(_:)``.
  package func checkDepth(_ depth: Int = 0) throws(FetchPredicateError) {
    try Self.check(depth)
    switch self {
    case .constant: break
    case .comparison(let comparison):
      try comparison.left.checkDepth(depth + 1)
      try comparison.right.checkDepth(depth + 1)
    case .not(let part): try part.checkDepth(depth + 1)
    case .and(let parts), .or(let parts):
      for part in parts { try part.checkDepth(depth + 1) }
    }
  }

  static func check(_ depth: Int) throws(FetchPredicateError) {
    let maximum = PredicateEvaluator.maximumDepth
    if depth > maximum { throw FetchPredicateError(.depth(maximum: maximum)) }
  }
}
