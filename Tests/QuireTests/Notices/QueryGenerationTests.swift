import Quire
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct QueryGenerationTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  @Test(arguments: GotchaHome.own)
  func `a pinned context reads one state, faults and relationships too`(_ home: GotchaHome) throws {
    try home.withTwoContexts { one, two in
      let artist = Artist(context: one)
      artist.name = "before"
      try one.save()
      #expect(two.queryGenerationToken == nil)
      try two.setQueryGeneration(from: .current)
      let token = try #require(two.queryGenerationToken)
      let fault = try #require(two.object(with: artist.objectID) as? Artist)
      artist.name = "after"
      let artwork = Artwork(context: one)
      artwork.artist = artist
      let new = Artist(context: one)
      new.name = "new"
      try one.save()
      #expect(fault.isFault && fault.name == "before" && fault.artworks.isEmpty)
      #expect(try two.count(for: FetchRequest<Artist>()) == 1)
      two.refresh(fault, mergeChanges: false)
      #expect(fault.name == "before")
      // Another context of the store joins it.
      let three = SmallGallery.sibling(of: two)
      try three.setQueryGeneration(from: token)
      #expect(try three.named("before") != nil)
      #expect(try three.named("new") == nil)
      #expect(three.queryGenerationToken == token)
      two.refreshAllObjects()
      #expect(fault.name == "after" && fault.artworks.count == 1)
      #expect(two.queryGenerationToken != token)
      #expect(try two.count(for: FetchRequest<Artist>()) == 2)
      try three.setQueryGeneration(from: nil)
      #expect(try three.named("new") != nil)
    }
  }

  @Test func `a save moves a pinned context on, a reset lets go`() throws {
    let one = try SmallGallery.context()
    _ = Artist(context: one)
    try one.save()
    let two = SmallGallery.sibling(of: one)
    try two.setQueryGeneration(from: .current)
    _ = Artist(context: one)
    try one.save()
    #expect(try two.all(Artist.self).count == 1)
    _ = Artist(context: two)
    try two.save()
    #expect(try two.all(Artist.self).count == 3)
    _ = Artist(context: one)
    try one.save()
    #expect(try two.all(Artist.self).count == 3)
    two.reset()
    #expect(two.queryGenerationToken == nil)
    #expect(try two.all(Artist.self).count == 4)
  }

  @Test func `a pinned context still cannot write over what it does not see`() throws {
    let one = try SmallGallery.context()
    let artist = Artist(context: one)
    try one.save()
    let two = SmallGallery.sibling(of: one)
    try two.setQueryGeneration(from: .current)
    let mine = try #require(try two.all(Artist.self).first)
    artist.name = "theirs"
    try one.save()
    mine.name = "mine"
    let error = #expect(throws: PersistenceError.self) { try two.save() }
    #expect(error?.code == .managedObjectMerge)
  }

  @Test func `a merge moves a pinned context on`() throws {
    let one = try SmallGallery.context()
    let two = SmallGallery.sibling(of: one)
    let artist = Artist(context: one)
    try one.save()
    try two.setQueryGeneration(from: .current)
    two.automaticallyMergesChangesFromParent = true
    let mine = try #require(try two.all(Artist.self).first)
    artist.name = "after"
    try one.save()
    two.processPendingChanges()
    #expect(mine.name == "after" && two.queryGenerationToken != nil)
  }

  @Test func `another store's generation is refused`() throws {
    let (one, two) = (try SmallGallery.context(), try SmallGallery.context())
    try one.setQueryGeneration(from: .current)
    let error = #expect(throws: PersistenceError.self) {
      try two.setQueryGeneration(from: one.queryGenerationToken)
    }
    #expect(error?.code == .persistentStoreOperation)
    #expect(throws: PersistenceError.self) {
      try ManagedObjectContext().setQueryGeneration(from: .current)
    }
  }

  @Test func `a generation that has expired is an error that says so`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      // Whoever opens a store first says how much it keeps for old states.
      var options = PageStoreOptions()
      options.retainedByteLimit = 16 << 10
      let pages = try PageStore.open(url.path(percentEncoded: false), options: options)
      let one = GotchaHome.context(of: try GotchaHome.coordinator(at: url))
      let artists = (0..<300).map { _ in Artist(context: one) }
      try one.save()
      let two = SmallGallery.sibling(of: one)
      try two.setQueryGeneration(from: .current)
      let token = two.queryGenerationToken
      let fault = try #require(two.object(with: artists[0].objectID) as? Artist)
      for round in 0..<20 {
        for artist in artists { artist.name = String(repeating: "\(round)", count: 300) }
        try one.save()
      }
      let error = #expect(throws: PersistenceError.self) { try two.all(Artist.self) }
      #expect(error?.code == .persistentStoreOperation)
      #expect(error.map { "\($0)".contains("query generation") } == true)
      _ = fault.name
      #expect(throws: PersistenceError.self) { try two.save() }
      #expect(throws: PersistenceError.self) { try two.setQueryGeneration(from: token) }
      try two.setQueryGeneration(from: .current)
      two.refresh(fault, mergeChanges: false)
      #expect(fault.name.hasPrefix("19"))
      try pages.close()
    }
  }
}
