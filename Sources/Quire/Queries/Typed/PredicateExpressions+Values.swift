import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Variables, constants, properties, arithmetic, optionals.

extension PredicateExpressions.Variable: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    .value(try translation.expression(of: key))
  }
}

extension PredicateExpressions.Value: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    switch flattened(value) {
    case nil: return .value(nil)
    case let character as Character: return .value(FetchExpression(String(character)))
    case let value as any PredicateConvertible: return .value(FetchExpression(value))
    case let range as any TranslatableRange: return try range.translated()
    case let value?:
      throw PredicateTranslation.unsupported("a constant of \(type(of: value))")
    }
  }
}

/// A constant range whose bounds predicates can compare.
private protocol TranslatableRange {
  func translated() throws -> TranslatedExpression
}

private func bound(_ value: Any) throws -> FetchExpression {
  guard let value = value as? any PredicateConvertible else {
    throw PredicateTranslation.unsupported("a range of \(type(of: value))")
  }
  return FetchExpression(value)
}

extension Range: TranslatableRange {
  fileprivate func translated() throws -> TranslatedExpression {
    .range(try bound(lowerBound), try bound(upperBound), isClosed: false)
  }
}

extension ClosedRange: TranslatableRange {
  fileprivate func translated() throws -> TranslatedExpression {
    .range(try bound(lowerBound), try bound(upperBound), isClosed: true)
  }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    .value(nil)
  }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    let value = try translation.value(of: root)
    if Output.self == String.UTF16View.self { return .value(value) }
    if keyPath as AnyKeyPath == \String.UTF16View.count {
      return .value(.function(.length, [value]))
    }
    guard let kind else { return .value(value.appending(try translation.names(of: keyPath))) }
    switch (kind, Root.Output.self) {
    case (.collectionIsEmpty, is String.Type), (.collectionIsEmpty, is String.UTF16View.Type):
      return .predicate(.comparison(value, .equal, FetchExpression("")))
    case (_, is String.Type):
      throw PredicateTranslation.unsupported(
        "the characters of a text (no store counts them: utf16.count can be asked)")
    case (.collectionCount, _): return .value(value.appending([FetchExpression.countOperator]))
    case (.collectionIsEmpty, _):
      return .predicate(
        .comparison(value.appending([FetchExpression.countOperator]), .equal, FetchExpression(0)))
    case (.collectionFirst, _): return .value(.function(.first, [value]))
    case (.bidirectionalCollectionLast, _): return .value(.function(.last, [value]))
    @unknown default: throw PredicateTranslation.unsupported("\(keyPath)")
    }
  }
}

extension PredicateTranslation {
  fileprivate func function(
    _ function: FetchExpression.Function, _ operands: any PredicateExpression...
  ) throws -> TranslatedExpression {
    .value(.function(function, try operands.map { try value(of: $0) }))
  }
}

extension PredicateExpressions.Arithmetic: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    switch op {
    case .add: try translation.function(.add, lhs, rhs)
    case .subtract: try translation.function(.subtract, lhs, rhs)
    case .multiply: try translation.function(.multiply, lhs, rhs)
    @unknown default: throw PredicateTranslation.unsupported("\(op)")
    }
  }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    try translation.function(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    try translation.function(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    try translation.function(.modulus, lhs, rhs)
  }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    try translation.function(.negate, wrapped)
  }
}

// MARK: Optionals

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    let left = try translation.translated(lhs)
    let right = try translation.translated(rhs)
    if case .optional(let predicate, let condition) = left,
      let other = right.predicate
    {
      // The form of `if let` with `else`.
      switch other {
      case .constant(false): return .predicate(condition && predicate)
      case .constant(true): return .predicate(!condition || predicate)
      default: return .predicate((condition && predicate) || (!condition && other))
      }
    }
    let value = try translation.value(of: left)
    return .value(
      .conditional(
        .comparison(value, .equal, nil), try translation.value(of: right), value))
  }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    .value(try translation.value(of: inner))
  }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    let value = try translation.value(of: wrapped)
    translation.bind(variable.key, to: value)
    let isThere = FetchPredicate.comparison(value, .notEqual, nil)
    let translated = try translation.translated(transform)
    switch translated {
    case .predicate(let predicate): return .optional(predicate, where: isThere)
    case .optional(let predicate, let condition):
      return .optional(predicate, where: isThere && condition)
    case .value, .range: break
    }
    let result = try translation.value(of: translated)
    // A path from an absent value is absent itself.
    if result.isPath(from: value) { return .value(result) }
    return .value(.conditional(.comparison(value, .equal, nil), nil, result))
  }
}

extension TranslatedExpression {
  /// The predicate; `nil` if the translation is not plainly true or false.
  fileprivate var predicate: FetchPredicate? {
    switch self {
    case .predicate(let predicate): predicate
    case .value(.constant(.value(.boolean(let flag))?)): .constant(flag)
    case .value, .optional, .range: nil
    }
  }
}

extension FetchExpression {
  fileprivate func isPath(from start: FetchExpression) -> Bool {
    switch (self, start) {
    case (.keyPath(let names), .keyPath(let before)): names.starts(with: before)
    case (.path(let operand, let names), .path(let other, let before)):
      operand == other && names.starts(with: before)
    case (.path(let operand, _), _): operand == start
    default: self == start
    }
  }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
  func translated(by translation: PredicateTranslation) throws -> TranslatedExpression {
    let condition = try translation.predicate(of: test)
    switch (try translation.translated(trueBranch), try translation.translated(falseBranch)) {
    case (.predicate(let yes), .predicate(let no)):
      return .predicate(.or([.and([condition, yes]), .and([.not(condition), no])]))
    default:
      return .value(
        .conditional(
          condition, try translation.value(of: trueBranch), try translation.value(of: falseBranch)))
    }
  }
}
