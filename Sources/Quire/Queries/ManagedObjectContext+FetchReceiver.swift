extension ManagedObjectContext: FetchReceiver {
  /// The objects that a `FetchRequest<ManagedObject>` finds; called for `FETCH` in expressions.
  public final func results(ofFetch request: Any) throws -> [Any] {
    try fetch(try plainRequest(request))
  }

  /// How many objects a request finds that an expression has; see ``FetchReceiver``.
  ///
  /// - Parameter request: a ``FetchRequest`` of any class.
  public final func count(ofFetch request: Any) throws -> Int {
    try count(for: try plainRequest(request))
  }

  private func plainRequest(_ request: Any) throws -> FetchRequest<ManagedObject> {
    guard let request = request as? FetchRequest<ManagedObject> else {
      throw PersistenceError(
        .invalidExpression,
        "FETCH was given a \(type(of: request)); it takes a FetchRequest<ManagedObject>")
    }
    return request
  }
}
