import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The machine dies after every single operation on the disk while batch requests run. What is
/// found afterwards has each of them whole or not at all.
@Suite struct BatchCrashTests {
  private static let count = 6_000

  private func open(_ disk: SimulatedDisk) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: BatchScene.model)
    try coordinator.addPersistentStore(
      type: .quire, at: URL(filePath: "/batch.quire"),
      options: [PersistentHistoryTrackingKey: true], in: disk)
    return GotchaHome.context(of: coordinator)
  }

  /// An insertion so large that rows go around the log, an update of some, and a deletion of half.
  ///
  /// - Returns: how many requests returned.
  private func run(_ disk: SimulatedDisk) -> Int {
    var doneCount = 0
    do {
      let context = try open(disk)
      let text = String(repeating: "long ", count: 80)
      try context.execute(
        BatchInsertRequest(
          entityName: "Plain",
          objects: (0..<Self.count).lazy.map { ["number": $0, "title": "\($0) " + text] }))
      doneCount = 1
      try context.execute(
        BatchUpdateRequest(
          entityName: "Plain", predicate: Key("number") < 100,
          propertiesToUpdate: ["title": "updated"]))
      doneCount = 2
      try context.execute(
        BatchDeleteRequest(
          fetchRequest: BatchScene.request("Plain", Key("number") >= Self.count / 2)))
      doneCount = 3
      try context.closeStores()
    } catch {}
    return doneCount
  }

  /// How many requests a store shows.
  private func shown(_ context: ManagedObjectContext) throws -> Int? {
    let count = try context.count(for: BatchScene.request("Plain"))
    let updated = try context.count(for: BatchScene.request("Plain", Key("title") == "updated"))
    switch (count, updated) {
    case (0, 0): return 0
    case (Self.count, 0): return 1
    case (Self.count, 100): return 2
    case (Self.count / 2, 100): return 3
    default: return nil
    }
  }

  @Test func `a batch request is there whole or not at all, wherever the machine dies`() throws {
    let whole = SimulatedDisk()
    #expect(run(whole) == 3)
    // Some rows have gone to the end of the file before the commit.
    #expect(whole.files["/batch.quire"]?.count ?? 0 > 512 * 4096)
    var found: Set<Int> = []
    var imageCount = 0
    let step = isExhaustive ? 1 : max(1, whole.operationCount / 60)
    for operation in stride(from: 0, through: whole.operationCount, by: step) {
      let disk = SimulatedDisk()
      disk.crash(after: operation)
      let doneCount = run(disk)
      let images = disk.crashImages()
      for image in images.count > 3 ? [images[0], images[images.count - 1]] : images {
        imageCount += 1
        let context = try open(SimulatedDisk(image))
        #expect(try StoreFacts(context).findings == [], "crash after \(operation)")
        let shown = try #require(try shown(context), "crash after \(operation)")
        #expect((doneCount...doneCount + 1).contains(shown), "crash after \(operation)")
        #expect(try context.history().count == shown, "crash after \(operation)")
        found.insert(shown)
      }
    }
    print("batches: \(imageCount) images")
    #expect(found.isSuperset(of: [0, 1, 3]))
  }
}
