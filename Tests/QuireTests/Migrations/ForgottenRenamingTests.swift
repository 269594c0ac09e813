import Quire
import QuireModel
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A renaming that nobody has told the model of: the values were dropped, and nothing said so.
@Suite struct `Forgotten renamings` {
  private let old = try! ManagedObjectModel {
    Entity("Person") {
      Attribute("first", .string)
      Attribute("age", .integer32)
      Attribute("mood", .string, transient: true)
      Relationship("home", toOne: "Town", inverse: nil)
    }
    Entity("Town") { Attribute("name", .string) }
    Entity("Note") {
      Attribute("text", .string)
      Attribute("day", .date)
    }
    Entity("Empty") { Attribute("word", .string) }
  }

  private func new(_ name: AttributeDescription) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Person") {
        name
        Attribute("years", .integer64)
        Relationship("town", toOne: "Town", inverse: nil)
      }
      Entity("Town") { Attribute("name", .string) }
      Entity("Memo") {
        Attribute("text", .string)
        Attribute("day", .date)
        Attribute("isDone", .boolean)
      }
      Entity("Void") { Attribute("word", .string) }
    }
  }

  private func fill(_ url: URL) throws {
    try withStore(old, url) { context in
      for entity in ["Person", "Note"] {
        _ = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
      }
      try context.save()
    }
  }

  @Test func `a removal with an addition of the same kind is a possible renaming`() throws {
    try withTemporaryFolder { folder in
      let store = folder.appending(path: "people.quire")
      try fill(store)
      let versions = try #require(
        VersionedModel(
          versions: [.init("1", old), .init("2", try new(Attribute("given", .string)))]))
      let fixture = MigrationFixture(at: store, name: "people")
      let failures = try fixtureFailures { try fixture.check(migratingTo: versions) }
      #expect(failures.count == 3, "\(failures)")
      for words in [
        #"Person.first goes, and given comes: if it was renamed, write @Managed(renamedFrom: "first") var given"#,
        "Person.home goes, and town comes", "Note goes, and Memo comes", #"dropped: ["Note"]"#,
      ] {
        #expect(failures.contains { $0.contains(words) }, "\(words): \(failures)")
      }
      // It may all be on purpose.
      try fixture.check(
        migratingTo: versions, dropped: ["Person.first", "Person.home", "Note"])

      let plan = try #require(try MigrationPlan.plan(forStoreAt: store, to: versions))
      #expect(plan.possibleRenamings.map(\.candidates) == [["given"], ["town"], ["Memo"]])
      #expect("\(plan)".contains("Was anything renamed?"))
      let coded = try JSONDecoder().decode(
        MigrationPlan.self, from: try JSONEncoder().encode(plan))
      #expect(coded == plan)
      // The program that opens the store can read it.
      let coordinator = PersistentStoreCoordinator(versionedModel: versions)
      let opened = try coordinator.addPersistentStore(
        type: .quire, at: store, options: .migrating)
      #expect(opened.migrationReport?.plan.possibleRenamings == plan.possibleRenamings)
      try coordinator.remove(opened)
    }
  }

  @Test func `declared renamings and entities without objects are no possible renamings`() throws {
    try withTemporaryFolder { folder in
      let store = folder.appending(path: "people.quire")
      try fill(store)
      let told = try new(Attribute("given", .string, renamedFrom: "first"))
      let versions = try #require(VersionedModel(versions: [.init("1", old), .init("2", told)]))
      let plan = try #require(try MigrationPlan.plan(forStoreAt: store, to: versions))
      #expect(plan.possibleRenamings.map(\.propertyName) == ["home", nil])
      try withStore(old, folder.appending(path: "empty.quire")) { _ in }
      let empty = try #require(
        try MigrationPlan.plan(
          forStoreAt: folder.appending(path: "empty.quire"), to: versions))
      #expect(empty.possibleRenamings == [])
    }
  }
}
