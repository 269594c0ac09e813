import Quire
import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct MigrationPlanTests {
  private static func versions(
    _ old: ManagedObjectModel, _ new: ManagedObjectModel
  ) throws -> VersionedModel {
    try #require(VersionedModel(versions: [.init("old", old), .init("new", new)]))
  }

  /// The plan for a store of the old model.
  private func plan(
    _ old: ManagedObjectModel, _ new: ManagedObjectModel,
    _ fill: (ManagedObjectContext) throws -> Void
  ) throws -> MigrationPlan {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let versions = try Self.versions(old, new)
      let coordinator = PersistentStoreCoordinator(
        versionedModel: try #require(versions.endingAt("old")))
      let store = try coordinator.addPersistentStore(type: .quire, at: url)
      let context = GotchaHome.context(of: coordinator)
      try fill(context)
      try context.save()
      try coordinator.remove(store)
      let before = try Data(contentsOf: url)
      let plan = try #require(try MigrationPlan.plan(forStoreAt: url, to: versions))
      #expect(try Data(contentsOf: url) == before)
      if plan.obstacles.isEmpty {
        let migrating = PersistentStoreCoordinator(versionedModel: versions)
        let migrated = try migrating.addPersistentStore(type: .quire, at: url, options: .migrating)
        #expect(migrated.migrationReport?.plan == plan, "what was done is what was planned")
      }
      return plan
    }
  }

  private func insert(
    _ entity: String, _ values: [String: Any], _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    let object = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return object
  }

  @Test func `a plan says of each entity and index what is done, with rows and bytes`() throws {
    let old = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Relationship("works", toMany: "Work", inverse: "artist")
        Relationship("friends", toMany: "Artist", inverse: "friends")
      }
      Entity("Work") { Relationship("artist", toOne: "Artist", inverse: "works") }
      Entity("Gone") {
        Attribute("x", .string)
        Relationship("others", toMany: "Gone")
      }
    }
    let new = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Relationship("artworks", toMany: "Work", inverse: "artists", renamedFrom: "works")
        Relationship("friends", toMany: "Artist", inverse: "friends")
      }
      Entity("Work") {
        Attribute("rating", .integer16, optional: false, default: 3)
        Relationship(
          "artists", toMany: "Artist", inverse: "artworks", renamedFrom: "artist")
      }
      Entity("Added") { Relationship("all", toMany: "Added") }
    }
    let plan = try plan(old, new) { context in
      let artists = try (0..<3).map { try insert("Artist", ["name": "\($0)"], context) }
      for number in 0..<600 { _ = try insert("Work", ["artist": artists[number % 3]], context) }
      try artists[0].setValue(Set([artists[1]]), forKey: "friends")
      let gone = try insert("Gone", ["x": "x"], context)
      try gone.setValue(Set([gone]), forKey: "others")
    }
    let actions = plan.entities.map { "\($0.name) \($0.action) \($0.objectCount)" }
    #expect(actions == ["Added added 0", "Artist kept 3", "Gone removed 1", "Work rewritten 600"])
    let indexes = plan.indexes.map {
      "\($0.entityName).\($0.name) \($0.sourceName ?? "nothing") \($0.action) \($0.entryCount)"
    }
    #expect(
      indexes == [
        "Added.all nothing added 0", "Artist.artworks works rebuilt 600",
        "Artist.friends friends kept 2", "Gone.others others removed 1",
        "Work.artists artist rebuilt 600",
      ])
    let work = try #require(plan.entities.last)
    #expect(work.byteCount >= 3 * 4096 && work.byteCount.isMultiple(of: 4096))
    #expect(work.estimatedMilliseconds > 0 && plan.entities[1].estimatedMilliseconds == 0)
    #expect(plan.rewrittenObjectCount == 600 && plan.rebuiltEntryCount == 1200)
    #expect(plan.estimatedDuration > .milliseconds(2))
    #expect(
      plan.writtenByteCount == work.byteCount
        + plan.indexes(.rebuilt).reduce(0) { $0 + $1.byteCount })
  }

  @Test func `a plan prints as a table with aligned columns`() throws {
    let old = try ManagedObjectModel {
      Entity("Note") {
        Attribute("text", .string)
        Attribute("color", .string)
        Relationship("tags", toMany: "Label", inverse: "notes")
      }
      Entity("Label") { Relationship("notes", toMany: "Note", inverse: "tags") }
    }
    let new = try ManagedObjectModel {
      Entity("Note") {
        Attribute("body", .string, renamedFrom: "text")
        Attribute("hexColor", .string)
        Relationship("tags", toMany: "Tag", inverse: "notes")
      }
      Entity("Tag", renamedFrom: "Label") { Relationship("notes", toMany: "Note", inverse: "tags") }
    }
    let plan = try plan(old, new) { context in
      for number in 0..<20 { _ = try insert("Note", ["text": "\(number)"], context) }
      _ = try insert("Label", [:], context)
    }
    #expect(
      plan.description == """
        old → new

                     entity  rows  bytes    about  changes
          rewritten  Note      20  4,096  <0.1 ms  + hexColor, - color, text → body
          kept       Tag        1  4,096           was Label

                links of   links  bytes  about  changes
          kept  Note.tags      0
          kept  Tag.notes      0

        Was anything renamed? These values are dropped:
          Note.color goes, and hexColor comes. If it was renamed:
            @Managed(renamedFrom: "color") var hexColor

        To write: 20 rows, 0 links, 4,096 bytes; about 2.0 ms.
        """)
  }

  @Test(arguments: [0, 2])
  func
    `an attribute becomes required where every object has a value, and else says how many lack it`(
      absentCount: Int
    ) throws
  {
    let old = try ManagedObjectModel {
      Entity("Note") {
        Attribute("text", .string)
        Attribute("data", .binaryData, storedExternally: true)
      }
    }
    let new = try ManagedObjectModel {
      Entity("Note") {
        Attribute("body", .string, optional: false, renamedFrom: "text")
        Attribute("data", .binaryData, optional: false, storedExternally: true)
      }
    }
    let plan = try plan(old, new) { context in
      for number in 0..<5 {
        let data = Data(repeating: 1, count: 200_000)
        _ = try insert("Note", ["text": "\(number)", "data": data], context)
      }
      for _ in 0..<absentCount {
        _ = try insert("Note", ["data": Data([1])], context)
      }
    }
    if absentCount == 0 {
      #expect(plan.obstacles.isEmpty && plan.entities(.kept).map(\.name) == ["Note"])
    } else {
      #expect(plan.obstacles.map(\.propertyName) == ["body"])
      #expect(plan.obstacles.map(\.objectCount) == [absentCount])
      #expect(throws: PersistenceError.self) { try plan.checkObstacles() }
    }
  }

  @Test func `a plan lists obstacles with the reason and the remedy`() throws {
    let old = try ManagedObjectModel {
      Entity("Note") {
        Attribute("x", .string)
        Relationship("others", toMany: "Note")
      }
      Entity("Empty") { Attribute("y", .string) }
    }
    let new = try ManagedObjectModel {
      Entity("Note") {
        Attribute("x", .integer64)
        Attribute("required", .string, optional: false)
        Relationship("others", toOne: "Note")
      }
      Entity("Empty") {
        Attribute("y", .string)
        Attribute("required", .string, optional: false)
      }
    }
    let plan = try plan(old, new) { context in
      for _ in 0..<3 { _ = try insert("Note", [:], context) }
    }
    // Of an entity without objects nothing is in the way.
    let places = plan.obstacles.map {
      "\($0.entityName).\($0.propertyName ?? "") \($0.objectCount) \($0.needsObjects)"
    }
    #expect(places == ["Note.x 3 false", "Note.others 3 false", "Note.required 3 true"])
    #expect(plan.obstacles.allSatisfy { !$0.remedy.isEmpty && !$0.reason.isEmpty })
    #expect(plan.entities(.blocked).map(\.name) == ["Note"])
    #expect(plan.estimatedDuration == .zero)
    #expect(
      plan.description.contains("Note.x (3 objects) changed its type from string to integer64"))
    do {
      try plan.checkObstacles()
      Issue.record("no error")
    } catch {
      #expect(error.code == .inferredMappingModel)
      #expect(error.message.contains("Note.x") && error.message.contains("Note.others"))
    }
  }
}
