import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Comparisons, logical operators, and operations on collections.

extension PredicateExpressions.Conjunction: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    let left = try translation.predicate(of: lhs)
    return .predicate(left && (try translation.predicate(of: rhs)))
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    let left = try translation.predicate(of: lhs)
    return .predicate(left || (try translation.predicate(of: rhs)))
  }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    .predicate(!(try translation.predicate(of: wrapped)))
  }
}

extension PredicateTranslation {
  fileprivate func equality(
    _ left: any PredicateExpression, _ right: any PredicateExpression,
    _ sign: FetchPredicate.Operator
  ) throws -> TranslatedExpression {
    .predicate(.comparison(try value(of: left), sign, try value(of: right)))
  }
}

extension PredicateExpressions.Equal: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    try translation.equality(lhs, rhs, .equal)
  }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    try translation.equality(lhs, rhs, .notEqual)
  }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    let sign: FetchPredicate.Operator =
      switch op {
      case .lessThan: .lessThan
      case .lessThanOrEqual: .lessThanOrEqual
      case .greaterThan: .greaterThan
      case .greaterThanOrEqual: .greaterThanOrEqual
      @unknown default: throw PredicateTranslation.unsupported("\(op)")
      }
    let left = try translation.value(of: lhs)
    return .predicate(.comparison(left, sign, try translation.value(of: rhs)))
  }
}

// MARK: Ranges

extension PredicateExpressions.Range: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    .range(
      try translation.value(of: lower), try translation.value(of: upper), isClosed: false)
  }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    .range(try translation.value(of: lower), try translation.value(of: upper), isClosed: true)
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    guard case .range(let low, let high, let isClosed) = try translation.translated(range) else {
      throw PredicateTranslation.unsupported("a range without two ends")
    }
    let value = try translation.value(of: element)
    if isClosed { return .predicate(.comparison(value, .between, .aggregate([low, high]))) }
    return .predicate(
      .comparison(value, .greaterThanOrEqual, low) && .comparison(value, .lessThan, high))
  }
}

// MARK: Texts

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    guard Base.Output.self is any StringProtocol.Type else {
      throw PredicateTranslation.unsupported("a run of members in \(Base.Output.self)")
    }
    let text = try translation.value(of: base)
    return .predicate(.comparison(text, .contains, try translation.value(of: other)))
  }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    guard Base.Output.self is any StringProtocol.Type else {
      throw PredicateTranslation.unsupported("the first members of \(Base.Output.self)")
    }
    let text = try translation.value(of: base)
    return .predicate(.comparison(text, .beginsWith, try translation.value(of: prefix)))
  }
}

// MARK: Collections

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    let collection = try translation.value(of: sequence)
    return .predicate(.comparison(try translation.value(of: element), .in, collection))
  }
}

extension PredicateTranslation {
  /// The members that satisfy a closure's predicate, or that do not.
  fileprivate func found(
    in sequence: any PredicateExpression, _ variable: PredicateExpressions.VariableID,
    _ test: any PredicateExpression, isNegated: Bool = false
  ) throws -> FetchExpression {
    let collection = try value(of: sequence)
    return try withVariable(variable) { name in
      let predicate = try predicate(of: test)
      return .subquery(collection, variable: name, isNegated ? !predicate : predicate)
    }
  }

  fileprivate func count(
    _ found: FetchExpression, _ sign: FetchPredicate.Operator
  ) -> TranslatedExpression {
    .predicate(
      .comparison(found.appending([FetchExpression.countOperator]), sign, FetchExpression(0)))
  }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    translation.count(try translation.found(in: sequence, variable.key, test), .greaterThan)
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    translation.count(
      try translation.found(in: sequence, variable.key, test, isNegated: true), .equal)
  }
}

extension PredicateExpressions.Filter: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    .value(try translation.found(in: sequence, variable.key, filter))
  }
}

extension PredicateExpressions.SequenceMinimum: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    let values = try translation.value(of: elements)
    return .value(values.appending([CollectionOperator.minimum.rawValue]))
  }
}

extension PredicateExpressions.SequenceMaximum: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    let values = try translation.value(of: elements)
    return .value(values.appending([CollectionOperator.maximum.rawValue]))
  }
}

extension PredicateExpressions.CollectionIndexSubscript: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    let array = try translation.value(of: wrapped)
    return .value(.function(.element, [array, try translation.value(of: index)]))
  }
}

extension PredicateExpressions.TypeCheck: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    guard let type = Desired.self as? ManagedObject.Type else {
      throw PredicateTranslation.unsupported("a question whether a value is \(Desired.self)")
    }
    let object = try translation.value(of: input)
    return .predicate(Key(object).isKind(of: type.modelEntityName))
  }
}
