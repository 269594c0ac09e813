import QuireModel

/// Carries out the mapping of one entity. Subclass it to do what expressions cannot say.
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
/// Objects are plain ``ManagedObject``s of the two models, whatever classes the application has for
/// them, and nothing is validated before the end. An error that a method throws ends the migration,
/// and the source stays as it was.
///
/// Between two calls the manager may write new objects to the destination, which makes them faults.
/// They stay registered in ``MigrationManager/destinationContext`` until the end of the migration,
/// so that a policy finds there what was made before; what it looks for often it better keeps in
/// ``MigrationManager/userInfo``.
nonisolated open class EntityMigrationPolicy: FunctionReceiver {
  public required init() {}

  /// The name under which mapping models may ask for this class; that of the class unless
  /// overridden.
  open class var policyName: String { String(describing: self) }

  /// Called before anything is done for the mapping.
  open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

  /// Makes what becomes of a source object.
  ///
  /// Unless overridden: one object of the mapping's destination entity, with the values of its
  /// attribute mappings, associated with the source. Who overrides this without `super` makes
  /// objects in ``MigrationManager/destinationContext``, and calls
  /// ``MigrationManager/associate(sourceInstance:withDestinationInstance:for:)`` for those whose
  /// relationships are to be made, or that are to be found from their source.
  open func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard let name = mapping.destinationEntityName else { return }
    let destination = try EntityDescription.insertNewObject(
      forEntityName: name, into: manager.destinationContext)
    // By index, as a mapping has many parts to copy.
    for index in mapping.attributeMappings.indices {
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
    }
    try manager.associate(
      sourceInstance: sInstance, withDestinationInstance: destination, for: mapping)
  }

  /// Called when all objects of the mapping were made.
  open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws
  {}

  /// Sets the relationships of a destination object, when all objects of all mappings were made.
  ///
  /// Unless overridden: sets what the mapping's relationship mappings say. A to-one relationship
  /// that is given several objects gets the first.
  open func createRelationships(
    forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    guard !mapping.relationshipMappings.isEmpty else { return }
    let source = try manager.sourceInstances(
      forEntityMappingName: mapping.name, destinationInstances: [dInstance]
    ).first
    for property in mapping.relationshipMappings {
      guard let expression = property.valueExpression else { continue }
      let value = try manager.value(
        of: expression, property, mapping, self, source: source, destination: dInstance)
      try manager.setRelationship(property.name, of: dInstance, to: value)
    }
  }

  /// Called when all relationships of the mapping were made.
  open func endRelationshipCreation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {}

  /// A last look at the outcome; what it throws ends the migration.
  open func performCustomValidation(
    forMapping mapping: EntityMapping, manager: MigrationManager
  ) throws {}

  /// Called last.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Answers `FUNCTION($entityPolicy, "selector:", …)` of a value expression.
  ///
  /// There is no runtime that would find a method by its name: a policy whose methods expressions
  /// name overrides this and calls them.
  ///
  /// - Throws: unless overridden, an error that names the selector.
  open func call(_ selector: String, _ arguments: [Any?]) throws -> Any? {
    throw PersistenceError.unrecognizedSelector(selector, of: self)
  }
}
