import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Stores that go on at another place.
@Suite struct `A store that moves` {
  typealias Artist = SmallGallery.Artist

  private func coordinator() -> PersistentStoreCoordinator {
    PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
  }

  /// Two artists, one of them with two works, saved; a third one that is not.
  private func fill(_ context: ManagedObjectContext) throws -> Artist {
    let artist = Artist(context: context)
    artist.name = "Hilma"
    for title in ["Swan", "Dove"] {
      try context.insert("Artwork", ["title": title, "artist": artist])
    }
    _ = Artist(context: context)
    try context.save()
    artist.born = 1862
    let unsaved = Artist(context: context)
    unsaved.name = "Wassily"
    return artist
  }

  @Test(arguments: GotchaHome.own, GotchaHome.own)
  func `it keeps objects, IDs, and what is not saved yet`(_ from: GotchaHome, _ to: GotchaHome)
    throws
  {
    try withTemporaryFolder { folder in
      let coordinator = coordinator()
      let (here, there) = (folder.appending(path: "a.quire"), folder.appending(path: "b.quire"))
      let old = try coordinator.addPersistentStore(
        type: from == .file ? .quire : .inMemory, at: from == .file ? here : nil)
      let context = GotchaHome.context(of: coordinator)
      let artist = try fill(context)
      try coordinator.setMetadata(["pending": true], for: old)
      let id = artist.objectID
      let new = try coordinator.migratePersistentStore(
        old, to: there, type: to == .file ? .sqlite : .inMemory)
      #expect(coordinator.persistentStores.count == 1)
      #expect(coordinator.persistentStores.first === new)
      #expect(new.identifier == old.identifier)
      #expect(new.type == (to == .file ? .quire : .inMemory))
      // What was registered is read from the new store without a fetch.
      #expect(artist.artworks.count == 2)
      #expect(context.hasChanges)
      try context.save()
      let other = GotchaHome.context(of: coordinator)
      let same = try #require(try other.existingObject(with: id) as? Artist)
      #expect(same.born == 1862)
      #expect(try other.all(Artist.self).count == 3)
      #expect(new.metadata["pending"] as? Bool == true)
      #expect(throws: PersistenceError.self) { try coordinator.remove(old) }
      try coordinator.remove(new)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
      #expect(
        names.sorted()
          == (from == .file ? ["a.quire"] : []) + (to == .file ? ["b.quire"] : []))
      if from == .file {
        let again = try coordinator.addPersistentStore(type: .quire, at: here)
        #expect(again.identifier == new.identifier)
        let before = try GotchaHome.context(of: coordinator).all(Artist.self)
        #expect(before.count == 2, "the old file has what was saved before")
        #expect(again.metadata["pending"] == nil)
        try coordinator.remove(again)
      }
    }
  }

  @Test func `it moves to no file that is there, unless that may go`() throws {
    try withTemporaryFolder { folder in
      let there = folder.appending(path: "b.quire")
      let other = coordinator()
      try other.remove(try other.addPersistentStore(type: .quire, at: there))
      let coordinator = coordinator()
      let store = try coordinator.addPersistentStore(type: .inMemory, at: nil)
      let context = GotchaHome.context(of: coordinator)
      _ = try fill(context)
      let error = #expect(throws: PersistenceError.self) {
        try coordinator.migratePersistentStore(store, to: there, type: .quire)
      }
      #expect(error?.code == .persistentStoreOperation)
      #expect(coordinator.persistentStores.first === store)
      try context.save()
      let new = try coordinator.migratePersistentStore(
        store, to: there, options: [PersistentStoreForceDestroyOption: true], type: .quire)
      #expect(try GotchaHome.context(of: coordinator).all(Artist.self).count == 3)
      let itself = #expect(throws: PersistenceError.self) {
        try coordinator.migratePersistentStore(
          new, to: there, options: [PersistentStoreForceDestroyOption: true], type: .quire)
      }
      #expect(itself?.code == .persistentStoreOperation)
      var options = PersistentStoreOptions()
      options.storeUUID = UUID()
      #expect(throws: PersistenceError.self) {
        try coordinator.migratePersistentStore(new, to: nil, options: options, type: .inMemory)
      }
      #expect(throws: PersistenceError.self) {
        try coordinator.migratePersistentStore(new, to: nil, type: .binary)
      }
      try context.save()
      try coordinator.remove(new)
    }
  }

  @Test func `it moves into memory from a file that is only read, and can be changed there`() throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      let coordinator = coordinator()
      let first = try coordinator.addPersistentStore(type: .quire, at: url)
      let context = GotchaHome.context(of: coordinator)
      let artist = try fill(context)
      try coordinator.remove(first)
      let reading = try coordinator.addPersistentStore(
        type: .quire, at: url, options: [ReadOnlyPersistentStoreOption: true])
      let readOnly = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(readOnly?.code == .persistentStoreSave)
      #expect(throws: PersistenceError.self) {
        try context.obtainPermanentIDs(for: Array(context.insertedObjects))
      }
      let memory = try coordinator.migratePersistentStore(
        reading, to: URL(filePath: "/dev/null"), type: .quire)
      #expect(!memory.isReadOnly)
      try context.save()
      #expect(artist.artworks.count == 2)
      #expect(try GotchaHome.context(of: coordinator).all(Artist.self).count == 3)
    }
  }

  @Test func `its URL follows the file that somebody has moved`() throws {
    try withTemporaryFolder { folder in
      let (here, there) = (folder.appending(path: "a.quire"), folder.appending(path: "b.quire"))
      let coordinator = coordinator()
      let store = try coordinator.addPersistentStore(type: .quire, at: here)
      let context = GotchaHome.context(of: coordinator)
      let artist = try fill(context)
      #expect(coordinator.url(for: store) == here)
      #expect(coordinator.persistentStore(for: here) === store)
      try FileManager.default.createSymbolicLink(at: there, withDestinationURL: here)
      #expect(coordinator.persistentStore(for: there) === store, "by whatever name")
      try FileManager.default.removeItem(at: there)
      #expect(coordinator.persistentStore(for: there) == nil)
      let missing = #expect(throws: PersistenceError.self) {
        try coordinator.setURL(there, for: store)
      }
      #expect(missing?.code == .persistentStoreOpen)
      try coordinator.replacePersistentStore(at: there, withPersistentStoreFrom: here)
      let moved = try coordinator.setURL(there, for: store)
      #expect(coordinator.url(for: moved) == there)
      #expect(artist.artworks.count == 2)
      try context.save()
      #expect(try GotchaHome.context(of: coordinator).all(Artist.self).count == 3)
      // Another store is no other place of this one.
      try FileManager.default.removeItem(at: here)
      let other = self.coordinator()
      try other.remove(try other.addPersistentStore(type: .quire, at: here))
      let error = #expect(throws: PersistenceError.self) {
        try coordinator.setURL(here, for: moved)
      }
      #expect(error?.code == .persistentStoreOpen)
      #expect(coordinator.persistentStores.first === moved)
      try coordinator.remove(moved)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
          == ["a.quire", "b.quire"])
    }
  }

  @Test func `a file that is renamed under its coordinator loses nothing`() throws {
    for (isTold, isReplaced) in [(false, false), (true, false), (false, true), (true, true)] {
      try withTemporaryFolder { folder in
        let (here, there) = (folder.appending(path: "a.quire"), folder.appending(path: "b.quire"))
        let coordinator = coordinator()
        let store = try coordinator.addPersistentStore(type: .quire, at: here)
        let context = GotchaHome.context(of: coordinator)
        let artist = try fill(context)
        try FileManager.default.moveItem(at: here, to: there)
        let other = self.coordinator()
        if isReplaced {
          try other.addPersistentStore(type: .quire, at: here)
          let context = GotchaHome.context(of: other)
          _ = Artist(context: context)
          try context.save()
        }
        if isTold {
          try coordinator.setURL(there, for: store)
          #expect(artist.artworks.count == 2)
          try context.save()
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        for store in other.persistentStores { try other.remove(store) }
        try other.addPersistentStore(type: .quire, at: there)
        #expect(
          try GotchaHome.context(of: other).all(Artist.self).count == (isTold ? 3 : 2))
        let moved = try #require(other.persistentStores.first)
        #expect(try StoreInspection(of: moved).findings == [])
        try other.remove(moved)
        if isReplaced {
          try other.addPersistentStore(type: .quire, at: here)
          #expect(try GotchaHome.context(of: other).all(Artist.self).count == 1)
          try other.remove(try #require(other.persistentStores.first))
        }
        #expect(
          try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
            == (isReplaced ? ["a.quire", "b.quire"] : ["b.quire"]))
      }
    }
  }

  @Test func `a save that waits while it moves is done in the new place, or told`() async throws {
    let coordinator = coordinator()
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let writers = (0..<4).map { number in
      Task.detached {
        let context = GotchaHome.context(of: coordinator)
        var attempts = 0
        for _ in 0..<150 {
          _ = Artist(context: context)
          while context.hasChanges {
            attempts += 1
            try #require(attempts < 2000)
            do { try context.save() } catch {}
          }
        }
        return number
      }
    }
    for _ in 0..<200 {
      let store = try #require(coordinator.persistentStores.first)
      try coordinator.migratePersistentStore(store, to: nil, type: .inMemory)
      await Task.yield()
    }
    for writer in writers { _ = try await writer.value }
    #expect(try GotchaHome.context(of: coordinator).count(for: FetchRequest<Artist>()) == 600)
  }
}
