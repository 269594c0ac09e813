import Quire
import Testing

/// Where results go wrong that live longer than the fetch. The numbers are those of
/// `docs/core-data.md`.
@Suite(.serialized) struct ResultGotchas {
  typealias Artwork = SmallGallery.Artwork

  @Test(arguments: GotchaHome.allCases)
  func `34 – a batched result stays what it was, and deleted objects cannot be fulfilled`(
    _ home: GotchaHome
  ) throws {
    try home.withTwoContexts { context, other in
      for number in 0..<40 { try context.insert("Artwork", ["price": Double(number)]) }
      try context.save()
      context.reset()
      var request = FetchRequest<Artwork>()
      request.sortDescriptors = [FetchSortDescriptor(key: "price")]
      request.fetchBatchSize = 4
      let artworks = try context.fetchBatched(request)
      let ids = artworks.indices.map(artworks.objectID)
      try #require(artworks.count == 40)

      // Somebody else deletes one and changes one, and inserts one that would come first.
      let theirs = try other.fetch(request)
      other.delete(theirs[21])
      theirs[22].price = 1_000
      try other.insert("Artwork", ["price": -1.0])
      try other.save()
      // We delete one, and change one so that it would come last.
      let mine = try #require(try context.existingObject(with: ids[10]) as? Artwork)
      context.delete(mine)
      artworks[11].price = 2_000
      try context.save()

      #expect(artworks.count == 40)
      #expect(artworks.indices.map(artworks.objectID) == ids)
      #expect(artworks.map(\.objectID) == ids)
      for gone in [10, 21] {
        #expect(artworks[gone].isFault && artworks[gone].managedObjectContext === context)
        #expect(artworks[gone].title == nil && artworks[gone].price == 0)
        #expect(throws: PersistenceError.self) { try context.existingObject(with: ids[gone]) }
      }
      #expect(artworks[11].price == 2_000 && artworks[22].price == 1_000)
      #expect(artworks[39].price == 39)
      #expect(try context.fetchBatched(request).count == 39)
    }
  }
}
