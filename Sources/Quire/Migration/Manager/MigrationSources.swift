import QuireModel
import QuireStorage

/// The objects that a migration reads, one by one.
struct MigrationSources {
  private let context: ManagedObjectContext
  private let session: StoreSession
  private let view: StoreView

  init(_ context: ManagedObjectContext) throws {
    self.context = context
    session = try context.firstSession()
    view = try session.latestView()
  }

  /// The number of objects of an entity, without those of its subentities.
  func count(of entity: EntityDescription) throws -> Int {
    guard let storage = storage(of: entity) else { return 0 }
    return try view.count(of: storage)
  }

  /// Calls `body` with each object that a mapping reads. Objects that are not held afterwards are
  /// released.
  func forEach(
    of entity: EntityDescription, _ mapping: EntityMapping, _ policy: EntityMigrationPolicy,
    _ manager: MigrationManager, _ body: (ManagedObject) throws -> Void
  ) throws {
    guard let expression = mapping.sourceExpression else { return try forEach(of: entity, body) }
    if case .expression(let expression) = expression,
      let request = try SourceRequest(expression)
    {
      return try forEach(request, mapping, body)
    }
    let value = try manager.value(
      of: expression, nil, mapping, policy, source: nil, destination: nil)
    switch value {
    case nil: return
    case let objects as [ManagedObject]:
      for object in objects { try body(object) }
    case let objects as Set<ManagedObject>:
      for object in objects.sorted(by: { $0.reference < $1.reference }) { try body(object) }
    case let other?:
      throw PersistenceError(
        .migration,
        "the source expression of \(mapping.name) gave a \(type(of: other)) instead of objects")
    }
  }

  private func forEach(
    _ request: SourceRequest, _ mapping: EntityMapping, _ body: (ManagedObject) throws -> Void
  ) throws {
    guard let entity = context.modelBinding?.entity(named: request.entityName)?.entity else {
      throw PersistenceError(
        .migration,
        "the source expression of \(mapping.name) reads \(request.entityName), which the source "
          + "model lacks")
    }
    if request.predicate == .constant(true) { return try forEach(of: entity, body) }
    try forEach(of: entity) { if try request.predicate.evaluate(with: $0) { try body($0) } }
  }

  private func forEach(
    of entity: EntityDescription, _ body: (ManagedObject) throws -> Void
  ) throws {
    guard let storage = storage(of: entity), let tree = try view.rows(of: storage) else { return }
    let number = storage.stored.number
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      let object = try session.object(at: Reference(entity: number, key: try cursor.key))
      if !object.hasRow, object.slots.isEmpty {
        object.fulfil(with: try RowBytes(try cursor.storedValue(), layout: storage.layout))
      }
      try body(object)
      isInside = try cursor.next()
    }
  }

  private func storage(of entity: EntityDescription) -> EntityStorage? {
    context.modelBinding?.entity(named: entity.name).flatMap { view.entities.byIndex[$0.index] }
  }
}
