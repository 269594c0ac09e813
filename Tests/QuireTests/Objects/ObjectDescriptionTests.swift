import Foundation
import Quire
import Testing

@Suite struct ObjectDescriptionTests {
  private func scene() throws -> (ManagedObjectContext, SmallGallery.Artist, SmallGallery.Artwork) {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    let artist = try #require(
      try context.insert("Artist", ["name": "Hokusai", "born": 1760]) as? SmallGallery.Artist)
    let artwork = try #require(
      try context.insert("Artwork", ["title": "Wave", "artist": artist]) as? SmallGallery.Artwork)
    return (context, artist, artwork)
  }

  @Test func `a new object shows its class, entity, ID, state and values`() throws {
    let (context, artist, artwork) = try scene()
    defer { withExtendedLifetime(context) {} }
    let text = "\(artist)"
    #expect(text.hasPrefix("Artist (entity: Artist; id: \(artist.objectID); state: inserted; "))
    #expect(text.contains("\n  name = \"Hokusai\"\n"))
    #expect(text.contains("\n  born = 1760\n"))
    #expect(text.contains("\n  artworks = [\(artwork.objectID)]\n"))
    #expect(text.contains("\n  spouse = nil\n"))
    #expect("\(artwork)".contains("\n  artist = \(artist.objectID)\n"))
    #expect("\(artwork)".contains("\n  price = nil\n"))
  }

  @Test func `a saved object shows what it has read, and reads nothing for it`() throws {
    let (context, artist, artwork) = try scene()
    try context.save()
    artwork.price = 12.5
    #expect("\(artwork)".contains("state: updated"))
    #expect("\(artwork)".contains("\n  price = 12.5\n"))
    #expect("\(artwork)".contains("\n  title = \"Wave\"\n"))
    #expect("\(artwork)".contains("\n  artist = \(artist.objectID)\n"))
    #expect("\(artist)".contains("state: unchanged"))
    #expect("\(artist)".contains("\n  artworks = <fault>\n"))
    let other = SmallGallery.sibling(of: context)
    let fault = try #require(other.object(with: artist.objectID))
    #expect("\(fault)".hasSuffix("state: unchanged; data: <fault>)"))
    #expect(fault.isFault, "it was not read")
    let read = try #require(try other.all(SmallGallery.Artwork.self).first)
    _ = read.title
    let text = "\(read)"
    #expect(text.contains("artist = \(artist.objectID)") && text.contains("tags = <fault>"))
    #expect(fault.isFault && !other.hasChanges)
    context.delete(artwork)
    #expect("\(artwork)".contains("state: deleted"))
  }

  @Test func `a changed to-many relationship shows its changes without reading the rest`() throws {
    let (context, artist, artwork) = try scene()
    try context.save()
    let other = try context.insert("Artwork", ["title": "Fuji"])
    try artist.addToRelationship(other, forKey: "artworks")
    artwork.artist = nil
    let text = "\(artist)"
    #expect(text.contains("artworks = <fault> with [\(other.objectID)] without 1 objects"))
  }

  @Test func `a long text is cut, and an object without a context says so`() throws {
    let entity = try #require(SmallGallery.model.entitiesByName["Artwork"])
    let artwork = ManagedObject(entity: entity, insertInto: nil)
    try artwork.setValue(String(repeating: "é", count: 5_000), forKey: "title")
    let text = "\(artwork)"
    #expect(text.contains("state: without a context") && text.contains("… (5002 characters)"))
    #expect(text.count < 1_000)
  }

  @Test func `a class may describe its objects otherwise`() throws {
    final class Artist: ManagedObject {
      @Managed var name: String
      override var description: String { "the artist \(name)" }
    }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: [Artist.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    #expect("\(try context.insert("Artist", ["name": "Ada"]))" == "the artist Ada")
  }
}
