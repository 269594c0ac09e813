import Quire
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The power is cut before any operation of what is done with whole stores.
@Suite struct `Whole stores, on a disk that dies` {
  private static let one = URL(filePath: "/folder/one.quire")
  private static let two = URL(filePath: "/folder/two.quire")

  private func open(_ disk: SimulatedDisk, _ url: URL) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try coordinator.addPersistentStore(type: .quire, at: url, options: [:], in: disk)
    return coordinator
  }

  private func close(_ coordinator: PersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// Two stores with 3 and 8 tags; that of a process that died, or closed.
  private func stage(isClosed: Bool) throws -> DiskState {
    let disk = SimulatedDisk()
    var open: [PersistentStoreCoordinator] = []
    for (url, count) in [(Self.one, 3), (Self.two, 8)] {
      let coordinator = try self.open(disk, url)
      let context = GotchaHome.context(of: coordinator)
      for number in 0..<count { try context.insert("Tag", ["word": "\(number)"]) }
      try context.save()
      if isClosed { try close(coordinator) } else { open.append(coordinator) }
    }
    defer { withExtendedLifetime(open) {} }
    return SimulatedDisk(disk.files).state
  }

  /// The tags of a store; `nil` where there is none.
  private func count(_ disk: SimulatedDisk, _ url: URL) throws -> Int? {
    guard disk.files[url.path()] != nil else { return nil }
    let coordinator = try open(disk, url)
    let store = try #require(coordinator.persistentStores.first)
    let count = try GotchaHome.context(of: coordinator).count(
      for: FetchRequest<ManagedObject>(entityName: "Tag"))
    #expect(try StoreInspection(of: store).findings == [])
    try close(coordinator)
    return count
  }

  /// Runs `body`, and looks at what every crash on the way may leave.
  private func forEachCrash(
    isClosed: Bool, _ body: (SimulatedDisk) throws -> Void,
    check: (SimulatedDisk, _ isOver: Bool, _ place: String) throws -> Void
  ) throws {
    let disk = SimulatedDisk(try stage(isClosed: isClosed))
    let moments = CrashMoments()
    disk.observe { state, operation in moments.add(state, operation) }
    try body(disk)
    disk.observe(nil)
    let all = moments.all + [(disk.state, disk.operationCount)]
    #expect(all.count > 3)
    for (state, operation) in all {
      CrashImages(state, seed: UInt64(operation)).visit(
        limit: Amount.of(debug: 3, release: 6, exhaustive: nil)
      ) { image in
        do {
          try check(
            SimulatedDisk(image), operation == disk.operationCount,
            "crash before operation \(operation) of \(disk.operationCount), \(image)")
        } catch {
          Issue.record("crash before operation \(operation), \(image): \(error)")
        }
        return true
      }
    }
  }

  private let coordinator = PersistentStoreCoordinator(managedObjectModel: SmallGallery.model)

  @Test(arguments: [true, false])
  func `a store is destroyed whole or not at all`(isClosed: Bool) throws {
    var found: [Int?: Int] = [:]
    try forEachCrash(isClosed: isClosed) { disk in
      try coordinator.destroyPersistentStore(at: Self.one, type: .quire, options: nil, in: disk)
    } check: { disk, isOver, place in
      let count = try count(disk, Self.one)
      found[count, default: 0] += 1
      #expect(count == nil || count == 3 && !isOver, "\(place)")
      // The place can be used again, whatever else is left there.
      try coordinator.destroyPersistentStore(at: Self.one, type: .quire, options: nil, in: disk)
      let again = try open(disk, Self.one)
      let context = GotchaHome.context(of: again)
      try context.insert("Tag", ["word": "new"])
      try context.save()
      try close(again)
      #expect(try self.count(disk, Self.one) == 1, "\(place)")
      #expect(try self.count(disk, Self.two) == 8, "\(place)")
    }
    #expect(found.count == 2, "\(found)")
  }

  @Test(arguments: [true, false])
  func `a store is replaced by another whole or not at all`(isClosed: Bool) throws {
    var found: [Int?: Int] = [:]
    try forEachCrash(isClosed: isClosed) { disk in
      try coordinator.replacePersistentStore(
        at: Self.one, destinationOptions: nil, withPersistentStoreFrom: Self.two,
        sourceOptions: nil, type: .quire, in: disk)
    } check: { disk, isOver, place in
      let count = try count(disk, Self.one)
      found[count, default: 0] += 1
      #expect(count == 8 || count == 3 && !isOver, "\(place)")
      #expect(try self.count(disk, Self.two) == 8, "\(place)")
    }
    #expect(found.count == 2, "\(found)")
  }

  @Test func `a store that moves leaves the old one, and the new one is whole or not there`() throws
  {
    let third = URL(filePath: "/folder/three.quire")
    var found: [Int?: Int] = [:]
    try forEachCrash(isClosed: true) { disk in
      let coordinator = try open(disk, Self.one)
      let store = try #require(coordinator.persistentStores.first)
      try coordinator.migratePersistentStore(
        store, to: third, options: nil, type: .quire, in: disk)
      try close(coordinator)
    } check: { disk, isOver, place in
      #expect(try count(disk, Self.one) == 3, "\(place)")
      let count = try count(disk, third)
      found[count, default: 0] += 1
      #expect(count == 3 || count == nil && !isOver, "\(place)")
    }
    #expect(found.count == 2, "\(found)")
  }

  @Test func `metadata that were set are there or not, and after the call they are`() throws {
    var found: [Int: Int] = [:]
    try forEachCrash(isClosed: true) { disk in
      try PersistentStoreCoordinator.setMetadata(
        ["a": 1, "b": [1, 2]], type: .quire, at: Self.one, options: nil, in: disk)
    } check: { disk, isOver, place in
      let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(
        type: .quire, at: Self.one, options: nil, in: disk)
      let own = metadata.keys.filter { ["a", "b"].contains($0) }.count
      found[own, default: 0] += 1
      #expect(own == 2 || own == 0 && !isOver, "\(place)")
      #expect(try count(disk, Self.one) == 3, "\(place)")
    }
    #expect(found.count == 2, "\(found)")
  }

  @Test func `a disk that refuses leaves the store as it was, or done with`() throws {
    let state = try stage(isClosed: true)
    for fault in [SimulatedDisk.Fault.ioError, .noSpace, .shortWrite] {
      for operation in stride(from: 1, through: 40, by: Amount.of(debug: 5, release: 1)) {
        for isReplacing in [true, false] {
          let disk = SimulatedDisk(state)
          disk.fail(at: operation, with: fault)
          do {
            if isReplacing {
              try coordinator.replacePersistentStore(
                at: Self.one, destinationOptions: nil, withPersistentStoreFrom: Self.two,
                sourceOptions: nil, type: .quire, in: disk)
            } else {
              try coordinator.destroyPersistentStore(
                at: Self.one, type: .quire, options: nil, in: disk)
            }
          } catch let error as PersistenceError {
            #expect(error.code == .persistentStoreOperation)
            #expect(error.underlying != nil)
          }
          disk.heal()
          let count = try count(disk, Self.one)
          #expect(count == 3 || count == (isReplacing ? 8 : nil), "\(fault) at \(operation)")
          #expect(try self.count(disk, Self.two) == 8)
        }
      }
    }
  }
}

/// What an observer collects; the disk calls it with its lock held.
private final class CrashMoments: @unchecked Sendable {
  private(set) var all: [(state: DiskState, operation: Int)] = []
  func add(_ state: DiskState, _ operation: Int) { all.append((state, operation)) }
}
