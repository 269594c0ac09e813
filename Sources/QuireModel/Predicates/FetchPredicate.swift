/// A condition on objects: the part of a fetch request that selects them.
///
/// A predicate is a plain value that names properties but knows no model. It is written in Swift
/// with ``Key``, or as a format string, and it prints as a format string that means the same:
///
/// ```swift
/// Key("price") > 100 && Key("artist.name").beginsWith("A")
/// try FetchPredicate(format: "price > %@ AND artist.name BEGINSWITH %@", 100, "A")
/// ```
///
/// There is one meaning, in memory and on disk, and it is two-valued:
///
/// - An absent value is a value. `x == nil` is true of it, `x != 'a'` is true of it, and `NOT` is
///   the exact complement of what it negates.
/// - `<`, `<=`, `>`, `>=` and `BETWEEN` need two values of one kind, such as two numbers of any
///   type or two strings; otherwise they are false. `==` of two kinds is false and `!=` is true.
/// - Booleans are numbers. Strings are compared by canonical equivalence and Unicode order, never
///   by locale.
/// - A key path with an absent object on the way is an absent value.
/// - `ANY` of nothing is false, `ALL` of nothing is true.
///
/// A request whose predicate compares what can never be equal, such as a number and a text, is
/// refused.
///
/// ## Example
///
/// The same kind of condition as a format in a fetch, and in Swift on objects that are in memory:
///
/// ```swift
/// var request = FetchRequest<Artwork>()
/// request.predicate = try FetchPredicate(
///   format: "title BEGINSWITH %@ AND price < %@", "The", 2_000)
/// print(try context.fetch(request).map(\.title))
///
/// let dear = Key("price") > 1_000 && Key("artist") != nil
/// print(dear)
/// print(try context.fetch(FetchRequest<Artwork>()).filtered(using: dear).map(\.title))
/// ```
///
/// prints
///
/// ```
/// ["The Great Wave"]
/// price > 1000 AND artist != nil
/// ["The Great Wave"]
/// ```
public indirect enum FetchPredicate: Hashable, Sendable {
  /// True of everything, or of nothing.
  case constant(Bool)
  /// True when two values stand to each other as the comparison says.
  case comparison(Comparison)
  /// True when all are; true when there is none.
  case and([FetchPredicate])
  /// True when one is; false when there is none.
  case or([FetchPredicate])
  /// True when the part is false.
  case not(FetchPredicate)
}

extension FetchPredicate {
  /// One comparison of a predicate.
  public struct Comparison: Hashable, Sendable {
    /// What is compared; usually a key path.
    public var left: FetchExpression
    /// How the sides are compared.
    public var `operator`: Operator
    /// What it is compared with; usually a constant.
    public var right: FetchExpression
    /// The differences between strings that the comparison ignores.
    public var options: FetchComparisonOptions
    /// How many members of a collection on the left must satisfy the comparison.
    public var modifier: Modifier

    /// A comparison of two expressions.
    public init(
      _ left: FetchExpression, _ operator: Operator, _ right: FetchExpression,
      options: FetchComparisonOptions = [], modifier: Modifier = .direct
    ) {
      self.left = left
      self.operator = `operator`
      self.right = right
      self.options = options
      self.modifier = modifier
    }
  }

  /// How many members of a collection on the left must satisfy the comparison.
  public enum Modifier: Hashable, Sendable, CaseIterable {
    /// The left side is compared as it is.
    case direct
    /// At least one member. A value that is no collection counts as a collection of itself.
    case any
    /// Every member.
    case all
  }

  /// The raw value is the word of a format string.
  public enum Operator: String, Hashable, Sendable, CaseIterable {
    /// Both sides are the same, or both are absent.
    case equal = "=="
    /// The sides are not the same.
    case notEqual = "!="
    /// The left side is before the right one. False of absent values, as are the next three.
    case lessThan = "<"
    /// The left side is before the right one, or equal to it.
    case lessThanOrEqual = "<="
    /// The left side is after the right one.
    case greaterThan = ">"
    /// The left side is after the right one, or equal to it.
    case greaterThanOrEqual = ">="
    /// The right side is a list of the smallest and the largest value.
    case between = "BETWEEN"
    /// The right side is a list or a to-many relationship that has the left side, or a string of
    /// which the left side is a part.
    case `in` = "IN"
    /// The left side is a to-many relationship that has the right side, or a string of which the
    /// right side is a part.
    case contains = "CONTAINS"
    /// Every string begins with the empty one.
    case beginsWith = "BEGINSWITH"
    /// Every string ends with the empty one.
    case endsWith = "ENDSWITH"
    /// The right side is a pattern for the whole string: `*` is any text, `?` any one character,
    /// and `\` takes the next character as it is.
    case like = "LIKE"
    /// The right side is a regular expression for the whole string, in the syntax of Swift's
    /// `Regex`.
    case matches = "MATCHES"
  }

  /// A comparison, without its initialiser.
  public static func comparison(
    _ left: FetchExpression, _ operator: Operator, _ right: FetchExpression,
    options: FetchComparisonOptions = [], modifier: Modifier = .direct
  ) -> FetchPredicate {
    .comparison(
      Comparison(left, `operator`, right, options: options, modifier: modifier))
  }
}
