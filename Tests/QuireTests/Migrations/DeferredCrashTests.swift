import Quire
import QuireSimulation
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The process dies after every operation on the disk while a migration is deferred and finished in
/// slices, with saves between them.
@Suite struct DeferredCrashTests {
  private static let url = URL(filePath: "/store.quire")

  private static let old = try! ManagedObjectModel {
    Entity("Work") {
      Attribute("title", .string)
      Attribute("gone", .integer64)
    }
  }

  private static let new = try! ManagedObjectModel {
    Entity("Work") {
      Attribute("title", .string)
      Attribute("rating", .integer16, optional: false, default: 3)
      Attribute("word", .string, optional: false, default: "word")
    }
  }

  private func open(
    _ disk: SimulatedDisk, _ options: PersistentStoreOptions, version: String = "new"
  ) throws -> ManagedObjectContext {
    let versions = try MigrationTrial.versioned(Self.old, Self.new)
    return try TestStore.open(
      try #require(versions.endingAt(version)), options, at: Self.url, in: disk)
  }

  private func coordinator(_ context: ManagedObjectContext) throws -> PersistentStoreCoordinator {
    try #require(context.persistentStoreCoordinator)
  }

  private func close(_ context: ManagedObjectContext) throws {
    for store in try coordinator(context).persistentStores {
      try coordinator(context).remove(store)
    }
  }

  private func works(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: "Work"))
  }

  /// Every object as a line.
  private func content(_ context: ManagedObjectContext) throws -> [String] {
    try works(context).map { object in
      let values = try object.entity.attributes.map { try object.value(forKey: $0.name) }
      return "\(object.objectID.uriRepresentation().lastPathComponent) "
        + values.map { $0.map { "\($0)" } ?? "nil" }.joined(separator: " ")
    }
  }

  /// A closed store of the old version.
  private func fixture() throws -> [String: [UInt8]] {
    let disk = SimulatedDisk()
    let context = try open(disk, [:], version: "old")
    for number in 0..<14 {
      let work = try EntityDescription.insertNewObject(forEntityName: "Work", into: context)
      try work.setValue(String(repeating: "title \(number) ", count: 40), forKey: "title")
      try work.setValue(number, forKey: "gone")
    }
    try context.save()
    try close(context)
    return disk.files
  }

  /// Migrates, saves, and finishes in slices.
  ///
  /// - Returns: the content after each save that returned, that of the migration first.
  private func run(_ disk: SimulatedDisk) -> [[String]] {
    var states: [[String]] = []
    do {
      let context = try open(disk, .deferring)
      states.append(try content(context))
      try works(context)[8].setValue(5, forKey: "rating")
      try context.save()
      states.append(try content(context))
      try coordinator(context).finishDeferredMigration(objectLimit: 5)
      context.delete(try works(context)[2])
      try context.save()
      states.append(try content(context))
      while try coordinator(context).finishDeferredMigration(objectLimit: 4) {}
      try close(context)
    } catch {}
    return states
  }

  @Test func `a deferred migration keeps all objects in any crash, and can be finished`() throws {
    let files = try fixture()
    let oldContent = try content(try open(SimulatedDisk(files), [:], version: "old"))
    let whole = SimulatedDisk(files)
    let states = run(whole)
    #expect(states.count == 3)
    #expect(try open(SimulatedDisk(whole.files), [:]).hasWork == false)
    var found: (old: Int, left: Int, finished: Int) = (0, 0, 0)
    let step = Amount.of(debug: 2, release: 1)
    for operation in stride(from: 0, through: whole.operationCount, by: step) {
      let disk = SimulatedDisk(files)
      disk.crash(after: operation)
      let acknowledged = run(disk).count
      for image in sample(disk.crashImages(), seed: operation) {
        if let context = try? open(SimulatedDisk(image), [:], version: "old") {
          #expect(try acknowledged == 0 && content(context) == oldContent)
          found.old += 1
          continue
        }
        let disk = SimulatedDisk(image)
        let context = try open(disk, [:])
        let index = try #require(states.firstIndex(of: try content(context)))
        #expect(index + 1 >= acknowledged, "crash after \(operation)")
        #expect(try StoreFacts(context).findings == [])
        if context.hasWork { found.left += 1 } else { found.finished += 1 }
        if operation.isMultiple(of: 2) {
          try coordinator(context).finishDeferredLightweightMigration()
        } else {
          while try coordinator(context).finishDeferredMigration(objectLimit: 6) {}
        }
        #expect(!context.hasWork)
        try close(context)
        let again = try open(SimulatedDisk(disk.files), [:])
        #expect(try content(again) == states[index])
        #expect(try StoreFacts(again).findings == [])
      }
    }
    print(
      "deferred: \(found.old) images of the old version, \(found.left) with objects left, "
        + "\(found.finished) without")
    #expect(found.old > 0 && found.left > 0 && found.finished > 0)
  }

  @Test func `a slice that meets an error leaves the store as it was, and can be taken again`()
    throws
  {
    let start = SimulatedDisk(try fixture())
    var context = try open(start, .deferring)
    let expected = try content(context)
    try close(context)
    let whole = SimulatedDisk(start.files)
    context = try open(whole, [:])
    let before = whole.operationCount
    try coordinator(context).finishDeferredMigration(objectLimit: 5)
    try coordinator(context).finishDeferredLightweightMigration()
    for fault in SimulatedDisk.Fault.allCases {
      for operation in before + 1...whole.operationCount {
        let disk = SimulatedDisk(start.files)
        disk.fail(at: operation, with: fault)
        if let context = try? open(disk, [:]) {
          _ = try? coordinator(context).finishDeferredMigration(objectLimit: 5)
          try? coordinator(context).finishDeferredLightweightMigration()
          try? close(context)
        }
        let again = try open(SimulatedDisk(disk.files), [:])
        #expect(try content(again) == expected, "\(fault) at \(operation)")
        try coordinator(again).finishDeferredLightweightMigration()
        #expect(try content(again) == expected, "\(fault) at \(operation)")
        #expect(try StoreFacts(again).findings == [])
      }
    }
  }

  /// Some of many images, always with the first and the last.
  private func sample(_ images: [[String: [UInt8]]], seed: Int) -> [[String: [UInt8]]] {
    let limit = Amount.of(debug: 3, release: 6)
    guard !isExhaustive, images.count > limit, let first = images.first, let last = images.last
    else { return images }
    var generator = SeededGenerator(seed: UInt64(seed))
    return [first, last] + images.shuffled(using: &generator).prefix(limit - 2)
  }
}

extension ManagedObjectContext {
  /// Whether a deferred migration has left objects in the context's store.
  fileprivate var hasWork: Bool {
    (try? persistentStoreCoordinator?.persistentStores.first?.deferredMigration()) != nil
  }
}
