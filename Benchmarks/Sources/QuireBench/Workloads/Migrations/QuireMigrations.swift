import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The gallery brought to its next version by opening it.
enum QuireMigrations {
  static func makeFixture(_ run: Run) throws { try QuireObjects.makeAll(run) }

  static func rewrite(_ run: Run, _ name: String, _ outside: String) throws {
    run.operationCount = 1
    let coordinator = PersistentStoreCoordinator(
      versionedModel: try Gallery.versions(), classes: Gallery.classes)
    let url = run.url("store.quire")
    let store = try run.time {
      try coordinator.addPersistentStore(type: .quire, at: url, options: .migrating)
    }
    guard let report = store.migrationReport, report.plan.rewrittenObjectCount == run.count else {
      throw BenchmarkError("not every artwork was rewritten")
    }
    run.record(name, 1)
    run.record(outside, 1, in: run.duration - run.diskDuration)
    try coordinator.remove(store)
  }

  static func leaveRows(_ run: Run) throws {
    run.operationCount = 1
    let coordinator = PersistentStoreCoordinator(
      versionedModel: try Gallery.versions(), classes: Gallery.classes)
    let url = run.url("store.quire")
    let store = try run.time {
      try coordinator.addPersistentStore(type: .quire, at: url, options: .deferring)
    }
    guard let report = store.migrationReport, report.plan.deferredObjectCount == run.count else {
      throw BenchmarkError("not every artwork was left for later")
    }
    run.record("migrate_deferred", 1)
    run.record("migrate_deferred_outside", 1, in: run.duration - run.diskDuration)
    try coordinator.remove(store)
  }

  /// That nothing is lost, every artwork has its rating, and both ways between artist and artwork
  /// lead where they did.
  static func verify(_ run: Run) throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try Gallery.model(version: 2), classes: Gallery.classes)
    let store = try coordinator.addPersistentStore(type: .quire, at: run.url("store.quire"))
    let context = QuireObjects.context(of: coordinator)
    let artworks = try QuireObjects.fetchArtworks(context)
    try run.expect(
      QuireObjects.read(artworks), .expected(ArtworkData(count: run.count)), "what was kept")
    for (index, artwork) in artworks.enumerated() where index % 97 == 0 {
      try run.expect(
        try artwork.value(forKey: "rating") as? Int, Gallery.defaultRating, "rating")
      try run.expect(
        artwork.artist?.name ?? "", ArtworkData.artistName(ArtworkData.artist(index + 1)),
        "artist of artwork \(index + 1)")
      try run.expect(artwork.artist?.artworks.contains(artwork) ?? false, true, "the way back")
    }
    try coordinator.remove(store)
  }

  // MARK: Persons

  private static func withStore(
    _ model: ManagedObjectModel, _ url: URL, _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .quire, at: url)
    let context = QuireObjects.context(of: coordinator)
    try body(context)
    try coordinator.remove(store)
  }

  static func makePersons(_ run: Run) throws {
    try withStore(try Persons.source(), run.url("persons.quire")) { context in
      for id in 1...run.count {
        let person = try EntityDescription.insertNewObject(forEntityName: "Person", into: context)
        try person.setValue(Persons.firstname(id), forKey: "firstname")
        try person.setValue(Persons.lastname(id), forKey: "lastname")
        try person.setValue(Persons.type(id), forKey: "type")
      }
      try context.save()
    }
  }

  static func split(_ run: Run) throws {
    run.operationCount = 1
    let (source, destination) = (try Persons.source(), try Persons.destination())
    try run.time {
      let manager = MigrationManager(sourceModel: source, destinationModel: destination)
      try manager.migrateStore(
        from: run.url("persons.quire"), mapping: Persons.mapping, to: run.url("split.quire"))
    }
  }

  static func verifySplit(_ run: Run) throws {
    try withStore(try Persons.destination(), run.url("split.quire")) { context in
      let teachers = Persons.teacherCount(of: run.count)
      for (entity, count) in [("Teacher", teachers), ("Student", run.count - teachers)] {
        let people = try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
        try run.expect(people.count, count, entity)
        var names = Set<String>()
        for person in people {
          guard let name = try person.value(forKey: "lastname") as? String else {
            throw BenchmarkError("a person without a name")
          }
          names.insert(name)
        }
        let expected = (1...run.count).filter { (Persons.type($0) == 0) == (entity == "Teacher") }
        try run.expect(names, Set(expected.map(Persons.lastname)), "the names of each \(entity)")
      }
    }
  }
}
