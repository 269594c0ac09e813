import QuireModel

/// Translates typed key paths of a class into names of properties.
struct PropertyNaming {
  let binding: EntityBinding
  let model: ModelBinding
  let classes: ObjectClasses

  func names<Object: ManagedObject, Value>(of property: KeyPath<Object, Value>) throws -> [String] {
    try PropertyProbe.names(of: property, from: binding, in: model, classes)
  }
}

// Aggregates that a store computes without making objects.
extension ManagedObjectContext {
  /// The number of objects of a class that match a predicate.
  public final func count<Object: ManagedObject>(
    _ type: Object.Type, where predicate: FetchPredicate? = nil
  ) throws -> Int {
    try count(for: FetchRequest<Object>(shownWhere: predicate))
  }

  /// The sum of a property's values: `context.sum(\Artwork.price)`; 0 if there are none.
  ///
  /// - Throws, complexity: those of ``aggregate(_:_:where:)``.
  public final func sum<Object: ManagedObject, Number: AggregateNumber>(
    _ property: KeyPath<Object, Number>, where predicate: FetchPredicate? = nil
  ) throws -> Number.Sum {
    try result(of: .sum(property), where: predicate)
  }

  /// The average of a property's values; `nil` if there are none.
  public final func average<Object: ManagedObject, Number: AggregateNumber>(
    _ property: KeyPath<Object, Number>, where predicate: FetchPredicate? = nil
  ) throws -> Number.Mean? {
    try result(of: .average(property), where: predicate)
  }

  /// The smallest of a property's values; `nil` if there are none.
  ///
  /// - Complexity: that of ``aggregate(_:_:where:)``; O(log *n*) without a predicate where an index
  ///   begins with the property and nothing is unsaved.
  public final func minimum<Object: ManagedObject, Property: AggregateValue>(
    _ property: KeyPath<Object, Property>, where predicate: FetchPredicate? = nil
  ) throws -> Property.Present? {
    try result(of: .minimum(property), where: predicate)
  }

  /// The largest of a property's values; `nil` if there are none.
  ///
  /// - Complexity: that of `minimum(_:where:)`.
  public final func maximum<Object: ManagedObject, Property: AggregateValue>(
    _ property: KeyPath<Object, Property>, where predicate: FetchPredicate? = nil
  ) throws -> Property.Present? {
    try result(of: .maximum(property), where: predicate)
  }

  /// Several aggregates, computed in one pass, of the objects of a class that match a predicate.
  ///
  /// ```swift
  /// let (count, mean) = try context.aggregate(
  ///   Artwork.self, .count, .average(\.price), where: Key("year") > 1900)
  /// ```
  ///
  /// Unsaved changes count, as in a fetch.
  ///
  /// - Throws: what ``fetch(_:)`` throws; ``PersistenceError/Code/undefinedKey`` for a key path
  ///   that is no property of the model's; ``PersistenceError/Code/invalidExpression`` for a sum
  ///   that 64 bits or a decimal do not hold.
  /// - Complexity: that of finding the objects; none is made.
  public final func aggregate<Object: ManagedObject, each Value>(
    _ type: Object.Type, _ aggregates: repeat Aggregate<Object, each Value>,
    where predicate: FetchPredicate? = nil
  ) throws -> (repeat each Value) {
    let request = FetchRequest<Object>(shownWhere: predicate)
    let naming = try naming(of: request)
    var query = GroupQuery()
    for aggregate in repeat each aggregates {
      query.aggregates.append(try aggregate.part(naming))
    }
    let results = try groupResults(query, request)
    let values = results.first?.values ?? []
    var position = 0
    func next() -> PredicateValue? {
      defer { position += 1 }
      return values[position]
    }
    return (repeat try (each aggregates).result(next()))
  }

  /// Aggregates of the objects of a class in groups: a group has the objects with the same value,
  /// or with the same destination of a relationship.
  ///
  /// ```swift
  /// for (artist, (count, sum)) in try context.aggregate(
  ///   Artwork.self, .count, .sum(\.price), groupedBy: \.artist, where: Key("isSold") == true)
  /// {
  ///   print(artist?.name ?? "unknown", count, sum)
  /// }
  /// ```
  ///
  /// Groups are sorted by their values, absent ones first; groups by an object are sorted by its
  /// key. To filter groups by anything else, filter the returned array. Unsaved changes count, as
  /// in a fetch.
  ///
  /// - Throws: what ``aggregate(_:_:where:)`` throws.
  /// - Complexity: that of finding the objects, and O(*g* log *g*) in the groups. Only the objects
  ///   that identify groups are made.
  public final func aggregate<
    Object: ManagedObject, First: GroupValue, each Group: GroupValue, each Value
  >(
    _ type: Object.Type, _ aggregates: repeat Aggregate<Object, each Value>,
    groupedBy property: KeyPath<Object, First>, _ others: repeat KeyPath<Object, each Group>,
    where predicate: FetchPredicate? = nil
  ) throws -> [(group: (First, repeat each Group), values: (repeat each Value))] {
    let request = FetchRequest<Object>(shownWhere: predicate)
    let naming = try naming(of: request)
    var groups = [FetchExpression.keyPath(try naming.names(of: property))]
    for other in repeat each others { groups.append(.keyPath(try naming.names(of: other))) }
    return try groupedResults(request, naming, groups, repeat each aggregates)
  }

  /// Aggregates in groups by values that are made of the properties, such as parts of a date:
  ///
  /// ```swift
  /// let months = try context.aggregate(
  ///   Artwork.self, .count, groupedBy: { $0.sold.year }, { $0.sold.month })
  /// for ((year, month), count) in months { print(year, month, count) }
  /// ```
  ///
  /// All else is as for groups by key paths.
  public final func aggregate<
    Object: ManagedObject, First: GroupValue, each Group: GroupValue, each Value
  >(
    _ type: Object.Type, _ aggregates: repeat Aggregate<Object, each Value>,
    groupedBy value: (QueryPath<Object>) -> QueryPath<First>,
    _ others: repeat (QueryPath<Object>) -> QueryPath<each Group>,
    where predicate: FetchPredicate? = nil
  ) throws -> [(group: (First, repeat each Group), values: (repeat each Value))] {
    let request = FetchRequest<Object>(shownWhere: predicate)
    let object = QueryPath<Object>(.object)
    var groups = [value(object).single("a group").expression]
    for other in repeat each others { groups.append(other(object).single("a group").expression) }
    return try groupedResults(request, naming(of: request), groups, repeat each aggregates)
  }

  private func groupedResults<
    Object: ManagedObject, First: GroupValue, each Group: GroupValue, each Value
  >(
    _ request: FetchRequest<Object>, _ naming: PropertyNaming, _ groups: [FetchExpression],
    _ aggregates: repeat Aggregate<Object, each Value>
  ) throws -> [(group: (First, repeat each Group), values: (repeat each Value))] {
    var query = GroupQuery()
    query.groups = groups
    for aggregate in repeat each aggregates {
      query.aggregates.append(try aggregate.part(naming))
    }
    let results = try groupResults(query, request)
    return try results.map { result in
      var position = 0
      func next(_ values: [PredicateValue?]) -> PredicateValue? {
        defer { position += 1 }
        return values[position]
      }
      let group = (
        try First.groupValue(next(result.group), in: self),
        repeat try (each Group).groupValue(next(result.group), in: self)
      )
      position = 0
      return (group, (repeat try (each aggregates).result(next(result.values))))
    }
  }

  /// One aggregate. Its type is not a tuple of one value, which the compiler does not tell from
  /// that value where there are several functions of a name.
  private func result<Object: ManagedObject, Value>(
    of aggregate: Aggregate<Object, Value>, where predicate: FetchPredicate?
  ) throws -> Value {
    let request = FetchRequest<Object>(shownWhere: predicate)
    var query = GroupQuery()
    query.aggregates.append(try aggregate.part(naming(of: request)))
    return try aggregate.result(groupResults(query, request).first?.values.first ?? nil)
  }

  final func naming<Object: ManagedObject>(
    of request: FetchRequest<Object>
  ) throws -> PropertyNaming {
    let (binding, model) = try entity(of: request)
    guard let classes = persistentStoreCoordinator?.classes else {
      throw PersistenceError(.persistentStoreOperation, "the context has no coordinator to ask")
    }
    return PropertyNaming(binding: binding, model: model, classes: classes)
  }
}

extension Aggregate {
  fileprivate func part(_ naming: PropertyNaming) throws -> GroupQuery.Aggregate {
    switch source {
    case .objects: GroupQuery.Aggregate(function: function, path: nil)
    case .key(let names): GroupQuery.Aggregate(function: function, path: names)
    case .property(let names):
      GroupQuery.Aggregate(function: function, path: try names(naming))
    }
  }
}
