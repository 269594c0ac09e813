import Quire
import QuireModel
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a refusal says, and how long it takes to say it.
@Suite struct MigrationRefusalTests {
  private func attempt(
    _ old: ManagedObjectModel, _ versions: VersionedModel,
    _ options: PersistentStoreOptions = .migrating,
    _ fill: (ManagedObjectContext) throws -> Void
  ) throws -> PersistenceError? {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let coordinator = PersistentStoreCoordinator(
        versionedModel: versions.versions.first.flatMap {
          VersionedModel(versions: [.init($0.name, old)])
        } ?? VersionedModel(old))
      let store = try coordinator.addPersistentStore(type: .quire, at: url)
      let context = GotchaHome.context(of: coordinator)
      try fill(context)
      try context.save()
      try coordinator.remove(store)
      return #expect(throws: PersistenceError.self) {
        try PersistentStoreCoordinator(versionedModel: versions)
          .addPersistentStore(type: .quire, at: url, options: options)
      }
    }
  }

  @Test func `a refusal names what is in the way in all entities, certain or because of objects`()
    throws
  {
    let old = try ManagedObjectModel {
      Entity("A") { Attribute("x", .string) }
      Entity("B") { Attribute("x", .string) }
      Entity("C") { Attribute("x", .string) }
      Entity("D") { Attribute("x", .string) }
    }
    let new = try ManagedObjectModel {
      Entity("A") { Attribute("x", .date) }
      Entity("B") {
        Attribute("x", .string)
        Attribute("y", .string, optional: false)
      }
      Entity("C") { Attribute("x", .uuid) }
      Entity("D") {
        Attribute("x", .string)
        Attribute("y", .string, optional: false)
      }
    }
    let error = try attempt(old, try MigrationTrial.versioned(old, new)) {
      try $0.insert("A")
      try $0.insert("B")
    }
    #expect(error?.code == .inferredMappingModel)
    let names = error?.message.split(separator: "\n").dropFirst()
      .compactMap { $0.split(separator: " ").first.map(String.init) }
    // D has no objects that would lack a value.
    #expect(names?.sorted() == ["A.x", "B.y", "C.x"])
  }

  @Test func `over every version, a refusal names all steps that cannot be inferred`() throws {
    func model(_ type: AttributeType) throws -> ManagedObjectModel {
      try ManagedObjectModel { Entity("A") { Attribute("x", type) } }
    }
    let versions = try #require(
      VersionedModel(versions: [
        .init("1", try model(.string)), .init("2", try model(.date)), .init("3", try model(.uuid)),
      ]))
    var options = PersistentStoreOptions.migrating
    options.migrationRoute = .everyVersion
    let error = try attempt(try model(.string), versions, options) { try $0.insert("A") }
    #expect(error?.code == .inferredMappingModel)
    #expect(error?.message.contains("step 1 of 2, 1 → 2: the mapping cannot be inferred") == true)
    #expect(error?.message.contains("step 2 of 2, 2 → 3: the mapping cannot be inferred") == true)
  }

  /// Ninety versions of forty entities, of which the middle one is no way through: a search took
  /// five seconds of processor time.
  @Test func `a search over ninety versions that ends nowhere is soon at its end`() throws {
    let versions = try (0..<90).map { number in
      let model = try ManagedObjectModel {
        for entity in 0..<40 {
          Entity("E\(entity)") {
            for attribute in 0..<8 { Attribute("a\(attribute)", .string) }
            Attribute("broken", number < 45 || entity != 3 ? .string : .date)
            if entity == number % 40 { Attribute("n\(number)", .string) }
            Relationship("next", toOne: "E\((entity + 1) % 40)", inverse: "previous")
            Relationship("previous", toMany: "E\((entity + 39) % 40)", inverse: "next")
          }
        }
      }
      return VersionedModel.Version("\(number)", model)
    }
    let model = try #require(VersionedModel(versions: versions))
    let clock = ContinuousClock()
    var duration = Duration.zero
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let coordinator = PersistentStoreCoordinator(
        versionedModel: try #require(model.endingAt("0")))
      let store = try coordinator.addPersistentStore(type: .quire, at: url)
      try coordinator.remove(store)
      let start = clock.now
      let error = #expect(throws: PersistenceError.self) {
        try PersistentStoreCoordinator(versionedModel: model)
          .addPersistentStore(type: .quire, at: url, options: .migrating)
      }
      duration = clock.now - start
      #expect(error?.code == .inferredMappingModel)
      #expect(error?.message.contains("E3.broken") == true)
    }
    print("a refusal after a search over 90 versions: \(duration)")
  }

  @Test func `a store of several merged models that is refused hints at merging`() throws {
    let library = try ManagedObjectModel { Entity("Book") { Attribute("title", .string) } }
    let music = try ManagedObjectModel { Entity("Song") { Attribute("title", .string) } }
    let merged = try ManagedObjectModel(byMerging: [library, music])
    for options in [PersistentStoreOptions(), .migrating] {
      let versions = try #require(VersionedModel(versions: [.init("1", library)]))
      let error = try withTemporaryFolder { folder in
        let url = folder.appending(path: "store.quire")
        let coordinator = PersistentStoreCoordinator(
          versionedModel: try #require(VersionedModel(versions: [.init("merged", merged)])))
        let store = try coordinator.addPersistentStore(type: .quire, at: url)
        try coordinator.remove(store)
        return #expect(throws: PersistenceError.self) {
          try PersistentStoreCoordinator(versionedModel: versions)
            .addPersistentStore(type: .quire, at: url, options: options)
        }
      }
      #expect(error?.message.contains("also has the entities Song") == true, "\(error as Any)")
      #expect(error?.message.contains("byMerging:") == true)
    }
    // What merely differs has nothing to do with merging.
    let other = try ManagedObjectModel { Entity("Book") { Attribute("name", .string) } }
    let error = try attempt(library, VersionedModel(other), [:]) { try $0.insert("Book") }
    #expect(error?.message.contains("byMerging:") == false)
  }
}
