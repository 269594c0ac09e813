import QuireModel

/// The way in which a ``FetchedResultsController`` names the section of an object.
enum SectionNaming<Result: ManagedObject> {
  /// All objects are in one section.
  case none
  /// The values at a path become names.
  case path([String])
  case function((Result) throws -> String)

  /// The path, if a fetch can read it with the objects, from the row or from the object with
  /// unsaved changes.
  ///
  /// - Returns: `nil` if the objects must be made to read it.
  /// - Throws: ``PersistenceError/Code/undefinedKey`` if a name is not that of a property;
  ///   ``PersistenceError/Code/persistentStoreUnsupportedRequestType`` if the path leads to
  ///   objects.
  func storedPath(of entityName: String, in context: ManagedObjectContext) throws -> [String]? {
    guard case .path(let names) = self, let model = context.modelBinding,
      let binding = model.entity(named: entityName)
    else { return nil }
    do {
      _ = try FetchPath(names, from: binding, in: model)
      guard binding.entity.leadsToOneValue(names[...], in: model) else { throw noName() }
      return names
    } catch let error as PersistenceError
      where error.code == .persistentStoreUnsupportedRequestType && error.key != nil
    {
      // A transient property is in no store.
      return nil
    }
  }

  func name(of object: Result) throws -> String {
    switch self {
    case .none: ""
    case .path(let names):
      try sectionName(try object.value(forKeyPath: names.joined(separator: ".")))
    case .function(let name): try name(object)
    }
  }
}

extension EntityDescription {
  /// Whether a path that exists ends at an attribute, or a count, with no to-many relationship on
  /// the way.
  fileprivate func leadsToOneValue(_ names: ArraySlice<String>, in model: ModelBinding) -> Bool {
    guard let name = names.first else { return false }
    guard let relationship = relationship(named: name) else { return true }
    let rest = names.dropFirst()
    if relationship.isToMany { return rest.first == FetchExpression.countOperator }
    let destination = model.entity(named: relationship.destination)?.entity
    return destination?.leadsToOneValue(rest, in: model) ?? false
  }
}

private func noName() -> PersistenceError {
  PersistenceError(
    .persistentStoreUnsupportedRequestType,
    "the key path of section names leads to objects or lists, not to a text, a number or a date")
}

/// A value as the name of a section: an absent value has the empty name, booleans are numbers.
func sectionName(_ value: Any?) throws -> String {
  switch flattened(value) {
  case nil: return ""
  case let text as String: return text
  case let flag as Bool: return flag ? "1" : "0"
  case is ManagedObject, is any Collection, is any KeyValueCoding:
    throw noName()
  case let value?: return valueText(value)
  }
}

func sectionName(_ value: PredicateValue?) throws -> String {
  switch value {
  case nil: ""
  case .value(let value)?: try sectionName(value.plainValue)
  case .object?, .collection?: try sectionName([])
  }
}
