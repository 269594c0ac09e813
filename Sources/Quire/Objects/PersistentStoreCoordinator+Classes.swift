import QuireModel

// The classes of objects are registered with the coordinator; stores do not use them.
extension PersistentStoreCoordinator {
  /// The class of an entity's objects.
  package final func objectClass(of entity: EntityDescription) -> ManagedObject.Type {
    binding.entity(named: entity.name).map { classes.type(for: $0) } ?? ManagedObject.self
  }

  /// A coordinator for a model that has one version.
  ///
  /// - Parameters:
  ///   - classes: the classes of the model's objects. Each names its entity
  ///     (``ManagedObject/modelEntityName``), or is named by it
  ///     (`EntityDescription.managedObjectClassName`); entities without a class have that of
  ///     their nearest ancestor, or the default class.
  ///   - defaultClass: the class of the objects of all other entities.
  ///   - transformers: the transformers of transformable attributes, by the names that the model
  ///     gives.
  public convenience init(
    managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = [],
    defaultClass: ManagedObject.Type = ManagedObject.self, transformers: ValueTransformers = [:]
  ) {
    self.init(
      versionedModel: VersionedModel(managedObjectModel), classes: classes,
      defaultClass: defaultClass, transformers: transformers)
  }

  /// A coordinator for a model with several versions, which migrates stores of earlier ones.
  ///
  /// - Parameters:
  ///   - versionedModel: the versions; objects are of the current one.
  ///   - classes: as ``init(managedObjectModel:classes:defaultClass:transformers:)``.
  ///   - defaultClass: as ``init(managedObjectModel:classes:defaultClass:transformers:)``.
  ///   - transformers: as ``init(managedObjectModel:classes:defaultClass:transformers:)``.
  public convenience init(
    versionedModel: VersionedModel, classes: [ManagedObject.Type] = [],
    defaultClass: ManagedObject.Type = ManagedObject.self, transformers: ValueTransformers = [:]
  ) {
    let binding = ModelBinding(versionedModel.current, transformers)
    self.init(
      versionedModel, binding, classes: binding.classes(classes, default: defaultClass))
  }

  // Sound: there are no other initializers than these.
  /// The classes of the model's objects.
  var classes: ObjectClasses { unsafeDowncast(registeredClasses, to: ObjectClasses.self) }

  /// Compares the typed properties of all classes with the model: names, types of attributes,
  /// to-one, to-many and order of relationships, and the classes that they refer to. Adding a store
  /// does the same first; a test may do it without one.
  ///
  /// One object of each class is made for that, without a context, once in a process.
  ///
  /// - Throws: ``PersistenceError/Code/coreData`` (134060) with one error for each difference in
  ///   ``PersistenceError/detailedErrors``.
  public func checkClasses() throws { try classes.check() }
}
