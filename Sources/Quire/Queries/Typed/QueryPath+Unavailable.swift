// What Swift's own types are asked for, and what objects in memory are asked for, with what to
// write in a query: without these the compiler would speak of missing conformances, or accept what
// no store can answer.

private func unavailable() -> Never {
  preconditionFailure("unavailable: the compiler lets nobody come here")
}

// MARK: Texts

extension QueryPath where Value: AggregateValue, Value.Present == String {
  @available(*, unavailable, renamed: "beginsWith(_:)")
  public func hasPrefix(_ text: String) -> FetchPredicate { unavailable() }

  @available(*, unavailable, renamed: "endsWith(_:)")
  public func hasSuffix(_ text: String) -> FetchPredicate { unavailable() }

  @available(*, unavailable, renamed: "beginsWith(_:)")
  public func starts(with text: String) -> FetchPredicate { unavailable() }

  @available(
    *, unavailable, message: "write contains(text, [.caseInsensitive, .diacriticInsensitive])"
  )
  public func localizedStandardContains(_ text: String) -> FetchPredicate { unavailable() }

  @available(*, unavailable, message: "write contains(text, .caseInsensitive)")
  public func localizedCaseInsensitiveContains(_ text: String) -> FetchPredicate { unavailable() }

  @available(*, unavailable, message: "write length, the number of UTF-16 units")
  public var count: QueryPath<Int> { unavailable() }
}

// MARK: Relationships

extension QueryPath where Value: ToManyManagedValue {
  @available(*, unavailable, renamed: "any(_:)")
  public func contains(
    where predicate: (QueryPath<Value.Member>) -> FetchPredicate
  ) -> FetchPredicate { unavailable() }

  @available(*, unavailable, renamed: "all(_:)")
  public func allSatisfy(
    _ predicate: (QueryPath<Value.Member>) -> FetchPredicate
  ) -> FetchPredicate { unavailable() }
}

// MARK: Objects

// What an object says of itself in memory is in no row. Without a constraint: beside a member that
// has one, the compiler takes the property of the class.
extension QueryPath {
  @available(*, unavailable, message: "no store knows it: filter the objects that were fetched")
  public var hasChanges: QueryPath<Bool> { unavailable() }

  @available(*, unavailable, message: "no store knows it: filter the objects that were fetched")
  public var hasPersistentChangedValues: QueryPath<Bool> { unavailable() }

  @available(*, unavailable, message: "no store knows it: filter the objects that were fetched")
  public var isInserted: QueryPath<Bool> { unavailable() }

  @available(*, unavailable, message: "no store knows it: filter the objects that were fetched")
  public var isUpdated: QueryPath<Bool> { unavailable() }

  @available(*, unavailable, message: "a fetch finds no object that was deleted")
  public var isDeleted: QueryPath<Bool> { unavailable() }

  @available(*, unavailable, message: "no store knows it: filter the objects that were fetched")
  public var isFault: QueryPath<Bool> { unavailable() }

  @available(*, unavailable, message: "no store knows it: filter the objects that were fetched")
  public var isInaccessible: QueryPath<Bool> { unavailable() }

  @available(*, unavailable, message: "write Key.entity == name, or fetch the subclass")
  public var entity: QueryPath<String> { unavailable() }

  @available(*, unavailable, message: "no store knows it")
  public var managedObjectContext: QueryPath<ManagedObjectContext?> { unavailable() }
}
