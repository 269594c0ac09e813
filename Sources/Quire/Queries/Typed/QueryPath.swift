import QuireModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a query says of its objects: a property, or a path over several, that the compiler has
/// checked.
///
/// ```swift
/// Artwork.where { $0.artist.name == "Hokusai" && $0.price < 1_000 }
/// Artist.where { $0.artworks.any { $0.price > 500 } && $0.artworks.price.sum < 10_000 }
/// ```
///
/// The parameter of the closure stands for the object. Properties are reached by their names, also
/// through relationships to one object, optional or not; comparisons make a `FetchPredicate`,
/// which means what its format means (`docs/predicates.md`). In particular an absent value is a
/// value: `!=` is true of it, and `<` is not.
///
/// A computed property of a class is none of the model's. What it is asked for is an error when the
/// request runs, and so is a property that the model has not.
///
/// ## Example
///
/// Artists who have a dear work, and the titles of works whose artist is known:
///
/// ```swift
/// let artists = try context.fetch(Artist.where { $0.artworks.any { $0.price > 1_000 } })
/// print(artists.map(\.name))
///
/// let known = Artwork.where { $0.artist != nil && $0.title.beginsWith("The") }
/// print(try context.fetch(known.sorted(by: \.title)).map(\.title))
/// ```
///
/// prints
///
/// ```
/// ["Katsushika Hokusai"]
/// ["The Great Wave"]
/// ```
@dynamicMemberLookup
public struct QueryPath<Value> {
  // Not public, as `$0.key` is an attribute called `key`.
  let key: Key

  /// The same without types.
  public var untypedKey: Key { key }

  init(_ key: Key) { self.key = key }

  fileprivate func appending(_ names: [String]) -> Key {
    Key(key.expression.appending(names), modifier: key.modifier)
  }
}

// MARK: - Paths

// The constraints are a protocol, as Swift 6.3 does not hold a dynamic member to a constraint to a
// class: it took `$0.title.isEmpty`, as if a text were an object (tested by
// `Tests/MustNotCompile/typed-queries.swift`).
extension QueryPath where Value: PropertyReading {
  /// A property of an object.
  public subscript<Next>(dynamicMember property: KeyPath<Value, Next>) -> QueryPath<Next> {
    QueryPath<Next>(appending(KeyPathNames.names(of: property)))
  }
}

// The root is what the value says, not a parameter of the subscript: so editors find the names
// behind the dot.
extension QueryPath where Value: OptionalObject {
  /// A property of an object that may be absent, and with it the property.
  public subscript<Next>(
    dynamicMember property: KeyPath<Value.Wrapped, Next>
  ) -> QueryPath<Next> {
    QueryPath<Next>(appending(KeyPathNames.names(of: property)))
  }
}

extension QueryPath where Value: ToManyManagedValue {
  /// A property of all members, for ``QueryMembers``.
  public subscript<Next>(
    dynamicMember property: KeyPath<Value.Member, Next>
  ) -> QueryMembers<Next> {
    QueryMembers<Next>(appending(KeyPathNames.names(of: property)))
  }

  /// The number of members.
  public var count: QueryPath<Int> { QueryPath<Int>(key.count) }

  /// There is no member.
  public var isEmpty: FetchPredicate { key.count == 0 }

  /// The relationship has the object.
  public func contains(_ member: Value.Member) -> FetchPredicate { key.contains(member.objectID) }

  /// The relationship has the object with the ID.
  public func contains(_ member: ManagedObjectID) -> FetchPredicate { key.contains(member) }

  /// There is a member for which the predicate is true.
  public func any(
    _ predicate: (QueryPath<Value.Member>) -> FetchPredicate
  ) -> FetchPredicate { filter(predicate).count > 0 }

  /// The predicate is true for every member, as it is where there is none.
  public func all(
    _ predicate: (QueryPath<Value.Member>) -> FetchPredicate
  ) -> FetchPredicate { filter { !predicate($0) }.count == 0 }

  /// There is no member for which the predicate is true.
  public func none(
    _ predicate: (QueryPath<Value.Member>) -> FetchPredicate
  ) -> FetchPredicate { filter(predicate).count == 0 }

  /// The members for which the predicate is true: `$0.artworks.filter { $0.isSold }.count > 3`. The
  /// predicate may name objects of the closures that it is in.
  public func filter(_ predicate: (QueryPath<Value.Member>) -> FetchPredicate) -> QueryPath<Value> {
    let member = QueryVariables.next
    let found = QueryVariables.$count.withValue(QueryVariables.count + 1) {
      predicate(QueryPath<Value.Member>(Key(.variable(member))))
    }
    return QueryPath(Key(.subquery(key.expression, variable: member, found)))
  }
}

/// Names for the parameters of closures in closures.
private enum QueryVariables {
  /// How many closures the present one is in.
  @TaskLocal static var count = 0

  static var next: String { "x\(count + 1)" }
}

/// A property of all members of a relationship: `$0.artworks.price`.
@dynamicMemberLookup
public struct QueryMembers<Value> {
  // Not public, as `$0.key` is an attribute called `key`.
  let key: Key

  /// The same without types.
  public var untypedKey: Key { key }

  init(_ key: Key) { self.key = key }

  /// A comparison of this holds where it holds for one member.
  public var any: QueryPath<Value> { QueryPath(key.any) }

  /// A comparison of this holds where it holds for every member.
  public var all: QueryPath<Value> { QueryPath(key.all) }
}

extension QueryMembers where Value: PropertyReading {
  /// A property of the objects at the end of the path.
  public subscript<Next>(dynamicMember property: KeyPath<Value, Next>) -> QueryMembers<Next> {
    QueryMembers<Next>(QueryPath<Value>(key).appending(KeyPathNames.names(of: property)))
  }
}

extension QueryMembers where Value: OptionalObject {
  /// A property of the objects at the end of the path.
  public subscript<Next>(
    dynamicMember property: KeyPath<Value.Wrapped, Next>
  ) -> QueryMembers<Next> {
    QueryMembers<Next>(QueryPath<Value>(key).appending(KeyPathNames.names(of: property)))
  }
}

extension QueryMembers where Value: AggregateValue {
  /// The smallest of the values; absent of none.
  public var minimum: QueryPath<Value.Present?> { QueryPath<Value.Present?>(key.minimum) }

  /// The greatest of the values; absent of none.
  public var maximum: QueryPath<Value.Present?> { QueryPath<Value.Present?>(key.maximum) }
}

extension QueryMembers where Value: AggregateNumber {
  /// The sum of the values. Absent ones count as 0.
  public var sum: QueryPath<Value.Sum> { QueryPath<Value.Sum>(key.sum) }

  /// The average of the values, of which absent ones count as 0.
  public var average: QueryPath<Value.Mean> { QueryPath<Value.Mean>(key.average) }
}
