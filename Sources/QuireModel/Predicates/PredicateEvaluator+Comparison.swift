extension PredicateEvaluator {
  /// One comparison, with everything that can be prepared in advance. Immutable.
  @usableFromInline final class Comparison {
    @usableFromInline let left: Operand
    @usableFromInline let right: Operand
    @usableFromInline let isRightConstant: Bool
    /// The right side, when it is constant.
    private let constant: PredicateValue?
    private let `operator`: FetchPredicate.Operator
    private let options: FetchComparisonOptions
    private let modifier: FetchPredicate.Modifier
    /// The prepared form of a constant right side.
    private let prepared: Prepared?

    private enum Prepared {
      /// A string without what the options ignore.
      case text(String)
      case like(LikePattern)
      case regex(RegularPattern)
      case members(Membership)
    }

    init(
      _ comparison: FetchPredicate.Comparison, left: Operand, right: Operand
    ) throws(FetchPredicateError) {
      self.left = left
      self.right = right
      if case .constant(let value) = right {
        (isRightConstant, constant) = (true, value)
      } else {
        (isRightConstant, constant) = (false, nil)
      }
      self.operator = comparison.operator
      self.options = comparison.options
      self.modifier = comparison.modifier
      self.prepared = try Self.prepare(right, for: comparison)
    }

    private static func prepare(
      _ right: Operand, for comparison: FetchPredicate.Comparison
    ) throws(FetchPredicateError) -> Prepared? {
      if case .list(let members) = right, comparison.operator == .between, members.count != 2 {
        throw FetchPredicateError(.bounds(count: members.count))
      }
      guard case .constant(let value?) = right else { return nil }
      switch (comparison.operator, value) {
      case (.between, .collection(let members)) where members.count != 2:
        throw FetchPredicateError(.bounds(count: members.count))
      case (.in, .collection(let members)):
        return .members(Membership(members, comparison.options))
      case (.matches, .value(.string(let pattern))):
        return .regex(try RegularPattern(pattern, comparison.options))
      case (.like, .value(.string(let pattern))):
        return .like(LikePattern(CanonicalText.folded(pattern, comparison.options)))
      case (_, .value(.string(let text))):
        return .text(CanonicalText.folded(text, comparison.options))
      default:
        return nil
      }
    }

    /// The constant is not handed over: copying it costs more than comparing it.
    @usableFromInline func holdsForConstant(
      _ left: PredicateValue?
    ) throws(FetchPredicateError) -> Bool {
      try holds(left, constant)
    }

    @usableFromInline func holds(
      _ left: PredicateValue?, _ right: PredicateValue?
    ) throws(FetchPredicateError) -> Bool {
      if modifier == .direct { return try holdsDirectly(left, right) }
      guard case .collection(let members)? = left else { return try holdsDirectly(left, right) }
      for member in members where try holdsDirectly(member, right) == (modifier == .any) {
        return modifier == .any
      }
      return modifier == .all
    }

    private func holdsDirectly(
      _ left: PredicateValue?, _ right: PredicateValue?
    ) throws(FetchPredicateError) -> Bool {
      switch self.operator {
      case .equal: return isAlike(left, right)
      case .notEqual: return !isAlike(left, right)
      case .lessThan: return order(left, right) == .ascending
      case .greaterThan: return order(left, right) == .descending
      case .lessThanOrEqual:
        let order = order(left, right)
        return order == .ascending || order == .same
      case .greaterThanOrEqual:
        let order = order(left, right)
        return order == .descending || order == .same
      case .between: return isBetween(left, right)
      case .in: return isMember(left, of: right)
      case .contains: return contains(left, right)
      case .beginsWith, .endsWith, .like, .matches: return try matches(left, right)
      }
    }
  }
}

// MARK: Equality and order

extension PredicateEvaluator.Comparison {
  private func isAlike(_ left: PredicateValue?, _ right: PredicateValue?) -> Bool {
    if case .text(let text)? = prepared {
      guard case .value(.string(let left))? = left else { return false }
      return CanonicalText.folded(left, options) == text
    }
    return PredicateValue.areAlike(left, right, options)
  }

  private func order(_ left: PredicateValue?, _ right: PredicateValue?) -> ValueOrder? {
    switch (left, right) {
    case (.value(let left)?, .value(let right)?): left.order(comparedTo: right, options)
    case (.object(let left)?, .object(let right)?): left.order(comparedTo: right)
    default: nil
    }
  }

  private func isBetween(_ value: PredicateValue?, _ bounds: PredicateValue?) -> Bool {
    guard case .collection(let bounds)? = bounds, bounds.count == 2,
      let low = order(bounds[0], value), let high = order(value, bounds[1])
    else { return false }
    return low != .descending && high != .descending
  }
}

extension PredicateValue {
  /// Whether a predicate takes the two for equal. Collections are when each has the other's
  /// members.
  static func areAlike(
    _ left: PredicateValue?, _ right: PredicateValue?, _ options: FetchComparisonOptions
  ) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (.value(let left)?, .value(let right)?): left.isAlike(right, options)
    case (.object(let left)?, .object(let right)?): left == right
    case (.collection(let left)?, .collection(let right)?):
      left.count == right.count
        && left.allSatisfy { member in right.contains { areAlike(member, $0, options) } }
        && right.allSatisfy { member in left.contains { areAlike(member, $0, options) } }
    default: false
    }
  }
}

// MARK: Membership and parts of strings

extension PredicateEvaluator.Comparison {
  private func isMember(_ value: PredicateValue?, of right: PredicateValue?) -> Bool {
    if case .members(let members)? = prepared { return members.contain(value) }
    switch (value, right) {
    case (_, .collection(let members)?):
      return members.contains { PredicateValue.areAlike(value, $0, options) }
    case (.value(.string(let part))?, .value(.string)?):
      guard let whole = text(of: right) else { return false }
      return TextMatching.has(whole, part: CanonicalText.folded(part, options))
    default:
      return false
    }
  }

  private func contains(_ left: PredicateValue?, _ right: PredicateValue?) -> Bool {
    switch left {
    case .collection(let members)?:
      return members.contains { PredicateValue.areAlike($0, right, options) }
    case .value(.string(let whole))?:
      guard let part = text(of: right) else { return false }
      return TextMatching.has(CanonicalText.folded(whole, options), part: part)
    default:
      return false
    }
  }

  private func matches(
    _ left: PredicateValue?, _ right: PredicateValue?
  ) throws(FetchPredicateError) -> Bool {
    // A pattern that does not depend on the subject was compiled when the evaluator was made; one
    // that does is checked first, so that a bad pattern is an error whatever it is compared with.
    let regex = self.operator == .matches ? try compiledRegex(right) : nil
    guard case .value(.string(let text))? = left else { return false }
    if let regex { return try regex.matches(text) }
    let folded = CanonicalText.folded(text, options)
    if case .like(let pattern)? = prepared { return pattern.matches(folded) }
    guard let right = self.text(of: right) else { return false }
    switch self.operator {
    case .beginsWith: return TextMatching.has(folded, prefix: right)
    case .endsWith: return TextMatching.has(folded, suffix: right)
    case .like: return LikePattern(right).matches(folded)
    default: return false
    }
  }

  /// The text of the right side without what the options ignore.
  private func text(of right: PredicateValue?) -> String? {
    if case .text(let text)? = prepared { return text }
    guard case .value(.string(let text))? = right else { return nil }
    return CanonicalText.folded(text, options)
  }
}

// MARK: Regular expressions

extension PredicateEvaluator.Comparison {
  private func compiledRegex(
    _ right: PredicateValue?
  ) throws(FetchPredicateError) -> RegularPattern? {
    if case .regex(let regex)? = prepared { return regex }
    guard case .value(.string(let pattern))? = right else { return nil }
    return try RegularPattern(pattern, options)
  }
}
