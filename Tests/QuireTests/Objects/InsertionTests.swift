import Quire
import QuireTesting
import Testing

// Objects that come into a context by another way than being made in it.
@Suite struct InsertionTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  // What happened: an object that had left its context had no place for values any more; inserted
  // again, it stopped the program at the next save.
  @Test func `an object that was dropped before it was saved can be inserted again`() throws {
    for drop in ["rollback", "reset", "delete"] {
      let context = try SmallGallery.context()
      let artist = Artist(context: context)
      artist.name = "Hokusai"
      artist.artworks = [Artwork(context: context)]
      switch drop {
      case "rollback": context.rollback()
      case "reset": context.reset()
      default:
        context.delete(artist)
        context.processPendingChanges()
      }
      #expect(artist.managedObjectContext == nil && !artist.hasChanges, "\(drop)")
      #expect(artist.name == "Hokusai", "\(drop): values stay with an object of nobody")
      context.insert(artist)
      #expect(artist.isInserted && artist.artworks.isEmpty, "\(drop)")
      try context.save()
      #expect(try context.all(Artist.self).map(\.name) == ["Hokusai"], "\(drop)")
      #expect(try StoreFacts(context).findings == [])
    }
  }

  @Test func `an object that was deleted and saved comes back as a new one`() throws {
    let context = try SmallGallery.context()
    let artist = Artist(context: context)
    artist.name = "Hokusai"
    try context.save()
    let id = artist.objectID
    context.delete(artist)
    try context.save()
    context.insert(artist)
    #expect(artist.objectID.isTemporaryID && artist.isInserted)
    #expect(artist.name == "unknown", "its values went with its row")
    let artwork = Artwork(context: context)
    artwork.artist = artist
    try context.save()
    #expect(artist.objectID != id && !artist.objectID.isTemporaryID)
    #expect(artist.artworks == [artwork])
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `a new object that is deleted and inserted again is in no relationship`() throws {
    let model = try ManagedObjectModel {
      Entity("Node") {
        Attribute("number", .integer32)
        Relationship("next", toOne: "Node", inverse: "previous", deleteRule: .noAction)
        Relationship("previous", toOne: "Node", inverse: "next", deleteRule: .noAction)
      }
    }
    let context = try ManagedObjectContext.stubbed(model)
    func node() throws -> ManagedObject {
      try EntityDescription.insertNewObject(forEntityName: "Node", into: context)
    }
    let (one, two) = (try node(), try node())
    try context.save()
    let new = try node()
    try one.setValue(new, forKey: "next")
    try new.setValue(two, forKey: "next")
    context.delete(new)
    context.processPendingChanges()
    context.insert(new)
    #expect(try one.value(forKey: "next") == nil && two.value(forKey: "previous") == nil)
    try context.save()
    #expect(try StoreFacts(context).findings == [])
  }

  // What happened: values have places by the order of the model's declarations. Equal models may
  // have different orders, and an object made with one and inserted into the other exchanged them.
  @Test func `an object made with an equal model keeps each value under its name`() throws {
    let one = try ManagedObjectModel {
      Entity("Person") {
        Attribute("first", .string)
        Attribute("last", .string)
        Relationship("friend", toOne: "Person", inverse: "friend")
        Relationship("boss", toOne: "Person")
      }
    }
    let two = try ManagedObjectModel {
      Entity("Person") {
        Relationship("boss", toOne: "Person")
        Attribute("last", .string)
        Relationship("friend", toOne: "Person", inverse: "friend")
        Attribute("first", .string)
      }
    }
    final class Person: ManagedObject {
      @Managed var first: String?
      @Managed var last: String?
      @Managed var boss: Person?
    }
    let entity = try #require(two.entities.first)
    #expect(entity == one.entities.first)
    let context = try ManagedObjectContext.stubbed(one, classes: [Person.self])
    let person = Person(entity: entity, insertInto: nil)
    person.first = "Katsushika"
    person.last = "Hokusai"
    context.insert(person)
    #expect(person.first == "Katsushika" && person.last == "Hokusai")
    person.boss = person
    try context.save()
    context.reset()
    let found = try #require(try context.fetch(FetchRequest<Person>(entityName: "Person")).first)
    #expect(found.first == "Katsushika" && found.last == "Hokusai" && found.boss === found)
  }
}
