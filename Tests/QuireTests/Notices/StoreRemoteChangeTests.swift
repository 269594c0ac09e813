import Dispatch
import Quire
import QuireSimulation
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct StoreRemoteChangeTests {
  typealias Artist = SmallGallery.Artist

  @Test(arguments: GotchaHome.allCases)
  func `a coordinator tells of saves by whichever coordinator, with their author`(
    _ home: GotchaHome
  ) async throws {
    var stream: AsyncStream<StoreRemoteChange>?
    let heard = Mutex<[StoreRemoteChange]>([])
    var ids: [ManagedObjectID] = []
    var uuid: UUID?
    try home.withTwoContexts { one, two in
      let coordinator = try #require(two.persistentStoreCoordinator)
      uuid = coordinator.persistentStores.first?.identifier
      stream = coordinator.remoteChanges()
      let observation = coordinator.observeRemoteChanges { change in
        heard.withLock { $0.append(change) }
      }
      one.transactionAuthor = "import"
      one.name = "one"
      let artist = Artist(context: one)
      try one.save()
      ids.append(artist.objectID)
      two.transactionAuthor = "app"
      try two.existingObject(with: artist.objectID).setValue("Hokusai", forKey: "name")
      try two.save()
      observation.cancel()
      one.refreshAllObjects()
      one.delete(artist)
      try one.save()
      // Without changes there is nothing to tell.
      try one.save()
    }
    #expect(heard.withLock { $0.map(\.transactionAuthor) } == ["import", "app"])
    var changes: [StoreRemoteChange] = []
    for await change in try #require(stream) { changes.append(change) }
    #expect(changes.map(\.transactionAuthor) == ["import", "app", "import"])
    #expect(changes.map(\.contextName) == ["one", nil, "one"])
    #expect(changes.map(\.storeUUID) == [uuid, uuid, uuid])
    #expect(changes.map(\.insertedObjectIDs) == [Set(ids), [], []])
    #expect(changes.map(\.updatedObjectIDs) == [[], Set(ids), []])
    #expect(changes.map(\.deletedObjectIDs) == [[], [], Set(ids)])
    #expect(changes.map(\.commitNumber) == changes.map(\.commitNumber).sorted())
    #expect(Set(changes.map(\.commitNumber)).count == 3)
    #expect(changes[0].userInfo["NSStoreUUID"] as? String == uuid?.uuidString)
    #expect(changes.allSatisfy { ($0.storeURL == nil) == (home != .file) })
  }

  /// Others would look for what is new, and a history has no transaction of it.
  @Test(arguments: GotchaHome.allCases)
  func `a save of what the store has already is told to nobody else`(_ home: GotchaHome) throws {
    try home.withTwoContexts { one, two in
      let artist = Artist(context: one)
      artist.name = "Hokusai"
      try one.save()
      let coordinator = try #require(one.persistentStoreCoordinator)
      let count = Mutex(0)
      let observation = coordinator.observeRemoteChanges { _ in count.withLock { $0 += 1 } }
      let same = try #require(try two.existingObject(with: artist.objectID) as? Artist)
      same.name = "Hokusai"
      #expect(two.hasChanges)
      try two.save()
      #expect(count.withLock { $0 } == 0)
      same.name = "Hiroshige"
      try two.save()
      #expect(count.withLock { $0 } == 1)
      observation.cancel()
    }
  }

  @Test func `whoever listens before there is a store hears of it when there is`() throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    let count = Mutex(0)
    let observation = coordinator.observeRemoteChanges { _ in count.withLock { $0 += 1 } }
    let store = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    _ = Artist(context: context)
    try context.save()
    #expect(count.withLock { $0 } == 1)
    try coordinator.remove(store)
    observation.cancel()
  }

  /// The list of stores was taken over in another order than it had grown.
  @Test func `stores that are added at once are all heard of`() throws {
    for _ in 0..<Amount.of(sampled: 30, exhaustive: 500) {
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
      let heard = Mutex<Set<UUID>>([])
      let observation = coordinator.observeRemoteChanges { change in
        heard.withLock { _ = $0.insert(change.storeUUID) }
      }
      let failures = Mutex(0)
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do {
          try coordinator.addPersistentStore(type: .inMemory, at: nil)
        } catch {
          failures.withLock { $0 += 1 }
        }
      }
      #expect(failures.withLock { $0 } == 0)
      let context = GotchaHome.context(of: coordinator)
      for store in coordinator.persistentStores {
        context.assign(Artist(context: context), to: store)
      }
      try context.save()
      #expect(heard.withLock { $0 } == Set(coordinator.persistentStores.map(\.identifier)))
      observation.cancel()
    }
  }
}
