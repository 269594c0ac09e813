import QuireModel

// Making of new objects.

extension EntityDescription {
  /// The entity of that name in the context's model; `nil` when there is none, or the context has
  /// no coordinator.
  public static func entity(
    forEntityName name: String, in context: ManagedObjectContext
  ) -> EntityDescription? {
    context.modelBinding?.entity(named: name)?.entity
  }

  /// Inserts a new object of the entity's class.
  ///
  /// - Throws: ``PersistenceError/Code/undefinedKey`` when the context's model does not have the
  ///   entity, or the context has no coordinator; ``PersistenceError/Code/coreData`` when the
  ///   entity is abstract. Core Data raises an exception in either case.
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
    let object = coordinator.classes.makeObject(context.arena(ofNew: binding).outside)
    object.applyDefaults()
    object.apply(coordinator.classes.computedDefaults(of: binding))
    try context.adopt(object)
    return object
  }
}

/// The arenas in which the objects of a class are made, remembered for the next one.
///
/// Sound: the context keeps its arenas, and forgets this when it gets another coordinator, with
/// whose model all of it may be different.
struct ObjectMaking {
  let type: ManagedObject.Type
  /// The arena of objects that are new in the context, and that of objects not yet inserted.
  let arena: Unmanaged<ObjectArena>
  let outside: Unmanaged<ObjectArena>
  let isAbstract: Bool
  // Sound: the coordinator's classes keep it.
  fileprivate let uncountedDefaults: Unmanaged<ComputedDefaults>?

  var computedDefaults: ComputedDefaults? { uncountedDefaults?.takeUnretainedValue() }
}

extension ManagedObjectContext {
  /// The arenas for a class.
  ///
  /// - Returns: `nil` where the class stands for no entity of the model.
  final func making(of type: ManagedObject.Type) -> ObjectMaking? {
    if let recentMaking, recentMaking.type == type { return recentMaking }
    return findMaking(of: type)
  }

  @inline(never)
  private final func findMaking(of type: ManagedObject.Type) -> ObjectMaking? {
    guard let classes = persistentStoreCoordinator?.classes,
      let binding = classes.entity(of: type)
    else { return nil }
    let arena = arena(ofNew: binding)
    recentMaking = ObjectMaking(
      type: type, arena: .passUnretained(arena), outside: .passUnretained(arena.outside),
      isAbstract: binding.entity.isAbstract,
      uncountedDefaults: classes.computedDefaults(of: binding).map { .passUnretained($0) })
    return recentMaking
  }
}

extension PersistenceError {
  static func isAbstract(_ entity: EntityDescription) -> PersistenceError {
    PersistenceError(
      .coreData, "the entity \(entity.name) is abstract: insert one of its subentities")
  }
}
