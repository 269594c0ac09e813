import Foundation
import Quire
import QuireModel
import QuireSimulation
import Testing

// Predicates and orders over the stores of real applications. The importer has tests of its own;
// here SQLite is asked on the original what Quire is asked on the import.
@Suite(
  .enabled(if: RealData.isPresent, Comment(rawValue: RealData.absence)),
  .enabled(if: SQLiteCommand.isPresent, Comment(rawValue: SQLiteCommand.absence)))
struct RealQueriesTests {
  /// Each store without indexes and with them; in debug one of both, by turns.
  private static let cases: [(String, Bool)] = RealConditions.stores.enumerated().flatMap {
    let (place, store) = $0
    return Amount.of(debug: [place % 2 == 1], release: [false, true]).map { (store, $0) }
  }

  @Test(arguments: cases)
  func `a real store answers as sqlite3 does on the original`(
    _ name: String, isIndexed: Bool
  ) throws {
    let store = try ImportedStore(name, isIndexed: isIndexed)
    try expectPredicates(of: name, store, isIndexed)
    try expectOrders(of: name, store)
  }

  private func expectPredicates(
    of name: String, _ store: ImportedStore, _ isIndexed: Bool
  ) throws {
    let conditions = RealConditions.all.filter { $0.store == name }
    let queries = conditions.flatMap {
      [$0.query("TRUE")] + $0.pairs.map(\.condition).map($0.query)
    }
    var answers = try SQLiteCommand.columns(of: queries, in: store.original)[...]
    try #require(answers.count == queries.count)
    var foundByIndex = 0
    for condition in conditions {
      let all = answers.removeFirst()
      var request = FetchRequest<ManagedObject>(entityName: condition.entity)
      let objects = try store.context.fetch(request)
      #expect(ImportedStore.keys(objects.map(\.objectID)) == all)
      for (format, _) in condition.pairs {
        let expected = answers.removeFirst()
        // What is true of all or of none would hide mistakes.
        #expect(!expected.isEmpty && expected.count < all.count, "\(format)")
        let predicate = try FetchPredicate(format: format)
        request.predicate = predicate
        do {
          let found = try store.context.objectIDs(for: request)
          #expect(ImportedStore.keys(found) == expected, "\(condition.entity): \(format)")
          #expect(try store.context.count(for: request) == expected.count, "\(format)")
          if isIndexed {
            foundByIndex += try Self.isScan(request, in: store.context) ? 0 : 1
          } else {
            try expectInMemory(predicate, expected, objects)
          }
        } catch {
          Issue.record(error, "\(condition.entity): \(format)")
        }
      }
    }
    if isIndexed { #expect(foundByIndex > 0) }
  }

  /// Asks the objects themselves; of thousands every twentieth, in debug some twenty of them.
  private func expectInMemory(
    _ predicate: FetchPredicate, _ expected: [String], _ objects: [ManagedObject]
  ) throws {
    let expected = Set(expected)
    let step = Amount.of(
      debug: 1 + objects.count / 20, release: objects.count > 1000 ? 20 : 1)
    for place in stride(from: 0, to: objects.count, by: step) {
      let isFound = ImportedStore.keys([objects[place].objectID]).allSatisfy(expected.contains)
      #expect(try predicate.evaluate(with: objects[place]) == isFound, "in memory: \(predicate)")
    }
  }

  private static func isScan(
    _ request: FetchRequest<ManagedObject>, in context: ManagedObjectContext
  ) throws -> Bool {
    guard case .allRows? = try request.explain(in: context).searches.first?.source.kind else {
      return false
    }
    return true
  }

  private func expectOrders(of name: String, _ store: ImportedStore) throws {
    let orders = RealOrder.all.filter { $0.store == name }
    let answers = try SQLiteCommand.columns(
      of: orders.map { "SELECT t.Z_PK \($0.query)" }, in: store.original)
    try #require(answers.count == orders.count)
    for (order, expected) in zip(orders, answers) {
      var request = FetchRequest<ManagedObject>(entityName: order.entity)
      request.predicate = try order.predicate.map { try FetchPredicate(format: $0) }
      request.sortDescriptors = order.sorts
      (request.fetchLimit, request.fetchOffset) = (order.limit, order.offset)
      request.includesSubentities = order.includesSubentities
      let keys = expected.compactMap { Int($0) }
      #expect(keys.count > 3 && keys != keys.sorted(), "\(order)")
      let found = try store.context.fetch(request)
      #expect(ImportedStore.keys(found.map(\.objectID)) == expected, "\(order)")
      #expect(try ImportedStore.keys(store.context.objectIDs(for: request)) == expected)
      #expect(try store.context.count(for: request) == expected.count, "\(order)")
    }
  }

  @Test(arguments: [false, true])
  func `objects as arguments find what their keys find in sqlite3`(isIndexed: Bool) throws {
    let store = try ImportedStore("oss_stubbed_data", isIndexed: isIndexed)
    let artists = try store.context.fetch(FetchRequest<ManagedObject>(entityName: "Artist"))
    let shows = try store.context.fetch(FetchRequest<ManagedObject>(entityName: "Show"))
    func expect(_ predicate: FetchPredicate, _ condition: String) throws {
      var request = FetchRequest<ManagedObject>(entityName: "Artwork")
      request.predicate = predicate
      let expected = try store.rows("SELECT Z_PK FROM ZARTWORK t WHERE \(condition) ORDER BY 1")
      let found = try store.context.objectIDs(for: request)
      #expect(ImportedStore.keys(found) == expected, "\(condition)")
    }
    let inShow = "t.Z_PK IN (SELECT Z_3ARTWORKS1 FROM Z_3SHOWS WHERE Z_14SHOWS"
    for (artist, key) in zip(artists, ImportedStore.keys(artists.map(\.objectID))) {
      try expect(FetchPredicate(format: "artist == %@", artist), "t.ZARTIST = \(key)")
      try expect(FetchPredicate(format: "artist != %@", artist), "t.ZARTIST IS NOT \(key)")
      try expect(
        FetchPredicate(format: "artist == %@ AND ANY shows == %@", artist, shows[1]),
        "t.ZARTIST = \(key) AND \(inShow) = 2)")
    }
    try expect(FetchPredicate(format: "artist IN %@", Array(artists[1...2])), "t.ZARTIST IN (2, 3)")
    try expect(
      FetchPredicate(format: "ANY shows IN %@", [shows[0], shows[2]]), "\(inShow) IN (1, 3))")
    try expect(FetchPredicate(format: "shows CONTAINS %@", shows[1]), "\(inShow) = 2)")
    try expect(
      FetchPredicate(format: "NONE shows.artists == %@", artists[3]),
      """
      t.Z_PK NOT IN (SELECT j.Z_3ARTWORKS1 FROM Z_3SHOWS j JOIN Z_2SHOWSFEATURINGARTIST k \
      ON k.Z_14SHOWSFEATURINGARTIST = j.Z_14SHOWS WHERE k.Z_2ARTISTS1 = 4)
      """)
  }

  @Test func `every store is asked, with more than two hundred predicates`() {
    #expect(RealConditions.all.reduce(0) { $0 + $1.pairs.count } > 200)
    #expect(Set(RealConditions.all.map(\.store)) == Set(RealConditions.stores))
    #expect(Set(RealOrder.all.map(\.store)).isSubset(of: RealConditions.stores))
  }
}
