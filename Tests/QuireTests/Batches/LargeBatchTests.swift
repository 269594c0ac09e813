import Quire
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Requests that change more pages than a transaction may have in memory.
@Suite struct LargeBatchTests {
  private static let count = 2_000

  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Thing") {
        Attribute("index", .integer32)
        Attribute("number", .integer32)
        Attribute("text", .string)
        FetchIndex("byNumber", on: "number")
      }
    }
  }

  /// A context that has read before goes on beside the requests, as an application's does.
  @Test func `change everything again and again in the same room`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "things.quire")
      let container = PersistentContainer(name: "Things", managedObjectModel: try model())
      // The first opening decides. No transaction has room for the 400 KB of rows.
      var options = PageStoreOptions()
      options.transactionByteLimit = 0
      try container.loadPersistentStore(at: url)
      try container.writeAndWait { context in
        for index in 0..<Self.count {
          _ = try context.add(
            "Thing",
            ["index": index, "number": index, "text": String(repeating: "a", count: 150)])
        }
      }
      try container.close()
      let pages = try PageStore.open(url.path(percentEncoded: false), options: options)
      defer { try? pages.close() }
      let pageCount = pages.statistics.pageCount
      #expect(pageCount * 4096 > 4 * 24 * 4096)
      try container.loadPersistentStore(at: url)
      let reader = container.newBackgroundContext()
      let all = FetchRequest<ManagedObject>(entityName: "Thing")
      for round in 1...6 {
        #expect(try reader.performAndWait { try reader.fetch(all).count } == Self.count)
        let context = container.newBackgroundContext()
        try context.performAndWait {
          var update = BatchUpdateRequest(entityName: "Thing")
          update.propertiesToUpdate = [
            "text": String(repeating: "\(round)", count: 150),
            "number": try FetchExpression(format: "number + \(Self.count)"),
          ]
          #expect(try context.execute(update).count == Self.count)
          var changed = all
          changed.predicate = try FetchPredicate(
            format: "number >= \(round * Self.count) AND text BEGINSWITH '\(round)\(round)'")
          #expect(try context.fetch(changed).count == Self.count)
        }
      }
      #expect(pages.statistics.pageCount < 4 * pageCount)
      try container.writeAndWait { context in
        var half = all
        half.predicate = try FetchPredicate(format: "index < \(Self.count / 2)")
        let deletion = try context.execute(BatchDeleteRequest(fetchRequest: half))
        #expect(deletion.count == Self.count / 2)
      }
      #expect(try pages.check().isSound)
      try container.close()
    }
  }
}
