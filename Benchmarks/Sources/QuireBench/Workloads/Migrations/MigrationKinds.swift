import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One store, migrated in one way after the other: what each kind of change costs a row.
enum MigrationKinds {
  /// A kind of change: the model that it leads to, and how the store gets there.
  struct Kind {
    let name: String
    let model: @Sendable () throws -> ManagedObjectModel
    var options = PersistentStoreOptions.migrating
    /// Carried out by a manager, instead of by opening the store.
    var mapping: MappingModel?
  }

  /// What the model has of items, beside what all models have.
  private struct Shape {
    var price = "price"
    var hasNote = true
    var hasRating = false
    var isTitleRequired = false
    var hasManyOwners = false
    var isOrdered = false
  }

  private static func model(_ change: (inout Shape) -> Void = { _ in }) throws -> ManagedObjectModel
  {
    var shape = Shape()
    change(&shape)
    return try ManagedObjectModel {
      Entity("Owner") {
        Attribute("name", .string)
        Relationship(
          "items", toMany: "Item", inverse: "owner", ordered: shape.isOrdered)
      }
      Entity("Item") {
        if shape.isTitleRequired {
          Attribute("title", .string, optional: false, default: "")
        } else {
          Attribute("title", .string)
        }
        Attribute(shape.price, .double, renamedFrom: "price")
        Attribute("createdAt", .date)
        if shape.hasNote { Attribute("note", .string) }
        if shape.hasRating {
          Attribute("rating", .integer16, optional: false, default: .integer(3))
        }
        if shape.hasManyOwners {
          Relationship("owner", toMany: "Owner", inverse: "items")
        } else {
          Relationship("owner", toOne: "Owner", inverse: "items")
        }
      }
    }
  }

  static let all: [Kind] = [
    Kind(name: "rename") { try model { $0.price = "cost" } },
    Kind(name: "defer") { try model { $0.hasRating = true } }.deferring,
    Kind(name: "add") { try model { $0.hasRating = true } },
    Kind(name: "remove") { try model { $0.hasNote = false } },
    Kind(name: "require") { try model { $0.isTitleRequired = true } },
    Kind(name: "order") { try model { $0.isOrdered = true } },
    Kind(name: "to_many") { try model { $0.hasManyOwners = true } },
    Kind(name: "mapping", model: { try model { $0.hasRating = true } }, mapping: mapping),
    Kind(name: "policy", model: { try model { $0.hasRating = true } }, mapping: policy),
  ]

  /// Every attribute and both sides of the relationship, through objects.
  private static var mapping: MappingModel {
    var owner = EntityMapping(from: "Owner", to: "Owner", .copyEntityMappingType)
    owner.attributeMappings = [PropertyMapping("name", source: "name")]
    var item = EntityMapping(from: "Item", to: "Item", .transformEntityMappingType)
    item.attributeMappings = ["title", "price", "createdAt", "note"].map {
      PropertyMapping($0, source: $0)
    }
    item.relationshipMappings = [
      PropertyMapping("owner", destinationsOf: "owner", in: "OwnerToOwner")
    ]
    return MappingModel(entityMappings: [owner, item])
  }

  /// The same, with a policy that sets the new attribute.
  private static var policy: MappingModel {
    var model = mapping
    model.entityMappings[1].entityMigrationPolicy = RatingPolicy.self
    return model
  }

  private final class RatingPolicy: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let item = try EntityDescription.insertNewObject(
        forEntityName: "Item", into: manager.destinationContext)
      for key in ["title", "price", "createdAt", "note"] {
        try item.setValue(try sInstance.primitiveValue(forKey: key), forKey: key)
      }
      let price = try sInstance.primitiveValue(forKey: "price") as? Double ?? 0
      try item.setValue(price > 5_000 ? 5 : 3, forKey: "rating")
      try manager.associate(
        sourceInstance: sInstance, withDestinationInstance: item, for: mapping)
    }
  }

  // MARK: Running

  static func makeFixture(_ run: Run) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try model())
    let store = try coordinator.addPersistentStore(type: .quire, at: run.url("items.quire"))
    let context = QuireObjects.context(of: coordinator)
    let owners = try (1...1_000).map { id in
      let owner = try EntityDescription.insertNewObject(forEntityName: "Owner", into: context)
      try owner.setValue(ArtworkData.artistName(id), forKey: "name")
      return owner
    }
    for id in 1...run.count {
      let item = try EntityDescription.insertNewObject(forEntityName: "Item", into: context)
      try item.setValue("Untitled study no. \(id.padded(5))", forKey: "title")
      try item.setValue(ArtworkData.price(id), forKey: "price")
      try item.setValue(
        Date(timeIntervalSinceReferenceDate: ArtworkData.createdAt(id)), forKey: "createdAt")
      try item.setValue(owners[id % owners.count], forKey: "owner")
    }
    try context.save()
    try coordinator.remove(store)
  }

  static func migrate(_ run: Run) throws {
    let copy = run.url("copy.quire")
    for kind in all {
      try FileManager.default.copyItem(at: run.url("items.quire"), to: copy)
      // The copy is not the migration's to write.
      DiskCalls.flush()
      let (old, new) = (try model(), try kind.model())
      let before = run.duration
      if let mapping = kind.mapping {
        try run.time {
          try MigrationManager(sourceModel: old, destinationModel: new)
            .migrateStore(from: copy, mapping: mapping, to: copy)
        }
      }
      let versions = VersionedModel(versions: [.init("old", old), .init("new", new)])
      guard let versions else { throw BenchmarkError("two versions of one name") }
      let coordinator = PersistentStoreCoordinator(versionedModel: versions)
      let open = {
        try coordinator.addPersistentStore(type: .quire, at: copy, options: kind.options)
      }
      let store = kind.mapping == nil ? try run.time(open) : try open()
      run.record("migrate_kind_" + kind.name, run.count, in: run.duration - before)
      let context = QuireObjects.context(of: coordinator)
      let items = FetchRequest<ManagedObject>(entityName: "Item")
      try run.expect(try context.count(for: items), run.count, "items after \(kind.name)")
      try coordinator.remove(store)
      try FileManager.default.removeItem(at: copy)
    }
    try FileManager.default.removeItem(at: run.url("items.quire"))
  }
}

extension MigrationKinds.Kind {
  fileprivate var deferring: Self {
    var kind = self
    kind.options = .deferring
    return kind
  }
}
