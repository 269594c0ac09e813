import Quire

/// How many objects entities have after a migration, where that is not how many they had before.
///
/// ```swift
/// try fixture.check(migratingTo: model, counts: ["Person": 40])
/// try fixture.check(
///   migratingTo: model, counts: .init { $0 == "Person" ? $1 / 2 : nil })  // twins are merged
/// ```
///
/// An entity whose count differs from the inferred one is counted and no more: that its objects and
/// their links are no longer what they were is meant so. Its soundness is checked all the same.
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

/// What a migration is held to, beyond what the difference of the models says.
package struct MigrationExpectations {
  var counts: ExpectedCounts
  /// Entities whose objects a mapping of the application's own makes.
  var changedEntities: Set<String>
  var classes: [ManagedObject.Type]
  var options: PersistentStoreOptions

  package init(
    counts: ExpectedCounts = [:], changedEntities: Set<String> = [],
    classes: [ManagedObject.Type] = [], options: PersistentStoreOptions = .migrating
  ) {
    self.counts = counts
    self.changedEntities = changedEntities
    self.classes = classes
    self.options = options
  }

  /// What cannot be expected of any store, as the model has no such entity.
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
