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
/// ``FetchPredicate`` says what a predicate means.
public struct PredicateEvaluator {
  /// How deep the parts of a predicate may be nested.
  public static let maximumDepth = 100

  /// The distinct key paths of the predicate, in the order of their first appearance.
  public let paths: [[String]]

  @usableFromInline let root: Node

  /// - Throws: ``FetchPredicateError`` if a pattern of `MATCHES` or the bounds of `BETWEEN` are
  ///   malformed, or the predicate is nested too deep.
  public init(_ predicate: FetchPredicate) throws(FetchPredicateError) {
    var builder = PredicateEvaluatorBuilder()
    root = try builder.node(predicate, depth: 0)
    paths = builder.paths
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

    @inlinable func value<Subject: PredicateSubject>(
      of subject: Subject
    ) throws -> PredicateValue? {
      switch self {
      case .constant(let value): value
      case .path(let index): try subject.value(atPath: index)
      case .evaluatedObject: .object(subject.identity)
      case .list(let operands): .collection(try operands.map { try $0.value(of: subject) })
      }
    }
  }
}

/// Turns a predicate into nodes, and numbers the key paths on the way.
struct PredicateEvaluatorBuilder {
  private(set) var paths: [[String]] = []
  private var numbers: [[String]: Int] = [:]

  mutating func node(
    _ predicate: FetchPredicate, depth: Int
  ) throws(FetchPredicateError) -> PredicateEvaluator.Node {
    try check(depth)
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
    try check(depth)
    switch expression {
    case .constant(let value): return .constant(value)
    case .evaluatedObject: return .evaluatedObject
    case .keyPath(let names): return names.isEmpty ? .evaluatedObject : .path(number(of: names))
    case .aggregate(let members):
      var operands: [PredicateEvaluator.Operand] = []
      for member in members { operands.append(try operand(member, depth: depth + 1)) }
      var values: [PredicateValue?] = []
      for operand in operands {
        guard case .constant(let value) = operand else { return .list(operands) }
        values.append(value)
      }
      return .constant(.collection(values))
    }
  }

  private mutating func number(of path: [String]) -> Int {
    if let number = numbers[path] { return number }
    numbers[path] = paths.count
    paths.append(path)
    return paths.count - 1
  }

  private func check(_ depth: Int) throws(FetchPredicateError) {
    let maximum = PredicateEvaluator.maximumDepth
    if depth > maximum { throw FetchPredicateError(.depth(maximum: maximum)) }
  }
}
