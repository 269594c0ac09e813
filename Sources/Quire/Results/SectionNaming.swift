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
  /// - Returns: `nil` if the objects must be made to read it: a property is transient, or is none
  ///   of the model's, which the objects' class may answer.
  /// - Throws: ``PersistenceError/Code/undefinedKey`` if a name is not that of a property, and the
  ///   objects have no class of their own;
  ///   ``PersistenceError/Code/persistentStoreUnsupportedRequestType`` if the path refers to
  ///   objects.
  func storedPath(of entityName: String, in context: ManagedObjectContext) throws -> [String]? {
    guard case .path(let names) = self, let model = context.modelBinding,
      let binding = model.entity(named: entityName)
    else { return nil }
    do {
      _ = try FetchPath(names, from: binding, in: model)
      guard binding.entity.leadsToOneValue(names[...], in: model) else { throw noName() }
      return names
    } catch let error as PersistenceError {
      // A transient property is in no store.
      if error.code == .persistentStoreUnsupportedRequestType, error.key != nil { return nil }
      let type = context.persistentStoreCoordinator?.classes.type(for: binding)
      if error.code == .undefinedKey, type.map({ $0 != ManagedObject.self }) ?? false { return nil }
      throw error
    }
  }

  func name(of object: Result) throws -> String {
    switch self {
    case .none: ""
    case .path(let names): try sectionName(try value(at: names, of: object))
    case .function(let name): try name(object)
    }
  }
}

extension SectionNaming {
  private func value(at names: [String], of object: Result) throws -> Any? {
    do {
      return try object.value(forKeyPath: names.joined(separator: "."))
    } catch var error as PersistenceError where error.code == .undefinedKey {
      error.message = "\(error.message). \(uncallable(names, type(of: object)))"
      throw error
    }
  }

  /// Checks the names of a result: a transient property that no object has a value of, and that the
  /// class does not declare, is worked out by a getter, which cannot be called by its name.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey``.
  func check(_ sections: [ListSection], of objects: some Collection<ManagedObject>) throws {
    guard case .path(let names) = self, names.count == 1, sections.count == 1,
      sections[0].name.isEmpty, let object = objects.first,
      let slot = object.binding.slot(named: names[0]), object.binding.traits[slot].isTransient,
      type(of: object) != ManagedObject.self,
      !DeclaredClass.of(type(of: object)).properties.contains(where: { $0.name == names[0] })
    else { return }
    for object in objects where try object.value(forKey: names[0]) != nil { return }
    var error = PersistenceError(
      .undefinedKey,
      "no object has a value of \(object.entity.name).\(names[0]), a transient property that "
        + "\(type(of: object)) does not declare. \(uncallable(names, type(of: object)))")
    error.entityName = object.entity.name
    error.key = names[0]
    throw error
  }

  private func uncallable(_ names: [String], _ type: ManagedObject.Type) -> String {
    let path = names.joined(separator: "?.")
    return "What a getter of the class works out cannot be called by its name: give the controller "
      + "sectionName: \\\(type).\(path) in place of the key path, or let the class answer "
      + "value(forUndefinedKey:)"
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
    "the key path of section names refers to objects or lists, not to a text, a number or a date")
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
