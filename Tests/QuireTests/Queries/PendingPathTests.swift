import Quire
import QuireTesting
import Testing

// A fetch promises what it would find after a save. A predicate that led from a row to an object
// with unsaved changes looked at that object's row: whether an artwork was found by its artist's
// new name depended on whether the artwork had been touched too. Found by a random walk.
@Suite struct PendingPathTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  private struct Gallery {
    let context: ManagedObjectContext
    let artist: Artist

    init() throws {
      context = try SmallGallery.context()
      artist = Artist(context: context)
      artist.name = "Hokusai"
      for number in 0..<3 {
        let artwork = Artwork(context: context)
        artwork.title = "\(number)"
        artwork.artist = artist
        artwork.lookalike = Artwork(context: context)
        artwork.lookalike?.title = "like \(number)"
      }
      try context.save()
    }

    func titles(_ predicate: FetchPredicate, by key: String = "title") throws -> [String?] {
      var request = FetchRequest<Artwork>()
      request.predicate = predicate
      request.sortDescriptors = [FetchSortDescriptor(key: key)]
      let found = try context.fetch(request)
      #expect(try context.count(for: request) == found.count)
      return found.map(\.title)
    }
  }

  @Test func `a path leads from an untouched object to the unsaved changes of another`() throws {
    let gallery = try Gallery()
    gallery.artist.name = "Hiroshige"
    #expect(try gallery.titles(Key("artist.name") == "Hiroshige") == ["0", "1", "2"])
    #expect(try gallery.titles(Key("artist.name") == "Hokusai") == [])
    // One that was touched makes no difference, nor does a save.
    let first = try #require(try gallery.context.all(Artwork.self).first { $0.title == "1" })
    first.price = 5
    #expect(try gallery.titles(Key("artist.name") == "Hiroshige") == ["0", "1", "2"])
    try gallery.context.save()
    #expect(try gallery.titles(Key("artist.name") == "Hiroshige") == ["0", "1", "2"])
  }

  @Test func `paths skip deleted objects, and sorting uses unsaved values`() throws {
    let gallery = try Gallery()
    let likes = try gallery.context.all(Artwork.self).filter { $0.title?.hasPrefix("like") == true }
    likes.first { $0.title == "like 0" }?.title = "like 9"
    #expect(
      try gallery.titles(Key("lookalike.title") != nil, by: "lookalike.title") == ["1", "2", "0"])
    for like in likes where like.title == "like 1" { gallery.context.delete(like) }
    let expected: [String?] = ["2", "0"]
    #expect(try gallery.titles(Key("lookalike.title") != nil, by: "lookalike.title") == expected)
    try gallery.context.save()
    #expect(try gallery.titles(Key("lookalike.title") != nil, by: "lookalike.title") == expected)
  }

  @Test func `a fetch without pending changes sees what is saved alone`() throws {
    let gallery = try Gallery()
    gallery.artist.name = "Hiroshige"
    var request = FetchRequest<Artwork>()
    request.predicate = Key("artist.name") == "Hokusai"
    request.includesPendingChanges = false
    #expect(try gallery.context.fetch(request).count == 3)
  }
}
