import QuireModel

/// Converts archived expressions of Foundation and Core Data to ``FetchExpression``.
///
/// The classes and keys are those that Xcode writes into mapping models. Those that no available
/// mapping model contains are known from published readers of such archives: Apportable's
/// Foundation, Cappuccino, and the decompilers of compiled mapping models.
///
/// Foundation writes a path of keys as a call: `$source.name` is `valueForKeyPath:` on the variable
/// with an argument of the class `NSKeyPathSpecifierExpression`, and a path without a variable is
/// the same call on `NSSelfExpression`.
extension FetchExpression {
  init(archived item: ArchivedItem) throws(PropertyListError) {
    self = try FetchExpression.read(item)
    do {
      try checkDepth()
    } catch {
      throw item.error("is an expression that is nested too deep")
    }
  }

  private static func read(_ item: ArchivedItem) throws(PropertyListError) -> FetchExpression {
    switch try item.className() {
    case "NSConstantValueExpression":
      return try item.item("NSConstantValue")?.constant() ?? .constant(nil)
    case "NSSelfExpression": return .evaluatedObject
    case "NSVariableExpression": return .variable(try item.required("NSVariable").text())
    case "NSKeyPathSpecifierExpression":
      return .constant(.value(.string(try item.required("NSKeyPath").text())))
    case "NSKeyPathExpression":
      guard let path = try item.text("NSKeyPath") else { return try call(item) }
      return .keyPath(names(in: path))
    case "NSFunctionExpression": return try call(item)
    case "NSAggregateExpression":
      return .aggregate(try list(try item.required("NSCollection")))
    case "NSTernaryExpression":
      return .conditional(
        try FetchPredicate(archived: try item.required("NSPredicate")),
        try read(try item.required("NSTrueExpression")),
        try read(try item.required("NSFalseExpression")))
    case "NSSubqueryExpression":
      return .subquery(
        try read(try item.required("NSExpression")),
        variable: try variableName(try item.required("NSVariable")),
        try FetchPredicate(archived: try item.required("NSSubpredicate")))
    case "NSSetExpression":
      let functions: [Int64: Function] = [5: .union, 6: .intersection, 7: .difference]
      guard let function = functions[try item.integer("NSExpressionType")] else {
        throw item.error("is an operation on sets that is unknown")
      }
      return .function(
        function,
        [
          try read(try item.required("NSLeftExpression")),
          try read(try item.required("NSRightExpression")),
        ])
    case "NSFetchRequestExpression":
      return .fetch(
        try read(try item.required("NSFRExpression")),
        context: try read(try item.required("NSMOCExpression")),
        countOnly: try item.integer("NSCountOnlyFlag") != 0)
    case let name?: throw item.error("is of the class \(name), which is no expression known here")
    case nil: throw item.error("is no expression")
    }
  }

  /// The expressions, and among them plain values, of an archived list.
  private static func list(
    _ item: ArchivedItem
  ) throws(PropertyListError) -> [FetchExpression] {
    var members: [FetchExpression] = []
    for member in try item.members() {
      guard let member else {
        members.append(.constant(nil))
        continue
      }
      let isExpression = try member.className()?.hasSuffix("Expression") ?? false
      members.append(isExpression ? try read(member) : try member.constant())
    }
    return members
  }

  private static func variableName(_ item: ArchivedItem) throws(PropertyListError) -> String {
    guard try item.className() == "NSVariableExpression" else { return try item.text() }
    return try item.required("NSVariable").text()
  }

  private static func call(_ item: ArchivedItem) throws(PropertyListError) -> FetchExpression {
    let selector = try item.required("NSSelectorName").text()
    let arguments = try item.item("NSArguments")
    if ["valueForKeyPath:", "valueForKey:"].contains(selector), let arguments {
      let members = try arguments.members()
      if members.count == 1, let member = members[0],
        try member.className() == "NSKeyPathSpecifierExpression"
      {
        let path = try member.required("NSKeyPath").text()
        let names = selector == "valueForKey:" ? [path] : names(in: path)
        let operand = try read(try item.required("NSOperand"))
        return operand == .evaluatedObject ? .keyPath(names) : .path(operand, names)
      }
    }
    var members: [FetchExpression] = []
    if let arguments { members = try list(arguments) }
    let operand = try item.required("NSOperand")
    guard try isFoundation(operand) else {
      return .call(try read(operand), selector: selector, members)
    }
    guard let function = Function(rawValue: selector), function.takes(members.count) else {
      throw item.error("calls \(selector), which is no function of expressions here")
    }
    return .function(function, members)
  }

  /// Whether the operand is the class that has the functions of all expressions.
  private static func isFoundation(_ operand: ArchivedItem) throws(PropertyListError) -> Bool {
    guard try operand.className() == "NSConstantValueExpression" else { return false }
    if try operand.text("NSConstantValueClassName") == "_NSPredicateUtilities" { return true }
    return try operand.item("NSConstantValue")?.value == .string("_NSPredicateUtilities")
  }
}

// MARK: - Predicates

extension FetchPredicate {
  /// Its depth is that of the expression around it, which is checked there.
  init(archived item: ArchivedItem) throws(PropertyListError) {
    switch try item.className() {
    case "NSTruePredicate": self = .constant(true)
    case "NSFalsePredicate": self = .constant(false)
    case "NSCompoundPredicate": self = try FetchPredicate.compound(item)
    case "NSComparisonPredicate": self = try FetchPredicate.comparison(item)
    case let name?: throw item.error("is of the class \(name), which is no predicate known here")
    case nil: throw item.error("is no predicate")
    }
  }

  private static func compound(
    _ item: ArchivedItem
  ) throws(PropertyListError) -> FetchPredicate {
    var parts: [FetchPredicate] = []
    for part in try item.required("NSSubpredicates").members() {
      guard let part else { throw item.error("is made of a predicate that is missing") }
      parts.append(try FetchPredicate(archived: part))
    }
    switch (try item.integer("NSCompoundPredicateType"), parts.count) {
    case (0, 1): return .not(parts[0])
    case (1, _): return .and(parts)
    case (2, _): return .or(parts)
    default: throw item.error("is a compound predicate of an unknown kind")
    }
  }

  /// Foundation's numbers.
  private static let operators: [Int64: Operator] = [
    0: .lessThan, 1: .lessThanOrEqual, 2: .greaterThan, 3: .greaterThanOrEqual, 4: .equal,
    5: .notEqual, 6: .matches, 7: .like, 8: .beginsWith, 9: .endsWith, 10: .in, 99: .contains,
    100: .between,
  ]
  private static let modifiers: [Int64: Modifier] = [0: .direct, 1: .all, 2: .any]

  private static func comparison(
    _ item: ArchivedItem
  ) throws(PropertyListError) -> FetchPredicate {
    let sign = try item.required("NSPredicateOperator")
    guard let `operator` = operators[try sign.integer("NSOperatorType")],
      let modifier = modifiers[try sign.integer("NSModifier")]
    else { throw sign.error("is an operator that is unknown here") }
    // Operators on texts have theirs under the older name.
    let options = try sign.integer("NSOptions") | sign.integer("NSFlags")
    return .comparison(
      try FetchExpression(archived: try item.required("NSLeftExpression")), `operator`,
      try FetchExpression(archived: try item.required("NSRightExpression")),
      options: FetchComparisonOptions(rawValue: UInt8(truncatingIfNeeded: options & 7)),
      modifier: modifier)
  }
}
