import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A disk is full to the last byte: objects and history can be removed, and their room used again,
/// although both write something.
@Suite struct FullDiskRemovalTests {
  private func open(_ disk: SimulatedDisk) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: HistoryLibrary.model)
    try coordinator.addPersistentStore(
      type: .quire, at: URL(filePath: "/library.quire"), options: HistoryLibrary.tracking,
      in: disk)
    return GotchaHome.context(of: coordinator)
  }

  private func insert(_ count: Int, in context: ManagedObjectContext) throws {
    for number in 0..<count {
      let isbn = String(repeating: "isbn \(number) ", count: 20)
      _ = try context.insert("Book", ["isbn": isbn])
    }
    try context.save()
  }

  private func books(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Book"))
  }

  @Test(arguments: [false, true])
  func `removing goes on`(isClosed: Bool) throws {
    let disk = SimulatedDisk()
    disk.reservesRoom = true
    do {
      let context = try open(disk)
      for _ in 0..<5 { try insert(200, in: context) }
      if isClosed { try context.closeStores() }
      disk.limit(to: disk.byteCount)
      if !isClosed { disk.crash(after: 0) }
    }
    disk.revive()
    // What recovery gave back may be taken, too.
    var context = try open(disk)
    if !isClosed { try context.closeStores() }
    disk.limit(to: disk.byteCount)
    if !isClosed { context = try open(disk) }

    #expect(throws: PersistenceError.self) { try insert(3_000, in: context) }
    context.rollback()
    for book in try books(context).prefix(40) { context.delete(book) }
    try context.save()
    var request = FetchRequest<ManagedObject>(entityName: "Book")
    request.fetchLimit = 200
    try context.execute(BatchDeleteRequest(fetchRequest: request))
    _ = try context.execute(.deleteHistory(before: try context.history()[4].token))
    context.reset()
    #expect(try books(context).count == 760)
    // In the room that this has left.
    try insert(20, in: context)
    try context.closeStores()

    context = try open(disk)
    #expect(try books(context).count == 780)
    try context.closeStores()
  }
}
