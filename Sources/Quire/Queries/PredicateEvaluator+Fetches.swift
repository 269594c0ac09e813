import QuireModel

extension PredicateEvaluator {
  /// The evaluator of a request's predicate that is asked of things without relationships.
  init(requested predicate: FetchPredicate) throws(PersistenceError) {
    do {
      try self.init(predicate)
    } catch {
      throw PersistenceError(unsupported: error)
    }
  }

  /// The evaluator of a fetch request's predicate.
  init(fetched predicate: FetchPredicate) throws(PersistenceError) {
    do {
      try self.init(fetching: predicate)
    } catch {
      throw PersistenceError(unsupported: error)
    }
  }

  /// Whether subjects are asked for values of paths from themselves, and for nothing else.
  var asksPathsAlone: Bool { subqueries.isEmpty && expressions.isEmpty }
}

extension PersistenceError {
  fileprivate init(unsupported error: FetchPredicateError) {
    self.init(
      .persistentStoreUnsupportedRequestType, "the predicate cannot be evaluated",
      underlying: error)
  }
}
