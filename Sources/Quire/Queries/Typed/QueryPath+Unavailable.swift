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

/// What objects in memory know of themselves, such as whether they have changes, and no row does:
/// nothing can be asked of it in a query. Filter the objects that were fetched.
public enum NotInAnyStore {}

// They are not marked as unavailable: the compiler would take the class's own property then.
extension QueryPath where Value: ToOneManagedValue {
  /// No store knows it: filter the objects that were fetched.
  public var hasChanges: NotInAnyStore { unavailable() }
  /// No store knows it: filter the objects that were fetched.
  public var hasPersistentChangedValues: NotInAnyStore { unavailable() }
  /// No store knows it: filter the objects that were fetched.
  public var isInserted: NotInAnyStore { unavailable() }
  /// No store knows it: filter the objects that were fetched.
  public var isUpdated: NotInAnyStore { unavailable() }
  /// A fetch finds no object that was deleted.
  public var isDeleted: NotInAnyStore { unavailable() }
  /// No store knows it: filter the objects that were fetched.
  public var isFault: NotInAnyStore { unavailable() }
  /// No store knows it: filter the objects that were fetched.
  public var isInaccessible: NotInAnyStore { unavailable() }
  /// Write `Key.entity == "Artwork"`, or fetch the subclass.
  public var entity: NotInAnyStore { unavailable() }
  /// No store knows it.
  public var managedObjectContext: NotInAnyStore { unavailable() }
}
