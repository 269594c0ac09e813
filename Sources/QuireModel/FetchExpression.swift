/// One side of a comparison.
public enum FetchExpression: Hashable, Sendable {
  /// A value that is known beforehand; `nil` is the absence of one.
  case constant(PredicateValue?)
  /// What the names lead to, from the object that is looked at.
  ///
  /// `@count` as the last name is the number of objects of a to-many relationship.
  case keyPath([String])
  /// The object that is looked at: `SELF`.
  case evaluatedObject
  /// A list, such as the right side of `IN` and `BETWEEN`.
  case aggregate([FetchExpression])
}

extension FetchExpression {
  /// The name that stands for the number of objects of a to-many relationship.
  public static let countOperator = "@count"

  /// An expression for a value; collections become aggregates of their members.
  public init(_ value: some PredicateConvertible) { self.init(value: value.predicateValue) }

  init(value: PredicateValue?) {
    if case .collection(let members)? = value {
      self = .aggregate(members.map(FetchExpression.init(value:)))
    } else {
      self = .constant(value)
    }
  }

  /// The names of a key path that is written with dots.
  static func names(in path: String) -> [String] {
    path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }
}

extension FetchExpression: ExpressibleByNilLiteral {
  public init(nilLiteral: ()) { self = .constant(nil) }
}
