import QuireModel

// Requests in which the compiler has checked the properties.

extension PropertyReading {
  /// A request for all objects of the class that its ``ManagedObject/defaultCondition`` shows.
  ///
  /// ```swift
  /// let artworks = try context.fetch(Artwork.all)
  /// let latest = try context.fetch(Artwork.all.sorted(by: \.year, ascending: false).limit(10))
  /// ```
  ///
  /// Objects that the condition hides are found by requests that do not begin with the class:
  /// `Artwork.fetchRequest().where { … }`.
  public static var all: FetchRequest<Self> { FetchRequest(shownWhere: nil) }

  /// A request for the objects of the class for which a predicate is true.
  ///
  /// ```swift
  /// let cheap = Artwork.where { $0.artist.name == "Hokusai" && $0.price < 1_000 }
  /// for artwork in try context.fetch(cheap.sorted(by: \.title).limit(20)) { … }
  /// ```
  ///
  /// - Parameter predicate: what is so of the object that is its parameter; see ``QueryPath``.
  public static func `where`(
    _ predicate: (QueryPath<Self>) -> FetchPredicate
  ) -> FetchRequest<Self> { all.where(predicate) }

  /// A request for the objects of the class of which a flag is set:
  /// `Artwork.where { $0.isSold }`.
  public static func `where`(_ flag: (QueryPath<Self>) -> QueryPath<Bool>) -> FetchRequest<Self> {
    all.where { flag($0).key == true }
  }

  /// A request for all objects of the class, in the order of a property.
  public static func sorted<Value>(
    by property: KeyPath<Self, Value>, _ options: FetchComparisonOptions = [],
    ascending: Bool = true, absentValues: FetchSortDescriptor.AbsentValues = .smallest
  ) -> FetchRequest<Self> {
    all.sorted(by: property, options, ascending: ascending, absentValues: absentValues)
  }
}

extension FetchRequest {
  /// A request for objects of the class that its default condition shows.
  init(shownWhere predicate: FetchPredicate?) {
    self.init()
    self.predicate =
      switch (Result.defaultCondition, predicate) {
      case (let condition?, let predicate?): condition && predicate
      case (let condition, let predicate): condition ?? predicate
      }
  }
}

extension FetchRequest {
  /// The request for fewer objects: those for which another predicate is true as well.
  public func `where`(_ predicate: (QueryPath<Result>) -> FetchPredicate) -> FetchRequest {
    var request = self
    let new = predicate(QueryPath(.object))
    request.predicate = self.predicate.map { $0 && new } ?? new
    return request
  }

  /// The request with an order, or with one more key of the order that it has.
  ///
  /// - Parameters:
  ///   - property: an attribute of the object, or one behind relationships to one object.
  ///   - options: the differences between texts that do not count, and their order.
  public func sorted<Value>(
    by property: KeyPath<Result, Value>, _ options: FetchComparisonOptions = [],
    ascending: Bool = true, absentValues: FetchSortDescriptor.AbsentValues = .smallest
  ) -> FetchRequest {
    var request = self
    request.sortDescriptors.append(
      FetchSortDescriptor(
        property, options, ascending: ascending, absentValues: absentValues))
    return request
  }

  /// The request for so many objects at most.
  public func limit(_ count: Int) -> FetchRequest {
    var request = self
    request.fetchLimit = count
    return request
  }

  /// The request without the first objects of its result.
  public func offset(_ count: Int) -> FetchRequest {
    var request = self
    request.fetchOffset = count
    return request
  }

  /// The request with relationships whose objects will be needed: see
  /// ``relationshipKeyPathsForPrefetching``.
  public func prefetching<each Value>(
    _ relationships: repeat KeyPath<Result, each Value>
  ) -> FetchRequest {
    var request = self
    for relationship in repeat each relationships {
      request.relationshipKeyPathsForPrefetching.append(
        KeyPathNames.names(of: relationship).joined(separator: "."))
    }
    return request
  }
}

extension FetchSortDescriptor {
  /// The order of a property that the compiler has checked.
  ///
  /// - Parameters:
  ///   - property: an attribute of the object, or one behind relationships to one object.
  ///   - options: the differences between texts that do not count, and their order.
  public init<Object: ManagedObject, Value>(
    _ property: KeyPath<Object, Value>, _ options: FetchComparisonOptions = [],
    ascending: Bool = true, absentValues: AbsentValues = .smallest
  ) {
    self.init(
      keyPath: KeyPathNames.names(of: property), ascending: ascending,
      options: options, absentValues: absentValues)
  }
}

extension Key {
  /// A property that the compiler has checked: `Key(\Artwork.artist?.name) == "Hokusai"`.
  public init<Object: ManagedObject, Value>(_ property: KeyPath<Object, Value>) {
    self.init(names: KeyPathNames.names(of: property))
  }
}

extension FetchPredicate {
  /// A predicate in which the compiler has checked the properties, for what takes one:
  /// `try context.sum(\.price, where: FetchPredicate(Artwork.self) { $0.isSold == true })`.
  public init<Object: ManagedObject>(
    _ type: Object.Type, _ predicate: (QueryPath<Object>) -> FetchPredicate
  ) {
    self = predicate(QueryPath(.object))
  }
}
