import QuireModel

// How new objects are made.

extension EntityDescription {
  /// The entity of that name in the context's model.
  public static func entity(
    forEntityName name: String, in context: ManagedObjectContext
  ) -> EntityDescription? {
    context.modelBinding?.entity(named: name)?.entity
  }

  /// Inserts a new object of the entity's class.
  ///
  /// - Throws: an error that names the entity when the context's model does not have it, or it is
  ///   abstract.
  @discardableResult
  public static func insertNewObject(
    forEntityName name: String, into context: ManagedObjectContext
  ) throws -> ManagedObject {
    guard let coordinator = context.persistentStoreCoordinator,
      let binding = coordinator.binding.entity(named: name)
    else {
      throw PersistenceError(
        .undefinedKey,
        context.persistentStoreCoordinator == nil
          ? "the context has no coordinator, so it knows no entity \(name)"
          : "the context's model has no entity \(name)")
    }
    let object = coordinator.classes.makeObject(context.home(ofNew: binding).outside)
    object.applyDefaults()
    try context.adopt(object)
    return object
  }
}

extension ManagedObject {
  /// A new object of the entity this class is registered for.
  ///
  /// When the context's model has no such entity the object belongs to no context, and the
  /// context's next fetch or save throws why.
  public convenience init(context: ManagedObjectContext) {
    if let binding = context.persistentStoreCoordinator?.classes.entity(of: Self.self) {
      let home = context.home(ofNew: binding)
      self.init(Origin(home.outside))
      applyDefaults()
      do {
        try context.adopt(new: self, home)
      } catch {
        context.report(error)
      }
    } else {
      self.init(Origin(ObjectHome(.unknown(named: Self.entityName))))
      context.report(
        PersistenceError(
          .undefinedKey,
          "the class \(Self.self) is not registered for an entity of the context's model: pass it to "
            + "the coordinator's classes"))
    }
  }
}
