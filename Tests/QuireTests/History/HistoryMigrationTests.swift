import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decision 0034: an inferred migration carries a history on, with the names of its time; a mapping
/// model makes other objects of those that it tells of, and cuts it.
@Suite struct HistoryMigrationTests {
  private static let versions = VersionedModel(versions: [
    .init(
      "1",
      try! ManagedObjectModel {
        Entity("Author") {
          Attribute("name", .string)
          Relationship("books", toMany: "Book", inverse: "author")
        }
        Entity("Book") {
          Attribute("title", .string).with { $0.preservesValueInHistoryOnDeletion = true }
          Attribute("price", .integer32)
          Relationship("author", toOne: "Author", inverse: "books")
        }
        Entity("Gone") { Attribute("x", .string) }
      }),
    .init(
      "2",
      try! ManagedObjectModel {
        Entity("Author") {
          Attribute("name", .string)
          Relationship("works", toMany: "Work", inverse: "authors", renamedFrom: "books")
        }
        Entity("Work", renamedFrom: "Book") {
          Attribute("heading", .string, renamedFrom: "title").with {
            $0.preservesValueInHistoryOnDeletion = true
          }
          Attribute("price", .integer32)
          Attribute("rating", .integer16, optional: false, default: 3)
          Relationship("authors", toMany: "Author", inverse: "works", renamedFrom: "author")
        }
      }),
    .init(
      "3",
      try! ManagedObjectModel {
        Entity("Author") {
          Attribute("name", .string)
          Relationship("works", toMany: "Work", inverse: "authors")
        }
        Entity("Work") {
          Attribute("heading", .string)
          Attribute("price", .integer32)
          Attribute("rating", .integer16, optional: false, default: 3)
          Attribute("pages", .integer32)
          Relationship("authors", toMany: "Author", inverse: "works")
        }
      }),
  ])!

  private func open(
    _ url: URL, _ version: String, _ options: PersistentStoreOptions = .migrating
  ) throws -> ManagedObjectContext {
    let model = try #require(Self.versions.endingAt(version))
    let coordinator = PersistentStoreCoordinator(versionedModel: model)
    try coordinator.addPersistentStore(type: .quire, at: url, options: options)
    return GotchaHome.context(of: coordinator)
  }

  /// A store of the first version that remembers four saves.
  ///
  /// - Returns: the token behind the first of them, and the one behind the last.
  private func fill(_ url: URL) throws -> (
    first: PersistentHistoryToken, last: PersistentHistoryToken
  ) {
    let context = try open(url, "1", HistoryLibrary.tracking)
    let author = try context.insert("Author", ["name": "a"])
    try context.save()
    let first = try #require(context.historyToken)
    let book = try context.insert("Book", ["title": "old", "price": 1, "author": author])
    let other = try context.insert("Book", ["title": "other"])
    try context.insert("Gone", ["x": "x"])
    try context.save()
    try book.setValue("new", forKey: "title")
    try book.setValue(2, forKey: "price")
    try context.save()
    context.delete(other)
    try context.save()
    let last = try #require(context.historyToken)
    try context.closeStores()
    return (first, last)
  }

  private let carried = [
    ["insert Author/p1"],
    ["update Author/p1 books", "insert Work/p1", "insert Work/p2"],
    ["update Work/p1 price,title"],
    ["delete Work/p2"],
  ]

  private func texts(
    _ context: ManagedObjectContext, after token: PersistentHistoryToken? = nil
  ) throws -> [[String]] {
    try context.history(after: token).map { $0.changes?.map(\.text) ?? [] }
  }

  @Test(arguments: [false, true])
  func `an inferred migration carries a history on and is no transaction of it`(
    isDeferred: Bool
  ) throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let (first, last) = try fill(url)
      var context = try open(url, "2", isDeferred ? .deferring : .migrating)
      // Entities are called what they are called now; what the model has no more is left out;
      // properties are called what they were called.
      #expect(try texts(context) == carried)
      #expect(try texts(context, after: first) == Array(carried.dropFirst()))
      #expect(try texts(context, after: last) == [])
      let history = try context.history()
      #expect(history[1].changeCount == 4)
      #expect(history[2].changes?.first?.updatedProperties?.map(\.name) == ["price"])
      #expect(history[3].changes?.first?.tombstone?["title"] as? String == "other")
      #expect(history[3].changes?.first?.changeID == 7)
      #expect(try StoreFacts(context).findings == [])

      try context.closeStores()
      context = try open(url, "3", isDeferred ? .deferring : .migrating)
      #expect(try texts(context, after: last) == [])
      try context.persistentStoreCoordinator?.finishDeferredLightweightMigration()
      #expect(try texts(context) == carried)
      let work = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Work")).first)
      try work.setValue("newer", forKey: "heading")
      try context.save()
      #expect(try texts(context, after: last) == [["update Work/p1 heading"]])
      #expect(try StoreFacts(context).findings == [])
      try context.closeStores()
      #expect(try StoreSummary(of: url).objectFormat == 5)
    }
  }

  @Test(arguments: [true, false])
  func `a mapping model cuts a history, and every token of it expires`(isInPlace: Bool) throws {
    try withTemporaryFolder { folder in
      let source = folder.appending(path: "store.quire")
      let url = isInPlace ? source : folder.appending(path: "other.quire")
      let (first, last) = try fill(source)
      let uuid = try StoreSummary(of: source).identifier
      let (old, new) = (Self.versions.versions[0].model, Self.versions.versions[1].model)
      let manager = MigrationManager(sourceModel: old, destinationModel: new)
      manager.usesStoreSpecificMigrationManager = false
      var options = PersistentStoreOptions()
      options.storeUUID = uuid
      let mapping = try MappingModel.inferredMappingModel(
        forSourceModel: old, destinationModel: new)
      try manager.migrateStore(
        from: source, sourceType: .quire, options: nil, with: mapping, toDestinationURL: url,
        destinationType: .quire, destinationOptions: options)
      let context = try open(url, "2", [:])
      #expect(try context.historyStore.identifier == uuid)
      #expect(try context.history().isEmpty)
      for token in [first, last] {
        let error = #expect(throws: PersistenceError.self) { try context.history(after: token) }
        #expect(error?.code == .persistentHistoryTokenExpired)
      }
      let now = try #require(context.historyToken)
      try context.insert("Author", ["name": "b"])
      try context.save()
      let told = try #require(try context.history(after: now).first?.changes)
      #expect(told.map(\.changeType) == [.insert] && told.map(\.changeID) == [8])
      #expect(try StoreFacts(context).findings == [])
      try context.closeStores()
    }
  }

  @Test func `a save by a migration stage's handler is in the history like any other`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let (_, last) = try fill(url)
      func reference(_ index: Int) -> ManagedObjectModelReference {
        let model = Self.versions.versions[index].model
        return ManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
      }
      let stage = CustomMigrationStage(migratingFrom: reference(0), to: reference(1))
      stage.didMigrateHandler = { manager, _ in
        let context = try manager.requiredContainer.newBackgroundContext()
        try context.performAndWait {
          context.transactionAuthor = "stage"
          try context.insert("Author", ["name": "staged"])
          try context.save()
        }
      }
      var options = PersistentStoreOptions.migrating
      options.stagedMigrationManager = StagedMigrationManager([stage])
      let context = try open(url, "2", options)
      let told = try context.history(after: last)
      #expect(told.map(\.author) == ["stage"])
      #expect(told.first?.changes?.map(\.text) == ["insert Author/p2"])
      #expect(try texts(context).dropLast() == carried[...])
      #expect(try StoreFacts(context).findings == [])
      try context.closeStores()
    }
  }
}
