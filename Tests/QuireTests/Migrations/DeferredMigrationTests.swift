import Quire
import QuireSimulation
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

private let first = try! ManagedObjectModel {
  Entity("Artwork") {
    Attribute("title", .string)
    Attribute("gone", .integer32)
    Relationship("artist", toOne: "Artist", inverse: "works")
  }
  Entity("Artist") {
    Attribute("name", .string)
    Relationship("works", toMany: "Artwork", inverse: "artist")
  }
}

private let second = try! ManagedObjectModel {
  Entity("Artwork") {
    Attribute("title", .string)
    Attribute("rating", .integer16, optional: false, default: 3)
    Attribute("note", .string)
    Relationship("artist", toOne: "Artist", inverse: "works")
  }
  Entity("Artist") {
    Attribute("name", .string)
    Relationship("works", toMany: "Artwork", inverse: "artist")
  }
}

private let third = try! ManagedObjectModel {
  Entity("Work", renamedFrom: "Artwork") {
    Attribute("heading", .string, renamedFrom: "title")
    Attribute("rating", .integer16, optional: false, default: 3)
    Attribute("note", .string, optional: false, default: "none")
    Attribute("slug", .string, optional: false, default: "slug")
    Relationship("artist", toOne: "Artist", inverse: "works")
  }
  Entity("Artist") {
    Attribute("name", .string)
    Relationship("works", toMany: "Work", inverse: "artist")
  }
}

/// An attribute for the artist, and artworks that have several.
private let relinked = try! ManagedObjectModel {
  Entity("Artwork") {
    Attribute("title", .string)
    Attribute("gone", .integer32)
    Relationship("artists", toMany: "Artist", inverse: "works", renamedFrom: "artist")
  }
  Entity("Artist") {
    Attribute("name", .string)
    Attribute("born", .integer16, optional: false, default: 1900)
    Relationship("works", toMany: "Artwork", inverse: "artists")
  }
}

private let versions = VersionedModel(
  versions: [.init("1", first), .init("2", second), .init("3", third)])!

@Suite struct DeferredMigrationTests {
  /// A closed store of the first version, with so many artworks of three artists.
  private func withFixture<Result>(
    count: Int = 100, _ body: (URL, URL) throws -> Result
  ) throws -> Result {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "fixture.quire")
      let context = try open(url, "1", [:])
      let artists = try (0..<3).map { try insert("Artist", ["name": "artist \($0)"], context) }
      for number in 0..<count {
        _ = try insert(
          "Artwork",
          [
            "title": String(repeating: "title \(number) ", count: number % 7 == 0 ? 400 : 2),
            "gone": number, "artist": artists[number % 3],
          ], context)
      }
      try context.save()
      try close(context)
      return try body(url, folder)
    }
  }

  private func insert(
    _ entity: String, _ values: [String: Any], _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    let object = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return object
  }

  private func open(
    _ url: URL, _ version: String, _ options: PersistentStoreOptions
  ) throws -> ManagedObjectContext {
    try open(url, try #require(versions.endingAt(version)), options)
  }

  private func open(
    _ url: URL, _ versions: VersionedModel, _ options: PersistentStoreOptions
  ) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(versionedModel: versions)
    try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    return GotchaHome.context(of: coordinator)
  }

  private func coordinator(_ context: ManagedObjectContext) throws -> PersistentStoreCoordinator {
    try #require(context.persistentStoreCoordinator)
  }

  private func store(_ context: ManagedObjectContext) throws -> PersistentStore {
    try #require(context.persistentStoreCoordinator?.persistentStores.first)
  }

  private func close(_ context: ManagedObjectContext) throws {
    try coordinator(context).remove(try store(context))
  }

  private func all(_ entity: String, _ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
  }

  @Test func `the plan says what is deferred, and what was left is counted down`() throws {
    try withFixture { url, _ in
      let known = try #require(versions.endingAt("2"))
      let plan = try #require(
        try MigrationPlan.plan(forStoreAt: url, to: known, options: .deferring))
      #expect(plan.entities.map(\.action) == [.kept, .deferred])
      #expect(plan.deferredObjectCount == 100 && plan.deferredByteCount > 0)
      #expect(plan.rewrittenObjectCount == 0 && plan.writtenByteCount == 0)
      #expect(plan.description.contains("Left for later: 100 rows, "))
      let context = try open(url, "2", .deferring)
      #expect(try store(context).migrationReport?.plan == plan)
      #expect(try store(context).deferredMigration()?.entities.map(\.name) == ["Artwork"])
      #expect(try store(context).deferredMigration()?.objectCount == 100)
      #expect(try coordinator(context).finishDeferredMigration(objectLimit: 40))
      #expect(try store(context).deferredMigration()?.objectCount == 60)
      #expect(try coordinator(context).finishDeferredMigration(for: .zero))
      #expect(try store(context).deferredMigration()?.objectCount == 59)
      #expect(try !coordinator(context).finishDeferredMigration(for: .seconds(60)))
      #expect(try store(context).deferredMigration() == nil)
      #expect(try !coordinator(context).finishDeferredLightweightMigrationTask())
      try coordinator(context).finishDeferredLightweightMigration()
    }
  }

  @Test func `finishing tells how far it is, and may be ended`() throws {
    try withFixture(count: 300) { url, _ in
      let context = try open(url, "2", .deferring)
      struct Ended: Error {}
      #expect(throws: Ended.self) {
        try coordinator(context).finishDeferredLightweightMigration { _ in throw Ended() }
      }
      #expect(try store(context).deferredMigration()?.objectCount == 300)
      var states: [StoreProgress] = []
      try coordinator(context).finishDeferredLightweightMigration { states.append($0) }
      #expect(try store(context).deferredMigration() == nil)
      #expect(states.count > 1 && states.last?.fractionCompleted == 1, "\(states)")
      #expect(states.allSatisfy { $0.totalUnitCount == 300 })
      #expect(states.map(\.completedUnitCount) == states.map(\.completedUnitCount).sorted())
    }
  }

  // A version of Quire that knows nothing of older layouts reads format 1 and refuses all above.
  @Test func `a store has another format while objects are left, and only then`() throws {
    func format(_ url: URL) throws -> [UInt8]? {
      try DeferredTrial.content(of: url)["schema format"]
    }
    try withFixture { url, _ in
      #expect(try format(url) == [1, 0, 0, 0])
      var context = try open(url, "2", .deferring)
      try close(context)
      #expect(try format(url) == [2, 0, 0, 0])
      #expect(try StoreSummary(of: url).objectFormat == 2)
      #expect(try StoreInspection(of: url).notes.count == 1)
      context = try open(url, "2", [:])
      while try coordinator(context).finishDeferredMigration(objectLimit: 30) {
        #expect(try StoreInspection(of: try store(context)).findings == [])
      }
      try close(context)
      #expect(try format(url) == [1, 0, 0, 0])
      #expect(try DeferredTrial.content(of: url)["schema layouts"] == nil)
      #expect(try StoreInspection(of: url).notes == [])
    }
  }

  @Test func `a migration is deferred on top of a deferred one, and rows lead there in one step`()
    throws
  {
    try withFixture { url, folder in
      let immediate = folder.appending(path: "immediate")
      try FileManager.default.copyItem(at: url, to: immediate)
      try close(try open(immediate, "3", .migrating))
      var context = try open(url, "2", .deferring)
      try coordinator(context).finishDeferredMigration(objectLimit: 20)
      try all("Artwork", context)[50].setValue("noted", forKey: "note")
      try context.save()
      try all("Artwork", context)[50].setValue(nil, forKey: "note")
      try context.save()
      try close(context)
      context = try open(url, "3", .deferring)
      let report = try #require(try store(context).migrationReport)
      #expect(report.plan.deferredObjectCount == 100)
      try close(context)
      func expectTheSame() throws {
        var comparison = SurveyComparison(
          try StoreSurvey(of: immediate), try StoreSurvey(of: url), versions.current,
          MigrationExpectations())
        comparison.compare()
        #expect(comparison.failures == [])
        #expect(try StoreInspection(of: url).findings == [])
      }
      try expectTheSame()
      context = try open(url, "3", [:])
      while try coordinator(context).finishDeferredLightweightMigrationTask() {}
      try close(context)
      try expectTheSame()
      #expect(try StoreSummary(of: url).deferredMigration == nil)
    }
  }

  @Test func `a migration that is not deferred leaves no old layout behind`() throws {
    try withFixture { url, _ in
      var context = try open(url, "2", .deferring)
      try coordinator(context).finishDeferredMigration(objectLimit: 20)
      try close(context)
      context = try open(url, "3", .migrating)
      #expect(try store(context).migrationReport?.plan.rewrittenObjectCount == 100)
      #expect(try store(context).deferredMigration() == nil)
      let works = try all("Work", context)
      #expect(try works.allSatisfy { try $0.value(forKey: "rating") as? Int == 3 })
      #expect(try works.allSatisfy { try $0.value(forKey: "note") as? String == "none" })
      try close(context)
      #expect(try StoreInspection(of: url).findings == [])
    }
  }

  @Test func `a renamed entity stays deferred, or is rewritten where nothing is deferred`() throws {
    let renamed = try ManagedObjectModel {
      Entity("Piece", renamedFrom: "Artwork") {
        Attribute("name", .string, renamedFrom: "title")
        Attribute("stars", .integer16, optional: false, default: 3, renamedFrom: "rating")
        Attribute("note", .string)
        Relationship("artist", toOne: "Artist", inverse: "works")
      }
      Entity("Artist") {
        Attribute("name", .string)
        Relationship("works", toMany: "Piece", inverse: "artist")
      }
    }
    let all = try #require(
      VersionedModel(versions: [.init("1", first), .init("2", second), .init("3", renamed)]))
    for options in [PersistentStoreOptions.deferring, .migrating] {
      try withFixture { url, _ in
        var context = try open(url, "2", .deferring)
        try coordinator(context).finishDeferredMigration(objectLimit: 30)
        try close(context)
        context = try open(url, all, options)
        let step = try store(context).migrationReport?.plan.entities.first { $0.name == "Piece" }
        #expect(step?.action == (options.defersLightweightMigration ? .deferred : .rewritten))
        #expect(step?.objectCount == (options.defersLightweightMigration ? 70 : 100))
        let pieces = try self.all("Piece", context)
        #expect(try pieces.allSatisfy { try $0.value(forKey: "stars") as? Int == 3 })
        #expect(try pieces[99].value(forKey: "name") as? String == "title 99 title 99 ")
        try close(context)
        #expect(try StoreInspection(of: url).findings == [])
      }
    }
  }

  @Test func `links are rebuilt at once while the rewriting of objects is deferred`() throws {
    let versions = try MigrationTrial.versioned(first, relinked)
    try withFixture { url, _ in
      let context = try open(url, versions, .deferring)
      let plan = try #require(try store(context).migrationReport?.plan)
      let actions = plan.entities.map { "\($0.name) \($0.action)" }
      // The reference in each artwork becomes a link: known from the old rows alone.
      #expect(actions == ["Artist deferred", "Artwork deferred"])
      #expect(plan.rebuiltEntryCount == 200)
      for artist in try all("Artist", context) {
        #expect(try artist.value(forKey: "born") as? Int == 1900)
        #expect((try artist.value(forKey: "works") as? Set<ManagedObject>)?.count ?? 0 >= 33)
      }
      try coordinator(context).finishDeferredLightweightMigration()
      try close(context)
      #expect(try StoreInspection(of: url).findings == [])
    }
  }

  @Test func `links are read from rows of older layouts, too`() throws {
    let versions = try #require(
      VersionedModel(versions: [.init("1", first), .init("2", second), .init("3", relinked)]))
    try withFixture { url, folder in
      let immediate = folder.appending(path: "immediate")
      try FileManager.default.copyItem(at: url, to: immediate)
      for (url, options) in [(url, PersistentStoreOptions.deferring), (immediate, .migrating)] {
        try close(try open(url, try #require(versions.endingAt("2")), options))
        try close(try open(url, versions, options))
      }
      var comparison = SurveyComparison(
        try StoreSurvey(of: immediate), try StoreSurvey(of: url), relinked,
        MigrationExpectations())
      comparison.compare()
      #expect(comparison.failures == [])
      #expect(try StoreInspection(of: url).findings == [])
    }
  }

  @Test func `finishing is no change: a save that was under way finds no conflict`() throws {
    try withFixture { url, _ in
      let context = try open(url, "2", .deferring)
      let other = SmallGallery.sibling(of: context)
      let mine = try all("Artwork", context)
      let theirs = try all("Artwork", other)
      try mine[0].setValue("mine", forKey: "title")
      try mine[99].setValue("mine", forKey: "title")
      while try coordinator(context).finishDeferredMigration(objectLimit: 7) {}
      try context.save()
      // And what is a conflict stays one.
      try theirs[99].setValue("theirs", forKey: "title")
      #expect { try other.save() } throws: { code(of: $0) == .managedObjectMerge }
      #expect(try theirs[98].value(forKey: "rating") as? Int == 3)
      #expect(try StoreInspection(of: try store(context)).findings == [])
    }
  }

  // Its hashes are those of the store again. A row it wrote in its layout would be taken for one
  // that two migrations have left.
  @Test func `a coordinator does not write into a store that went to another version and back`()
    throws
  {
    let back = try #require(
      VersionedModel(versions: [.init("1", first), .init("2", second)]))
    let forth = try #require(
      VersionedModel(versions: [.init("2", second), .init("1", first)]))
    try withFixture { url, _ in
      let stale = try open(url, "1", [:])
      let object = try all("Artwork", stale)[0]
      let there = try open(url, back, .deferring)
      let again = try open(url, forth, .deferring)
      try object.setValue(1, forKey: "gone")
      #expect { try stale.save() } throws: {
        code(of: $0) == .persistentStoreIncompatibleVersionHash
      }
      #expect(try StoreInspection(of: try store(again)).findings == [])
      _ = there
    }
  }

  @Test func `faults and fetches of a context go on while its rows are rewritten`() throws {
    try withFixture { url, _ in
      let context = try open(url, "2", .deferring)
      let artist = try all("Artist", context)[0]
      let works = try #require(try artist.value(forKey: "works") as? Set<ManagedObject>)
      try coordinator(context).finishDeferredLightweightMigration()
      for work in works { #expect(try work.value(forKey: "rating") as? Int == 3) }
      var request = FetchRequest<ManagedObject>(entityName: "Artwork")
      request.predicate = Key("rating") == 3
      #expect(try context.count(for: request) == 100)
    }
  }

  // Commits of several threads are made before the earlier ones are on disk, and snapshots do not
  // show them yet: rows rewritten from a snapshot would bring old values back.
  @Test func `saves of other threads are not lost when rows are rewritten meanwhile`() throws {
    try withFixture { url, _ in
      let context = try open(url, "2", .deferring)
      let coordinator = try coordinator(context)
      let ids = try all("Artwork", context).map(\.objectID)
      let writers = (0..<4).map { number in
        { @Sendable in
          let context = GotchaHome.context(of: coordinator)
          do {
            for (index, id) in ids.enumerated() where index % 4 == number {
              try context.existingObject(with: id).setValue("saved", forKey: "note")
              try context.save()
            }
          } catch { Issue.record("\(error)") }
        }
      }
      let finisher = { @Sendable in
        do {
          for _ in 0..<20 { try coordinator.finishDeferredMigration(objectLimit: 3) }
          try coordinator.finishDeferredLightweightMigration()
        } catch { Issue.record("\(error)") }
      }
      Threads.run(writers + [finisher])
      #expect(try store(context).deferredMigration() == nil)
      let reader = GotchaHome.context(of: coordinator)
      let notes = try all("Artwork", reader).map { try $0.value(forKey: "note") as? String }
      #expect(notes.allSatisfy { $0 == "saved" })
      #expect(try StoreInspection(of: try store(context)).findings == [])
    }
  }

  @Test func `predicates and orders see the new attributes of old rows`() throws {
    try withFixture { url, _ in
      let context = try open(url, "2", .deferring)
      try all("Artwork", context)[10].setValue(5, forKey: "rating")
      try context.save()
      var request = FetchRequest<ManagedObject>(entityName: "Artwork")
      request.predicate = Key("rating") == 3
      #expect(try context.count(for: request) == 99)
      request.predicate = nil
      request.sortDescriptors = [FetchSortDescriptor(key: "rating", ascending: false)]
      request.fetchLimit = 1
      #expect(
        try context.fetch(request).first?.value(forKey: "title") as? String
          == "title 10 title 10 ")
    }
  }

  @Test func `a read-only store is read with its older layouts, and cannot be finished`() throws {
    try withFixture { url, _ in
      try close(try open(url, "2", .deferring))
      var options: PersistentStoreOptions = [:]
      options.isReadOnly = true
      let context = try open(url, "2", options)
      #expect(try all("Artwork", context)[5].value(forKey: "rating") as? Int == 3)
      #expect { try coordinator(context).finishDeferredLightweightMigration() } throws: {
        code(of: $0) == .migration
      }
      #expect(throws: PersistenceError.self) {
        try PersistentStoreCoordinator(versionedModel: versions)
          .finishDeferredLightweightMigration()
      }
    }
  }

  @Test func `many rows are rewritten on two threads`() throws {
    let (count, threadRowCount) = Amount.of(debug: (1_700, 1_000), release: (17_000, 16_384))
    try withFixture(count: count) { url, _ in
      let context = try open(url, "2", .deferring)
      try coordinator(context).finishDeferredMigration(objectLimit: 500)
      try RewritingThreads.$rowCount.withValue(threadRowCount) {
        try coordinator(context).finishDeferredLightweightMigration()
      }
      #expect(try StoreInspection(of: try store(context)).findings == [])
      #expect(try all("Artwork", context)[count - 1].value(forKey: "rating") as? Int == 3)
    }
  }

  @Test func `a schema whose older layouts are damaged is an error`() throws {
    try withFixture { url, folder in
      try close(try open(url, "2", .deferring))
      let layouts = try #require(try DeferredTrial.content(of: url)["schema layouts"])
      var refused = 0
      func tryOpening(_ what: String, _ body: (MutableIndexTree) throws -> Void) throws -> Bool {
        let damaged = folder.appending(path: "damaged")
        try? FileManager.default.removeItem(at: damaged)
        try FileManager.default.copyItem(at: url, to: damaged)
        try DeferredTrial.changeSchema(of: damaged, body)
        do {
          let context = try open(damaged, "2", [:])
          // Values are as the schema says; nothing traps.
          for object in try all("Artwork", context) { _ = try? object.value(forKey: "title") }
          try close(context)
          return true
        } catch let error as PersistenceError {
          let codes: [PersistenceError.Code] = [
            .persistentStoreOpen, .persistentStoreIncompatibleSchema,
          ]
          #expect(codes.contains(error.code) || error.underlying != nil, "\(error)")
          refused += 1
          return false
        } catch {
          return false
        }
      }
      let step = Amount.of(debug: 3, release: 1)
      for count in stride(from: 0, to: layouts.count, by: step) {
        #expect(
          try !tryOpening("\(count) bytes") {
            try $0.put(Array(layouts[..<count]), for: Array("layouts".utf8))
          }, "cut off after \(count) bytes")
      }
      for place in stride(from: 0, to: layouts.count, by: step) {
        var bytes = layouts
        bytes[place] ^= 0x81
        _ = try tryOpening("\(place)") { try $0.put(bytes, for: Array("layouts".utf8)) }
      }
      #expect(refused > layouts.count / step)
      #expect(try !tryOpening("no list") { try $0.remove(Array("layouts".utf8)) })
      #expect(try !tryOpening("format 1") { try $0.put([1, 0, 0, 0], for: Array("format".utf8)) })
      #expect(try !tryOpening("format 3") { try $0.put([3, 0, 0, 0], for: Array("format".utf8)) })
    }
  }
}
