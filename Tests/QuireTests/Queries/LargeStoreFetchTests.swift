import Quire
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store that does not fit in the cache: rows are tested in their leaves, and those that a result
/// keeps are copied.
@Suite struct LargeStoreFetchTests {
  private static let count = 2_000

  private static func number(_ index: Int) -> Int { index * 7919 % 1009 }
  private static func text(_ index: Int) -> String {
    String(repeating: "abcdefgh", count: 20) + " \(number(index))"
  }

  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Thing") {
        Attribute("index", .integer32)
        Attribute("number", .integer32)
        Attribute("text", .string)
      }
    }
  }

  private func withLargeStore(_ body: (ManagedObjectContext) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "things.quire")
      let container = PersistentContainer(name: "Things", managedObjectModel: try model())
      try container.loadPersistentStore(at: url)
      try container.writeAndWait { context in
        for index in 0..<Self.count {
          _ = try context.add(
            "Thing",
            ["index": index, "number": Self.number(index), "text": Self.text(index)])
        }
      }
      try container.close()
      // The first opening decides; half of the pages fit.
      var options = PageStoreOptions()
      options.cacheByteLimit = 64 << 12
      let pages = try PageStore.open(url.path(percentEncoded: false), options: options)
      defer { try? pages.close() }
      let byteCount = try url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
      #expect(byteCount > 3 * options.cacheByteLimit / 2)
      try container.loadPersistentStore(at: url)
      try body(container.newBackgroundContext())
      try container.close()
    }
  }

  private func indices(
    _ format: String, _ context: ManagedObjectContext, sortedBy key: String? = nil, limit: Int = 0
  ) throws -> [Int] {
    var request = FetchRequest<ManagedObject>(entityName: "Thing")
    request.predicate = try FetchPredicate(format: format)
    request.fetchLimit = limit
    if let key {
      request.sortDescriptors = [
        FetchSortDescriptor(key: key), FetchSortDescriptor(key: "index"),
      ]
    }
    let objects = try context.fetch(request)
    // Everything else is read before the values are, so that no page of the result is left.
    _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Thing")).count
    return try objects.map { object in
      let index = try #require(try object.value(forKey: "index") as? Int)
      #expect(try object.value(forKey: "number") as? Int == Self.number(index))
      #expect(try object.value(forKey: "text") as? String == Self.text(index))
      return index
    }
  }

  @Test func `fetches of a store larger than the cache find what is there`() throws {
    try withLargeStore { context in
      let all = Array(0..<Self.count)
      // By the bytes of rows, by an evaluator, by both.
      let few = all.filter { Self.number($0) < 20 }
      #expect(try indices("number < 20", context) == few)
      #expect(try indices("text ENDSWITH ' 7'", context) == all.filter { Self.number($0) == 7 })
      #expect(
        try indices("number < 20 AND text CONTAINS 'h 1'", context)
          == few.filter { "\(Self.number($0))".hasPrefix("1") })
      #expect(try indices("number >= 0", context).count == Self.count)
      let byNumber = all.sorted { (Self.number($0), $0) < (Self.number($1), $1) }
      #expect(
        try indices("number > 5", context, sortedBy: "number", limit: 50)
          == Array(byNumber.filter { Self.number($0) > 5 }.prefix(50)))
      var request = FetchRequest<ManagedObject>(entityName: "Thing")
      request.predicate = try FetchPredicate(format: "number < 20")
      #expect(try context.count(for: request) == few.count)
      #expect(try request.explain(in: context).description.contains("\(few.count)"))
    }
  }
}
