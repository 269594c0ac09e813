#if os(Linux)
  import Quire
  import QuireSimulation
  import QuireTesting
  import Testing

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  // A test suite makes a stack for every test, a server one for every request. Unsaved objects that
  // led to each other kept each other, their rows and with them pages of the store when their
  // context went: 18 KiB for each stack.
  @Suite(.serialized) struct MemoryTests {
    private static let stackCount = 2000
    /// A stack that stays costs 20 KiB for its five pages alone: 40 MiB for all of them.
    private static let limit = 16 << 20

    /// The bytes of memory this process has, as the kernel counts them.
    private func residentByteCount() throws -> Int {
      let text = String(
        decoding: try Data(contentsOf: URL(filePath: "/proc/self/statm")), as: UTF8.self)
      let fields = text.split(separator: " ")
      return try #require(Int(fields[1])) * 4096
    }

    private func makeAndDropStack() throws {
      let context = try SmallGallery.context()
      let artist = SmallGallery.Artist(context: context)
      artist.name = "Hokusai"
      let artwork = SmallGallery.Artwork(context: context)
      artwork.artist = artist
      try context.save()
      #expect(try context.all(SmallGallery.Artwork.self).count == 1)
      // Left unsaved, objects hold each other and the context holds them.
      artist.spouse = SmallGallery.Artist(context: context)
      artwork.lookalike = artwork
    }

    @Test func `two thousand stacks leave no memory behind`() throws {
      for _ in 0..<200 { try makeAndDropStack() }
      var growth = 0
      // Other tests run meanwhile and need memory too: one of three rounds has to be quiet. What
      // leaks, leaks in every round.
      for _ in 0..<3 {
        let before = try residentByteCount()
        for _ in 0..<Self.stackCount { try makeAndDropStack() }
        growth = try residentByteCount() - before
        print("\(Self.stackCount) stacks: \(growth >> 10) KiB more")
        if growth < Self.limit { return }
      }
      Issue.record("\(Self.stackCount) stacks leave \(growth) bytes behind")
    }

    @Test func `unsaved objects that lead to each other go with their context`() throws {
      var context: ManagedObjectContext? = try SmallGallery.context()
      weak var husband: SmallGallery.Artist?
      weak var artwork: SmallGallery.Artwork?
      let wife = SmallGallery.Artist(context: try #require(context))
      do {
        let spouse = SmallGallery.Artist(context: try #require(context))
        let painting = SmallGallery.Artwork(context: try #require(context))
        wife.name = "wife"
        wife.spouse = spouse
        painting.lookalike = painting
        painting.artist = spouse
        (husband, artwork) = (spouse, painting)
      }
      #expect(husband != nil && artwork != nil)
      context = nil
      #expect(husband == nil && artwork == nil)
      #expect(wife.name == "wife" && wife.spouse == nil && wife.managedObjectContext == nil)
    }

    /// Makes artists with artworks, saves, looks at all of them from both sides, refreshes them,
    /// and deletes them, so that the store is what it was.
    private func makeAndForget(_ count: Int, in context: ManagedObjectContext) throws {
      var artists: [SmallGallery.Artist]? = []
      for number in 0..<(count / 10) {
        let artist = SmallGallery.Artist(context: context)
        artist.name = "artist \(number)"
        artists?.last?.spouse = number % 2 == 1 ? artist : nil
        for _ in 0..<9 { SmallGallery.Artwork(context: context).artist = artist }
        artists?.append(artist)
      }
      try context.save()
      weak let first = artists?.first
      #expect(artists?.allSatisfy { $0.artworks.count == 9 } == true)
      context.refreshAllObjects()
      #expect(artists?.reduce(0) { $0 + $1.artworks.count } == count / 10 * 9)
      artists = nil
      context.refreshAllObjects()
      #expect(first == nil && context.registeredObjects.isEmpty)
      for artist in try context.all(SmallGallery.Artist.self) {
        for artwork in artist.artworks { context.delete(artwork) }
        context.delete(artist)
      }
      try context.save()
      #expect(context.registeredObjects.isEmpty)
    }

    @Test func `objects that are made, related, saved, refreshed and released leave none behind`()
      throws
    {
      // A hundred thousand in all when there is time.
      let count = Amount.of(sampled: 1_000, exhaustive: 10_000)
      try withTemporaryFolder { folder in
        let container = PersistentContainer(
          name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
        try container.loadPersistentStore(at: folder.appending(path: "store"))
        let context = container.newBackgroundContext()
        for _ in 0..<3 { try makeAndForget(count, in: context) }
        var growth = 0
        for _ in 0..<3 {
          let before = try residentByteCount()
          for _ in 0..<10 { try makeAndForget(count, in: context) }
          growth = try residentByteCount() - before
          print("\(10 * count) objects: \(growth >> 10) KiB more")
          if growth < Self.limit / 4 { return }
        }
        Issue.record("\(10 * count) objects leave \(growth) bytes behind")
      }
    }

    @Test func `opening and closing a file again and again leaves no memory behind`() throws {
      try withTemporaryFolder { folder in
        let url = folder.appending(path: "store")
        func openAndClose() throws {
          let container = PersistentContainer(
            name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
          try container.loadPersistentStore(at: url)
          let context = container.newBackgroundContext()
          #expect(try context.count(for: FetchRequest<SmallGallery.Artist>()) == 0)
        }
        for _ in 0..<20 { try openAndClose() }
        var growth = 0
        for _ in 0..<3 {
          let before = try residentByteCount()
          for _ in 0..<500 { try openAndClose() }
          growth = try residentByteCount() - before
          if growth < Self.limit / 4 { return }
        }
        Issue.record("500 openings leave \(growth) bytes behind")
      }
    }
  }
#endif
