import Quire
import Testing

// Two contexts of one store: what one saved after the other had read it.
@Suite struct LockingTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  private struct Pair {
    let first: ManagedObjectContext
    let second: ManagedObjectContext
    let artist: Artist
    let same: Artist

    init() throws {
      first = try SmallGallery.context()
      artist = Artist(context: first)
      artist.name = "Hokusai"
      try first.save()
      second = SmallGallery.sibling(of: first)
      same = try #require(try second.named("Hokusai"))
      #expect(same.name == "Hokusai")
    }
  }

  @Test func `a change to an outdated object is a conflict, and nothing is written`() throws {
    let pair = try Pair()
    pair.artist.name = "first"
    try pair.first.save()
    pair.same.name = "second"
    let extra = Artist(context: pair.second)
    do {
      try pair.second.save()
      Issue.record("the save should have failed")
    } catch let error as PersistenceError {
      #expect(error.code == .managedObjectMerge)
      #expect(error.conflicts.map(\.objectID) == [pair.artist.objectID])
      #expect(error.conflicts.map(\.oldVersion) == [1])
      #expect(error.conflicts.map(\.newVersion) == [2])
    }
    #expect(pair.same.name == "second" && extra.isInserted)
    #expect(try pair.first.all(Artist.self).count == 1)
    pair.second.refresh(pair.same, mergeChanges: true)
    try pair.second.save()
    pair.first.refresh(pair.artist, mergeChanges: false)
    #expect(pair.artist.name == "second")
  }

  @Test func `a change to an object that was deleted underneath is a conflict`() throws {
    let pair = try Pair()
    pair.first.delete(pair.artist)
    try pair.first.save()
    pair.same.name = "second"
    #expect {
      try pair.second.save()
    } throws: {
      ($0 as? PersistenceError)?.conflicts.map(\.newVersion) == [0]
    }
  }

  @Test func `a link to an object that was deleted underneath is a conflict`() throws {
    let pair = try Pair()
    pair.first.delete(pair.artist)
    try pair.first.save()
    let artwork = Artwork(context: pair.second)
    artwork.artist = pair.same
    #expect { try pair.second.save() } throws: { code(of: $0) == .managedObjectMerge }
    #expect(try StoreFacts(pair.first).isSound)
  }

  @Test func `deleting an owner that got a child meanwhile is a conflict`() throws {
    let pair = try Pair()
    let artwork = Artwork(context: pair.second)
    artwork.artist = pair.same
    pair.first.delete(pair.artist)
    pair.first.processPendingChanges()
    try pair.second.save()
    #expect { try pair.first.save() } throws: { code(of: $0) == .managedObjectMerge }
    pair.first.rollback()
    pair.first.delete(pair.artist)
    try pair.first.save()
    #expect(try pair.first.all(Artwork.self).isEmpty)
    #expect(try StoreFacts(pair.first).isSound)
  }

  @Test func `children added by two contexts to one owner are no conflict`() throws {
    let pair = try Pair()
    Artwork(context: pair.first).artist = pair.artist
    Artwork(context: pair.second).artist = pair.same
    try pair.first.save()
    try pair.second.save()
    #expect(pair.same.artworks.count == 2)
    #expect(try StoreFacts(pair.first).isSound)
  }

  @Test func `a row that is gone reads as nothing`() throws {
    let pair = try Pair()
    let artwork = Artwork(context: pair.first)
    artwork.lookalike = Artwork(context: pair.first)
    try pair.first.save()
    let other = SmallGallery.sibling(of: pair.first)
    let lookalike = try #require(artwork.lookalike)
    let target = try #require(other.object(with: lookalike.objectID))
    pair.first.delete(lookalike)
    try pair.first.save()
    #expect(target.isFault)
    #expect(try target.value(forKey: "title") == nil)
    #expect(throws: PersistenceError.self) { try other.existingObject(with: target.objectID) }
  }
}
