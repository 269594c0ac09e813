/// What a predicate is evaluated on: an object, or the row of one.
public protocol PredicateSubject {
  /// The value at the path with this number in ``PredicateEvaluator/paths``.
  ///
  /// A path through a to-many relationship is always a `collection`, empty when there is nothing;
  /// through several, one flat collection. A path that ends in `@count` is an integer. A path with
  /// an absent object on the way is `nil`.
  func value(atPath index: Int) throws -> PredicateValue?

  /// What `SELF` stands for.
  var identity: OpaqueIdentity { get }

  /// The value of the expression with this number in ``PredicateEvaluator/expressions``.
  ///
  /// Asked only by evaluators that leave expressions to their subjects.
  func value(ofExpression index: Int) throws -> PredicateValue?
}

extension PredicateSubject {
  public func value(ofExpression index: Int) throws -> PredicateValue? { nil }
}

/// A predicate made ready to be evaluated many times.
///
/// The evaluator numbers the key paths of its predicate, so that whoever has subjects can resolve
/// each path once, and prepares what does not depend on the subject: text is folded, patterns are
/// compiled, long lists become sets. The same evaluator serves rows and objects, which is what
/// makes a fetch from disk and one in memory agree.
///
/// ```swift
/// let evaluator = try PredicateEvaluator(predicate)
/// let columns = evaluator.paths.map(resolve)
/// for row in rows where try evaluator.evaluate(Subject(row, columns)) { … }
/// ```
///
/// The evaluator evaluates key paths, lists, the functions of ``FetchExpression/Function`` and
/// `TERNARY`. Collection operators but for `@count` at the end of a path, variables, subqueries,
/// and what needs somebody to answer it (`FUNCTION`, `FETCH`) are refused.
///
/// ``FetchPredicate`` says what a predicate means.
public struct PredicateEvaluator {
  /// How deep the parts of a predicate may be nested.
  public static let maximumDepth = 100

  /// The distinct key paths of the predicate, in the order of their first appearance.
  public let paths: [[String]]
  /// The distinct expressions that subjects evaluate themselves.
  package let expressions: [FetchExpression]

  @usableFromInline let root: Node

  /// - Throws: ``FetchPredicateError`` if a pattern of `MATCHES` or the bounds of `BETWEEN` are
  ///   malformed, the predicate is nested too deep, or it has an expression that is not evaluated
  ///   on rows.
  public init(_ predicate: FetchPredicate) throws(FetchPredicateError) {
    try self.init(predicate, asksForExpressions: false)
  }

  /// - Parameter asksForExpressions: whether the subjects evaluate every expression but lists and
  ///   constants, key paths among them. There are no ``paths`` then, and no kind is refused.
  package init(
    _ predicate: FetchPredicate, asksForExpressions: Bool
  ) throws(FetchPredicateError) {
    var builder = PredicateEvaluatorBuilder(asksForExpressions: asksForExpressions)
    root = try builder.node(predicate, depth: 0)
    paths = builder.paths
    expressions = builder.expressions
  }

  /// Whether the predicate is true of `subject`. Parts that cannot change the answer are not looked
  /// at.
  ///
  /// - Throws: what `subject` throws; ``FetchPredicateError`` if a pattern of `MATCHES` is itself
  ///   read from the subject and malformed.
  /// - Complexity: O(*n*) in the size of the predicate and of the values; comparisons of numbers,
  ///   plain strings, dates and identities do not allocate.
  @inlinable public func evaluate<Subject: PredicateSubject>(_ subject: Subject) throws -> Bool {
    try root.evaluate(subject)
  }
}

// What follows is inlinable as far as it touches the subject, so that a caller in another module
// gets code for its own type of subject. The comparisons themselves stay here.
extension PredicateEvaluator {
  @usableFromInline enum Node {
    case constant(Bool)
    case comparison(Comparison)
    indirect case not(Node)
    case and([Node])
    case or([Node])

    @inlinable func evaluate<Subject: PredicateSubject>(_ subject: Subject) throws -> Bool {
      switch self {
      case .constant(let flag):
        return flag
      case .comparison(let comparison):
        let left = try comparison.left.value(of: subject)
        if comparison.isRightConstant { return try comparison.holdsForConstant(left) }
        return try comparison.holds(left, comparison.right.value(of: subject))
      case .not(let node):
        return try !node.evaluate(subject)
      case .and(let nodes):
        for node in nodes where try !node.evaluate(subject) { return false }
        return true
      case .or(let nodes):
        for node in nodes where try node.evaluate(subject) { return true }
        return false
      }
    }
  }

  @usableFromInline enum Operand {
    case constant(PredicateValue?)
    case path(Int)
    case evaluatedObject
    /// A list with at least one member that depends on the subject.
    case list([Operand])
    case computed(Computed, [Operand])
    indirect case conditional(Node, Operand, Operand)
    /// What the subject evaluates itself.
    case expression(Int)

    @inlinable func value<Subject: PredicateSubject>(
      of subject: Subject
    ) throws -> PredicateValue? {
      switch self {
      case .constant(let value): value
      case .path(let index): try subject.value(atPath: index)
      case .evaluatedObject: .object(subject.identity)
      case .list(let operands): .collection(try operands.map { try $0.value(of: subject) })
      case .computed(let computed, let operands):
        try computed.value(try operands.map { try $0.value(of: subject) })
      case .conditional(let node, let yes, let no):
        try node.evaluate(subject) ? yes.value(of: subject) : no.value(of: subject)
      case .expression(let index): try subject.value(ofExpression: index)
      }
    }
  }

  /// A function with its name. Immutable.
  @usableFromInline final class Computed {
    private let computation: Computation

    init(_ function: FetchExpression.Function) { computation = Computation(function) }

    @usableFromInline func value(
      _ arguments: [PredicateValue?]
    ) throws(FetchPredicateError) -> PredicateValue? {
      try computation.value(arguments)
    }
  }
}

/// Turns a predicate into nodes, and numbers the key paths on the way.
struct PredicateEvaluatorBuilder {
  private let asksForExpressions: Bool
  private var numberedPaths = Numbering<[String]>()
  private var numberedExpressions = Numbering<FetchExpression>()

  var paths: [[String]] { numberedPaths.elements }
  var expressions: [FetchExpression] { numberedExpressions.elements }

  init(asksForExpressions: Bool) { self.asksForExpressions = asksForExpressions }

  mutating func node(
    _ predicate: FetchPredicate, depth: Int
  ) throws(FetchPredicateError) -> PredicateEvaluator.Node {
    try FetchPredicate.check(depth)
    switch predicate {
    case .constant(let flag):
      return .constant(flag)
    case .comparison(let comparison):
      let left = try operand(comparison.left, depth: depth + 1)
      let right = try operand(comparison.right, depth: depth + 1)
      return .comparison(
        try PredicateEvaluator.Comparison(comparison, left: left, right: right))
    case .not(let part):
      return .not(try node(part, depth: depth + 1))
    case .and(let parts):
      return .and(try nodes(parts, depth: depth + 1))
    case .or(let parts):
      return .or(try nodes(parts, depth: depth + 1))
    }
  }

  private mutating func nodes(
    _ predicates: [FetchPredicate], depth: Int
  ) throws(FetchPredicateError) -> [PredicateEvaluator.Node] {
    var nodes: [PredicateEvaluator.Node] = []
    for predicate in predicates { nodes.append(try node(predicate, depth: depth)) }
    return nodes
  }

  private mutating func operand(
    _ expression: FetchExpression, depth: Int
  ) throws(FetchPredicateError) -> PredicateEvaluator.Operand {
    try FetchPredicate.check(depth)
    switch expression {
    case .constant(let value): return .constant(value)
    case .aggregate(let members):
      let operands = try operands(members, depth: depth + 1)
      var values: [PredicateValue?] = []
      for operand in operands {
        guard case .constant(let value) = operand else { return .list(operands) }
        values.append(value)
      }
      return .constant(.collection(values))
    default:
      if asksForExpressions { return .expression(numberedExpressions.number(of: expression)) }
    }
    switch expression {
    case .evaluatedObject: return .evaluatedObject
    case .keyPath(let names):
      if names.isEmpty { return .evaluatedObject }
      let last = names.last == FetchExpression.countOperator ? 1 : 0
      if names.dropLast(last).contains(where: { CollectionOperator(rawValue: $0) != nil }) {
        throw FetchPredicateError(.unsupported(expression))
      }
      return .path(numberedPaths.number(of: names))
    case .function(let function, let arguments):
      return .computed(
        PredicateEvaluator.Computed(function), try operands(arguments, depth: depth + 1))
    case .conditional(let predicate, let yes, let no):
      return .conditional(
        try node(predicate, depth: depth + 1), try operand(yes, depth: depth + 1),
        try operand(no, depth: depth + 1))
    default:
      throw FetchPredicateError(.unsupported(expression))
    }
  }

  private mutating func operands(
    _ expressions: [FetchExpression], depth: Int
  ) throws(FetchPredicateError) -> [PredicateEvaluator.Operand] {
    var operands: [PredicateEvaluator.Operand] = []
    for expression in expressions { operands.append(try operand(expression, depth: depth)) }
    return operands
  }
}

/// Distinct elements, by the order of their first appearance.
private struct Numbering<Element: Hashable> {
  private(set) var elements: [Element] = []
  private var numbers: [Element: Int] = [:]

  /// So many are compared faster than hashed.
  private static var fewCount: Int { 8 }

  mutating func number(of element: Element) -> Int {
    if let number = known(element) { return number }
    elements.append(element)
    if elements.count == Self.fewCount {
      for (number, element) in elements.enumerated() { numbers[element] = number }
    } else if elements.count > Self.fewCount {
      numbers[element] = elements.count - 1
    }
    return elements.count - 1
  }

  private func known(_ element: Element) -> Int? {
    elements.count < Self.fewCount ? elements.firstIndex(of: element) : numbers[element]
  }
}
