/// A key path from which a predicate is built in Swift.
///
/// ```swift
/// Key("price") > 100 && Key("artist.name").beginsWith("A", .caseInsensitive)
/// Key("artists.slug").any == "hokusai" || Key("artist") == nil
/// Key("artworks").count > 0 && !Key("status").in(["sold", "lent"])
/// Key("artworks.price").sum > 1_000 && Key("tags.word").none == "print"
/// Key("artworks").filtered(by: Key("price") > 100).count >= 3
/// ```
///
/// ## Example
///
/// Artists by what is true of their works, of which there are three:
///
/// ```swift
/// var request = FetchRequest<Artist>()
/// request.predicate = Key("artworks.price").sum > 2_000 && Key("artworks").count == 3
/// print(try context.fetch(request).map(\.name))
/// request.predicate = Key("artworks.title").any == "Red Fuji"
/// print(try context.count(for: request))
/// ```
///
/// prints
///
/// ```
/// ["Katsushika Hokusai"]
/// 1
/// ```
public struct Key: Sendable {
  /// The left side of comparisons with this key.
  public let expression: FetchExpression
  /// How many members of a collection must satisfy the comparison.
  public let modifier: FetchPredicate.Modifier
  /// Whether comparisons with this key are negated.
  let isNegated: Bool

  /// - Parameter path: names separated by dots.
  public init(_ path: String) { self.init(names: FetchExpression.names(in: path)) }

  /// - Parameter names: names that may have dots in them.
  public init(names: [String]) { self.init(.keyPath(names)) }

  /// A key for any expression, for what can be written in a format and not with the methods of a
  /// key.
  public init(
    _ expression: FetchExpression, modifier: FetchPredicate.Modifier = .direct
  ) { self.init(expression, modifier, isNegated: false) }

  private init(
    _ expression: FetchExpression, _ modifier: FetchPredicate.Modifier, isNegated: Bool
  ) {
    self.expression = expression
    self.modifier = modifier
    self.isNegated = isNegated
  }

  /// The object itself, `SELF` in a format string.
  public static let object = Key(.evaluatedObject)

  /// The name of the entity that the object is of: `Key.entity == "Artist"`. Objects of
  /// descendants have their own; see ``isKind(of:)``.
  public static let entity = Key(names: [FetchExpression.entityName])

  /// The comparison holds for at least one member.
  public var any: Key { Key(expression, modifier: .any) }

  /// The comparison holds for every member.
  public var all: Key { Key(expression, modifier: .all) }

  /// The comparison holds for no member.
  public var none: Key { Key(expression, .any, isNegated: true) }
}

// MARK: Properties of a collection or a value

extension Key {
  /// The number of objects of a to-many relationship, or of members of another collection.
  public var count: Key { with(.count) }

  /// The sum of numbers: `Key("artworks.price").sum`. Absent ones count as 0.
  public var sum: Key { with(.sum) }

  /// The average of numbers, of which absent ones count as 0, as in Core Data.
  public var average: Key { with(.average) }

  /// The smallest value; absent of nothing.
  public var minimum: Key { with(.minimum) }

  /// The greatest value; absent of nothing.
  public var maximum: Key { with(.maximum) }

  /// The number of UTF-16 units of a text, as in Core Data.
  public var length: Key { Key(.function(.length, [expression]), modifier, isNegated: isNegated) }

  /// The first object of an ordered relationship; absent where there is none.
  public var first: Key { member(.first) }

  /// The last object of an ordered relationship.
  public var last: Key { member(.last) }

  /// The object at a position of an ordered relationship; absent where it has no such position.
  public subscript(index: Int) -> Key {
    Key(.function(.element, [expression, FetchExpression(index)]), modifier, isNegated: isNegated)
  }

  /// A property of the key's value: `Key("steps").first.key("word")`. Names are separated by dots.
  public func key(_ path: String) -> Key { appending(FetchExpression.names(in: path)) }

  /// The objects of a to-many relationship for which a predicate is true: a `SUBQUERY`. The keys of
  /// the predicate start from these objects.
  ///
  /// ```swift
  /// Key("artworks").filtered(by: Key("price") > 100 && Key("sold") == false).count > 0
  /// ```
  public func filtered(by predicate: FetchPredicate) -> Key {
    let variable = predicate.freeVariable
    let inner = predicate.replacingLeaves { (leaf, bound) -> FetchExpression? in
      switch leaf {
      case .evaluatedObject: .variable(variable)
      case .keyPath(let names), .path(.evaluatedObject, let names):
        names.isEmpty ? .variable(variable) : .path(.variable(variable), names)
      default: nil
      }
    }
    return Key(
      .subquery(expression, variable: variable, inner), modifier, isNegated: isNegated)
  }

  /// Whether the object is of an entity or of one of its descendants.
  ///
  /// - Parameter name: the name of the entity, or of its class as the model calls it.
  public func isKind(of name: String) -> FetchPredicate {
    .comparison(
      .call(expression, selector: KindQuestion.isKind.rawValue, [FetchExpression(name)]), .equal,
      FetchExpression(true))
  }

  private func with(_ operation: CollectionOperator) -> Key { appending([operation.rawValue]) }

  private func member(_ function: FetchExpression.Function) -> Key {
    Key(.function(function, [expression]), modifier, isNegated: isNegated)
  }

  private func appending(_ names: [String]) -> Key {
    let path: FetchExpression =
      switch expression {
      case .evaluatedObject: .keyPath(names)
      case .keyPath(let before): .keyPath(before + names)
      case .path(let start, let before): .path(start, before + names)
      default: .path(expression, names)
      }
    return Key(path, modifier, isNegated: isNegated)
  }
}

extension FetchPredicate {
  /// A name that no variable of the predicate has, bound ones among them.
  fileprivate var freeVariable: String {
    var taken: Set<String> = []
    forEachExpression(bound: []) { expression, bound in
      if case .variable(let name) = expression { taken.insert(name) }
      if case .subquery(_, let name, _) = expression { taken.insert(name) }
      taken.formUnion(bound)
    }
    if !taken.contains("x") { return "x" }
    var number = 2
    while taken.contains("x\(number)") { number += 1 }
    return "x\(number)"
  }
}
