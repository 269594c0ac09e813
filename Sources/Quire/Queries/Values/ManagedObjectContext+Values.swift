import QuireModel

extension ManagedObjectContext {
  /// Values of properties in the place of objects, of which none is made.
  ///
  /// ```swift
  /// let rows = try context.values(Artwork.self, \.title, \.price, where: Key("year") > 1900)
  /// for (title, price) in rows { print(title ?? "untitled", price) }
  /// let names = try context.values(Artwork.self, \.artist?.name, isDistinct: true)
  /// ```
  ///
  /// A property is a typed one of the class, or one at the end of to-one relationships. A
  /// relationship gives its object. Unsaved changes count, as in a fetch.
  ///
  /// - Parameters:
  ///   - limit: the largest number of rows; 0 is no limit.
  ///   - isDistinct: leaves out rows that are like an earlier one.
  /// - Throws: what ``fetch(_:)`` throws; ``PersistenceError/Code/undefinedKey`` for a key path
  ///   that is no property of the model's.
  /// - Complexity: that of finding the objects.
  public final func values<Object: ManagedObject, each Value: GroupValue>(
    _ type: Object.Type, _ properties: repeat KeyPath<Object, each Value>,
    where predicate: FetchPredicate? = nil, sortedBy sortDescriptors: [FetchSortDescriptor] = [],
    limit: Int = 0, isDistinct: Bool = false
  ) throws -> [(repeat each Value)] {
    var request = FetchRequest<Object>()
    (request.predicate, request.sortDescriptors) = (predicate, sortDescriptors)
    request.fetchLimit = limit
    let naming = try naming(of: request)
    var expressions: [FetchExpression] = []
    for property in repeat each properties {
      expressions.append(.keyPath(try naming.names(of: property)))
    }
    return try valueRows(expressions, request, isDistinct: isDistinct).map { row in
      var place = 0
      func next() -> PredicateValue? {
        defer { place += 1 }
        return row[place]
      }
      return (repeat try (each Value).groupValue(next(), in: self))
    }
  }
}
