import Quire
import QuireModel
import Testing

/// A request answered with IDs: those of the objects that it would find.
@Suite struct ObjectIDFetchTests {
  typealias Artist = SmallGallery.Artist

  private func expectSame(_ context: ManagedObjectContext) throws {
    for format in ["TRUEPREDICATE", "born > 2", "ANY artworks.price > 3", "name == 'artist 4'"] {
      for (offset, limit) in [(0, 0), (1, 2), (3, 0)] {
        for isSorted in [false, true] {
          var request = Artist.fetchRequest()
          request.predicate = try FetchPredicate(format: format)
          (request.fetchOffset, request.fetchLimit) = (offset, limit)
          if isSorted {
            request.sortDescriptors = [FetchSortDescriptor(key: "born", ascending: false)]
          }
          let ids = try context.objectIDs(for: request)
          #expect(try ids == context.fetch(request).map(\.objectID), "\(request)")
        }
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `IDs are those of the objects that a fetch finds`(_ home: GotchaHome) throws {
    try home.withContext { context in
      for number in 0..<8 {
        let artist = try context.insert("Artist", ["name": "artist \(number)", "born": number % 5])
        try context.insert("Artwork", ["price": Double(number)]).setValue(artist, forKey: "artist")
      }
      try expectSame(context)
      try context.save()
      context.reset()
      #expect(try context.objectIDs(for: Artist.fetchRequest()).count == 8)
      #expect(context.registeredObjects.isEmpty)
      try expectSame(context)
      let artists = try context.all(Artist.self)
      artists[2].born = 9
      context.delete(artists[3])
      try context.insert("Artist", ["born": 4])
      try expectSame(context)
      let child = context.newChildContext()
      try child.insert("Artist", ["born": 3])
      try expectSame(child)
      try child.save()
      try expectSame(child)
    }
  }
}
