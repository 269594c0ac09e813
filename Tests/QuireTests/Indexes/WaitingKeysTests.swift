import Quire
import QuireModel
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The keys of new rows wait for each other before they go into their trees.
@Suite struct WaitingKeysTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Attribute("workCount", .integer32, derivedFrom: "works.@count")
        Relationship("works", toMany: "Work", inverse: "artist")
        FetchIndex("byCount", on: "workCount")
      }
      Entity("Work") {
        Attribute("title", .string)
        Attribute("price", .double)
        Relationship("artist", toOne: "Artist", inverse: "works")
        FetchIndex("byTitle", on: "title")
        FetchIndex("byArtist", on: "artist")
        UniquenessConstraint("price")
      }
    }
  }

  /// Not in the order of any key.
  private func add(
    _ numbers: Range<Int>, _ artists: [ManagedObject], _ context: ManagedObjectContext
  )
    throws
  {
    for number in numbers {
      let place = number * 7919 % 1_009
      try context.add(
        "Work",
        [
          "title": "title \(place)", "price": Double(place),
          "artist": artists[place % artists.count],
        ])
    }
  }

  @Test(arguments: Amount.of(debug: [1, 5_000, 8 << 20], release: [1, 300, 5_000, 8 << 20]))
  func `all keys of a save are in their trees, however few may wait`(byteCount: Int) throws {
    try KeyMemory.$byteCount.withValue(byteCount) {
      let scene = IndexScene()
      var context = try scene.open(try Self.model())
      let artists = try (0..<20).map { try context.add("Artist", ["name": "artist \($0)"]) }
      try add(0..<400, artists, context)
      try context.save()
      #expect(try StoreFacts(context).findings == [])
      // Trees that are there, and rows that change and go in the same save.
      for work in try context.found("Work", Key("price") < 50).objects { context.delete(work) }
      for work in try context.found("Work", Key("price") > 900).objects {
        try work.setValue("other", forKey: "title")
      }
      try add(400..<1_000, artists, context)
      try context.save()
      #expect(try StoreFacts(context).findings == [])
      #expect(try context.found("Work", Key("title") == "title 500").objects.count == 1)
      let count = try context.found("Work").objects.count
      #expect(count > 900)
      #expect(try context.found("Artist", Key("workCount") > 0).objects.count == 20)
      try scene.close(context)
      #expect(
        try Set(scene.trees())
          == ["indexes/1 20", "indexes/2 \(count)", "indexes/3 \(count)", "indexes/4 \(count)"])
      context = try scene.open(try Self.model())
      #expect(try StoreFacts(context).findings == [])
      try scene.close(context)
    }
  }

  /// Keys of new rows are put together in another way than those of rows that change: what one has
  /// put in, the other has to find.
  @Test func `texts of all kinds have one key, whether their row is new or not`() throws {
    let scene = IndexScene()
    let context = try scene.open(try Self.model())
    let artist = try context.add("Artist", ["name": "one"])
    let texts = [
      nil, "", "a", "abcdefg", "abcdefgh", "abcdefghi", "a\0b", "\0", "\u{1}\u{2}", "\u{7F}",
      "caf\u{E9}", "cafe\u{301}", "日本語", String(repeating: "x", count: 64),
      String(repeating: "x", count: 65), String(repeating: "y", count: 300),
      String(repeating: "é", count: 200), "12345678\0", "1234567\u{80}",
    ]
    for (number, text) in texts.enumerated() {
      let work = try context.add("Work", ["price": Double(number)])
      try work.setValue(text, forKey: "title")
      if number % 3 > 0 { try work.setValue(artist, forKey: "artist") }
    }
    try context.save()
    #expect(try StoreFacts(context).findings == [])
    for (number, text) in texts.enumerated() {
      let found = try context.found("Work", text.map { Key("title") == $0 } ?? (Key("price") == 0))
      #expect(found.objects.count == texts.count { $0 == text }, "\(number)")
    }
    let works = try context.found("Work").objects
    #expect(works.count == texts.count)
    for work in works { try work.setValue("another", forKey: "title") }
    try context.save()
    #expect(try StoreFacts(context).findings == [])
    #expect(try context.found("Work", Key("title") == "another").objects.count == texts.count)
    for work in works { context.delete(work) }
    try context.save()
    #expect(try StoreFacts(context).findings == [])
    try scene.close(context)
    #expect(try Set(scene.trees()) == ["indexes/1 1", "indexes/2 0", "indexes/3 0", "indexes/4 0"])
  }

  @Test func `a key that comes twice in a save is found among those that wait`() throws {
    let scene = IndexScene()
    let context = try scene.open(try Self.model())
    let artist = try context.add("Artist", ["name": "one"])
    try add(0..<50, [artist], context)
    try context.add("Work", ["title": "again", "price": Double(7919 % 1_009)])
    #expect { try context.save() } throws: {
      ($0 as? PersistenceError)?.code == .managedObjectConstraintMerge
    }
    #expect(context.hasChanges)
    try scene.close(context)
    #expect(try scene.trees() == [])
  }

  @Test func `an object does not take the place of another when a key is given twice`() throws {
    let scene = IndexScene()
    var context = try scene.open(try Self.model())
    let artist = try context.add("Artist", ["name": "one"])
    try add(0..<3, [artist], context)
    try context.save()
    try scene.close(context)
    try forgetKeys(in: scene)
    context = try scene.open(try Self.model())
    try context.add("Work", ["title": "new", "price": 5_000.0])
    #expect {
      try context.save()
    } throws: {
      "\($0)".contains("a key of Work that is taken")
    }
    context.rollback()
    #expect(try context.found("Work").objects.count == 3)
    // Rows and indexes are as they were; the counters are what is wrong.
    let findings = try StoreFacts(context).findings
    #expect(findings.count == 2)
    #expect(findings.allSatisfy { $0.contains("keys were counted up to 0") }, "\(findings)")
    try scene.close(context)
  }

  /// Leaves the store as damage would: its counters say that no key was given yet.
  private func forgetKeys(in scene: IndexScene) throws {
    let pages = try PageStore.open(IndexScene.url.path(percentEncoded: false), in: scene.disk)
    try pages.write { transaction in
      let counters = try #require(try transaction.mutableRecordTree("keys"))
      var spaces: [Int64] = []
      var cursor = counters.cursor()
      while try cursor.next() { spaces.append(try cursor.key) }
      try #require(spaces.count == 2)
      for space in spaces { try counters.put(Array(repeating: 0, count: 8), for: space) }
    }
    try pages.close()
  }
}
