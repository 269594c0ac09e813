/// A subject that a predicate is evaluated on: an object, or the row of one.
public protocol PredicateSubject {
  /// The value at the path with this number in ``PredicateEvaluator/paths``.
  ///
  /// A path through a to-many relationship is always a `collection`, empty when there is nothing;
  /// through several, one flat collection. A path that ends in `@count` is an integer. A path with
  /// an absent object on the way is `nil`.
  func value(atPath index: Int) throws -> PredicateValue?

  /// The identity that `SELF` denotes in the predicate.
  var identity: OpaqueIdentity { get }

  /// The value of the expression with this number in `PredicateEvaluator.expressions`.
  ///
  /// Called only by evaluators that leave expressions to their subjects.
  func value(ofExpression index: Int) throws -> PredicateValue?

  /// The value of the path that is read from the members that a subquery finds; without a path, the
  /// members.
  ///
  /// Called only by evaluators of fetches; others refuse subqueries.
  func value(ofSubquery index: Int) throws -> PredicateValue?
}

extension PredicateSubject {
  /// `nil`: only subjects of evaluators that leave expressions to them have values of expressions.
  public func value(ofExpression index: Int) throws -> PredicateValue? { nil }
  /// `nil`: only subjects that know what relationships refer to have values of subqueries.
  public func value(ofSubquery index: Int) throws -> PredicateValue? { nil }
}

/// A predicate made ready to be evaluated many times.
///
/// The evaluator numbers the key paths of its predicate, so that the program can resolve each path
/// once for all its subjects, and prepares everything that does not depend on the subject: text is
/// folded, patterns are compiled, long lists become sets. The same evaluator serves rows and
/// objects, so that a fetch from disk and one in memory agree.
///
/// ```swift
/// let evaluator = try PredicateEvaluator(predicate)
/// let columns = evaluator.paths.map(resolve)
/// for row in rows where try evaluator.evaluate(Subject(row, columns)) { … }
/// ```
///
/// The evaluator evaluates key paths, lists, the functions of ``FetchExpression/Function`` and
/// `TERNARY`. It refuses collection operators but for `@count` at the end of a path, variables,
/// subqueries, `FUNCTION` and `FETCH`, because a subject that has only values cannot evaluate them.
/// Fetches have evaluators of their own, which accept everything that is evaluated in memory.
///
/// ``FetchPredicate`` describes the meaning of predicates.
public struct PredicateEvaluator {
  /// How deep the parts of a predicate may be nested.
  public static let maximumDepth = 100

  /// The distinct key paths of the predicate, in the order of their first appearance.
  public let paths: [[String]]
  /// Whether it makes no difference how often a value is at the end of the path with that number,
  /// as it does not to `ANY`. A path through several to-many relationships has a value for each way
  /// there is, and the ways multiply with each step.
  package let takesEachOnce: [Bool]
  /// The distinct expressions that subjects evaluate themselves.
  package let expressions: [FetchExpression]
  /// The same as ``takesEachOnce``, of the expressions.
  package let expressionsTakeEachOnce: [Bool]
  /// The subqueries, for subjects that can follow relationships.
  package let subqueries: [Subquery]

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
    try self.init(
      predicate, PredicateEvaluatorBuilder(asksForExpressions: asksForExpressions), depth: 0)
  }

  init(
    _ predicate: FetchPredicate, _ builder: PredicateEvaluatorBuilder, depth: Int
  ) throws(FetchPredicateError) {
    var builder = builder
    root = try builder.node(predicate, depth: depth)
    paths = builder.paths
    takesEachOnce = builder.takesEachOnce
    expressions = builder.expressions
    expressionsTakeEachOnce = builder.expressionsTakeEachOnce
    subqueries = builder.subqueries
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

// The code that touches the subject is inlinable, so that a caller in another module gets code for
// its own type of subject. The comparisons themselves stay here.
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
    /// An expression that the subject evaluates itself.
    case expression(Int)
    case subquery(Int)

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
      case .subquery(let index): try subject.value(ofSubquery: index)
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
