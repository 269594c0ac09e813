import QuireModel

extension ManagedObjectModel {
  /// A request made of one of the model's templates, with values in place of its variables.
  ///
  /// ```swift
  /// let request = try model.fetchRequestFromTemplate(
  ///   withName: "cheap", substitutionVariables: ["PRICE": 100])
  /// let artworks = try context.fetch(request)
  /// ```
  ///
  /// The method that runs the request decides whether it returns objects, their number or something
  /// else; ``ManagedObjectContext/execute(_:)`` follows the template's
  /// ``FetchRequestTemplate/resultType``.
  ///
  /// - Parameters:
  ///   - variables: values by the names of variables, without the dollar signs. A path behind a
  ///     variable, `$ARTIST.name`, is followed at once from the object that stands for it. Values
  ///     that no variable stands for are ignored; `nil` is a value.
  /// - Throws: ``PersistenceError/Code/coreData`` (134060) when the model has no such template;
  ///   ``PersistenceError/Code/invalidExpression`` when a variable has no value, or the template's
  ///   format cannot be read; what following a path throws.
  public func fetchRequestFromTemplate<Result: ManagedObject>(
    withName name: String, substitutionVariables variables: [String: (any PredicateConvertible)?],
    resultClass: Result.Type = ManagedObject.self
  ) throws -> FetchRequest<Result> {
    guard let template = fetchRequestTemplate(forName: name) else {
      let names = fetchRequestTemplates.map(\.name).sorted()
      throw PersistenceError(
        .coreData,
        "the model has no fetch request template called \(name); "
          + (names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"))
    }
    do {
      return try FetchRequest<Result>(template, substitutionVariables: variables)
    } catch var error as PersistenceError {
      error.message = "fetch request template \(name): \(error.message)"
      throw error
    }
  }
}

extension FetchRequest {
  /// A request made of a template; see
  /// `ManagedObjectModel.fetchRequestFromTemplate(withName:substitutionVariables:resultClass:)`.
  public init(
    _ template: FetchRequestTemplate,
    substitutionVariables variables: [String: (any PredicateConvertible)?] = [:]
  ) throws {
    self.init(entityName: template.entityName)
    sortDescriptors = template.sortDescriptors
    fetchLimit = template.fetchLimit
    fetchBatchSize = template.fetchBatchSize
    includesSubentities = template.includesSubentities
    includesPendingChanges = template.includesPendingChanges
    includesPropertyValues = template.includesPropertyValues
    returnsObjectsAsFaults = template.returnsObjectsAsFaults
    returnsDistinctResults = template.returnsDistinctResults
    resultType = FetchRequestResultType(rawValue: template.resultType) ?? .managedObjects
    guard let format = template.predicateFormat else { return }
    do {
      predicate = try FetchPredicate(format: format).substituting(variables)
    } catch let error as PredicateFormatError {
      throw PersistenceError(.invalidExpression, error.description, underlying: error)
    } catch let error as FetchPredicateError {
      throw PersistenceError(error)
    }
  }
}

extension FetchPredicate {
  /// Like ``withSubstitutionVariables(_:)``, but also resolves the paths behind variables.
  fileprivate func substituting(
    _ variables: [String: (any PredicateConvertible)?]
  ) throws -> FetchPredicate {
    let missing = substitutionVariables.subtracting(variables.keys)
    if !missing.isEmpty { throw FetchPredicateError(.missingVariables(missing.sorted())) }
    return try substituting { name, path throws(any Error) -> FetchExpression? in
      guard let value = variables[name] else { return nil }
      // Paths are resolved now, as a row can be asked only for its own values.
      let known = path.isEmpty ? value?.predicateValue : try KeyValue(value).comparedValue(at: path)
      return FetchExpression(known)
    }
  }
}
