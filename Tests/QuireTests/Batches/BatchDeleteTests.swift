import Quire
import QuireModel
import QuireTesting
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Deleting objects where they are stored.
@Suite struct BatchDeleteTests {
  private func fill(_ context: ManagedObjectContext, _ count: Int = 10) throws {
    for number in 0..<count {
      try context.insert("Plain", ["number": number, "title": "title \(number % 3)"])
    }
    try context.save()
  }

  private func failure(_ body: () throws -> Void) -> PersistenceError? {
    do {
      try body()
      return nil
    } catch { return error as? PersistenceError }
  }

  @Test(arguments: GotchaHome.own)
  func `a request deletes what it finds, and says how many and which`(_ home: GotchaHome) throws {
    try BatchScene.with(home) { context in
      try fill(context)
      var request = BatchScene.request("Plain", Key("number") >= 4)
      request.sortDescriptors = [FetchSortDescriptor(key: "number", ascending: false)]
      request.fetchOffset = 1
      request.fetchLimit = 3
      var batch = BatchDeleteRequest(fetchRequest: request)
      let status = try context.execute(batch)
      #expect(status.result as? Bool == true && status.count == 3 && status.objectIDs.isEmpty)
      #expect(
        try context.values(of: "number", "Plain", sortedBy: "number")
          == ["0", "1", "2", "3", "4", "5", "9"])
      batch = BatchDeleteRequest(fetchRequest: BatchScene.request("Plain", Key("number") < 2))
      batch.resultType = .resultTypeObjectIDs
      let ids = try context.execute(batch)
      #expect(ids.result as? [ManagedObjectID] == ids.objectIDs)
      #expect(ids.objectIDs.map(\.description) == ["Plain/p1", "Plain/p2"])
      #expect(ids.objectIDNotification().deletedObjectIDs == Set(ids.objectIDs))
      batch.resultType = .count
      #expect(try context.execute(batch).result as? Int == 0)
      // Also by the index of what is left.
      #expect(try context.found("Plain", Key("number") == 1).objects.isEmpty)
      #expect(try context.found("Plain", Key("number") == 9).objects.count == 1)
    }
  }

  @Test func `objects go by their IDs, of any entity, and those that are gone are passed over`()
    throws
  {
    try BatchScene.with { context in
      try fill(context, 3)
      let tag = try context.insert("Tag", ["number": 1])
      try context.save()
      let plains = try context.objectIDs(for: BatchScene.request("Plain"))
      context.delete(try #require(context.object(with: plains[0])))
      try context.save()
      let request = BatchDeleteRequest(objectIDs: [tag.objectID, plains[0], plains[2]])
      #expect(try context.execute(request).count == 2)
      #expect(try context.count(for: BatchScene.request("Plain")) == 1)
      let unsaved = try context.insert("Tag")
      let error = failure {
        try context.execute(BatchDeleteRequest(objectIDs: [plains[1], unsaved.objectID]))
      }
      #expect(error?.code == .persistentStoreOperation)
      #expect(error?.message.contains("was never saved") == true)
      #expect(try context.count(for: BatchScene.request("Plain")) == 1)
    }
  }

  @Test func `a denied deletion names every object that it would leave behind`() throws {
    try BatchScene.with { context in
      let thing = try context.insert("Thing", ["number": 1])
      let lock = try context.insert("Lock", ["thing": thing])
      let shelf = try context.insert("Shelf")
      let sign = try context.insert("Sign", ["shelf": shelf])
      try context.save()
      let denied = failure {
        try context.execute(BatchDeleteRequest(fetchRequest: BatchScene.request("Lock")))
      }
      #expect(denied?.code == .validationRelationshipDeniedDelete)
      #expect(denied?.objectID == lock.objectID && denied?.key == "thing")
      let required = failure {
        try context.execute(BatchDeleteRequest(fetchRequest: BatchScene.request("Shelf")))
      }
      #expect(required?.code == .validationMissingMandatoryProperty)
      #expect(required?.objectID == sign.objectID && required?.key == "shelf")
      let both = failure {
        try context.execute(BatchDeleteRequest(objectIDs: [shelf.objectID, lock.objectID]))
      }
      #expect(both != nil)
      #expect(try context.count(for: BatchScene.request("Lock")) == 1)
      // With what it leads to it may go.
      let ids = [lock.objectID, thing.objectID, shelf.objectID, sign.objectID]
      #expect(try context.execute(BatchDeleteRequest(objectIDs: ids)).count == 4)
    }
  }

  // Of a million denied deletions it collected a million errors.
  @Test func `no more than a hundred denied deletions are reported`() throws {
    try BatchScene.with { context in
      for number in 0..<150 {
        let thing = try context.insert("Thing", ["number": number])
        try context.insert("Lock", ["number": number, "thing": thing])
      }
      try context.save()
      let request = BatchDeleteRequest(fetchRequest: BatchScene.request("Lock"))
      let error = #expect(throws: PersistenceError.self) { try context.execute(request) }
      #expect(error?.code == .validationMultipleErrors && error?.detailedErrors.count == 100)
      #expect(try context.count(for: BatchScene.request("Lock")) == 150)
    }
  }

  @Test func `contexts that merge let go of deleted objects, by themselves or when told`() throws {
    try BatchScene.with { context in
      try fill(context, 4)
      let (merging, plain) = (SmallGallery.sibling(of: context), SmallGallery.sibling(of: context))
      merging.automaticallyMergesChangesFromParent = true
      context.automaticallyMergesChangesFromParent = true
      let kept = try [context, merging, plain].map { try $0.fetch(BatchScene.request("Plain")) }
      let remote = RemoteChangeList()
      let observation = try #require(context.persistentStoreCoordinator).observeRemoteChanges {
        remote.take($0)
      }
      defer { observation.cancel() }
      context.transactionAuthor = "batch"
      var request = BatchDeleteRequest(
        fetchRequest: BatchScene.request("Plain", Key("number") < 2))
      request.resultType = .objectIDs
      let result = try context.execute(request)
      #expect(remote.all.map(\.deletedObjectIDs) == [Set(result.objectIDs)])
      #expect(remote.all.map(\.transactionAuthor) == ["batch"])
      context.processPendingChanges()
      merging.processPendingChanges()
      #expect(kept[0].filter { $0.managedObjectContext == nil }.count == 2)
      #expect(kept[1].filter { $0.managedObjectContext == nil }.count == 2)
      #expect(kept[2].allSatisfy { $0.managedObjectContext === plain })
      plain.mergeChanges(fromContextDidSave: result.objectIDNotification())
      #expect(kept[2].filter { $0.managedObjectContext == nil }.count == 2)
      #expect(try context.history().last?.author == "batch")
    }
  }

  @Test func `unsaved changes of a deleted object are in conflict when they are saved`() throws {
    try BatchScene.with { context in
      try fill(context, 2)
      let object = try #require(
        try context.fetch(BatchScene.request("Plain", Key("number") == 1)).first)
      try object.setValue("changed", forKey: "title")
      // What is unsaved counts for nothing.
      let request = BatchScene.request("Plain", Key("title") == "title 1")
      #expect(try context.execute(BatchDeleteRequest(fetchRequest: request)).count == 1)
      #expect(object.text("title") == "changed")
      #expect(failure { try context.save() }?.code == .managedObjectMerge)
      context.rollback()
    }
  }

  @Test func `progress is told, and a refusal or a cancelled task deletes nothing`() async throws {
    try BatchScene.with { context in
      try fill(context, 5_000)
      var told: [Int] = []
      var request = BatchDeleteRequest(
        fetchRequest: BatchScene.request("Plain", Key("number") > 0))
      request.progress = {
        told.append($0)
        return $0 < 3_000
      }
      #expect(throws: CancellationError.self) { try context.execute(request) }
      #expect(told == [1024, 2048, 3072])
      #expect(try context.count(for: BatchScene.request("Plain")) == 5_000)
    }
    let task = Task {
      try BatchScene.with { context in
        try fill(context, 10)
        withUnsafeCurrentTask { $0?.cancel() }
        let request = BatchDeleteRequest(fetchRequest: BatchScene.request("Plain"))
        #expect(throws: CancellationError.self) { try context.execute(request) }
        #expect(try context.count(for: BatchScene.request("Plain")) == 10)
      }
    }
    try await task.value
  }

  @Test func `read-only stores, stores of other makes and unknown entities are refused`() throws {
    let elsewhere = try RowServer().coordinator(.plain, SmallGallery.model, classes: [])
    let other = GotchaHome.context(of: elsewhere)
    try other.insert("Tag", ["word": "a"])
    try other.save()
    let tags = BatchDeleteRequest(fetchRequest: BatchScene.request("Tag"))
    #expect(failure { try other.execute(tags) }?.code == .persistentStoreUnsupportedRequestType)
    #expect(try other.count(for: BatchScene.request("Tag")) == 1)
    try withTemporaryFolder { folder in
      let writing = try BatchScene.context(.file, folder, "store")
      try fill(writing)
      try writing.closeStores()
      let coordinator = PersistentStoreCoordinator(managedObjectModel: BatchScene.model)
      try coordinator.addPersistentStore(
        type: .quire, at: folder.appending(path: "store.quire"),
        options: [ReadOnlyPersistentStoreOption: true])
      let reading = GotchaHome.context(of: coordinator)
      let plains = BatchDeleteRequest(fetchRequest: BatchScene.request("Plain"))
      let error = failure { try reading.execute(plains) }
      #expect(error?.code == .persistentStoreSave && error?.message.contains("read-only") == true)
      let unknown = BatchDeleteRequest(fetchRequest: BatchScene.request("Unknown"))
      #expect(failure { try reading.execute(unknown) }?.code == .undefinedKey)
      try reading.closeStores()
    }
  }

  @Test func `several stores are asked, or those that are named`() throws {
    try SeveralStoresScene.with { scene in
      _ = try scene.artists()
      var request = BatchDeleteRequest(fetchRequest: BatchScene.request("Artist"))
      request.affectedStores = [scene.second]
      #expect(try scene.context.execute(request).count == 1)
      #expect(try scene.context.values(of: "name", "Artist") == ["Hilma"])
      _ = try scene.artists()
      request.affectedStores = nil
      #expect(try scene.context.execute(request).count == 3)
      #expect(try scene.context.count(for: BatchScene.request("Artist")) == 0)
    }
  }

  @Test func `a child context deletes in the stores`() throws {
    try BatchScene.with { context in
      try fill(context, 4)
      let child = ManagedObjectContext()
      child.parent = context
      let known = try child.fetch(BatchScene.request("Plain"))
      try known[0].setValue("unsaved", forKey: "title")
      let request = BatchScene.request("Plain", Key("number") >= 2)
      #expect(try child.execute(BatchDeleteRequest(fetchRequest: request)).count == 2)
      #expect(try child.count(for: BatchScene.request("Plain")) == 2)
      try child.save()
      try context.save()
      #expect(try context.values(of: "title", "Plain", sortedBy: "number").first == "unsaved")
    }
  }
}

/// What an observer of remote changes was told, on the threads of those who saved.
final class RemoteChangeList: Sendable {
  private let changes = Mutex<[StoreRemoteChange]>([])

  func take(_ change: StoreRemoteChange) { changes.withLock { $0.append(change) } }
  var all: [StoreRemoteChange] { changes.withLock { $0 } }
}
