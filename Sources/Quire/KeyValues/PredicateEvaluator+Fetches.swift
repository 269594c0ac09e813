import QuireModel

extension PredicateEvaluator {
  /// An evaluator for a request on things without relationships.
  init(requested predicate: FetchPredicate) throws(PersistenceError) {
    do {
      try self.init(predicate)
    } catch {
      throw PersistenceError(unsupported: error)
    }
  }

  /// An evaluator for the predicate of a fetch request.
  init(fetched predicate: FetchPredicate) throws(PersistenceError) {
    do {
      try self.init(fetching: predicate)
    } catch {
      throw PersistenceError(unsupported: error)
    }
  }

  /// Whether the predicate needs only values at paths from its subject.
  var asksPathsAlone: Bool { subqueries.isEmpty && expressions.isEmpty }
}

extension PersistenceError {
  fileprivate init(unsupported error: FetchPredicateError) {
    self.init(
      .persistentStoreUnsupportedRequestType, "the predicate cannot be evaluated",
      underlying: error)
  }
}
