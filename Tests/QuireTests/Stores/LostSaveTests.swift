import Quire
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A save whose sync found no space said that nothing of it was in the store, and who saved again
// had everything twice. And a store whose file was removed took three saves and was closed without
// a word.

/// What a save says when it cannot be, or need not have been, kept by the disk.
@Suite struct `Saves that a disk does not keep` {
  private static let url = URL(filePath: "/shop.quire")
  private static let model = try! ManagedObjectModel {
    Entity("Order") { Attribute("number", .integer64) }
  }

  private func open(_ disk: SimulatedDisk) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model)
    try coordinator.addPersistentStore(type: .quire, at: Self.url, options: [:], in: disk)
    return GotchaHome.context(of: coordinator)
  }

  private func insert(_ number: Int, in context: ManagedObjectContext) throws {
    let order = try EntityDescription.insertNewObject(forEntityName: "Order", into: context)
    try order.setValue(number, forKey: "number")
  }

  private func count(_ context: ManagedObjectContext) throws -> Int {
    try context.count(for: FetchRequest<ManagedObject>(entityName: "Order"))
  }

  /// The sync of a save alone fails, of all that its disk does.
  @Test func `a save whose sync finds no space says that nobody knows whether it is there`() throws
  {
    let disk = SimulatedDisk()
    let context = try open(disk)
    try insert(1, in: context)
    try context.save()
    try insert(2, in: context)
    disk.fail(.init(operation: disk.operationCount + 1, .noSpace, isForGood: true, onlySyncs: true))
    let error = try #require(throws: PersistenceError.self) { try context.save() }
    #expect(disk.failedSyncs == [.commit])
    #expect(error.code == .persistentStoreSave)
    #expect(error.message == "it is unknown whether the changes are saved")
    #expect(error.localizedDescription.contains("open the store again, and look"))
    #expect(!"\(error)".contains("try again"))
    // The store takes no changes, so that nothing is saved twice by trying again.
    let second = try #require(throws: PersistenceError.self) { try context.save() }
    #expect("\(second)".contains("close and reopen it"))
    #expect(context.hasChanges)
    disk.heal()
    try TestStore.close(context)
    #expect(try count(open(disk)) == 2)
  }

  @Test func `a save that finds no space for its record is nowhere, and is made again`() throws {
    let disk = SimulatedDisk()
    let context = try open(disk)
    try insert(1, in: context)
    try context.save()
    // More than the log has room for, also after a checkpoint.
    for number in 2...1_000 { try insert(number, in: context) }
    disk.limit(to: disk.byteCount)
    let error = try #require(throws: PersistenceError.self) { try context.save() }
    #expect(error.message == "the changes could not be written")
    #expect("\(error)".contains("free some space, and try again"))
    disk.heal()
    try context.save()
    try TestStore.close(context)
    #expect(try count(open(disk)) == 1_000)
  }

  @Test func `a save after the file was removed says so, and a backup keeps the saves before`()
    throws
  {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "shop.quire")
      let coordinator = PersistentStoreCoordinator(managedObjectModel: Self.model)
      let store = try coordinator.addPersistentStore(type: .quire, at: url)
      let context = GotchaHome.context(of: coordinator)
      try insert(1, in: context)
      try context.save()
      try FileManager.default.removeItem(at: url)
      for number in 2...4 {
        try insert(number, in: context)
        let error = try #require(throws: PersistenceError.self) { try context.save() }
        #expect("\(error)".contains("shop.quire was removed"))
        #expect("\(error)".contains("back the store up to another path"))
      }
      let copy = folder.appending(path: "copy.quire")
      try store.backUp(to: copy)
      #expect(throws: (any Error).self) { try coordinator.remove(store) }
      let other = PersistentStoreCoordinator(managedObjectModel: Self.model)
      try other.addPersistentStore(type: .quire, at: copy)
      #expect(try count(GotchaHome.context(of: other)) == 1)
    }
  }

  @Test func `a container whose file was removed says so when it is closed`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "shop.quire")
      let container = PersistentContainer(name: "Shop", managedObjectModel: Self.model)
      try container.loadPersistentStore(at: url)
      let context = container.newBackgroundContext()
      try insert(1, in: context)
      try context.save()
      try FileManager.default.removeItem(at: url)
      let error = try #require(throws: (any Error).self) { try container.close() }
      #expect("\(error)".contains("shop.quire was removed"))
    }
  }
}
