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

  /// What is released leaves no memory behind. Each is measured in a process of its own, as other
  /// tests take and give memory meanwhile.
  @Suite struct MemoryTests {
    /// Does something so many times, and then as often again, up to three times: what leaks, leaks
    /// every time.
    private static func expectNoGrowth(_ count: Int, _ body: () throws -> Void) throws {
      // 256 KiB for what the allocator puts elsewhere, and a KiB for each time.
      let limit = count << 10 + 256 << 10
      for _ in 0..<count { try body() }
      var growth = 0
      for _ in 0..<3 {
        let before = try residentByteCount()
        for _ in 0..<count { try body() }
        growth = try residentByteCount() - before
        if growth <= limit { return }
      }
      throw Violation("\(count) times leave \(growth) bytes behind")
    }

    /// The bytes of memory this process has, as the kernel counts them.
    private static func residentByteCount() throws -> Int {
      let text = String(
        decoding: try Data(contentsOf: URL(filePath: "/proc/self/statm")), as: UTF8.self)
      let fields = text.split(separator: " ")
      return try #require(Int(fields[1])) * 4096
    }

    private static func makeAndDropStack() throws {
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

    @Test func `stacks leave no memory behind`() async {
      await #expect(processExitsWith: .success) {
        try MemoryTests.expectNoGrowth(Amount.of(debug: 100, release: 2_000)) {
          try MemoryTests.makeAndDropStack()
        }
      }
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
    private static func makeAndForget(_ count: Int, in context: ManagedObjectContext) throws {
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
      async
    {
      await #expect(processExitsWith: .success) {
        // A hundred thousand in all when there is time.
        let count = Amount.of(debug: 200, release: 1_000, exhaustive: 10_000)
        try withTemporaryFolder { folder in
          let container = PersistentContainer(
            name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
          try container.loadPersistentStore(at: folder.appending(path: "store"))
          let context = container.newBackgroundContext()
          try MemoryTests.expectNoGrowth(10) {
            try MemoryTests.makeAndForget(count, in: context)
          }
        }
      }
    }

    @Test func `opening and closing a file again and again leaves no memory behind`() async {
      await #expect(processExitsWith: .success) {
        try withTemporaryFolder { folder in
          let url = folder.appending(path: "store")
          try MemoryTests.expectNoGrowth(Amount.of(debug: 60, release: 500)) {
            let container = PersistentContainer(
              name: "Gallery", managedObjectModel: SmallGallery.model,
              classes: SmallGallery.classes)
            try container.loadPersistentStore(at: url)
            let context = container.newBackgroundContext()
            #expect(try context.count(for: FetchRequest<SmallGallery.Artist>()) == 0)
          }
        }
      }
    }
  }
#endif
