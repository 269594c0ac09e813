import QuireModel

// What one asks of a class or of a request in a word, without building anything first.

extension ManagedObjectContext {
  /// All objects of a class that its ``ManagedObject/defaultCondition`` shows:
  /// `context.fetch(Artwork.self)`.
  public final func fetch<Object: ManagedObject>(_ type: Object.Type) throws -> [Object] {
    try fetch(FetchRequest<Object>(shownWhere: nil))
  }

  /// The objects of a class of which something is true:
  /// `context.fetch(Artwork.self) { $0.price > 100 }`.
  public final func fetch<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (QueryPath<Object>) -> FetchPredicate
  ) throws -> [Object] {
    try fetch(FetchRequest<Object>(shownWhere: FetchPredicate(type, predicate)))
  }

  /// The first object that a request finds, in its order; `nil` if it finds none.
  ///
  /// - Throws, complexity: those of ``fetch(_:)`` with a limit of one object.
  public final func first<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> Object?
  {
    try fetch(request.limit(1)).first
  }

  /// An object of a class of which something is true: the first in the order that objects have
  /// where none is asked for; `nil` if there is none.
  ///
  /// `let wave = try context.first(Artwork.self) { $0.slug == "the-great-wave" }`
  public final func first<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (QueryPath<Object>) -> FetchPredicate
  ) throws -> Object? {
    try first(FetchRequest<Object>(shownWhere: FetchPredicate(type, predicate)))
  }

  /// Whether a request finds an object. None is made.
  ///
  /// - Complexity: that of finding one.
  public final func exists<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> Bool {
    try count(for: request.limit(1)) > 0
  }

  /// Whether there is an object of a class of which something is true:
  /// `context.exists(Artist.self) { $0.name == "Hokusai" }`.
  public final func exists<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (QueryPath<Object>) -> FetchPredicate
  ) throws -> Bool { try exists(FetchRequest<Object>(shownWhere: FetchPredicate(type, predicate))) }

  /// Deletes the objects that a request finds, by the delete rules, when the context is saved.
  ///
  /// ``BatchDeleteRequest`` deletes at once, without the objects in memory and their hooks.
  ///
  /// - Returns: how many objects the request found.
  /// - Throws: what ``fetch(_:)`` throws.
  /// - Complexity: that of fetching the objects.
  @discardableResult
  public final func delete<Object: ManagedObject>(
    _ request: FetchRequest<Object>
  ) throws -> Int {
    let objects = try fetch(request)
    for object in objects { delete(object) }
    return objects.count
  }

  /// Deletes the objects of a class of which something is true, by the delete rules, when the
  /// context is saved: `try context.delete(Note.self) { $0.binned < lastMonth }`.
  ///
  /// - Returns: how many they are.
  @discardableResult
  public final func delete<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (QueryPath<Object>) -> FetchPredicate
  ) throws -> Int { try delete(FetchRequest<Object>(shownWhere: FetchPredicate(type, predicate))) }

  /// Some of the objects that a request finds, in an order that is another one each time:
  /// `context.randomSample(of: Artwork.where { $0.isSold }, count: 5)`.
  ///
  /// Each choice is as likely as any other. The request's order, offset and limit say from which
  /// objects is chosen.
  ///
  /// - Parameter count: how many objects; all of them, in a random order, where there are fewer.
  /// - Throws: what ``fetch(_:)`` throws.
  /// - Complexity: that of finding all IDs, and of reading the rows of the chosen objects when they
  ///   are used; no other objects are made.
  public final func randomSample<Object: ManagedObject>(
    of request: FetchRequest<Object>, count: Int
  ) throws -> [Object] {
    var generator = SystemRandomNumberGenerator()
    return try randomSample(of: request, count: count, using: &generator)
  }

  /// The same by a generator, whose sequence may be known.
  public final func randomSample<Object: ManagedObject>(
    of request: FetchRequest<Object>, count: Int, using generator: inout some RandomNumberGenerator
  ) throws -> [Object] {
    var ids = try objectIDs(for: request)
    let count = min(max(count, 0), ids.count)
    for index in 0..<count {
      ids.swapAt(index, Int.random(in: index..<ids.count, using: &generator))
    }
    return try ids[..<count].map { id in
      guard let object = self.object(with: id) as? Object else {
        throw PersistenceError(.unacceptableValue, "\(id) is not a \(Object.self)")
      }
      return object
    }
  }
}
