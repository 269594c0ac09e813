/// A value that is computed: one side of a comparison, or the value that a mapping assigns to an
/// attribute.
///
/// An expression is a plain value that names properties and variables but knows no model. It is
/// read from a format string and prints as one that means the same:
///
/// ```swift
/// try FetchExpression(format: "price * (1 + $tax)")
/// try FetchExpression(format: "TERNARY(artist == nil, %@, uppercase:(artist.name))", "unknown")
/// try FetchExpression(format: "FUNCTION($policy, 'ageFrom:', $source.born)")
/// ```
///
/// The `Quire` module evaluates all of them on objects, and all but ``fetch(_:context:countOnly:)``
/// in fetches. On values alone only those that ``PredicateEvaluator`` lists can be evaluated.
public indirect enum FetchExpression: Hashable, Sendable {
  /// A value that is known beforehand; `nil` is the absence of one.
  case constant(PredicateValue?)
  /// The value that a path of names has in the evaluated object.
  ///
  /// A name may be a ``CollectionOperator``.
  case keyPath([String])
  /// The evaluated object: `SELF`.
  case evaluatedObject
  /// A list, such as the right side of `IN` and `BETWEEN`.
  case aggregate([FetchExpression])
  /// The value that the caller binds to the name: `$source`. The name is without the dollar sign.
  case variable(String)
  /// The value that a path of names has in the value of another expression: `$source.country.name`.
  case path(FetchExpression, [String])
  /// One of the functions that every expression has, arithmetic among them.
  case function(Function, [FetchExpression])
  /// The result of calling a method of the operand by name: `FUNCTION($policy, "ageFrom:", $x)`.
  case call(FetchExpression, selector: String, [FetchExpression])
  /// `TERNARY(predicate, a, b)`: the first if the predicate is true, else the second.
  case conditional(FetchPredicate, FetchExpression, FetchExpression)
  /// `SUBQUERY(collection, $x, predicate)`: the members for which the predicate is true when the
  /// variable is bound to them.
  case subquery(FetchExpression, variable: String, FetchPredicate)
  /// `FETCH(request, context, countOnly)`: the objects that the context finds, or their number.
  case fetch(FetchExpression, context: FetchExpression, countOnly: Bool)
}

extension FetchExpression {
  /// The key of the number of objects of a to-many relationship.
  public static let countOperator = CollectionOperator.count.rawValue

  /// The key of an object's ID in a key path, unless a property has this name.
  package static let objectIDName = "objectID"

  /// The key of the name of an object's entity in a key path, unless a property has this name.
  package static let entityName = "entity"

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
  package static func names(in path: String) -> [String] {
    // Most paths are one name.
    if !path.utf8.contains(UInt8(ascii: ".")) { return [path] }
    return path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }
}

extension FetchExpression: ExpressibleByNilLiteral {
  public init(nilLiteral: ()) { self = .constant(nil) }
}

/// A name in a key path that applies to the collection before it, not to its members.
///
/// The names after the operator are looked up in each member first: `artworks.@sum.price` adds
/// prices. There need not be any: `artworks.price.@sum` is the same. The raw value is the name.
public enum CollectionOperator: String, Hashable, Sendable, CaseIterable {
  /// How many members there are.
  case count = "@count"
  /// Absent members count as 0, and of nothing the sum is 0.
  case sum = "@sum"
  /// Absent members count as 0, and of nothing the average is 0.
  case average = "@avg"
  /// The smallest value; absent when there is none.
  case minimum = "@min"
  /// The largest value; absent when there is none.
  case maximum = "@max"
  /// An array of the values, each as often as it occurs.
  case unionOfObjects = "@unionOfObjects"
  /// An array of the values, each once, in the order of their first occurrence.
  case distinctUnionOfObjects = "@distinctUnionOfObjects"
  /// An array of the members of the values, which are arrays.
  case unionOfArrays = "@unionOfArrays"
  /// An array of the members of the values, which are arrays, each once, in the order of their
  /// first occurrence.
  case distinctUnionOfArrays = "@distinctUnionOfArrays"
  /// An array of the members of the values, which are sets; a member of two sets is there twice.
  case unionOfSets = "@unionOfSets"
  /// The set of the members of the values, which are sets.
  case distinctUnionOfSets = "@distinctUnionOfSets"

  /// Whether a name in a path begins as operators do, and as no property may be called.
  package static func isOperator(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: "@") }
}
