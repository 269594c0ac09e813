import QuireModel

// Single objects of the context, of which some other change is known.
extension StoreFetch {
  /// Whether ``match(of:)`` can be asked: not of an incremental store, nor of a child context.
  var matchesObjects: Bool {
    view.incremental == nil && view.parentRows == nil
  }

  /// The match that an object is, as ``visitMatches(_:_:)`` would find it, with the values of all
  /// sort keys; `nil` if the request does not find it.
  ///
  /// - Complexity: a look-up of its row.
  func match(of object: ManagedObject) throws -> FetchMatch? {
    guard object.context === session.context, !object.isDeleted,
      let paths = target.paths[object.binding.index]
    else { return nil }
    var visitor = SingleMatch()
    if object.isNew || object.isUpdated {
      if object.state.contains(.inaccessible) { return nil }
      let subject = PendingSubject(
        source: .object(object), session: session, view: view, changed: changed)
      guard try isMatch(subject, paths) else { return nil }
      _ = try visitor.visit(
        subject, at: object.reference, sortedBy: paths.sort, object, row: { nil })
    } else if object.isPersistent {
      _ = try visitCandidates([object.reference], mustExist: false, &visitor)
    }
    return visitor.match
  }
}

/// Keeps a match with the values of its sort keys.
private struct SingleMatch: MatchVisitor {
  private(set) var match: FetchMatch?
  var readsKeys: Bool { true }

  mutating func visit<Subject: PathSubject>(
    _ subject: Subject, at reference: Reference, sortedBy paths: [FetchPath],
    _ object: ManagedObject?, row: () throws -> RowBytes?
  ) throws -> Bool {
    match = FetchMatch(
      storeIndex: 0, reference: reference, row: try row(), object: object,
      keys: try paths.map { try subject.value(at: $0) })
    return true
  }
}
