import QuireModel

extension MigrationManager {
  /// The value of an expression in a mapping.
  final func value(
    of expression: MappingExpression, _ property: PropertyMapping?, _ mapping: EntityMapping,
    _ policy: EntityMigrationPolicy, source: ManagedObject?, destination: ManagedObject?
  ) throws -> Any? {
    switch expression {
    case .source(let path): return try source?.value(forKeyPath: path)
    case .destinations(let path, let mappingName):
      let found = try source?.value(forKeyPath: path)
      return try destinationInstances(
        forEntityMappingName: mappingName, sourceInstances: try objects(in: found, path))
    case .relationship(let name):
      let found = try source?.value(forKey: name)
      return try successors(of: try objects(in: found, name), for: property, of: destination)
    case .closure(let body):
      return try body(
        MappingArguments(
          manager: self, entityMapping: mapping, propertyMapping: property, entityPolicy: policy,
          source: source, destination: destination))
    case .expression(let expression):
      let outer = evaluated
      evaluated = (property, destination)
      defer { evaluated = outer }
      return try expression.expressionValue(
        with: source,
        context: [
          "manager": self, "source": source,
          "destination": destination, "entityMapping": mapping, "propertyMapping": property,
          "entityPolicy": policy,
        ])
    }
  }

  /// The destination objects of source objects in all mappings that a relationship may have, in the
  /// order of the sources; each once.
  private func successors(
    of sources: [ManagedObject], for property: PropertyMapping?, of object: ManagedObject?
  ) throws -> [ManagedObject] {
    let successors = try destinationInstances(ofSources: sources)
    guard let property, let object else { return successors }
    return try successors.filter(accepting(property.name, of: object))
  }

  /// The result of Core Data's function for a relationship, of which the name is not needed: what
  /// all mappings made of the source objects.
  ///
  /// - Throws: an error when they made nothing that the relationship to be set can refer to.
  private func successorsByFunction(of sources: [ManagedObject]) throws -> [ManagedObject] {
    let (property, object) = evaluated
    let found = try successors(of: sources, for: property, of: object)
    if found.isEmpty, let property, let object,
      let relationship = object.entity.relationship(named: property.name),
      let wanted = destinationModel.entity(named: relationship.destination),
      let other = try destinationInstances(ofSources: sources).first,
      !other.entity.isKindOf(entity: wanted)
    {
      throw PersistenceError(
        .unacceptableValue,
        "\(object.entity.name).\(property.name) refers to \(wanted.name), and the mappings made "
          + "only objects of other entities of its sources, such as \(other.objectID)")
    }
    return found
  }

  /// The destination objects of source objects in all mappings, in the order of the sources; each
  /// once.
  private func destinationInstances(ofSources sources: [ManagedObject]) throws -> [ManagedObject] {
    let found = try sources.flatMap { source in
      try (mappingNames[source.reference.entity] ?? []).flatMap { name in
        try destinationInstances(forEntityMappingName: name, sourceInstances: [source])
      }
    }
    return unique(found)
  }

  /// Whether a relationship of a destination object may have another object as its destination,
  /// without taking it from a third one.
  private func accepting(
    _ name: String, of object: ManagedObject
  ) -> (ManagedObject) throws -> Bool {
    guard let relationship = object.entity.relationship(named: name),
      let entity = destinationModel.entity(named: relationship.destination)
    else { return { _ in true } }
    let inverse = destinationModel.inverse(of: relationship)?.relationship
    return { candidate in
      guard candidate.entity.isKindOf(entity: entity) else { return false }
      guard let inverse, !inverse.isToMany else { return true }
      let holder = try candidate.value(forKey: inverse.name) as? ManagedObject
      return holder == nil || holder === object
    }
  }

  /// The objects in a value: itself, or its members.
  final func objects(in value: Any?, _ path: String) throws -> [ManagedObject] {
    switch value {
    case nil: return []
    case let one as ManagedObject: return [one]
    case let several as [ManagedObject]: return several
    case let several as Set<ManagedObject>:
      return several.sorted { $0.reference < $1.reference }
    case let other?:
      throw PersistenceError(
        .unacceptableValue, "\(path) refers to a \(type(of: other)) instead of objects")
    }
  }
}

extension MigrationManager: KeyValueCoding, FunctionReceiver {
  final func answer(toKey key: String) throws -> Any? {
    switch key {
    case "sourceContext": return sourceContext
    case "destinationContext": return destinationContext
    case "currentEntityMapping": return currentEntityMapping
    case "migrationProgress": return migrationProgress
    case "userInfo": return userInfo
    default: throw PersistenceError(.undefinedKey, "a migration manager has no property \(key)")
    }
  }

  final func answer(to selector: String, _ arguments: [Any?]) throws -> Any? {
    func text(_ index: Int) throws -> String {
      guard let text = arguments[index] as? String else {
        throw PersistenceError(
          .invalidExpression, "argument \(index + 1) of \(selector) is not a text")
      }
      return text
    }
    switch selector {
    case "destinationInstancesForEntityMappingNamed:sourceInstances:":
      return try destinationInstances(
        forEntityMappingName: try text(0), sourceInstances: try objects(in: arguments[1], selector))
    case "sourceInstancesForEntityMappingNamed:destinationInstances:":
      return try sourceInstances(
        forEntityMappingName: try text(0),
        destinationInstances: try objects(in: arguments[1], selector))
    case "destinationInstancesForSourceRelationshipNamed:sourceInstances:":
      return try successorsByFunction(of: try objects(in: arguments[1], selector))
    case SourceRequest.selector:
      return try SourceRequest(entityName: try text(0), format: try text(1)).fetchRequest
    default: throw PersistenceError.unrecognizedSelector(selector, of: self)
    }
  }
}

/// A request for source objects in the form of Core Data's source expressions: the objects of one
/// entity, without those of its subentities, that match a predicate.
struct SourceRequest {
  static let selector = "fetchRequestForSourceEntityNamed:predicateString:"

  let entityName: String
  let predicate: FetchPredicate

  init(entityName: String, format: String) throws {
    self.entityName = entityName
    do {
      predicate = try FetchPredicate(format: format)
    } catch {
      throw PersistenceError(
        .invalidExpression, "the predicate of a source expression cannot be read: \(format)",
        underlying: error)
    }
  }

  /// Parses Core Data's usual source expression,
  ///
  ///     FETCH(FUNCTION($manager, "fetchRequest…", "Entity", "predicate"),
  ///       $manager.sourceContext, NO)
  ///
  /// so that its objects can be read one by one; `nil` for any other expression.
  init?(_ expression: FetchExpression) throws {
    guard case .fetch(let request, context: _, countOnly: false) = expression,
      case .call(.variable("manager"), selector: SourceRequest.selector, let arguments) = request,
      arguments.count == 2,
      case .constant(.value(.string(let entityName))) = arguments[0],
      case .constant(.value(.string(let format))) = arguments[1]
    else { return nil }
    try self.init(entityName: entityName, format: format)
  }

  var fetchRequest: FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: entityName)
    request.predicate = predicate
    request.includesSubentities = false
    return request
  }
}
