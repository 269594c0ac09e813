import QuireModel

/// Finds the names of key paths of a class.
struct PropertyNaming {
  let binding: EntityBinding
  let model: ModelBinding
  let classes: ObjectClasses

  func names<Object: ManagedObject, Value>(of property: KeyPath<Object, Value>) throws -> [String] {
    try PropertyProbe.names(of: property, from: binding, in: model, classes)
  }
}

// What a store works out of many objects, without making them.
extension ManagedObjectContext {
  /// How many objects of a class there are of which a predicate is true.
  public final func count<Object: ManagedObject>(
    _ type: Object.Type, where predicate: FetchPredicate? = nil
  ) throws -> Int {
    var request = FetchRequest<Object>()
    request.predicate = predicate
    return try count(for: request)
  }

  /// The sum of a property's values: `context.sum(\Artwork.price)`; 0 of none.
  ///
  /// - Throws, complexity: those of ``aggregate(_:_:where:)``.
  public final func sum<Object: ManagedObject, Number: AggregateNumber>(
    _ property: KeyPath<Object, Number>, where predicate: FetchPredicate? = nil
  ) throws -> Number.Sum {
    try aggregate(Object.self, .sum(property), where: predicate)
  }

  /// The average of a property's values; `nil` where there is none.
  public final func average<Object: ManagedObject, Number: AggregateNumber>(
    _ property: KeyPath<Object, Number>, where predicate: FetchPredicate? = nil
  ) throws -> Number.Mean? {
    try aggregate(Object.self, .average(property), where: predicate)
  }

  /// The smallest of a property's values; `nil` where there is none.
  ///
  /// - Complexity: that of ``aggregate(_:_:where:)``; O(log *n*) without a predicate where an index
  ///   begins with the property and nothing is unsaved.
  public final func minimum<Object: ManagedObject, Property: AggregateValue>(
    _ property: KeyPath<Object, Property>, where predicate: FetchPredicate? = nil
  ) throws -> Property.Present? {
    try aggregate(Object.self, .minimum(property), where: predicate)
  }

  /// The largest of a property's values; `nil` where there is none.
  ///
  /// - Complexity: that of ``minimum(_:where:)``.
  public final func maximum<Object: ManagedObject, Property: AggregateValue>(
    _ property: KeyPath<Object, Property>, where predicate: FetchPredicate? = nil
  ) throws -> Property.Present? {
    try aggregate(Object.self, .maximum(property), where: predicate)
  }

  /// Several aggregates of all objects of a class of which a predicate is true, in one go.
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
    var request = FetchRequest<Object>()
    request.predicate = predicate
    let naming = try naming(of: request)
    var query = GroupQuery()
    for aggregate in repeat each aggregates {
      query.aggregates.append(try aggregate.part(naming))
    }
    let results = try groupResults(query, request)
    let values = results.first?.values ?? []
    var place = 0
    func next() -> PredicateValue? {
      defer { place += 1 }
      return values[place]
    }
    return (repeat try (each aggregates).result(next()))
  }

  /// Aggregates of the objects of a class in groups: of those that have the same value, or lead to
  /// the same object.
  ///
  /// ```swift
  /// for (artist, (count, sum)) in try context.aggregate(
  ///   Artwork.self, .count, .sum(\.price), groupedBy: \.artist, where: Key("isSold") == true)
  /// {
  ///   print(artist?.name ?? "unknown", count, sum)
  /// }
  /// ```
  ///
  /// Groups come in the order of their values, absent ones first; objects in that of their keys.
  /// Groups of which more is wanted than their values are filtered as any array is. Unsaved changes
  /// count, as in a fetch.
  ///
  /// - Throws: what ``aggregate(_:_:where:)`` throws.
  /// - Complexity: that of finding the objects, and O(*g* log *g*) in the groups. The objects of
  ///   groups are made, no others.
  public final func aggregate<
    Object: ManagedObject, First: GroupValue, each Group: GroupValue, each Value
  >(
    _ type: Object.Type, _ aggregates: repeat Aggregate<Object, each Value>,
    groupedBy property: KeyPath<Object, First>, _ others: repeat KeyPath<Object, each Group>,
    where predicate: FetchPredicate? = nil
  ) throws -> [(group: (First, repeat each Group), values: (repeat each Value))] {
    var request = FetchRequest<Object>()
    request.predicate = predicate
    let naming = try naming(of: request)
    var query = GroupQuery()
    query.groups.append(try naming.names(of: property))
    for other in repeat each others { query.groups.append(try naming.names(of: other)) }
    for aggregate in repeat each aggregates {
      query.aggregates.append(try aggregate.part(naming))
    }
    let results = try groupResults(query, request)
    return try results.map { result in
      var place = 0
      func next(_ values: [PredicateValue?]) -> PredicateValue? {
        defer { place += 1 }
        return values[place]
      }
      let group = (
        try First.groupValue(next(result.group), in: self),
        repeat try (each Group).groupValue(next(result.group), in: self)
      )
      place = 0
      return (group, (repeat try (each aggregates).result(next(result.values))))
    }
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
