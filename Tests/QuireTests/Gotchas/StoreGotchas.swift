import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where object stores go wrong with models and files. The numbers are those of
/// `docs/core-data.md`.
@Suite(.serialized) struct StoreGotchas {
  typealias Artist = SmallGallery.Artist

  private final class OtherArtist: ManagedObject {
    static override var modelEntityName: String { "Artist" }
    @Managed var name: String
  }

  @Test(arguments: GotchaHome.allCases)
  func `26 – a change to a row that was deleted underneath is error 133020`(_ home: GotchaHome)
    throws
  {
    try home.withContext { context in
      let artist = Artist(context: context)
      try context.save()
      let other = GotchaHome.context(of: try #require(context.persistentStoreCoordinator))
      other.delete(try other.existingObject(with: artist.objectID))
      try other.save()
      artist.name = "too late"
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .managedObjectMerge)
      #expect(error?.conflicts.first?.newVersion == 0)
      #expect(context.hasChanges)
    }
  }

  @Test func `43 – equal models are interchangeable, and classes belong to a coordinator`() throws {
    let (first, second) = (SmallGallery.model, SmallGallery.model)
    let context = try ManagedObjectContext.stubbed(first, classes: SmallGallery.classes)
    let other = try ManagedObjectContext.stubbed(second, classes: [OtherArtist.self])
    let plain = try ManagedObjectContext.stubbed(second)
    #expect(try context.insert("Artist") is Artist)
    #expect(try other.insert("Artist") is OtherArtist)
    #expect(type(of: try plain.insert("Artist")) == ManagedObject.self)
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      for model in [first, second] {
        let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .quire, at: url)
        #expect(store.migrationReport == nil)
        try coordinator.remove(store)
      }
    }
  }

  @Test func `50 – two coordinators on one file see each other's saves, and never write over them`()
    throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      let coordinators = try (0..<2).map { _ in
        let coordinator = PersistentStoreCoordinator(
          managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
        try coordinator.addPersistentStore(type: .quire, at: url)
        return coordinator
      }
      let (first, second) = (
        GotchaHome.context(of: coordinators[0]), GotchaHome.context(of: coordinators[1])
      )
      let artist = Artist(context: first)
      artist.name = "one"
      try first.save()
      let same = try #require(try second.all(Artist.self).first)
      #expect(same.name == "one")
      artist.name = "two"
      try first.save()
      same.name = "three"
      let error = #expect(throws: PersistenceError.self) { try second.save() }
      #expect(error?.code == .managedObjectMerge)
      second.refresh(same, mergeChanges: false)
      #expect(same.name == "two")
      for coordinator in coordinators {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
      }
    }
  }

  @Test func `54 – a store's file can be deleted, before it is removed or after, and made anew`()
    throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      for removesFirst in [true, false] {
        let coordinator = PersistentStoreCoordinator(
          managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
        let store = try coordinator.addPersistentStore(type: .quire, at: url)
        let context = GotchaHome.context(of: coordinator)
        #expect(try context.count(for: FetchRequest<Artist>()) == 0)
        for _ in 0..<100 { _ = Artist(context: context) }
        try context.save()
        if removesFirst { try coordinator.remove(store) }
        try FileManager.default.removeItem(at: url)
        if !removesFirst {
          // What was saved in it is gone, of which the program may know nothing.
          #expect(throws: PersistenceError.self) { try coordinator.remove(store) }
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(left.isEmpty, "\(left)")
      }
    }
  }

  @Test func `55 – a context made without a queue can be used from any thread, one at a time`()
    async throws
  {
    let context = try SmallGallery.context()
    _ = Artist(context: context)
    try context.save()
    let moved = try await Self.count(in: context)
    #expect(moved == 1)
  }

  @concurrent private static func count(in context: sending ManagedObjectContext) async throws
    -> Int
  {
    try context.count(for: FetchRequest<Artist>())
  }
}
