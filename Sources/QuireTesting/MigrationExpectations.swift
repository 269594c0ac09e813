import Quire

/// The number of objects that entities have after a migration, where it differs from that before.
///
/// ```swift
/// try fixture.check(migratingTo: model, counts: ["Person": 40])
/// try fixture.check(
///   migratingTo: model, counts: .init { $0 == "Person" ? $1 / 2 : nil })  // twins are merged
/// ```
///
/// If the count of an entity differs from the inferred one, only the number of its objects is
/// compared: their values and links are expected to have changed. They are still checked for
/// soundness.
public struct ExpectedCounts: Sendable, ExpressibleByDictionaryLiteral {
  private let count: @Sendable (_ entity: String, _ inferred: Int) -> Int?
  /// The entities of the dictionary: each must be one of the model's.
  let names: [String]

  /// - Parameter count: gets the name of a concrete entity of the current model and how many
  ///   objects it would have if none came or went; returns how many it has, or `nil` for that many.
  public init(_ count: @escaping @Sendable (_ entity: String, _ inferred: Int) -> Int?) {
    self.count = count
    names = []
  }

  /// Counts by name of entity; entities that are not named have as many objects as before.
  public init(_ counts: [String: Int]) {
    count = { entity, _ in counts[entity] }
    names = counts.keys.sorted()
  }

  public init(dictionaryLiteral elements: (String, Int)...) {
    self.init(Dictionary(elements) { _, last in last })
  }

  func count(of entity: String, inferred: Int) -> Int { count(entity, inferred) ?? inferred }
}

/// The expectations of a migration beyond the difference of the models.
package struct MigrationExpectations {
  var counts: ExpectedCounts
  /// Entities whose objects a mapping of the application's own makes.
  var changedEntities: Set<String>
  /// Properties and entities of former models whose values are dropped on purpose.
  var dropped: Set<String>
  var classes: [ManagedObject.Type]
  var options: PersistentStoreOptions

  package init(
    counts: ExpectedCounts = [:], changedEntities: Set<String> = [],
    dropped: Set<String> = [], classes: [ManagedObject.Type] = [],
    options: PersistentStoreOptions = .migrating
  ) {
    self.counts = counts
    self.changedEntities = changedEntities
    self.dropped = dropped
    self.classes = classes
    self.options = options
  }

  /// A failure for each renaming that may have been forgotten.
  func forgotten(in plan: MigrationPlan?) -> [String] {
    (plan?.possibleRenamings ?? []).filter { !dropped.contains($0.name) }.map {
      "\($0). If it goes on purpose, say so to the check: dropped: [\"\($0.name)\"]"
    }
  }

  /// A failure for each expectation about an entity of which the model has no objects.
  func nonsense(for model: ManagedObjectModel) -> [String] {
    (counts.names + changedEntities.sorted()).compactMap { name in
      guard let entity = model.entity(named: name) else {
        return "\(name) is expected of the fixture, but the current model has no such entity"
      }
      return entity.isAbstract
        ? "\(name) is expected of the fixture, but it is abstract and has no objects of its own"
        : nil
    }
  }
}
