import Quire
import QuireModel
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct MigrationHistoryTests {
  /// Versions that differ in an attribute each.
  private static func model(_ count: Int) throws -> VersionedModel {
    let versions = try (1...count).map { number in
      VersionedModel.Version(
        "v\(number)",
        try ManagedObjectModel(entities: [
          Entity("Note") {
            Attribute("text", .string)
            Attribute("number\(number)", .integer64, default: 1)
          }
        ]))
    }
    return try #require(VersionedModel(versions: versions))
  }

  @discardableResult
  private func open<Result>(
    _ url: URL, _ model: VersionedModel, at version: String,
    _ body: (ManagedObjectContext, PersistentStore) throws -> Result
  ) throws -> Result {
    let coordinator = PersistentStoreCoordinator(
      versionedModel: try #require(model.endingAt(version)))
    let store = try coordinator.addPersistentStore(type: .quire, at: url, options: .migrating)
    let context = GotchaHome.context(of: coordinator)
    let result = try body(context, store)
    try coordinator.remove(store)
    return result
  }

  private func create(_ url: URL, _ model: VersionedModel) throws {
    try open(url, model, at: "v1") { context, store in
      for _ in 0..<30 {
        _ = try EntityDescription.insertNewObject(forEntityName: "Note", into: context)
      }
      try context.save()
      #expect(store.migrationHistory.isEmpty)
    }
  }

  @Test func `a store remembers its migrations, through later ones and in the file alone`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let model = try Self.model(3)
      let start = Date()
      try create(url, model)
      let first = try open(url, model, at: "v2") { _, store in store.migrationHistory }
      #expect(first.count == 1)
      let history = try open(url, model, at: "v3") { _, store in store.migrationHistory }
      #expect(history.map(\.sourceVersion) == ["v1", "v2"])
      #expect(history.map(\.destinationVersion) == ["v2", "v3"])
      #expect(history.first == first.first)
      #expect(
        history.map(\.sourceChecksum) == model.versions.prefix(2).map(\.model.versionChecksum))
      #expect(history.last?.destinationChecksum == model.current.versionChecksum)
      for record in history {
        #expect(record.rewrittenObjectCount == 30)
        #expect(record.writtenByteCount >= 4096 && record.writtenByteCount.isMultiple(of: 4096))
        #expect(record.duration > .zero && record.duration < .seconds(60))
        #expect(record.date >= start && record.date <= Date())
      }
      #expect(try StoreSummary(of: url).migrationHistory == history)
      // Opening without migrating, and saving, change nothing of it.
      try open(url, model, at: "v3") { context, store in
        _ = try EntityDescription.insertNewObject(forEntityName: "Note", into: context)
        try context.save()
        #expect(store.migrationReport == nil && store.migrationHistory == history)
      }
      #expect(try StoreSummary(of: url).migrationHistory == history)
    }
  }

  @Test func `of many migrations the last fifty are kept`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let model = try Self.model(2)
      try create(url, model)
      for round in 0..<53 {
        try open(url, model, at: round % 2 == 0 ? "v2" : "v1") { _, store in
          #expect(store.migrationHistory.count == min(round + 1, 50))
        }
      }
      let history = try StoreSummary(of: url).migrationHistory
      // The first is of round 3, from v2 back to v1.
      #expect(history.first?.sourceVersion == "v2" && history.last?.destinationVersion == "v2")
      #expect(history.map(\.date) == history.map(\.date).sorted())
    }
  }

  @Test func `a fresh store has no list, and keys or fields of a later version are passed over`()
    throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let model = try Self.model(2)
      try create(url, model)
      let key = Array("migrations".utf8)
      try changeSchema(url) { tree in
        #expect(try tree.value(for: key) == nil)
        for name in ["a key of a later version", "metadatum", "migrations2", "zzz"] {
          try tree.put([1, 2, 3], for: Array(name.utf8))
        }
      }
      #expect(try StoreSummary(of: url).migrationHistory.isEmpty)
      let history = try open(url, model, at: "v2") { _, store in store.migrationHistory }
      try changeSchema(url) { tree in
        // The one record becomes longer by five bytes.
        var bytes = try #require(try tree.value(for: key)).array
        bytes[4] += 5
        try tree.put(bytes + [1, 2, 3, 4, 5], for: key)
      }
      #expect(try StoreSummary(of: url).migrationHistory == history)
      try changeSchema(url) { tree in
        let bytes = try #require(try tree.value(for: key)).array
        try tree.put(Array(bytes.dropLast(20)), for: key)
      }
      let error = #expect(throws: PersistenceError.self) { try StoreSummary(of: url) }
      #expect(error?.message.contains("unreadable list of migrations") == true)
    }
  }

  private func changeSchema(_ url: URL, _ body: (MutableIndexTree) throws -> Void) throws {
    let pages = try PageStore.open(url.path(percentEncoded: false))
    try pages.write { try body(try #require(try $0.mutableIndexTree("schema"))) }
    try pages.close()
  }
}
