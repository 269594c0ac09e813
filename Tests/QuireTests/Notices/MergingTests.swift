import Quire
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct MergingTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork
  typealias Show = SmallGallery.Show

  private final class Barrier: Sendable {
    let count = Atomic(0)
  }

  /// The same object in another context.
  private func same<Object: ManagedObject>(
    _ object: Object, in context: ManagedObjectContext
  ) throws -> Object {
    try #require(try context.existingObject(with: object.objectID) as? Object)
  }

  @Test(arguments: GotchaHome.allCases)
  func `saves of others are merged by themselves, deletions too`(_ home: GotchaHome) throws {
    try home.withTwoContexts { one, two in
      let (artist, other) = (Artist(context: one), Artist(context: one))
      let artwork = Artwork(context: one)
      artwork.artist = artist
      try one.save()
      two.automaticallyMergesChangesFromParent = true
      let mine = try same(artist, in: two)
      let gone = try same(other, in: two)
      let mineToo = try same(artwork, in: two)
      gone.name = "in vain"
      mine.spouse = gone
      artist.name = "after"
      artist.born = 1760
      one.delete(other)
      artwork.artist = nil
      try one.save()
      #expect(mine.name == "unknown")
      mine.born = 1
      two.performAndWait {
        #expect(mine.name == "after" && mine.born == 1 && mine.spouse == nil)
        #expect(gone.managedObjectContext == nil)
        #expect(mineToo.artist == nil && mine.artworks.isEmpty)
      }
      try two.save()
      #expect(try StoreFacts(two).findings == [])
      one.refreshAllObjects()
      #expect(artist.born == 1 && artist.name == "after")
      // Its own saves are no news.
      let book = NoticeBook(two)
      two.processPendingChanges()
      #expect(book.notices.isEmpty)
      two.automaticallyMergesChangesFromParent = false
      artist.name = "unheard"
      try one.save()
      two.processPendingChanges()
      #expect(mine.name == "after" && book.notices.isEmpty)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `50 – coordinators on one file hear of each other's saves, and stale rows go`(
    _ home: GotchaHome
  ) throws {
    try home.withTwoContexts { one, two in
      for context in [one, two] { context.automaticallyMergesChangesFromParent = true }
      let artist = Artist(context: one)
      try one.save()
      let mine = try same(artist, in: two)
      for round in 1...10 {
        artist.born = Int16(2 * round)
        try one.save()
        two.processPendingChanges()
        #expect(mine.born == Int16(2 * round))
        mine.born = Int16(2 * round + 1)
        try two.save()
        #expect(try one.all(Artist.self).map(\.born) == [Int16(2 * round + 1)])
      }
    }
  }

  @Test func `saves made before a context has read anything are not merged into it`() throws {
    let one = try SmallGallery.context()
    let two = SmallGallery.sibling(of: one)
    two.automaticallyMergesChangesFromParent = true
    let book = NoticeBook(two, .didMergeChangesObjectIDs)
    let artist = Artist(context: one)
    try one.save()
    two.reset()
    let mine = try same(artist, in: two)
    #expect(try two.count(for: FetchRequest<Artist>()) == 1)
    #expect(book.notices.isEmpty)
    artist.name = "after"
    try one.save()
    two.processPendingChanges()
    #expect(book.notices.count == 1 && mine.name == "after")
  }

  @Test func `a merge between changes of one relationship leaves both of its sides one fact`()
    throws
  {
    let one = try SmallGallery.context()
    let artists = (0..<4).map { _ in Artist(context: one) }
    let artwork = Artwork(context: one)
    artwork.artist = artists[0]
    artists[0].spouse = artists[1]
    let show = Show(context: one)
    show.artists = Array(artists[0...2])
    let tag = try one.insert("Tag", ["word": "blue"])
    try one.save()
    let two = SmallGallery.sibling(of: one)
    two.automaticallyMergesChangesFromParent = true
    let mine = try artists.map { try same($0, in: two) }
    let (myArtwork, myShow) = (try same(artwork, in: two), try same(show, in: two))
    let myTag = try same(tag, in: two)
    // Both move the artwork and the marriage, tag the artwork, and arrange the show.
    myArtwork.artist = mine[3]
    mine[0].spouse = mine[3]
    try myArtwork.setValue(Set([myTag]), forKey: "tags")
    myShow.artists = [mine[2], mine[0]]
    artwork.artist = artists[2]
    artists[0].spouse = artists[2]
    try artwork.setValue(Set([tag]), forKey: "tags")
    show.artists = [artists[1], artists[2], artists[3]]
    try one.save()
    two.processPendingChanges()
    #expect(myArtwork.artist === mine[3] && mine[3].artworks == [myArtwork])
    #expect(mine[2].artworks.isEmpty && mine[0].artworks.isEmpty)
    #expect(mine[0].spouse === mine[3] && mine[3].spouse === mine[0] && mine[2].spouse == nil)
    #expect(try myArtwork.value(forKey: "tags") as? Set<ManagedObject> == [myTag])
    // Mine took 1 away, theirs took 0 away and added 3.
    #expect(myShow.artists == [mine[2], mine[3]])
    #expect(mine[3].shows == [myShow] && mine[0].shows.isEmpty && mine[1].shows.isEmpty)
    try two.save()
    #expect(try StoreFacts(two).findings == [])
    let three = SmallGallery.sibling(of: one)
    #expect(try same(artwork, in: three).artist?.objectID == artists[3].objectID)
    #expect(try same(artists[2], in: three).spouse == nil)
    #expect(
      try same(show, in: three).artists.map(\.objectID) == [
        artists[2].objectID, artists[3].objectID,
      ])
  }

  @Test func `a transient value stays when a merge brings new values`() throws {
    let one = try SmallGallery.context()
    let artwork = Artwork(context: one)
    try one.save()
    let two = SmallGallery.sibling(of: one)
    two.automaticallyMergesChangesFromParent = true
    let mine = try same(artwork, in: two)
    mine.seen = 7
    artwork.title = "Great Wave"
    try one.save()
    two.processPendingChanges()
    #expect(mine.title == "Great Wave" && mine.seen == 7)
  }

  @Test func `changes are merged by IDs or URIs under Core Data's keys, into several contexts`()
    throws
  {
    let one = try SmallGallery.context()
    let (artist, gone) = (Artist(context: one), Artist(context: one))
    try one.save()
    let others = [SmallGallery.sibling(of: one), SmallGallery.sibling(of: one)]
    let mine = try others.map { try same(artist, in: $0) }
    let lost = try others.map { try same(gone, in: $0) }
    let goneID = gone.objectID
    artist.name = "after"
    one.delete(gone)
    try one.save()
    try ManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [
        ManagedObjectContext.NotificationKey.updatedObjects: [artist.objectID],
        "deleted": [goneID.uriRepresentation()],
      ], into: others)
    #expect(mine.map(\.name) == ["after", "after"])
    #expect(lost.allSatisfy { $0.managedObjectContext == nil })
    let error = #expect(throws: PersistenceError.self) {
      try ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: ["updated": ["Hokusai"]], into: others)
    }
    #expect(error?.code == .unacceptableValue)
  }

  @Test(arguments: GotchaHome.allCases)
  func `a merge says which of the context's objects it has refreshed`(_ home: GotchaHome) throws {
    try home.withTwoContexts { one, two in
      let artists = (0..<4).map { _ in Artist(context: one) }
      try one.save()
      two.automaticallyMergesChangesFromParent = true
      let (clean, changed) = (try same(artists[0], in: two), try same(artists[1], in: two))
      let gone = try same(artists[2], in: two)
      changed.born = 1
      for artist in artists { artist.name = "theirs" }
      one.delete(artists[2])
      let ids = artists.map(\.objectID)
      try one.save()
      let book = NoticeBook(two, .didMergeChangesObjectIDs)
      two.processPendingChanges()
      let notice = try #require(book.take().first?.objectIDs)
      #expect(notice.updatedObjectIDs == [ids[0], ids[1], ids[3]])
      #expect(notice.deletedObjectIDs == [ids[2]] && gone.managedObjectContext == nil)
      #expect(notice.refreshedObjectIDs == [clean.objectID])
      #expect(notice.userInfo[.refreshedObjectIDs] as? Set == [clean.objectID])
    }
  }

  @Test func `a fetch may refresh what the context has already`() throws {
    let one = try SmallGallery.context()
    let artist = Artist(context: one)
    try one.save()
    let two = SmallGallery.sibling(of: one)
    let mine = try same(artist, in: two)
    artist.name = "after"
    try one.save()
    var request = FetchRequest<Artist>()
    #expect(try two.fetch(request) == [mine] && mine.name == "unknown")
    request.shouldRefreshRefetchedObjects = true
    #expect(try two.fetch(request) == [mine] && mine.name == "after")
  }

  @Test @MainActor func `the main actor's context merges soon after the save, unasked`()
    async throws
  {
    let container = PersistentContainer(
      name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try container.loadPersistentStore(at: nil)
    let context = container.viewContext
    context.automaticallyMergesChangesFromParent = true
    let artist = Artist(context: context)
    try context.save()
    let id = artist.objectID
    let notices = context.notices([.didChangeObjects])
    try await container.performBackgroundTask { background in
      (background.object(with: id) as? Artist)?.name = "after"
      try background.save()
    }
    var iterator = notices.makeAsyncIterator()
    let notice = await iterator.next()
    #expect(notice?.refreshedObjectIDs == [id] && artist.name == "after")
  }

  /// Every context writes, merges and reads at once; in the end all have the same.
  @Test func `eight contexts that save and merge at once agree in the end`() async throws {
    let container = PersistentContainer(
      name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try container.loadPersistentStore(at: nil)
    let heard = Mutex<[UInt64]>([])
    let observation = container.persistentStoreCoordinator.observeRemoteChanges { change in
      heard.withLock { $0.append(change.commitNumber) }
    }
    let ids = try await container.performBackgroundTask { context in
      let artists = (0..<8).map { _ in Artist(context: context) }
      try context.save()
      return artists.map(\.objectID)
    }
    let barrier = Barrier()
    let saves = try await withThrowingTaskGroup(of: Int.self) { group in
      for worker in 0..<8 {
        group.addTask {
          try await container.performBackgroundTask { context in
            context.automaticallyMergesChangesFromParent = true
            let artists = try context.all(Artist.self)
            let mine = try #require(context.object(with: ids[worker]) as? Artist)
            var saves = 0
            for round in 1...25 {
              mine.born = Int16(round)
              let artwork = Artwork(context: context)
              artwork.artist = mine
              if round % 5 == 0, let first = mine.artworks.first { context.delete(first) }
              try context.save()
              saves += 1
              await Task.yield()
            }
            barrier.count.add(1, ordering: .sequentiallyConsistent)
            while barrier.count.load(ordering: .sequentiallyConsistent) < 8 { await Task.yield() }
            context.processPendingChanges()
            #expect(artists.map(\.born) == Array(repeating: 25, count: 8))
            #expect(artists.map(\.artworks.count) == Array(repeating: 20, count: 8))
            return saves
          }
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(saves == 200)
    #expect(heard.withLock { Set($0).count } == 201)
    observation.cancel()
  }
}
