import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Files of stores that are destroyed, replaced, copied, or deleted by somebody else.
@Suite struct `Files of stores` {
  typealias Artist = SmallGallery.Artist

  private func coordinator() -> PersistentStoreCoordinator {
    PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
  }

  /// A coordinator whose store has so many artists.
  private func open(_ url: URL, adding count: Int = 0) throws -> PersistentStoreCoordinator {
    let coordinator = coordinator()
    try coordinator.addPersistentStore(type: .quire, at: url)
    let context = GotchaHome.context(of: coordinator)
    for _ in 0..<count { _ = Artist(context: context) }
    try context.save()
    return coordinator
  }

  private func count(_ coordinator: PersistentStoreCoordinator) throws -> Int {
    try GotchaHome.context(of: coordinator).count(for: FetchRequest<Artist>())
  }

  private func close(_ coordinator: PersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  private func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
  }

  // MARK: Destroying

  @Test func `a store that is destroyed leaves nothing, and one that is open is not`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      let coordinator = try open(url, adding: 3)
      let error = #expect(throws: PersistenceError.self) {
        try coordinator.destroyPersistentStore(at: url, type: .sqlite)
      }
      #expect(error?.code == .persistentStoreOperation)
      #expect(try count(coordinator) == 3)
      try close(coordinator)
      try coordinator.destroyPersistentStore(at: url, type: .sqlite)
      #expect(try names(folder) == [])
      try coordinator.destroyPersistentStore(at: url, type: .sqlite)
      try coordinator.destroyPersistentStore(at: url, ofType: .inMemory)
      let again = try open(url)
      #expect(try count(again) == 0)
      try close(again)
    }
  }

  @Test func `a store that a crash left in two files is destroyed whole, and so is a damaged one`()
    throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      let crashed = folder.appending(path: "crashed.quire")
      let source = try open(url, adding: 3)
      for suffix in ["", "-log"] {
        try FileManager.default.copyItem(
          at: folder.appending(path: "gallery.quire" + suffix),
          to: folder.appending(path: "crashed.quire" + suffix))
      }
      try close(source)
      try source.destroyPersistentStore(at: crashed, type: .quire)
      #expect(try names(folder) == ["gallery.quire"])
      var bytes = try Data(contentsOf: url)
      for index in 100..<bytes.count { bytes[index] ^= 0x55 }
      try bytes.write(to: url)
      #expect(throws: PersistenceError.self) { try open(url) }
      try source.destroyPersistentStore(at: url, type: .quire)
      #expect(try names(folder) == [])
    }
  }

  @Test func `a file that is no store is destroyed and replaced by force alone`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "letter.txt")
      let store = folder.appending(path: "gallery.quire")
      try close(try open(store, adding: 2))
      let coordinator = coordinator()
      try Data(repeating: 65, count: 9000).write(to: url)
      for _ in 0..<2 {
        let error = #expect(throws: PersistenceError.self) {
          try coordinator.destroyPersistentStore(at: url, type: .quire)
        }
        #expect(error?.code == .persistentStoreOperation)
        #expect(throws: PersistenceError.self) {
          try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: store)
        }
      }
      #expect(try Data(contentsOf: url).count == 9000)
      let force: PersistentStoreOptions = [PersistentStoreForceDestroyOption: true]
      try coordinator.replacePersistentStore(
        at: url, destinationOptions: force, withPersistentStoreFrom: store)
      let replaced = try open(url)
      #expect(try count(replaced) == 2)
      try close(replaced)
      try Data(repeating: 65, count: 9000).write(to: url)
      try coordinator.destroyPersistentStore(at: url, type: .quire, options: force)
      #expect(try names(folder) == ["gallery.quire"])
    }
  }

  // MARK: Replacing

  @Test func `a store is replaced by another one, also while that is open`() throws {
    try withTemporaryFolder { folder in
      let (here, there) = (folder.appending(path: "a.quire"), folder.appending(path: "b.quire"))
      let source = try open(here, adding: 5)
      try close(try open(there, adding: 1))
      let coordinator = coordinator()
      try coordinator.replacePersistentStore(
        at: there, withPersistentStoreFrom: here, type: .sqlite)
      let copy = try open(there)
      #expect(try count(copy) == 5)
      #expect(copy.persistentStores[0].identifier == source.persistentStores[0].identifier)
      let error = #expect(throws: PersistenceError.self) {
        try coordinator.replacePersistentStore(at: there, withPersistentStoreFrom: here)
      }
      #expect(error?.code == .persistentStoreOperation, "the destination is open")
      #expect(throws: PersistenceError.self) {
        try coordinator.replacePersistentStore(at: here, withPersistentStoreFrom: here)
      }
      try close(copy)
      // Nothing is a copy's destination, too; and a UUID of its own makes it a store of its own.
      let third = folder.appending(path: "c.quire")
      var options = PersistentStoreOptions()
      options.storeUUID = UUID()
      try coordinator.replacePersistentStore(
        at: third, destinationOptions: options, withPersistentStoreFrom: here, ofType: .sqlite)
      let own = try open(third, adding: 1)
      #expect(own.persistentStores[0].identifier == options.storeUUID)
      #expect(try count(own) == 6)
      #expect(try StoreInspection(of: own.persistentStores[0]).findings == [])
      try close(own)
      let missing = #expect(throws: PersistenceError.self) {
        try coordinator.replacePersistentStore(
          at: third, withPersistentStoreFrom: folder.appending(path: "none.quire"))
      }
      #expect(missing?.code == .persistentStoreOpen)
      try close(source)
      #expect(try names(folder) == ["a.quire", "b.quire", "c.quire"])
    }
  }

  // MARK: Copies

  @Test func `51 – a copy of an open store is a store of its own, in which the same IDs are good`()
    throws
  {
    try withTemporaryFolder { folder in
      let (here, there) = (folder.appending(path: "a.quire"), folder.appending(path: "b.quire"))
      let first = try open(here, adding: 1)
      try first.replacePersistentStore(at: there, withPersistentStoreFrom: here)
      let refused = #expect(throws: PersistenceError.self) {
        try first.addPersistentStore(type: .quire, at: there)
      }
      #expect(refused?.code == .persistentStoreOpen)
      let second = try open(there)
      let (context, other) = (GotchaHome.context(of: first), GotchaHome.context(of: second))
      let artist = try #require(try context.all(Artist.self).first)
      let copy = try #require(try other.existingObject(with: artist.objectID) as? Artist)
      artist.name = "original"
      copy.name = "copy"
      try context.save()
      try other.save()
      for (coordinator, name) in [(first, "original"), (second, "copy")] {
        let fresh = GotchaHome.context(of: coordinator)
        #expect(try fresh.all(Artist.self).map(\.name) == [name])
      }
      // An ID alone says the first; a coordinator says its own.
      #expect(copy.objectID == artist.objectID)
      #expect(copy.objectID.persistentStore === first.persistentStores.first)
      #expect(second.persistentStore(for: copy.objectID) === second.persistentStores.first)
      #expect(throws: PersistenceError.self) { try copy.setValue(artist, forKey: "spouse") }
      try close(first)
      #expect(copy.objectID.persistentStore === second.persistentStores.first)
      try close(second)
      #expect(copy.objectID.persistentStore == nil)
    }
  }

  // MARK: Deleted files

  @Test func `54 – a file that is deleted under its coordinator leaves nothing when that lets go`()
    throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      let coordinator = try open(url, adding: 100)
      try FileManager.default.removeItem(at: url)
      #expect(try count(coordinator) == 100, "what is open can be read")
      let error = #expect(throws: PersistenceError.self) { try close(coordinator) }
      #expect("\(error as Any)".contains("gallery.quire was removed"))
      #expect(try names(folder) == [])
    }
  }

  @Test func `54 – a store made in the place of a deleted one is not touched by who had that open`()
    throws
  {
    for savesLate in [false, true] {
      try withTemporaryFolder { folder in
        let url = folder.appending(path: "gallery.quire")
        let old = try open(url, adding: savesLate ? 0 : 10)
        if savesLate {
          // The log of the old one is begun anew by its next save.
          try close(old)
          try old.addPersistentStore(type: .quire, at: url)
        }
        try FileManager.default.removeItem(at: url)
        let new = try open(url, adding: 3)
        let context = GotchaHome.context(of: old)
        _ = Artist(context: context)
        if savesLate {
          #expect(throws: PersistenceError.self) { try context.save() }
        } else {
          try? context.save()
        }
        #expect(throws: PersistenceError.self) { try close(old) }
        let more = GotchaHome.context(of: new)
        for _ in 0..<4 { _ = Artist(context: more) }
        try more.save()
        // What a crash would leave now has all of it.
        let crashed = folder.appending(path: "crashed.quire")
        for suffix in ["", "-log"] {
          try FileManager.default.copyItem(
            at: folder.appending(path: "gallery.quire" + suffix),
            to: folder.appending(path: "crashed.quire" + suffix))
        }
        let recovered = try open(crashed)
        #expect(try count(recovered) == 7)
        try close(recovered)
        try FileManager.default.removeItem(at: crashed)
        try close(new)
        let again = try open(url)
        #expect(try count(again) == 7)
        try close(again)
        #expect(try names(folder) == ["gallery.quire"])
      }
    }
  }
}
