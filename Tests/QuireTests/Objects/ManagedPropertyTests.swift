import Quire
import QuireTesting
import Testing

@Suite struct ManagedPropertyTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  /// The ID that a property tells has to be that of the object it then shows.
  private func expectSame(
    _ artwork: Artwork, sourceLocation: SourceLocation = #_sourceLocation
  ) -> ManagedObjectID? {
    let (artist, lookalike) = (artwork.$artist.objectID, artwork.$lookalike.objectID)
    #expect(artist == artwork.artist?.objectID, sourceLocation: sourceLocation)
    #expect(lookalike == artwork.lookalike?.objectID, sourceLocation: sourceLocation)
    return artist
  }

  /// A saved artwork with an artist and a lookalike, in a context that has read neither.
  private func savedArtwork() throws -> (Artwork, artist: ManagedObjectID, ManagedObjectContext) {
    let context = try SmallGallery.context()
    let artwork = Artwork(context: context)
    let artist = Artist(context: context)
    artwork.artist = artist
    artwork.lookalike = Artwork(context: context)
    try context.save()
    let other = SmallGallery.sibling(of: context)
    return (
      try #require(other.object(with: artwork.objectID) as? Artwork), artist.objectID, other
    )
  }

  @Test func `a destination's ID is known without an object being made`() throws {
    let (artwork, artist, context) = try savedArtwork()
    try withExtendedLifetime(context) {
      #expect(artwork.isFault)
      #expect(artwork.$artist.objectID == artist)
      #expect(artwork.$lookalike.objectID?.entity.name == "Artwork")
      #expect(!artwork.isFault)
      #expect(context.registeredObjects == [artwork])
      // Also of one that is there already, as a fault or read.
      let destination = try #require(context.object(with: artist) as? Artist)
      #expect(expectSame(artwork) == artist)
      #expect(destination.isFault)
      _ = destination.name
      #expect(expectSame(artwork) == artist)
    }
  }

  @Test func `unsaved destinations have the IDs that they show`() throws {
    let (artwork, artist, context) = try savedArtwork()
    let new = Artist(context: context)
    artwork.artist = new
    #expect(expectSame(artwork) == new.objectID)
    #expect(artwork.$artist.objectID?.isTemporaryID == true)
    try context.obtainPermanentIDs(for: [new])
    #expect(expectSame(artwork) == new.objectID)
    #expect(artwork.$artist.objectID?.isTemporaryID == false)
    artwork.artist = nil
    #expect(expectSame(artwork) == nil)
    artwork.artist = try #require(context.object(with: artist) as? Artist)
    #expect(expectSame(artwork) == artist)
    artwork.artist = new
    context.delete(new)
    context.processPendingChanges()
    #expect(expectSame(artwork) == nil)
    let single = Artwork(context: context)
    #expect(expectSame(single) == nil)
  }

  @Test func `a deleted destination has no ID in a relationship without an inverse`() throws {
    let (artwork, _, context) = try savedArtwork()
    let lookalike = try #require(artwork.$lookalike.objectID)
    context.delete(try #require(context.object(with: lookalike)))
    try context.save()
    let other = SmallGallery.sibling(of: context)
    let same = try #require(other.object(with: artwork.objectID) as? Artwork)
    #expect(same.$lookalike.objectID == nil)
    #expect(expectSame(same) != nil)
  }

  @Test func `children name a destination as their objects are named`() throws {
    let (artwork, _, context) = try savedArtwork()
    let new = Artist(context: context)
    artwork.artist = new
    let child = ManagedObjectContext()
    child.parent = context
    let same = try #require(child.object(with: artwork.objectID) as? Artwork)
    #expect(same.$artist.objectID == new.objectID)
    #expect(expectSame(same) == new.objectID)
    let newest = Artist(context: child)
    same.artist = newest
    #expect(expectSame(same) == newest.objectID)
    try child.save()
    #expect(expectSame(same) == newest.objectID)
    try context.save()
    #expect(expectSame(same) != nil)
    #expect(expectSame(artwork) != nil)
    let sibling = ManagedObjectContext()
    sibling.parent = context
    let again = try #require(sibling.object(with: artwork.objectID) as? Artwork)
    let id = again.$artist.objectID
    #expect(id != nil && id == again.artist?.objectID)
  }

  @Test func `an object without a context has no destinations, and one that is gone reports it`()
    throws
  {
    var (artwork, _, context) = try savedArtwork()
    _ = artwork.price
    context.reset()
    #expect(artwork.$artist.objectID == nil && artwork.artist == nil)
    (artwork, _, context) = try savedArtwork()
    let coordinator = try #require(context.persistentStoreCoordinator)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    #expect(artwork.$artist.objectID == nil)
    #expect(throws: PersistenceError.self) { try context.save() }
  }

  @Test func `a property that the model does not have is reported`() throws {
    let model = try ManagedObjectModel { Entity("Lonely") { Attribute("name", .string) } }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: [Lonely.self])
    let error = #expect(throws: PersistenceError.self) { try coordinator.checkClasses() }
    #expect(error?.detailedErrors.map(\.code) == [.undefinedKey, .unacceptableValue])
    // Without a store nothing refuses the class, and then the property does.
    let context = GotchaHome.context(of: coordinator)
    let lonely = Lonely(context: context)
    #expect(lonely.$friend.objectID == nil)
    #expect { try context.save() } throws: { code(of: $0) == .undefinedKey }
    #expect(lonely.$name.objectID == nil)
    #expect { try context.save() } throws: { code(of: $0) == .unacceptableValue }
  }

  private final class Lonely: ManagedObject {
    @Managed var friend: Lonely?
    // The model has an attribute of this name.
    @Managed var name: Lonely?
  }
}
