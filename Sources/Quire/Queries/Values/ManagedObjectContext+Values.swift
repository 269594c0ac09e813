import QuireModel

extension ManagedObjectContext {
  /// The values of properties, for each object of a class that matches; no object is made for them.
  ///
  /// ```swift
  /// let rows = try context.values(Artwork.self, \.title, \.price, where: Key("year") > 1900)
  /// for (title, price) in rows { print(title ?? "untitled", price) }
  /// let names = try context.values(Artwork.self, \.artist?.name, isDistinct: true)
  /// ```
  ///
  /// A property is given as a key path of the class, also behind to-one relationships. A
  /// relationship gives its object. Unsaved changes count, as in a fetch.
  ///
  /// - Parameters:
  ///   - limit: the largest number of rows; 0 is no limit.
  ///   - isDistinct: whether a row that equals an earlier one is left out.
  /// - Throws: what ``fetch(_:)`` throws; ``PersistenceError/Code/undefinedKey`` for a key path
  ///   that is not a property of the model.
  /// - Complexity: that of finding the objects.
  public final func values<Object: ManagedObject, each Value: GroupValue>(
    _ type: Object.Type, _ properties: repeat KeyPath<Object, each Value>,
    where predicate: FetchPredicate? = nil, sortedBy sortDescriptors: [FetchSortDescriptor] = [],
    limit: Int = 0, isDistinct: Bool = false
  ) throws -> [(repeat each Value)] {
    var request = FetchRequest<Object>(shownWhere: predicate)
    (request.sortDescriptors, request.fetchLimit) = (sortDescriptors, limit)
    let naming = try naming(of: request)
    var expressions: [FetchExpression] = []
    for property in repeat each properties {
      expressions.append(.keyPath(try naming.names(of: property)))
    }
    return try valueRows(expressions, request, isDistinct: isDistinct).map { row in
      var position = 0
      func next() -> PredicateValue? {
        defer { position += 1 }
        return row[position]
      }
      return (repeat try (each Value).groupValue(next(), in: self))
    }
  }
}
