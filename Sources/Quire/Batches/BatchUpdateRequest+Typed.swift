import QuireModel

// Batch updates in which the compiler has checked the properties.
extension BatchUpdateRequest {
  /// A request for the objects of a class of which something is true.
  ///
  /// ```swift
  /// var request = BatchUpdateRequest(Artwork.self) { $0.artist.name == "Hokusai" }
  /// request.set(\Artwork.isSold, to: true)
  /// request.set(\Artwork.price) { $0.price * 1.1 }
  /// try context.execute(request)
  /// ```
  public init<Object: ManagedObject>(
    _ type: Object.Type, where predicate: (QueryPath<Object>) -> FetchPredicate
  ) {
    self.init(type, where: FetchPredicate(type, predicate))
  }

  /// Sets an attribute of the objects to a value, or leaves it without one.
  public mutating func set<Object: ManagedObject, Value: AggregateValue>(
    _ property: KeyPath<Object, Value>, to value: Value.Present?
  ) {
    propertiesToUpdate[name(of: property)] = .some(value?.attributeValue.plainValue)
  }

  /// Sets a relationship to one object to a saved object, or to none.
  public mutating func set<Object: ManagedObject, Destination: ManagedObject>(
    _ property: KeyPath<Object, Destination?>, to destination: Destination?
  ) {
    propertiesToUpdate[name(of: property)] = .some(destination?.objectID)
  }

  /// Sets an attribute of the objects to what is computed of each object as it was before the
  /// request.
  public mutating func set<Object: ManagedObject, Value: AggregateValue>(
    _ property: KeyPath<Object, Value>, _ value: (QueryPath<Object>) -> QueryPath<Value>
  ) {
    propertiesToUpdate[name(of: property)] = value(QueryPath(.object)).key.expression
  }

  private func name<Object: ManagedObject, Value>(of property: KeyPath<Object, Value>) -> String {
    KeyPathNames.names(of: property).joined(separator: ".")
  }
}
