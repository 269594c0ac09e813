import QuireModel

extension FetchPredicate {
  /// The same predicate with comparisons of entity names in place of `isKindOfClass:`, so that it
  /// can be evaluated on rows.
  func namingKinds(of model: ModelBinding) -> FetchPredicate {
    switch self {
    case .constant: return self
    case .comparison(let comparison): return comparison.namingKinds(of: model) ?? self
    case .and(let parts): return .and(parts.map { $0.namingKinds(of: model) })
    case .or(let parts): return .or(parts.map { $0.namingKinds(of: model) })
    case .not(let part): return .not(part.namingKinds(of: model))
    }
  }
}

extension FetchPredicate.Comparison {
  fileprivate func namingKinds(of model: ModelBinding) -> FetchPredicate? {
    guard case .call(let subject, let selector, let arguments) = left, `operator` == .equal,
      modifier == .direct, right == FetchExpression(true), arguments.count == 1,
      let question = KindQuestion(rawValue: selector),
      case .constant(.value(.string(let name))?) = arguments[0]
    else { return nil }
    let path: [String]
    switch subject {
    case .evaluatedObject: path = []
    case .keyPath(let names): path = names
    default: return nil
    }
    // A property with the name of the entity's key hides the entity.
    let taken = model.entities.contains { $0.slot(named: FetchExpression.entityName) != nil }
    if taken { return nil }
    let names = model.entities.map(\.entity).filter { question.answer(for: $0, name) }.map(\.name)
    return .comparison(
      .keyPath(path + [FetchExpression.entityName]), .in,
      .aggregate(names.map { FetchExpression($0) }))
  }
}
