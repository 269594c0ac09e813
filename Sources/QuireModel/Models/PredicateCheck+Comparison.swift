// Checks whether the two sides of a comparison can be compared.
extension PredicateCheck {
  func check(_ comparison: FetchPredicate.Comparison) throws(PredicateMistake) {
    let check = ComparisonCheck(
      comparison: comparison, left: try type(of: comparison.left),
      right: try type(of: comparison.right), check: self)
    switch comparison.operator {
    case .equal, .notEqual: try check.equality()
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: try check.order()
    case .between: try check.bounds()
    case .in: try check.membership()
    case .contains: try check.containment()
    case .beginsWith, .endsWith, .like, .matches: try check.texts()
    }
  }
}

private struct ComparisonCheck {
  let comparison: FetchPredicate.Comparison
  /// The type of the whole left side; ``subject`` is the type that is compared.
  let left: ExpressionType
  let right: ExpressionType
  let check: PredicateCheck

  /// The type that is compared each time: with `ANY` and `ALL` the members of the collection.
  private var subject: ExpressionType {
    comparison.modifier == .direct ? left : left.element
  }

  func equality() throws(PredicateMistake) {
    if subject.isCollection != right.isCollection {
      try single(subject, comparison.left, comparedWith: right)
      try single(right, comparison.right, comparedWith: subject)
    }
    try together(subject, right, comparison.right)
  }

  func order() throws(PredicateMistake) {
    try single(subject, comparison.left, comparedWith: nil)
    try single(right, comparison.right, comparedWith: nil)
    try together(subject, right, comparison.right)
    for (type, side) in [(subject, comparison.left), (right, comparison.right)]
    where !type.hasOrder {
      throw mistake("\(words(side, type)), which is neither greater nor less than another", side)
    }
  }

  func bounds() throws(PredicateMistake) {
    try single(subject, comparison.left, comparedWith: nil)
    guard right.isCollection || right.may(be: .unknown) else {
      throw mistake(
        "BETWEEN needs a list of the smallest and the largest value, but "
          + "\(words(comparison.right, right))", comparison.left)
    }
    try members()
  }

  func membership() throws(PredicateMistake) {
    try single(subject, comparison.left, comparedWith: nil)
    if right.isCollection { return try members() }
    // A text may contain another.
    guard right.may(be: .text) else {
      throw mistake(
        "IN needs a list, a to-many relationship or a text on its right, but "
          + "\(words(comparison.right, right))", comparison.left)
    }
    if right == .text { try together(subject, .text, comparison.right) }
  }

  func containment() throws(PredicateMistake) {
    if subject.isCollection { return try together(subject.element, right, comparison.right) }
    try single(right, comparison.right, comparedWith: nil)
    guard subject.may(be: .text) else {
      throw mistake(
        "CONTAINS needs a text or a to-many relationship on its left, but "
          + "\(words(comparison.left, subject))", comparison.left)
    }
    if subject == .text { try together(.text, right, comparison.right) }
  }

  func texts() throws(PredicateMistake) {
    try single(subject, comparison.left, comparedWith: nil)
    try single(right, comparison.right, comparedWith: nil)
    for (type, side) in [(subject, comparison.left), (right, comparison.right)]
    where !type.may(be: .text) {
      throw mistake("\(comparison.operator.rawValue) needs texts, but \(words(side, type))", side)
    }
  }

  // MARK: Parts

  /// Each member of a list on the right by itself, so that the one that is wrong is named.
  private func members() throws(PredicateMistake) {
    switch comparison.right {
    case .aggregate(let parts):
      for part in parts { try together(subject, check.type(of: part), part) }
    case .constant(.collection(let values)?):
      for value in values { try together(subject, ExpressionType(value), .constant(value)) }
    default: try together(subject, right.element, comparison.right)
    }
  }

  /// Whether one value may equal one of the other type.
  private func together(
    _ left: ExpressionType, _ right: ExpressionType, _ other: FetchExpression
  ) throws(PredicateMistake) {
    if left.mayEqual(right) { return }
    var message =
      "\(words(comparison.left, left)), and \(words(other, right)): they can never be compared"
    if let hint = hint(left, right) ?? hint(right, left) { message += ". \(hint)" }
    throw mistake(message, comparison.left)
  }

  private func hint(_ wanted: ExpressionType, _ given: ExpressionType) -> String? {
    switch (wanted, given) {
    case (.date, .text): "Give it a Date, or write CAST('2024-01-31T12:00:00Z', 'NSDate')"
    case (.date, .number):
      "Give it a Date, or write CAST(seconds, 'NSDate') for seconds since the reference date"
    case (.uuid, .text): "Give it a UUID"
    case (.url, .text): "Give it a URL, or compare absoluteString"
    case (.object, .text), (.object, .url), (.object, .uuid), (.object, .number):
      "Give it an object or its ID, or compare a property of the object"
    default: nil
    }
  }

  /// Makes sure that a side is not a collection.
  ///
  /// - Parameter other: the type of the other side, where the comparison is one of equality.
  private func single(
    _ type: ExpressionType, _ side: FetchExpression, comparedWith other: ExpressionType?
  ) throws(PredicateMistake) {
    guard type.isCollection else { return }
    if other == .unknown { return }
    var message = "\(words(side, type)), which \(comparison.operator.rawValue) does not compare"
    if other == .absent {
      message += " with nil: ask for \(side).@count == 0"
    } else if case .keyPath = side {
      message += ": say of how many members it is to be true by ANY, ALL or NONE before it"
    }
    throw mistake(message, side)
  }

  private func words(_ side: FetchExpression, _ type: ExpressionType) -> String {
    switch side {
    case .aggregate, .constant(.collection?): "the list on the right is \(type)"
    default: "\(side) is \(type)"
    }
  }

  private func mistake(_ message: String, _ side: FetchExpression) -> PredicateMistake {
    let key = [side, comparison.left, comparison.right].lazy.compactMap(\.firstPath).first
    let advice =
      [left.element, right.element].contains(.transformed)
      ? ". A fetch does not look into it: evaluate the predicate on the objects that were fetched, or "
        + "keep what is to be found as a text, a number or a relationship, or name a transformer that "
        + "the coordinator has" : ""
    return PredicateMistake(
      .type, "\(comparison), asked of \(check.entity.name): \(message)\(advice)",
      entityName: check.entity.name, key: key)
  }
}

extension FetchExpression {
  /// The first path in the expression, as it is written.
  fileprivate var firstPath: String? {
    keyPaths.first { !$0.isEmpty }?.joined(separator: ".")
  }
}
