import QuireModel

// Calls in which the compiler has checked the properties.

extension ManagedObjectContext {
  /// The number of objects of a class of which something is true:
  /// `context.count(Artwork.self) { $0.price > 100 }`.
  public final func count<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (QueryPath<Object>) -> FetchPredicate
  ) throws -> Int { try count(type, where: FetchPredicate(type, predicate)) }

  /// The sum of a property's values in the objects of which something is true; 0 if there are none.
  public final func sum<Object: ManagedObject, Number: AggregateNumber>(
    _ property: KeyPath<Object, Number>, where predicate: (QueryPath<Object>) -> FetchPredicate
  ) throws -> Number.Sum { try sum(property, where: FetchPredicate(Object.self, predicate)) }

  /// The average of a property's values in the objects of which something is true; `nil` if there
  /// are none.
  public final func average<Object: ManagedObject, Number: AggregateNumber>(
    _ property: KeyPath<Object, Number>, where predicate: (QueryPath<Object>) -> FetchPredicate
  ) throws -> Number.Mean? { try average(property, where: FetchPredicate(Object.self, predicate)) }

  /// The smallest of a property's values in the objects of which something is true; `nil` if there
  /// are none.
  public final func minimum<Object: ManagedObject, Property: AggregateValue>(
    _ property: KeyPath<Object, Property>, where predicate: (QueryPath<Object>) -> FetchPredicate
  ) throws -> Property.Present? {
    try minimum(property, where: FetchPredicate(Object.self, predicate))
  }

  /// The largest of a property's values in the objects of which something is true; `nil` if there
  /// are none.
  public final func maximum<Object: ManagedObject, Property: AggregateValue>(
    _ property: KeyPath<Object, Property>, where predicate: (QueryPath<Object>) -> FetchPredicate
  ) throws -> Property.Present? {
    try maximum(property, where: FetchPredicate(Object.self, predicate))
  }

  /// Several aggregates of the objects of which something is true:
  /// `context.aggregate(Artwork.self, .count, .average(\.price), where: { $0.year > 1900 })`.
  public final func aggregate<Object: ManagedObject, each Value>(
    _ type: Object.Type, _ aggregates: repeat Aggregate<Object, each Value>,
    where predicate: (QueryPath<Object>) -> FetchPredicate
  ) throws -> (repeat each Value) {
    try aggregate(type, repeat each aggregates, where: FetchPredicate(type, predicate))
  }

  /// Aggregates of the objects of which something is true, in groups.
  public final func aggregate<
    Object: ManagedObject, First: GroupValue, each Group: GroupValue, each Value
  >(
    _ type: Object.Type, _ aggregates: repeat Aggregate<Object, each Value>,
    groupedBy property: KeyPath<Object, First>, _ others: repeat KeyPath<Object, each Group>,
    where predicate: (QueryPath<Object>) -> FetchPredicate
  ) throws -> [(group: (First, repeat each Group), values: (repeat each Value))] {
    try aggregate(
      type, repeat each aggregates, groupedBy: property, repeat each others,
      where: FetchPredicate(type, predicate))
  }

  /// Aggregates of the objects of which something is true, in groups by values that are made of the
  /// properties.
  public final func aggregate<
    Object: ManagedObject, First: GroupValue, each Group: GroupValue, each Value
  >(
    _ type: Object.Type, _ aggregates: repeat Aggregate<Object, each Value>,
    groupedBy value: (QueryPath<Object>) -> QueryPath<First>,
    _ others: repeat (QueryPath<Object>) -> QueryPath<each Group>,
    where predicate: (QueryPath<Object>) -> FetchPredicate
  ) throws -> [(group: (First, repeat each Group), values: (repeat each Value))] {
    try aggregate(
      type, repeat each aggregates, groupedBy: value, repeat each others,
      where: FetchPredicate(type, predicate))
  }

  /// The values of properties, for each object of which something is true.
  public final func values<Object: ManagedObject, each Value: GroupValue>(
    _ type: Object.Type, _ properties: repeat KeyPath<Object, each Value>,
    where predicate: (QueryPath<Object>) -> FetchPredicate,
    sortedBy sortDescriptors: [FetchSortDescriptor] = [], limit: Int = 0, isDistinct: Bool = false
  ) throws -> [(repeat each Value)] {
    try values(
      type, repeat each properties, where: FetchPredicate(type, predicate),
      sortedBy: sortDescriptors, limit: limit, isDistinct: isDistinct)
  }
}

extension FetchRequest {
  /// A request for the objects of the entity that the class is registered for, with what else it
  /// says.
  ///
  /// - Parameter fetchLimit: the largest number of objects; 0 for no limit.
  public init(
    predicate: FetchPredicate?, sortDescriptors: [FetchSortDescriptor] = [], fetchLimit: Int = 0,
    fetchOffset: Int = 0
  ) {
    self.init()
    self.predicate = predicate
    self.sortDescriptors = sortDescriptors
    self.fetchLimit = fetchLimit
    self.fetchOffset = fetchOffset
  }
}
