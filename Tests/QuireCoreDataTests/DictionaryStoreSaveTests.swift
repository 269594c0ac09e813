import Foundation
import QuireCoreData
import Testing

/// What a store of a program's own gets to save, and what its errors do.
@Suite struct DictionaryStoreSaveTests {
  private let server = DictionaryStore.Server()

  private func fill(_ context: NSManagedObjectContext) throws -> Artist {
    try server.fill(context)
  }

  private func works(_ format: String? = nil, _ argument: Any? = nil) -> NSFetchRequest<Artwork> {
    Gallery.works(format, argument)
  }

  // MARK: Saves

  @Test func `a save gives the store objects with permanent IDs`() throws {
    let context = try server.context()
    let artist = try fill(context)
    let wave = try #require(artist.works.first { $0.title == "Wave" })
    let fuji = try #require(artist.works.first { $0.title == "Fuji" })
    context.delete(fuji)
    wave.year = 1833
    let new = Gallery.artwork("New", 1850, by: artist, in: context)
    let locked = try #require(artist.works.first { $0.title == "Self-portrait" })
    context.detectConflicts(for: locked)
    let early = new.objectID
    #expect(early.isTemporaryID)
    try context.save()
    let store = try #require(
      context.persistentStoreCoordinator?.persistentStores.first as? DictionaryStore)
    let number = try #require(store.referenceObject(for: new.objectID) as? Int)
    #expect(store.referenceObject(for: early) as? Int == number)
    let save = try #require(server.lastSave)
    #expect(save.insertedObjects == [new] && save.deletedObjects == [fuji])
    #expect(save.updatedObjects == [wave, artist] && save.lockedObjects == [locked])
    #expect(save.requestType == .saveRequestType)
    #expect(!new.objectID.isTemporaryID && server.rows["Artwork"]?.count == 3)
    #expect(server.calls.filter { $0 == "ids" }.count == 1)
  }

  @Test func `an ID that was obtained early is kept, and no row is asked for before the save`()
    throws
  {
    let context = try server.context()
    let artist = Artist(context: context)
    try context.obtainPermanentIDs(for: [artist])
    let id = artist.objectID
    #expect(!id.isTemporaryID && server.takeCalls().last == "ids")
    artist.name = "Hiroshige"
    try context.save()
    #expect(server.takeCalls().prefix(2) == ["save", "values"])
    #expect(artist.objectID == id && artist.name == "Hiroshige")
    #expect(try server.context().count(for: NSFetchRequest<Artist>(entityName: "Artist")) == 1)
  }

  @Test func `rows with large versions, or with 0, are saved again and again`() throws {
    for first: UInt64 in [0, 1, 1 << 32, 1_764_000_000_000, .max - 3] {
      server.firstVersion = first
      let context = try server.context()
      let artist = Artist(context: context)
      for name in ["a", "b", "c"] {
        artist.name = name
        try context.save()
      }
      #expect(artist.name == "c")
    }
  }

  @Test func `a conflict that the store finds while it writes is resolved by the policy`() throws {
    let context = try server.context()
    let artist = try fill(context)
    artist.name = "Iitsu"
    server.interference = { [server] in
      server.rows["Artist"] = [:]
      server.versions["Artist"] = [:]
    }
    let error = #expect(throws: NSError.self) { try context.save() }
    #expect(error?.code == NSManagedObjectMergeError && artist.hasChanges)
    context.mergePolicy = NSRollbackMergePolicy
    try context.save()
    #expect(!context.hasChanges)
    #expect(try context.count(for: NSFetchRequest<Artist>(entityName: "Artist")) == 0)
  }

  @Test(arguments: [false, true])
  func `an object that another context has removed is a conflict`(
    isErrorKnown: Bool
  ) throws {
    if !isErrorKnown { server.missing = Refusal(call: "missing") }
    let coordinator = try server.coordinator()
    let (first, second) = (Gallery.context(of: coordinator), Gallery.context(of: coordinator))
    let artist = try fill(first)
    let same = try #require(second.object(with: artist.objectID) as? Artist)
    #expect(same.name == "Hokusai")
    first.delete(artist)
    try first.save()
    _ = server.takeCalls()
    same.name = "Iitsu"
    let error = #expect(throws: NSError.self) { try second.save() }
    #expect(error?.code == NSManagedObjectMergeError)
    let third = Gallery.context(of: coordinator)
    #expect(throws: NSError.self) { try third.existingObject(with: artist.objectID) }
  }

  @Test func `contexts of several queues ask one after the other`() throws {
    let coordinator = try server.coordinator()
    let artist = try fill(Gallery.context(of: coordinator)).objectID
    let request = works()
    DispatchQueue.concurrentPerform(iterations: 4) { number in
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
      context.performAndWait {
        for year in 0..<5 {
          let artist = context.object(with: artist) as! Artist
          artist.name = "\(number) \(year)"
          Gallery.artwork("\(number)", Int32(year), by: artist, in: context)
          #expect(throws: Never.self) { try context.save() }
          #expect(throws: Never.self) { try context.fetch(request) }
        }
      }
    }
    #expect(server.rows["Artwork"]?.count == 23 && server.overlapCount == 0)
    #expect(try Gallery.context(of: coordinator).count(for: request) == 23)
  }

  // MARK: Errors

  private struct Refusal: Error, Equatable { let call: String }

  private func refuse(_ call: String) { server.failures = [call: Refusal(call: call)] }

  @Test func `an error thrown by the store reaches the caller unchanged`() throws {
    refuse("loadMetadata")
    #expect(throws: Refusal(call: "loadMetadata")) { _ = try server.coordinator() }
    server.failures = [:]
    let context = try server.context()
    let artist = try fill(context)
    for call in ["save", "ids"] {
      refuse(call)
      artist.name = "Iitsu"
      let new = Gallery.artwork("New", 1850, in: context)
      #expect(throws: Refusal(call: call)) { try context.save() }
      #expect(context.hasChanges && server.rows["Artwork"]?.count == 3)
      context.delete(new)
    }
    server.failures = [:]
    try context.save()
    #expect(server.rows["Artist"]?.values.first?["name"] as? String == "Iitsu")
    refuse("fetch")
    #expect(throws: Refusal(call: "fetch")) { try context.fetch(works()) }
    refuse("count")
    #expect(throws: Refusal(call: "count")) { try context.count(for: works()) }
    refuse("values")
    let other = try server.context()
    #expect(throws: Refusal(call: "values")) { try other.existingObject(with: artist.objectID) }
    artist.name = "Gakyo"
    #expect(throws: Refusal(call: "values")) { try context.save() }
    server.failures = [:]
    try context.save()
  }

  @Test func `a property that cannot be read leaves the error to the next save`() throws {
    let artist = try fill(try server.context())
    let context = try server.context()
    let same = try #require(context.object(with: artist.objectID) as? Artist)
    refuse("values")
    #expect(same.name == nil)
    server.failures = [:]
    #expect(throws: Refusal(call: "values")) { try context.fetch(works()) }
    #expect(same.name == "Hokusai")
    refuse("relationship works")
    #expect(same.works.isEmpty)
    server.failures = [:]
    #expect(throws: Refusal(call: "relationship works")) { try context.fetch(works()) }
    #expect(same.works.count == 3)
  }
}
