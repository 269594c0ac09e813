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

/// What indexes are used for, and what it takes to have them.
@Suite struct FetchIndexTests {
  private static func model(_ indexes: FetchIndex...) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Relationship("works", toMany: "Work", inverse: "artist")
      }
      Entity("Work") {
        Attribute("title", .string)
        Attribute("price", .double)
        Attribute("year", .integer16)
        Relationship("artist", toOne: "Artist", inverse: "works")
        for index in indexes { index }
      }
      Entity("Print", parent: "Work") { Attribute("number", .integer32) }
    }
  }

  private func fill(_ context: ManagedObjectContext, _ count: Int = 400) throws {
    let artists = try (0..<40).map { try context.add("Artist", ["name": "artist \($0)"]) }
    for number in 0..<count {
      try context.add(
        number % 3 == 0 ? "Print" : "Work",
        [
          "title": "title \(number % 100)", "price": Double(number % 50),
          "year": Int16(1900 + number % 7), "artist": artists[number % 40],
        ])
    }
    try context.save()
  }

  @Test func `an index serves what its first elements are compared with`() throws {
    let context = try IndexScene().open(
      try Self.model(
        FetchIndex("byTitle", on: "title"), FetchIndex("byYearAndPrice", on: "year", "price")))
    try fill(context)
    let one = try context.found("Work", Key("title") == "title 7")
    #expect(one.plan == "index Work.byTitle, 4 candidates")
    #expect(one.objects.count == 4)
    let several = try context.found("Work", Key("title").in(["title 7", "title 8", "title 7"]))
    #expect(several.plan == "index Work.byTitle, 8 candidates")
    let both = try context.found("Work", Key("year") == 1903 && Key("price") < 10)
    #expect(both.plan.hasPrefix("index Work.byYearAndPrice"))
    #expect(try both.objects.allSatisfy { try $0.value(forKey: "year") as? Int == 1903 })
    let start = try context.found("Work", Key("title").beginsWith("title 9"))
    #expect(start.plan == "index Work.byTitle, 44 candidates")
    #expect(start.objects.count == 44)
    // The second element alone says nothing, and keys do not know what differs in case only.
    #expect(try context.found("Work", Key("price") < 2).plan == "all rows of Work")
    let folded = FetchPredicate.comparison(
      .keyPath(["title"]), .equal, FetchExpression("TITLE 7"), options: .caseInsensitive)
    #expect(try context.found("Work", folded).plan == "all rows of Work")
    #expect(try context.found("Work", folded).objects.count == 4)
    // Of most rows an index is no help.
    #expect(try context.found("Work", Key("title") > "a").plan == "all rows of Work")
  }

  @Test func `an index of an ancestor serves a fetch of a subentity alone`() throws {
    let context = try IndexScene().open(try Self.model(FetchIndex("byTitle", on: "title")))
    try fill(context)
    let prints = try context.found("Print", Key("title") == "title 9")
    #expect(prints.plan == "index Work.byTitle, 2 candidates")
    #expect(prints.objects.allSatisfy { $0.entity.name == "Print" })
  }

  @Test func `an index in the order of the request ends with the first objects`() throws {
    let context = try IndexScene().open(
      try Self.model(FetchIndex("byYearAndPrice", on: "year", .descending("price"))))
    try fill(context)
    let sort = [
      FetchSortDescriptor(key: "price", ascending: true), FetchSortDescriptor(key: "title"),
    ]
    let found = try context.found("Work", Key("year") == 1902, by: sort, limit: 3)
    let all = try context.found("Work", .not(.not(Key("year") == 1902)), by: sort)
    #expect(found.objects == Array(all.objects.prefix(3)))
    let year = FetchSortDescriptor(key: "year", ascending: false)
    let latest = try context.found("Work", nil, by: [year], limit: 2)
    #expect(latest.plan == "index Work.byYearAndPrice in reverse order")
    #expect(latest.objects == Array(try context.found("Work", nil, by: [year]).objects.prefix(2)))
    #expect(try context.found("Work", nil, by: [year]).plan == "all rows of Work")
  }

  @Test func `a partial index serves those who ask for its predicate`() throws {
    var partial = FetchIndex("dear", on: "title")
    partial.partialIndexPredicate = "price >= 45"
    let scene = IndexScene()
    let context = try scene.open(try Self.model(partial))
    try fill(context)
    let dear = try FetchPredicate(format: "price >= 45")
    #expect(try context.found("Work", Key("title") == "title 46").plan == "all rows of Work")
    let found = try context.found("Work", dear && Key("title") == "title 46")
    #expect(found.plan == "index Work.dear, 4 candidates")
    try found.objects[0].setValue(1.0, forKey: "price")
    try context.save()
    #expect(try context.found("Work", dear && Key("title") == "title 46").objects.count == 3)
    #expect(try StoreFacts(context).findings == [])
    try scene.close(context)
    #expect(try scene.trees() == ["indexes/1 39"])
  }

  @Test func `objects that refer to an object are found by that object's links`() throws {
    let context = try IndexScene().open(try Self.model())
    try fill(context)
    let artists = try context.found("Artist").objects
    let works = try context.found("Work", Key("artist") == artists[3])
    #expect(works.plan == "links of artist, 10 candidates")
    #expect(works.objects.count == 10)
    let prints = try context.found("Print", Key("artist").in([artists[3], artists[4]]))
    #expect(prints.plan == "links of artist, 7 candidates")
    let missing = try context.add("Artist", [:])
    #expect(try context.found("Work", Key("artist") == missing).objects == [])
    try works.objects[0].setValue(missing, forKey: "artist")
    #expect(try context.found("Work", Key("artist") == missing).objects == [works.objects[0]])
    #expect(try context.found("Work", Key("artist") == artists[3]).objects.count == 9)
  }

  @Test func `an index for which no key can be made is left out`() throws {
    let scene = IndexScene()
    var foreign = FetchIndex("foreign", on: "title")
    foreign.partialIndexPredicate = "artist.name == 'x'"
    var timely = FetchIndex("timely", on: "title")
    timely.partialIndexPredicate = "price > random()"
    let context = try scene.open(
      try Self.model(
        FetchIndex("folded", on: .expression("lowercase:(title)")),
        FetchIndex("place", on: .rTree("price"), .rTree("year")), foreign, timely))
    try fill(context)
    #expect(try context.found("Work", Key("title") == "title 7").plan == "all rows of Work")
    try scene.close(context)
    #expect(try scene.format() == 1)
    #expect(try scene.trees() == [])
  }

  // MARK: Upkeep

  @Test func `a save keeps indexes up, whatever it changes`() throws {
    let scene = IndexScene()
    let context = try scene.open(try Self.model(FetchIndex("byTitle", on: "title")))
    try fill(context)
    let works = try context.found("Work").objects
    for work in works { try work.setValue(7.5, forKey: "price") }
    try context.save()
    #expect(try StoreFacts(context).findings == [])
    for work in works.prefix(30) { try work.setValue("other", forKey: "title") }
    for work in works.suffix(30) { context.delete(work) }
    try context.save()
    #expect(try StoreFacts(context).findings == [])
    #expect(try context.found("Work", Key("title") == "other").plan.hasPrefix("index"))
    #expect(try context.found("Work", Key("title") == "other").objects.count == 30)
    try scene.close(context)
    #expect(try scene.trees() == ["indexes/1 370"])
  }

  // MARK: Opening

  @Test func `a store gets the indexes of the model that it is opened with`() throws {
    let scene = IndexScene()
    var context = try scene.open(try Self.model())
    try fill(context)
    try scene.close(context)
    #expect(try scene.format() == 1)
    let plain = try scene.reading { try $0.treeNames().map { "\($0.name) \($0.count)" } }

    context = try scene.open(
      try Self.model(FetchIndex("byTitle", on: "title"), FetchIndex("byPrice", on: "price")))
    #expect(try context.found("Work", Key("title") == "title 7").plan.hasPrefix("index"))
    #expect(try StoreFacts(context).findings == [])
    try scene.close(context)
    #expect(try scene.format() == 3)
    #expect(try scene.trees() == ["indexes/1 400", "indexes/2 400"])

    // The one that is the same goes on, under the number that it has.
    context = try scene.open(
      try Self.model(FetchIndex("byPrice", on: "price"), FetchIndex("byYear", on: "year")))
    #expect(try context.found("Work", Key("title") == "title 7").plan == "all rows of Work")
    try scene.close(context)
    #expect(try scene.trees() == ["indexes/2 400", "indexes/3 400"])

    context = try scene.open(try Self.model())
    try scene.close(context)
    #expect(try scene.format() == 1)
    #expect(try scene.reading { try $0.treeNames().map { "\($0.name) \($0.count)" } } == plain)
  }

  @Test func `a store that is read-only is read with the indexes it has`() throws {
    let scene = IndexScene()
    var context = try scene.open(try Self.model(FetchIndex("byTitle", on: "title")))
    try fill(context)
    try scene.close(context)
    context = try scene.open(
      try Self.model(FetchIndex("byPrice", on: "price")), [ReadOnlyPersistentStoreOption: true])
    #expect(try context.found("Work", Key("title") == "title 7").objects.count == 4)
    #expect(
      try context.found("Work", Key("title") == "title 7").plan
        == "index Work.byTitle, 4 candidates")
    try scene.close(context)
    #expect(try scene.trees() == ["indexes/1 400"])
  }

  @Test func `who has opened a store keeps up the indexes that another one gives it`() throws {
    let scene = IndexScene()
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      func open(_ model: ManagedObjectModel) throws -> ManagedObjectContext {
        let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .quire, at: url)
        return GotchaHome.context(of: coordinator)
      }
      let first = try open(try Self.model(FetchIndex("byPrice", on: "price")))
      try fill(first)
      let second = try open(try Self.model(FetchIndex("byTitle", on: "title")))
      try first.add("Work", ["title": "title 7", "price": 7.0])
      try first.save()
      #expect(try first.found("Work", Key("price") == 7.0).objects.count == 9)
      #expect(try StoreFacts(second).findings == [])
      #expect(
        try second.found("Work", Key("title") == "title 7").plan
          == "index Work.byTitle, 5 candidates")
      try scene.close(first)
      try scene.close(second)
    }
  }

  @Test func `many keys are sorted in little memory`() throws {
    try KeyMemory.$byteCount.withValue(1_000) {
      let scene = IndexScene()
      var context = try scene.open(try Self.model())
      try fill(context)
      try scene.close(context)
      context = try scene.open(try Self.model(FetchIndex("byTitle", on: "title")))
      #expect(try StoreFacts(context).findings == [])
      try scene.close(context)
      #expect(try scene.trees() == ["indexes/1 400"])
    }
  }

  // MARK: Crashes

  @Test func `a crash while indexes are made leaves the store with them or without`() throws {
    let scene = IndexScene()
    let (old, new) = (
      try Self.model(FetchIndex("byYear", on: "year")),
      try Self.model(FetchIndex("byTitle", on: "title"), FetchIndex("byPrice", on: "price"))
    )
    let context = try scene.open(old)
    try fill(context, 60)
    try scene.close(context)
    let files = scene.disk.files
    let whole = IndexScene(disk: SimulatedDisk(files))
    try whole.close(try whole.open(new))
    for operation in 0...whole.disk.operationCount {
      let disk = SimulatedDisk(files)
      disk.crash(after: operation)
      _ = try? IndexScene(disk: disk).open(new)
      let images = disk.crashImages()
      for image in [images.first, images.last].compactMap({ $0 }) {
        let again = IndexScene(disk: SimulatedDisk(image))
        #expect([["indexes/1 60"], ["indexes/2 60", "indexes/3 60"]].contains(try again.trees()))
        let context = try again.open(new)
        #expect(try StoreFacts(context).findings == [], "crash after \(operation)")
        #expect(try context.found("Work", Key("title") == "title 7").objects.count == 1)
      }
    }
  }

  @Test func `a crash while objects are saved leaves indexes and rows that agree`() throws {
    let model = try ManagedObjectModel {
      Entity("Work") {
        Attribute("title", .string)
        Attribute("price", .double)
        FetchIndex("byPrice", on: .descending("price"), "title")
        UniquenessConstraint("title")
      }
    }
    /// Creates a store and saves three times; returns how many saves returned.
    func run(_ disk: SimulatedDisk) -> Int {
      var count = 0
      do {
        let context = try IndexScene(disk: disk).open(model)
        for round in 0..<3 {
          let works = try context.found("Work").objects
          for (number, work) in works.enumerated() {
            if number % 5 == 0 { context.delete(work) }
            try work.setValue(Double(round * number), forKey: "price")
          }
          for number in 0..<20 {
            try context.add("Work", ["title": "\(round) \(number)", "price": Double(number)])
          }
          try context.save()
          count += 1
        }
        try IndexScene(disk: disk).close(context)
      } catch {}
      return count
    }
    let whole = SimulatedDisk()
    #expect(run(whole) == 3)
    for operation in 0...whole.operationCount {
      let disk = SimulatedDisk()
      disk.crash(after: operation)
      let count = run(disk)
      let images = disk.crashImages()
      for image in [images.first, images.last].compactMap({ $0 }) {
        let context = try IndexScene(disk: SimulatedDisk(image)).open(model)
        #expect(try StoreFacts(context).findings == [], "crash after \(operation)")
        #expect(try context.found("Work").objects.count >= [0, 20, 36, 48][count])
      }
    }
  }

  // MARK: Several stores

  @Test func `indexes of several stores serve one fetch`() throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try Self.model(FetchIndex("byPrice", on: "price")))
    let stores = try (0..<2).map { _ in try coordinator.addPersistentStore(type: .inMemory, at: nil)
    }
    let context = GotchaHome.context(of: coordinator)
    for number in 0..<400 {
      let work = try context.add("Work", ["price": Double(number % 60), "year": number % 7])
      context.assign(work, to: stores[number % 2])
    }
    try context.save()
    let predicate = Key("price") == 7.0
    let found = try context.found("Work", predicate)
    #expect(
      found.plan == "index Work.byPrice, 0 candidates; index Work.byPrice, 7 candidates")
    #expect(found.objects == (try context.found("Work", .not(.not(predicate))).objects))
    let sort = [FetchSortDescriptor(key: "price", ascending: false)]
    let first = try context.found("Work", nil, by: sort, limit: 5)
    #expect(first.plan.contains("in reverse order; index"))
    #expect(first.objects == Array(try context.found("Work", nil, by: sort).objects.prefix(5)))
  }
}
