import Quire
import Testing

/// Where the objects of a batched result come from, and go to.
@Suite struct BatchFaultingStoresTests {
  typealias Artwork = SmallGallery.Artwork

  private func request(batchSize: Int = 20, sortedBy key: String? = nil) -> FetchRequest<Artwork> {
    var request = FetchRequest<Artwork>()
    request.fetchBatchSize = batchSize
    if let key { request.sortDescriptors = [FetchSortDescriptor(key: key)] }
    return request
  }

  private func fill(_ context: ManagedObjectContext, _ count: Int) throws {
    for number in 0..<count {
      try context.insert("Artwork", ["title": "\(number)", "price": Double(number % 97)])
    }
    try context.save()
    context.reset()
  }

  @Test(arguments: GotchaHome.own)
  func `objects of two stores keep their order`(_ home: GotchaHome) throws {
    try SeveralStoresScene.with((home, .memory)) { scene in
      for number in 0..<30 {
        if number % 3 == 0 {
          try scene.insertSecond("Artist", ["born": number])
        } else {
          try scene.context.insert("Artist", ["born": number])
        }
      }
      try scene.context.save()
      scene.context.reset()
      for sorted in [true, false] {
        var request = FetchRequest<ManagedObject>(entityName: "Artist")
        request.fetchBatchSize = 7
        if sorted { request.sortDescriptors = [FetchSortDescriptor(key: "born")] }
        let found = try scene.context.fetchBatched(request)
        #expect(Array(found) == (try scene.context.fetch(request)) && found.count == 30)
        #expect(found.indices.map(found.objectID) == found.map(\.objectID))
      }
    }
  }

  @Test func `without its store the array has objects of no context`() throws {
    try SeveralStoresScene.with { scene in
      for number in 0..<30 { try scene.insertSecond("Artist", ["born": number]) }
      try scene.context.save()
      scene.context.reset()
      var request = FetchRequest<ManagedObject>(entityName: "Artist")
      request.fetchBatchSize = 7
      let found = try scene.context.fetchBatched(request)
      let ids = found.indices.map(found.objectID)
      let held = found[3]
      try scene.coordinator.remove(scene.second)
      _ = try? scene.context.count(for: request)
      #expect(found[3] === held && found.indices.map(found.objectID) == ids)
      #expect(found[20].text("born") == nil)
      // The context goes on with other stores, and with none of what it had.
      let other = PersistentStoreCoordinator(managedObjectModel: SeveralStoresScene.model)
      try other.addPersistentStore(type: .inMemory, at: nil)
      scene.context.persistentStoreCoordinator = other
      _ = try? scene.context.count(for: request)
      let orphan = found[25]
      #expect(orphan.managedObjectContext == nil && orphan.entity.name == "Artist")
      #expect(orphan.text("born") == nil)
      #expect(try scene.context.count(for: request) == 0)
    }
  }

  @Test func `objects that were not saved stay the same ones`() throws {
    let context = try SmallGallery.context()
    for number in 0..<10 { try context.insert("Artwork", ["price": Double(number)]) }
    let artworks = try context.fetchBatched(request(batchSize: 3, sortedBy: "price"))
    let temporary = artworks.objectID(at: 4)
    #expect(temporary.isTemporaryID)
    weak let seventh = artworks[7]
    try context.save()
    #expect(artworks[7] === seventh && !artworks.objectID(at: 4).isTemporaryID)
    #expect(artworks.map(\.price) == (0..<10).map(Double.init))
    context.rollback()
    #expect(artworks.map(\.price) == (0..<10).map(Double.init))
  }

  @Test func `after a reset the objects are made anew`() throws {
    let context = try SmallGallery.context()
    try fill(context, 10)
    let artworks = try context.fetchBatched(request(batchSize: 3, sortedBy: "price"))
    let held = artworks[0]
    context.reset()
    #expect(held.managedObjectContext == nil)
    let other = artworks[9]
    #expect(other.managedObjectContext === context && other.price == 9)
    #expect(artworks[0] !== held && artworks[0].price == 0)
    #expect(artworks[0].managedObjectContext === context)
  }

  @Test(arguments: GotchaHome.allCases)
  func `in a child it has the parent's objects`(_ home: GotchaHome) throws {
    try home.withContext { parent in
      try fill(parent, 30)
      let saved = try parent.fetch(request(sortedBy: "price"))
      saved[3].title = "changed"
      parent.delete(saved[4])
      try parent.insert("Artwork", ["title": "new", "price": -1.0])
      let child = parent.newChildContext()
      let artworks = try child.fetchBatched(request(batchSize: 6, sortedBy: "price"))
      #expect(artworks.count == 30 && child.registeredObjects.count <= 1)
      #expect(artworks[0].title == "new" && artworks[4].title == "changed")
      #expect(artworks[0].managedObjectContext === child)
      #expect(Array(artworks) == (try child.fetch(request(sortedBy: "price"))))
      try parent.save()
      #expect(artworks[0].title == "new" && artworks[29].title == "29")
    }
  }
}
