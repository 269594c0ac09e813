import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Stores made, opened and migrated through coordinators.
enum QuireStacks {
  private static let fixture = "fixture.quire"

  /// An entity with a class, as the one an application works with.
  private final class Entity01: ManagedObject {
    @Managed var title: String
    @Managed var count: Int
  }

  // MARK: Timed

  static func create(_ run: Run) throws {
    let model = try TwentyEntities.model(version: 1)
    var sum = 0
    try run.time {
      for number in 0..<run.count { sum += try createOne(model, number) }
    }
    try run.expect(sum, run.count * (run.count - 1) / 2, "the counts that were fetched")
  }

  private static func createOne(_ model: ManagedObjectModel, _ number: Int) throws -> Int {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, classes: [Entity01.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    let object = Entity01(context: context)
    object.title = "A title"
    object.count = number
    try context.save()
    return try context.fetch(FetchRequest<Entity01>()).reduce(0) { $0 + $1.count }
  }

  static func openAndClose(_ run: Run) throws {
    let model = try TwentyEntities.model(version: 1)
    let url = run.url(fixture)
    var sum = 0
    try run.time {
      for _ in 0..<run.count {
        let coordinator = PersistentStoreCoordinator(
          managedObjectModel: model, classes: [Entity01.self])
        let store = try coordinator.addPersistentStore(type: .quire, at: url)
        let context = ManagedObjectContext()
        context.persistentStoreCoordinator = coordinator
        var request = FetchRequest<Entity01>()
        request.fetchLimit = 1
        for object in try context.fetch(request) { sum += object.count }
        try coordinator.remove(store)
      }
    }
    try run.expect(sum, run.count * TwentyEntities.count(1, 1), "the counts that were fetched")
  }

  static func migrate(_ run: Run) throws {
    let versions = try TwentyEntities.versions()
    for _ in 0..<run.count {
      let copy = run.url("store.quire")
      try? FileManager.default.removeItem(at: copy)
      try FileManager.default.copyItem(at: run.url(fixture), to: copy)
      let coordinator = PersistentStoreCoordinator(versionedModel: versions)
      let store = try run.time {
        try coordinator.addPersistentStore(type: .quire, at: copy, options: .migrating)
      }
      guard store.migrationReport != nil else { throw BenchmarkError("nothing was migrated") }
      try check(coordinator, run)
      try coordinator.remove(store)
    }
    run.record("migrate_small", run.count)
    run.record("migrate_small_outside", run.count, in: run.duration - run.diskDuration)
    try FileManager.default.removeItem(at: run.url(fixture))
  }

  // MARK: Fixture

  static func makeFixture(_ run: Run) throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try TwentyEntities.model(version: 1))
    let store = try coordinator.addPersistentStore(type: .quire, at: run.url(fixture))
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    var parents: [ManagedObject] = []
    for number in 1...TwentyEntities.entityCount {
      var objects: [ManagedObject] = []
      for key in 1...TwentyEntities.objectCount {
        let object = try EntityDescription.insertNewObject(
          forEntityName: TwentyEntities.name(number), into: context)
        try fill(object, number, key)
        if number > 1 { try object.setValue(parents[key - 1], forKey: "parent") }
        objects.append(object)
      }
      parents = objects
    }
    try context.save()
    try coordinator.remove(store)
  }

  private static func fill(_ object: ManagedObject, _ number: Int, _ key: Int) throws {
    try object.setValue(TwentyEntities.title(number, key), forKey: "title")
    try object.setValue(TwentyEntities.body(number, key), forKey: "body")
    try object.setValue(TwentyEntities.count(number, key), forKey: "count")
    try object.setValue(TwentyEntities.price(number, key), forKey: "price")
    try object.setValue(
      Date(timeIntervalSinceReferenceDate: TwentyEntities.createdAt(number, key)),
      forKey: "createdAt")
    try object.setValue(TwentyEntities.isOpen(number, key), forKey: "isOpen")
  }

  // MARK: Check

  private static func check(_ coordinator: PersistentStoreCoordinator, _ run: Run) throws {
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    var sum = TwentyEntities.Sum()
    for number in 1...TwentyEntities.entityCount {
      let request = FetchRequest<ManagedObject>(entityName: TwentyEntities.name(number))
      for object in try context.fetch(request) {
        let title = try object.value(forKey: number == 4 ? "name" : "title") as? String ?? ""
        let body = try object.value(forKey: "body") as? String ?? ""
        sum.add(
          textByteCount: title.utf8.count + body.utf8.count,
          price: try object.value(forKey: "price") as? Double ?? 0,
          createdAt: (try object.value(forKey: "createdAt") as? Date)?
            .timeIntervalSinceReferenceDate ?? 0,
          isOpen: try object.value(forKey: "isOpen") as? Bool ?? false,
          hasParent: number > 1 ? try object.value(forKey: "parent") != nil : false)
        try checkNew(object, number, run)
      }
    }
    try run.expect(sum, .expected(), "what the migration kept")
  }

  private static func checkNew(_ object: ManagedObject, _ number: Int, _ run: Run) throws {
    switch number {
    case 1: try run.expect(try object.value(forKey: "note") == nil, true, "an optional attribute")
    case 2:
      try run.expect(
        try object.value(forKey: "rating") as? Int, TwentyEntities.defaultRating, "rating")
    case 3:
      try run.expect(
        try object.value(forKey: "status") as? String, TwentyEntities.defaultStatus, "status")
    case 5:
      try run.expect(
        try object.value(forKey: "weight") as? Double, TwentyEntities.defaultWeight, "weight")
    default: break
    }
  }
}
