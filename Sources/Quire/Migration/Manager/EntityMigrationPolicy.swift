import QuireModel

/// Executes the mapping of one entity. Override its methods for what expressions cannot do.
///
/// For each mapping there is one policy object. Its methods are called in this order, which is Core
/// Data's:
///
///     for each mapping     begin
///                          createDestinationInstances   for each source object
///                          endInstanceCreation
///     for each mapping     createRelationships          for each destination object associated
///                          endRelationshipCreation
///     for each mapping     performCustomValidation
///                          end
///
/// Objects of the two models are of one class (``MappingModel/objectClass``), at first plain
/// ``ManagedObject``s, regardless of the application's classes,
/// and are validated only at the end. An error of a method ends the migration, and the source is
/// unchanged.
///
/// Between two calls the manager may write new objects to the destination, which turns them into
/// faults. They stay registered in ``MigrationManager/destinationContext`` until the end of the
/// migration, so that a policy finds earlier objects there; frequently used ones are better kept in
/// ``MigrationManager/userInfo``.
nonisolated open class EntityMigrationPolicy: FunctionReceiver {
  /// A policy of one entity mapping: the manager makes a new one for each.
  public required init() {}

  /// The name of this class in mapping models; by default that of the class itself.
  open class var policyName: String { String(describing: self) }

  /// Called before all other methods for the mapping.
  open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

  /// Makes the destination objects of a source object.
  ///
  /// The default makes one object of the mapping's destination entity, with the values of its
  /// attribute mappings, and associates it with the source. An override that does not call `super`
  /// makes objects in ``MigrationManager/destinationContext``, and calls
  /// ``MigrationManager/associate(sourceInstance:withDestinationInstance:for:)`` for those whose
  /// relationships are to be set, or that are to be found by their source.
  open func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard let name = mapping.destinationEntityName else { return }
    let destination = try EntityDescription.insertNewObject(
      forEntityName: name, into: manager.destinationContext)
    // By index, as a mapping is large to copy.
    for index in mapping.attributeMappings.indices {
      do {
        let value: Any?
        switch mapping.attributeMappings[index].valueExpression {
        case nil: continue
        case .source(let path)?: value = try sInstance.value(forKeyPath: path)
        case let expression?:
          value = try manager.value(
            of: expression, mapping.attributeMappings[index], mapping, self, source: sInstance,
            destination: destination)
        }
        try destination.setValue(value, forKey: mapping.attributeMappings[index].name)
      } catch {
        throw mapping.located(error, mapping.attributeMappings[index], source: sInstance)
      }
    }
    try manager.associate(
      sourceInstance: sInstance, withDestinationInstance: destination, for: mapping)
  }

  /// Called when all objects of the mapping are made.
  open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws
  {}

  /// Sets the relationships of a destination object. Called when all objects of all mappings are
  /// made.
  ///
  /// The default sets those of the mapping's relationship mappings. A to-one relationship with
  /// several objects gets the first.
  open func createRelationships(
    forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard !mapping.relationshipMappings.isEmpty else { return }
    let source = try manager.sourceInstances(
      forEntityMappingName: mapping.name, destinationInstances: [dInstance]
    ).first
    for property in mapping.relationshipMappings {
      guard let expression = property.valueExpression else { continue }
      do {
        let value = try manager.value(
          of: expression, property, mapping, self, source: source, destination: dInstance)
        try manager.setRelationship(property.name, of: dInstance, to: value)
      } catch {
        throw mapping.located(error, property, source: source)
      }
    }
  }

  /// Called when all relationships of the mapping are set.
  open func endRelationshipCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {}

  /// Validates the result; an error ends the migration.
  open func performCustomValidation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {}

  /// Called after all other methods for the mapping.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// The result of `FUNCTION($entityPolicy, "selector:", …)` in a value expression.
  ///
  /// Swift has no runtime look-up of methods by name: a policy whose methods are used in
  /// expressions overrides this method and calls them.
  ///
  /// - Throws: by default, an error that names the selector.
  open func call(_ selector: String, _ arguments: [Any?]) throws -> Any? {
    throw PersistenceError.unrecognizedSelector(selector, of: self)
  }
}

extension EntityMapping {
  /// An error of the manager, with the mapping, the property and the source object it came from.
  /// What a closure threw itself stays as it is.
  fileprivate func located(
    _ error: any Error, _ property: PropertyMapping, source: ManagedObject?
  ) -> any Error {
    guard var located = error as? PersistenceError else { return error }
    let origin = source.map { " from \($0.objectID)" } ?? ""
    located.message += "; in the mapping \(name), for \(property.name)\(origin)"
    located.objectID = located.objectID ?? source?.objectID
    located.key = located.key ?? property.name
    return located
  }
}
