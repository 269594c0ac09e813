import Foundation
import Quire
import QuireModel
import QuireTesting
import Testing

private enum Manner: String, CaseIterable, ManagedAttribute { case painting, print, sculpture }

private struct Size: TransformableValue, Equatable {
  var width = 0
  var height = 0
}

private class Person: ManagedObject {
  override class var entityDeclaration: Entity? {
    Entity("Person", abstract: true, userInfo: ["note": "people"]) {
      UniquenessConstraint("name", "born")
    }
  }
  @Managed var name: String = "Nobody"
  @Managed var born: Int16?
}

private final class Artist: Person {
  @Managed(inverse: \Artwork.artist, deleteRule: .cascade) var artworks: Set<Artwork>
  @Managed(derivedFrom: "artworks.@count") var artworkCount: Int
}

private final class Artwork: ManagedObject {
  @Managed(.unique, length: 1...40) var slug: String
  @Managed(renamedFrom: "cost") var price: Double = 0
  @Managed([.indexed, .keptInHistory], range: 1400...2100) var year: Int16?
  @Managed var technique: Manner = .print
  @Managed var size: Size? = Size(width: 3, height: 4)
  @Managed(.external) var scan: Data?
  @Managed(.transient) var note: String?
  @Managed var page: URL?
  @Managed var identifier: UUID = UUID()
  @Managed var added: Date = Date()
  @Managed var artist: Artist?
  @Managed(inverse: "artworks") var rooms: [Room]
}

private final class Room: ManagedObject {
  @Managed(deleteRule: .deny, count: 0...3) var artworks: Set<Artwork>
  @Managed(inverse: nil) var next: Room? = nil
}

@Suite struct DeclaredModelTests {
  @Test func `classes say what a model in Swift says`() throws {
    let written = try ManagedObjectModel {
      Entity("Person", abstract: true, userInfo: ["note": "people"]) {
        Attribute("name", .string, optional: false, default: "Nobody")
        Attribute("born", .integer16)
        UniquenessConstraint("name", "born")
      }
      Entity("Artist", parent: "Person") {
        Attribute("artworkCount", .integer64, optional: false, derivedFrom: "artworks.@count")
        Relationship("artworks", toMany: "Artwork", inverse: "artist", deleteRule: .cascade)
      }
      Entity("Artwork") {
        Attribute("slug", .string, optional: false, length: 1...40)
        Attribute("price", .double, optional: false, default: 0, renamedFrom: "cost")
        Attribute("year", .integer16, range: 1400...2100).with {
          $0.preservesValueInHistoryOnDeletion = true
        }
        Attribute("technique", .string, optional: false, default: "print")
        Attribute("size", .transformable).with {
          $0.defaultValue = .transformed(Data(#"{"height":4,"width":3}"#.utf8))
        }
        Attribute("scan", .binaryData, storedExternally: true)
        Attribute("note", .string, transient: true)
        Attribute("page", .uri)
        Attribute("identifier", .uuid, optional: false)
        Attribute("added", .date, optional: false)
        Relationship("artist", toOne: "Artist")
        Relationship("rooms", toMany: "Room", inverse: "artworks", ordered: true)
        UniquenessConstraint("slug")
        FetchIndex("byYear", on: "year")
      }
      Entity("Room") {
        Relationship("artworks", toMany: "Artwork", count: 0...3, deleteRule: .deny)
        Relationship("next", toOne: "Room")
      }
    }
    let declared = try ManagedObjectModel(for: Artist.self, Artwork.self)
    for (one, other) in zip(declared.declaration.entities, written.declaration.entities) {
      #expect(one == other, "\(one.name)")
    }
    #expect(declared.declaration == written.declaration)
    #expect(declared.versionChecksum == written.versionChecksum)
  }

  @Test func `new objects have the defaults, and computed ones of their own`() throws {
    let container = try PersistentContainer(name: "Gallery", for: Artist.self)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    let start = Date()
    let one = Artwork(context: context)
    let other = try #require(
      try EntityDescription.insertNewObject(forEntityName: "Artwork", into: context) as? Artwork)
    let third = Artwork(entity: one.entity, insertInto: context)
    for (index, artwork) in [one, other, third].enumerated() {
      #expect(artwork.price == 0)
      #expect(artwork.technique == .print)
      #expect(artwork.size == Size(width: 3, height: 4))
      #expect(artwork.added >= start && artwork.added <= Date())
      #expect(artwork.identifier != UUID.empty)
      artwork.slug = "\(index)"
    }
    #expect(Set([one, other, third].map(\.identifier)).count == 3)
    let artist = Artist(context: context)
    artist.name = "Katsushika Hokusai"
    one.artist = artist
    #expect(artist.artworks == [one])
    try context.save()
    #expect(artist.artworkCount == 1)
    let identifier = one.identifier
    context.refreshAllObjects()
    #expect(one.identifier == identifier)
  }

  // MARK: Mistakes

  private final class Album: ManagedObject {
    @Managed(derivedFrom: "tracks.@count") var trackCount: Int = 0
    @Managed(derivedFrom: "tracks.length.@max") var longest: Double = -1
    @Managed var tracks: Set<Track>
  }
  private final class Track: ManagedObject {
    @Managed var length: Double?
    @Managed(inverse: \Album.tracks) var album: Album?
  }

  // The compiler said “expected renamedFrom:” of a derived property with a default.
  @Test func `a derived attribute may have a default`() throws {
    let context = try ManagedObjectContext.stubbed(for: Album.self)
    let album = Album(context: context)
    #expect(album.trackCount == 0 && album.longest == -1)
    let track = Track(context: context)
    track.album = album
    try context.save()
    #expect(album.trackCount == 1 && album.longest == -1, "no track has a length")
    track.length = 4
    try context.save()
    context.refreshAllObjects()
    #expect(album.longest == 4)
  }

  @Test func `entityDeclaration adds what the arguments of @Managed do not say`() throws {
    final class Shelf: ManagedObject {
      @Managed(minCount: 1) var room: Store?
      @Managed var page: URL?
      @Managed var label: String?
      @Managed var labels: Data
      @Managed var books: Set<Book>
      @Managed var code: Int16 = 1
      override class var entityDeclaration: Entity? {
        Entity("Shelf") {
          Attribute("page", .uri, optional: false)
          Attribute("label", .string, userInfo: ["help": "What is written on it"])
          Attribute("labels", .transformable, optional: false, transformer: "Labels")
          Attribute("color", .string)
          Relationship("books", toMany: "Book", inverse: "shelf", optional: false)
        }
      }
    }
    final class Book: ManagedObject { @Managed var shelf: Shelf? }
    final class Store: ManagedObject { @Managed(inverse: "room") var shelf: Shelf? }
    let written = try ManagedObjectModel {
      Entity("Shelf") {
        Attribute("page", .uri, optional: false)
        Attribute("label", .string, userInfo: ["help": "What is written on it"])
        Attribute("labels", .transformable, optional: false, transformer: "Labels")
        Attribute("code", .integer16, optional: false, default: 1)
        Attribute("color", .string)
        Relationship("room", toOne: "Store", inverse: "shelf", minCount: 1)
        Relationship("books", toMany: "Book", inverse: "shelf", optional: false)
      }
      Entity("Book") { Relationship("shelf", toOne: "Shelf") }
      Entity("Store") { Relationship("shelf", toOne: "Shelf") }
    }
    let model = try ManagedObjectModel(for: Shelf.self)
    #expect(model.declaration == written.declaration)
    #expect(model.versionChecksum == written.versionChecksum)
  }

  @Test func `a property that is said twice, or as another kind, is a mistake`() throws {
    final class Lamp: ManagedObject {
      @Managed(.indexed) var label: String?
      @Managed var watts: Int16
      @Managed var room: Hall?
      @Managed var name: Hall?
      override class var entityDeclaration: Entity? {
        Entity("Lamp") {
          Attribute("label", .string)
          Attribute("watts", .integer32)
          Attribute("name", .string)
          Relationship("room", toMany: "Hall", ordered: true)
        }
      }
    }
    final class Hall: ManagedObject {}
    let error = #expect(throws: PersistenceError.self) {
      _ = try ManagedObjectModel(for: Lamp.self)
    }
    #expect(
      error?.detailedErrors.map(\.message) == [
        "Lamp.label is said twice: write @Managed var alone, as entityDeclaration says everything "
          + "of it",
        "Lamp.watts is declared as Int16, and entityDeclaration has an attribute of the type "
          + "integer32",
        "Lamp.room is declared as Hall?, and entityDeclaration has a relationship to many of Hall, "
          + "ordered",
        "Lamp.name is declared as Hall?, and entityDeclaration has an attribute of the type string",
      ])
  }

  @Test func `mistakes are one error that lists them`() throws {
    final class Kept: ManagedObject, CustomReflectable {
      @Managed var name: String
      var customMirror: Mirror { Mirror(self, children: []) }
    }
    final class One: ManagedObject {
      @Managed var plain: ManagedObject?
      @Managed var two: Two?
      @Managed var kept: Kept?
    }
    final class Two: ManagedObject {
      @Managed var one: One?
    }
    func texts(_ classes: ManagedObject.Type...) throws -> [String] {
      let error = #expect(throws: PersistenceError.self) {
        _ = try ManagedObjectModel(for: classes)
      }
      return error?.detailedErrors.map(\.message) ?? []
    }
    #expect(
      try texts(One.self) == [
        "One.plain refers to ManagedObject, which is no entity's class: name the class of the "
          + "destinations",
        "Kept has a mirror of its own (CustomReflectable), in which its properties are not found: "
          + "describe objects by description",
      ])
    final class Three: ManagedObject { @Managed var four: Four? }
    final class Four: ManagedObject { @Managed var threes: Set<Three> }
    #expect(
      try texts(Three.self) == [
        "Three.four and Four.threes refer to each other's classes: write "
          + "@Managed(inverse: \\Four.threes) if they are two sides of one relationship, "
          + "@Managed(inverse: nil) if they are not"
      ])
    final class Seven: ManagedObject {
      override class var entityDeclaration: Entity? { Entity("Sevem", abstract: true) }
    }
    #expect(
      try texts(Seven.self) == [
        "Seven has an entityDeclaration of Sevem, which is the entity neither of the class nor of a "
          + "superclass: name Seven"
      ])
    final class Five: ManagedObject {
      @Managed(inverse: \Six.name) var sixes: Set<Six>
    }
    final class Six: ManagedObject { @Managed var name: String }
    #expect(
      try texts(Five.self) == [
        "Five.sixes has the inverse name, which is no relationship of Six"
      ])
  }
}

// MARK: - Versions

private final class FormerNote: ManagedObject {
  override class var modelEntityName: String { "Note" }
  @Managed var text: String
  @Managed var pages: Int16 = 1
}

private final class Note: ManagedObject {
  @Managed(renamedFrom: "text") var title: String
  @Managed var pages: Int = 1
  @Managed var rating: Int16 = 3
  @Managed var identifier: UUID? = UUID()
}

@Suite struct DeclaredVersionTests {
  @Test func `stores of an earlier version migrate without its classes`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "notes.quire")
      do {
        let container = try PersistentContainer(name: "Notes", for: FormerNote.self)
        try container.loadPersistentStore(at: url)
        let context = container.newBackgroundContext()
        let note = FormerNote(context: context)
        (note.text, note.pages) = ("First", 7)
        try context.save()
        try container.close()
      }
      let container = try PersistentContainer(name: "Notes", for: Note.self)
      try container.loadPersistentStore(at: url)
      let context = container.newBackgroundContext()
      let note = try #require(try context.fetch(FetchRequest<Note>()).first)
      #expect(note.title == "First")
      #expect(note.pages == 7)
      #expect(note.rating == 3)
      #expect(note.identifier == nil)
      #expect(Note(context: context).identifier != nil)
    }
  }

  @Test func `classes that changed need a fixture`() throws {
    try withTemporaryFolder { folder in
      let fixtures = MigrationFixtures(in: folder)
      try fixtures.record("1.0", for: FormerNote.self) { FormerNote(context: $0).text = "First" }
      try fixtures.requireFixture(for: FormerNote.self)
      let error = #expect(throws: MigrationFixtureError.self) {
        try fixtures.requireFixture(for: Note.self)
      }
      let text = "\(error.map { "\($0)" } ?? "")"
      for words in [
        "the classes have changed", "“1.0.quire”", "+ attribute rating",
        "fixtures.record(\"NAME\", for: Note.self)",
      ] {
        #expect(text.contains(words), "\(words): \(text)")
      }
      var titles: [String: String] = [:]
      try fixtures.check(for: Note.self, budget: .seconds(20)) { fixture, context in
        titles[fixture.name] = try context.fetch(Note.fetchRequest()).first?.title
      }
      #expect(titles == ["1.0.quire": "First"])
      try fixtures.record("1.1", for: Note.self) { Note(context: $0).title = "Second" }
      try fixtures.requireFixture(for: Note.self)
      #expect(throws: MigrationFixtureError.self) {
        try fixtures.record("1.1", for: Note.self) { Note(context: $0).title = "Third" }
      }
    }
  }

  @Test func `of fixtures that are as near, the newest is compared with the classes`() throws {
    try withTemporaryFolder { folder in
      let fixtures = MigrationFixtures(in: folder)
      for release in ["1.2", "1.10"] {
        try fixtures.record(release, for: FormerNote.self) { FormerNote(context: $0).text = "A" }
      }
      let error = #expect(throws: MigrationFixtureError.self) {
        try fixtures.requireFixture(for: Note.self)
      }
      #expect("\(error.map { "\($0)" } ?? "")".contains("From “1.10.quire” to the classes"))
    }
  }

  @Test func `a batch makes computed defaults for each object`() throws {
    let container = try PersistentContainer(name: "Notes", for: Note.self)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    let given = UUID()
    try context.execute(
      BatchInsertRequest(
        entityName: "Note",
        objects: [["title": "a"], ["title": "b"], ["title": "c", "identifier": given]]))
    let identifiers = try context.fetch(FetchRequest<Note>()).map(\.identifier)
    #expect(Set(identifiers).count == 3)
    #expect(identifiers.contains(given) && !identifiers.contains(nil))
  }
}

private final class Coin: ManagedObject {
  @Managed var isHead: Bool = Bool.random()
  @Managed var cast: Date = Date()
  @Managed var minted: Date = Date(timeIntervalSinceReferenceDate: 5)
  @Managed(inverse: \Purse.coins) var purse: Purse?
}

private final class Purse: ManagedObject {
  @Managed var coins: Set<Coin>
}

@Suite struct ComputedDefaultTests {
  @Test func `a value that is often the same is not a constant`() throws {
    let coin = try #require(try ManagedObjectModel(for: Coin.self).entity(named: "Coin"))
    #expect(coin.attribute(named: "isHead")?.defaultValue == nil)
    #expect(coin.attribute(named: "cast")?.defaultValue == nil)
    #expect(
      coin.attribute(named: "minted")?.defaultValue
        == .date(Date(timeIntervalSinceReferenceDate: 5)))
  }

  @Test func `fixtures have the classes that relationships lead to`() throws {
    try withTemporaryFolder { folder in
      let fixtures = MigrationFixtures(in: folder)
      try fixtures.record("1.0", for: Purse.self) { context in
        Coin(context: context).purse = Purse(context: context)
      }
      try fixtures.check(for: Purse.self) { _, context in
        let coins = try context.fetch(Coin.where { $0.purse != nil })
        #expect(coins.count == 1)
      }
    }
  }
}

// MARK: - Classes beside another model

private final class Book: ManagedObject {
  @Managed(.unique) var title: String
  @Managed(.indexed) var year: Int16?
  @Managed(length: 1...10) var code: String?
  @Managed var pages: Int16 = 5
  @Managed var weight: Double = 0
  @Managed(deleteRule: .cascade) var chapters: Set<Chapter>
}

private final class Chapter: ManagedObject {
  @Managed(inverse: "chapters") var book: Book?
  @Managed(inverse: nil) var next: Chapter?
}

@Suite struct DeclaredDifferenceTests {
  @Test func `checkClasses lists the differences between classes and a model in Swift`() throws {
    func messages(_ model: ManagedObjectModel) -> [String] {
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: model, classes: [Book.self, Chapter.self])
      let error = #expect(throws: PersistenceError.self) { try coordinator.checkClasses() }
      return error?.detailedErrors.map(\.message).sorted() ?? []
    }
    let other = try ManagedObjectModel {
      Entity("Book") {
        Attribute("title", .string)
        Attribute("year", .integer16)
        Attribute("code", .string, length: 1...12)
        Attribute("pages", .integer16)
        Attribute("weight", .double, default: 0)
        Relationship("chapters", toMany: "Chapter", inverse: "book")
      }
      Entity("Chapter") {
        Relationship("book", toOne: "Book")
        Relationship("next", toOne: "Chapter")
      }
    }
    #expect(
      messages(other) == [
        "Book.chapters has the delete rule cascade, in the model nullify",
        "Book.code has the largest value 10, in the model 12",
        "Book.pages has the default value 5, in the model none",
        "Book.title is unique, and the model has no such constraint",
        "Book.year is indexed, and the model has no index that begins with it",
      ])
    let coordinator = try PersistentStoreCoordinator(for: Book.self)
    try coordinator.checkClasses()
  }
}
