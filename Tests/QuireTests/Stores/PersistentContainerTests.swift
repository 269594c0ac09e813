import Quire
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A container, and the stores it is asked for.
@Suite struct `A persistent container` {
  private func container() -> PersistentContainer {
    PersistentContainer(
      name: "Gallery", managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
  }

  /// What a completion handler was told.
  private final class Log: Sendable {
    let entries = Mutex<[(PersistentStoreDescription, PersistenceError?)]>([])
    func add(_ description: PersistentStoreDescription, _ error: (any Error)?) {
      entries.withLock { $0.append((description, error as? PersistenceError)) }
    }
    var all: [(PersistentStoreDescription, PersistenceError?)] { entries.withLock { $0 } }
  }

  @Test func `a new container describes a store of its name in the default folder`() throws {
    let container = container()
    let description = try #require(container.persistentStoreDescriptions.first)
    #expect(container.persistentStoreDescriptions.count == 1)
    #expect(description.url?.lastPathComponent == "Gallery.quire")
    #expect(
      description.url?.deletingLastPathComponent().standardizedFileURL
        == PersistentContainer.defaultDirectoryURL().standardizedFileURL)
    #expect(description.type == .sqlite)
    #expect(description.shouldMigrateStoreAutomatically)
    #expect(description.shouldInferMappingModelAutomatically)
    #expect(!description.shouldAddStoreAsynchronously && !description.isReadOnly)
    #expect(description.configuration == nil)
  }

  @Test func `the first description is changed in place, and its store is loaded at once`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "own.quire")
      let container = container()
      container.persistentStoreDescriptions.first!.url = url
      let log = Log()
      container.loadPersistentStores { log.add($0, $1) }
      #expect(log.all.count == 1)
      #expect(log.all.first?.1 == nil)
      #expect(log.all.first?.0 === container.persistentStoreDescriptions.first)
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      #expect(store.url == url)
      container.loadPersistentStores { log.add($0, $1) }
      #expect(log.all.last?.1?.code == .persistentStoreOpen, "it is loaded already")
      try container.persistentStoreCoordinator.remove(store)
    }
  }

  @Test func `dev null and the type in memory make stores without files`() async throws {
    for isType in [true, false] {
      let container = container()
      let description = try #require(container.persistentStoreDescriptions.first)
      if isType {
        description.type = .inMemory
      } else {
        description.url = URL(filePath: "/dev/null")
      }
      let stores = try await container.loadPersistentStores()
      #expect(stores.count == 1)
      #expect(stores.first?.statistics.fileByteCount == 0)
      try await container.performBackgroundTask { context in
        try context.insert("Tag", ["word": "x"])
        try context.save()
      }
    }
  }

  @Test func `a store that is to be loaded asynchronously is told later`() async throws {
    let container = container()
    let description = PersistentStoreDescription()
    description.shouldAddStoreAsynchronously = true
    container.persistentStoreDescriptions = [description]
    let error = await withCheckedContinuation { continuation in
      container.loadPersistentStores { _, error in
        continuation.resume(returning: error as? PersistenceError)
      }
    }
    #expect(error == nil)
    #expect(container.persistentStoreCoordinator.persistentStores.first?.type == .inMemory)
  }

  @Test func `each description is a store, in their order; what cannot be opened is an error`()
    async throws
  {
    let container = container()
    container.persistentStoreDescriptions = [
      PersistentStoreDescription(), PersistentStoreDescription(),
    ]
    let loaded = try await container.loadPersistentStores()
    #expect(
      loaded.map(\.identifier)
        == container.persistentStoreCoordinator.persistentStores.map(\.identifier))
    let log = Log()
    container.loadPersistentStores { log.add($0, $1) }
    #expect(log.all.map { $0.1?.code } == [nil, nil])
    #expect(container.persistentStoreCoordinator.persistentStores.count == 4)

    let other = self.container()
    let description = try #require(other.persistentStoreDescriptions.first)
    description.url = URL(filePath: "/no/such/folder/x.quire")
    description.setOption(true, forKey: PersistentHistoryTrackingKey)
    other.loadPersistentStores { log.add($0, $1) }
    #expect(log.all.last?.1?.code == .persistentStoreOpen)
    description.type = .inMemory
    description.setOption(1, forKey: "unheard of")
    other.loadPersistentStores { log.add($0, $1) }
    #expect(log.all.last?.1?.message.contains("unheard of") == true)
    description.setOption(nil, forKey: "unheard of")
    description.isReadOnly = false
    description.timeout = 0.5
    #expect(description.options.timeout == 0.5)
    other.loadPersistentStores { log.add($0, $1) }
    #expect(log.all.last?.1 == nil)
  }
}
