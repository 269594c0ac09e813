import QuireModel

// Errors of uniqueness constraints in batch requests.
extension BatchWrite {
  /// The error for several objects with the same values of a constraint.
  ///
  /// - Parameters:
  ///   - object: one of the objects, whose row is written.
  ///   - objects: all of the objects. Those that the request has inserted are not named.
  func constraintError(
    _ index: StoredIndex, _ object: Reference, _ objects: [Reference]
  ) -> PersistenceError {
    var values: [String: MergeConflict.Value] = [:]
    for element in index.elements {
      values[element.path.joined(separator: ".")] = try? value(of: element, at: object)
    }
    let known = objects.filter { (try? state.contains($0)) ?? false }
    let ids = known.compactMap(session.permanentID)
    let report = ConstraintConflict.Report(
      entityName: index.entityName,
      constraint: index.elements.map { $0.path.joined(separator: ".") }, values: values,
      databaseObjectID: ids.first, conflictingObjectIDs: Array(ids.dropFirst()),
      databaseValues: nil, conflictingValues: [])
    let names = ids.map(\.description) + (known.count < objects.count ? ["new objects"] : [])
    var error = PersistenceError(
      .managedObjectConstraintMerge,
      "\(report.constraint.joined(separator: ", ")) of \(index.entityName) is to be unique, and after "
        + "the batch request would be \(report.valueTexts.joined(separator: ", ")) in "
        + names.joined(separator: ", "))
    error.entityName = index.entityName
    error.constraintConflicts = [report]
    return error
  }

  /// The error for a new object with the same values of a constraint as another object.
  ///
  /// - Parameter position: the position of the new object in the request.
  func constraintError(
    _ index: StoredIndex, _ rival: Reference, at position: Int
  ) -> PersistenceError {
    var error = constraintError(index, rival, [rival])
    error.message += ", and in object \(position) of the request"
    return error
  }

  private func value(
    of element: StoredIndex.Element, at reference: Reference
  ) throws -> MergeConflict.Value? {
    let storage = try storage(of: reference)
    guard let name = element.path.first, let field = storage.layout.index(of: name) else {
      return nil
    }
    return try writer.withRow(reference) { row -> MergeConflict.Value? in
      if element.kind == .reference {
        return row.reference(field).flatMap(session.permanentID).map { .object($0) }
      }
      var value = try row.value(field, in: writer)
      for name in element.path.dropFirst() {
        guard case .composite(let elements)? = value else { return nil }
        value = elements[name]
      }
      return value.map { .attribute($0) }
    } ?? nil
  }
}
