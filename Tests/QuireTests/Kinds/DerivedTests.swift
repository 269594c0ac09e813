import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Derived attributes: worked out by the store when something they are made of is saved.
@Suite struct DerivedTests {
  final class Artist: ManagedObject {
    @Managed var name: String?
    @Managed var plainName: String?
    @Managed var workCount: Int
    @Managed var total: Double
    @Managed var dearest: Double?
    @Managed var mean: Double?
    @Managed var changed: Date?
    @Managed var works: Set<Work>
  }
  final class Work: ManagedObject {
    @Managed var title: String?
    @Managed var price: Double
    @Managed var artistName: String?
    @Managed var artist: Artist?
    @Managed var shows: Set<Show>
  }
  final class Show: ManagedObject {
    @Managed var works: Set<Work>
    @Managed var size: Int
    @Managed var artists: Int
  }

  private static func model(isDerived: Bool = true, now: Bool = true) throws -> ManagedObjectModel {
    func derived(_ name: String, _ type: AttributeType, _ text: String) -> AttributeDescription {
      Attribute(
        name, type, optional: type != .integer64,
        default: isDerived ? nil : type == .integer64 ? 0 : nil,
        derivedFrom: isDerived ? text : nil)
    }
    return try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        derived("plainName", .string, "canonical:(name)")
        derived("workCount", .integer64, "works.@count")
        derived("total", .double, "works.price.@sum")
        derived("dearest", .double, "works.@max.price")
        derived("mean", .double, "average:(works.price)")
        derived("changed", .date, "now()")
        Relationship("works", toMany: "Work", inverse: "artist")
      }
      Entity("Work") {
        Attribute("title", .string)
        Attribute("price", .double, optional: false, default: 0)
        derived("artistName", .string, "artist.name")
        Relationship("artist", toOne: "Artist")
        Relationship("shows", toMany: "Show", inverse: "works")
      }
      Entity("Show") {
        derived("size", .integer64, "works.@count")
        derived("artists", .integer64, "works.artist.@count")
        Relationship("works", toMany: "Work")
      }
    }
  }

  private static let classes: [ManagedObject.Type] = [Artist.self, Work.self, Show.self]

  /// What variables and results lead to was not known to be read, so that the first value stayed.
  @Test(arguments: GotchaHome.own)
  func `an attribute derived from a subquery is computed again when members change`(
    _ home: GotchaHome
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("limit", .double, default: 10)
        Attribute(
          "dear", .integer64, derivedFrom: "SUBQUERY(works, $w, $w.price > 10).@count")
        Attribute(
          "value", .double, derivedFrom: "SUBQUERY(works, $w, $w.maker.name != nil).price.@sum")
        Attribute(
          "listed", .integer64,
          derivedFrom:
            "SUBQUERY(works, $w, SUBQUERY($w.shows, $s, $s.isOpen == YES).@count > 0).@count")
        Relationship("works", toMany: "Work", inverse: "artist")
      }
      Entity("Work") {
        Attribute("price", .double, default: 0)
        Relationship("artist", toOne: "Artist", inverse: "works")
        Relationship("maker", toOne: "Maker", inverse: "works")
        Relationship("shows", toMany: "Show", inverse: "works")
      }
      Entity("Maker") {
        Attribute("name", .string)
        Relationship("works", toMany: "Work", inverse: "maker")
      }
      Entity("Show") {
        Attribute("isOpen", .boolean, default: false)
        Relationship("works", toMany: "Work", inverse: "shows")
      }
    }
    try home.withContext(model, classes: []) { context in
      let (maker, show) = (try context.insert("Maker"), try context.insert("Show"))
      let artist = try context.insert("Artist")
      let work = try context.insert("Work", ["price": 5, "artist": artist, "maker": maker])
      try work.addToRelationship(show, forKey: "shows")
      func expect(_ dear: Int, _ value: Double, _ listed: Int) throws {
        try context.save()
        let fresh = SmallGallery.sibling(of: context)
        let stored = try fresh.existingObject(with: artist.objectID)
        #expect(try stored.value(forKey: "dear") as? Int == dear)
        #expect(try stored.value(forKey: "value") as? Double == value)
        #expect(try stored.value(forKey: "listed") as? Int == listed)
      }
      try expect(0, 0, 0)
      try work.setValue(50, forKey: "price")
      try expect(1, 0, 0)
      try maker.setValue("Hilma", forKey: "name")
      try expect(1, 50, 0)
      try work.setValue(60, forKey: "price")
      try expect(1, 60, 0)
      try show.setValue(true, forKey: "isOpen")
      try expect(1, 60, 1)
      context.delete(show)
      try expect(1, 60, 0)
      try work.setValue(nil, forKey: "artist")
      try expect(0, 0, 0)
    }
  }

  private func context() throws -> ManagedObjectContext {
    try ManagedObjectContext.stubbed(Self.model(), classes: Self.classes)
  }

  private func work(_ price: Double, of artist: Artist, in context: ManagedObjectContext) -> Work {
    let work = Work(context: context)
    work.price = price
    work.artist = artist
    return work
  }

  @Test func `values of the object itself are there when it is saved`() throws {
    let context = try context()
    let artist = Artist(context: context)
    artist.name = "\u{C9}lise MÜLLER"
    #expect(artist.plainName == nil && artist.changed == nil)
    let before = Date()
    try context.save()
    #expect(artist.plainName == "elise muller")
    let first = try #require(artist.changed)
    #expect(first >= before)
    artist.name = "Ana"
    #expect(artist.plainName == "elise muller")
    try context.save()
    #expect(artist.plainName == "ana" && (artist.changed ?? first) > first)
  }

  @Test func `derived counts, sums and means follow the members`() throws {
    let context = try context()
    let artist = Artist(context: context)
    artist.name = "Ana"
    let works = [3, 5, 10].map { work($0, of: artist, in: context) }
    try context.save()
    #expect(artist.workCount == 3 && artist.total == 18 && artist.dearest == 10)
    #expect(artist.mean == 6 && works[0].artistName == "Ana")
    let version = artist.version
    works[2].price = 4
    try context.save()
    // As it was read, until it is refreshed.
    #expect(artist.dearest == 10)
    context.refresh(artist, mergeChanges: false)
    #expect(artist.total == 12 && artist.dearest == 5 && artist.version == version)
    context.delete(works[1])
    try context.save()
    context.refresh(artist, mergeChanges: false)
    #expect(artist.workCount == 2 && artist.total == 7 && artist.version == version)
    works[0].artist = nil
    works[2].artist = nil
    try context.save()
    context.refreshAllObjects()
    #expect(artist.workCount == 0 && artist.total == 0 && artist.dearest == nil)
    #expect(works[0].artistName == nil)
  }

  @Test func `a change of the owner reaches its members`() throws {
    let context = try context()
    let (ana, ben) = (Artist(context: context), Artist(context: context))
    ana.name = "Ana"
    ben.name = "Ben"
    let work = work(1, of: ana, in: context)
    try context.save()
    ana.name = "Anna"
    try context.save()
    context.refreshAllObjects()
    #expect(work.artistName == "Anna" && work.version == 1)
    work.artist = ben
    try context.save()
    #expect(work.artistName == "Ben")
    context.refreshAllObjects()
    #expect(ana.workCount == 0 && ben.workCount == 1)
  }

  @Test func `paths of several steps and both sides of a many-to-many are followed`() throws {
    let context = try context()
    let artist = Artist(context: context)
    let show = Show(context: context)
    let works = (1...3).map { _ in Work(context: context) }
    works[0].artist = artist
    show.works = [works[0], works[1]]
    try context.save()
    #expect(show.size == 2 && show.artists == 2)
    works[2].shows = [show]
    try context.save()
    context.refreshAllObjects()
    #expect(show.size == 3)
    context.delete(works[0])
    try context.save()
    context.refreshAllObjects()
    #expect(show.size == 2)
  }

  @Test func `two contexts that each add a member to one owner do not conflict`() throws {
    let context = try context()
    let artist = Artist(context: context)
    try context.save()
    let other = SmallGallery.sibling(of: context)
    let same = try #require(try other.existingObject(with: artist.objectID) as? Artist)
    _ = work(1, of: artist, in: context)
    _ = work(2, of: same, in: other)
    try context.save()
    try other.save()
    context.refreshAllObjects()
    #expect(artist.workCount == 2 && artist.total == 3 && artist.version == 1)
    // Nor do they with somebody who changes the owner, whose row is of before.
    let third = SmallGallery.sibling(of: context)
    let again = try #require(try third.existingObject(with: artist.objectID) as? Artist)
    #expect(again.workCount == 2)
    _ = work(4, of: artist, in: context)
    try context.save()
    again.name = "Ana"
    try third.save()
    #expect(again.workCount == 3 && again.total == 7)
  }

  @Test func `a value that is set is not what is saved, and is no change`() throws {
    let context = try context()
    let artist = Artist(context: context)
    artist.name = "Ana"
    artist.plainName = "nobody"
    artist.workCount = 99
    try context.save()
    #expect(artist.plainName == "ana" && artist.workCount == 0)
    artist.workCount = 7
    #expect(!artist.hasPersistentChangedValues)
    try context.save()
    #expect(artist.workCount == 0 && artist.version == 1)
  }

  @Test func `predicates and orders find what is derived`() throws {
    let context = try context()
    for (name, count) in [("Zoe", 2), ("\u{C1}na", 1), ("Ben", 0)] {
      let artist = Artist(context: context)
      artist.name = name
      for _ in 0..<count { _ = work(1, of: artist, in: context) }
    }
    try context.save()
    var request = FetchRequest<Artist>()
    request.predicate = try FetchPredicate(format: "workCount > 0 AND plainName BEGINSWITH 'a'")
    #expect(try context.fetch(request).map(\.name) == ["\u{C1}na"])
    request.predicate = nil
    request.sortDescriptors = [FetchSortDescriptor(key: "workCount", ascending: false)]
    #expect(try context.fetch(request).map(\.workCount) == [2, 1, 0])
  }

  @Test func `a result that the attribute cannot hold is an error of the save`() throws {
    let model = try ManagedObjectModel {
      Entity("Sum") {
        Attribute("a", .integer64)
        Attribute("small", .integer16, derivedFrom: "a * 2")
      }
    }
    let context = try ManagedObjectContext.stubbed(model)
    let object = try EntityDescription.insertNewObject(forEntityName: "Sum", into: context)
    try object.setValue(40_000, forKey: "a")
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.message.contains("small is derived from a * 2") == true)
    try object.setValue(4, forKey: "a")
    try context.save()
    #expect(try object.value(forKey: "small") as? Int == 8)
  }

  // MARK: Stores that had no derived attributes

  /// By plain objects: the classes have properties that an earlier model lacks.
  private func fill(_ url: URL, _ model: ManagedObjectModel) throws {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .quire, at: url)
    let context = GotchaHome.context(of: coordinator)
    let artist = try EntityDescription.insertNewObject(forEntityName: "Artist", into: context)
    try artist.setValue("\u{C9}lise", forKey: "name")
    for price in 1...300 {
      let work = try EntityDescription.insertNewObject(forEntityName: "Work", into: context)
      try work.setValue(Double(price), forKey: "price")
      try work.setValue(artist, forKey: "artist")
    }
    try context.save()
    try coordinator.remove(store)
  }

  private func check(_ coordinator: PersistentStoreCoordinator) throws {
    let context = GotchaHome.context(of: coordinator)
    let artist = try #require(try context.fetch(FetchRequest<Artist>()).first)
    #expect(artist.plainName == "elise" && artist.workCount == 300 && artist.dearest == 300)
    #expect(artist.version == 1)
    let works = try context.fetch(FetchRequest<Work>())
    #expect(works.allSatisfy { $0.artistName == "\u{C9}lise" } && works.count == 300)
  }

  private func bare() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Relationship("works", toMany: "Work", inverse: "artist")
      }
      Entity("Work") {
        Attribute("title", .string)
        Attribute("price", .double, optional: false, default: 0)
        Relationship("artist", toOne: "Artist")
        Relationship("shows", toMany: "Show", inverse: "works")
      }
      Entity("Show") { Relationship("works", toMany: "Work") }
    }
  }

  @Test(arguments: [false, true])
  func `a migration works out what it adds`(isDeferred: Bool) throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      try fill(url, try bare())
      let versions = try #require(
        try VersionedModel(versions: [.init("1", bare()), .init("2", Self.model())]))
      let coordinator = PersistentStoreCoordinator(
        versionedModel: versions, classes: Self.classes)
      var options = PersistentStoreOptions.migrating
      options.defersLightweightMigration = isDeferred
      let store = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
      try check(coordinator)
      #expect(try StoreInspection(of: store).findings == [])
      if isDeferred { try coordinator.finishDeferredLightweightMigration() }
      try check(coordinator)
      try coordinator.remove(store)
    }
  }

  @Test func `an expression that is new works on what is there`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      try fill(url, try Self.model(isDerived: false))
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: try Self.model(), classes: Self.classes)
      let store = try coordinator.addPersistentStore(type: .quire, at: url)
      try check(coordinator)
      try coordinator.remove(store)
    }
  }
}
