import Quire
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The disk dies, fails or is full before any operation of a migration.
@Suite struct MigrationCrashTests {
  private static func old(_ name: String = "title") throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Relationship("works", toMany: "Work", inverse: "artist", ordered: true)
      }
      Entity("Work") {
        Attribute(name, .string)
        Attribute("size", .integer32, optional: false, default: 1)
        Relationship("artist", toOne: "Artist", inverse: "works")
      }
      Entity("Gone") { Attribute("x", .string) }
      Entity("Kept") { Attribute("x", .string) }
    }
  }

  private static func new() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string, optional: false, default: "unknown")
        Relationship("works", toMany: "Artwork", inverse: "artists", ordered: true)
      }
      Entity("Artwork", renamedFrom: "Work") {
        Attribute("title", .string)
        Attribute("rating", .integer16, optional: false, default: 3)
        Attribute("size", .integer32, optional: false, default: 1)
        Relationship("artists", toMany: "Artist", inverse: "works", renamedFrom: "artist")
      }
      Entity("Kept") { Attribute("x", .string) }
      Entity("New") { Relationship("works", toMany: "Artwork") }
    }
  }

  /// - Parameter count: of the works; some hundreds go around the log where pages are small.
  private static func stage(count: Int, pageSize: Int = 4096) throws -> MigrationScene {
    try MigrationScene(old(), new(), pageSize: pageSize) { context in
      var artists: [ManagedObject] = []
      for number in 0..<5 {
        let artist = try EntityDescription.insertNewObject(forEntityName: "Artist", into: context)
        if number > 1 { try artist.setValue("name \(number)", forKey: "name") }
        artists.append(artist)
        for name in ["Gone", "Kept"] {
          let object = try EntityDescription.insertNewObject(forEntityName: name, into: context)
          try object.setValue(String(repeating: name, count: 100), forKey: "x")
        }
      }
      for number in 0..<count {
        let work = try EntityDescription.insertNewObject(forEntityName: "Work", into: context)
        let isLong = number == 7 || (pageSize == 512 && number % 4 > 0)
        let text = String(repeating: "title \(number) ", count: isLong ? 120 : 14)
        try work.setValue(text, forKey: "title")
        if number < 40 { try work.setValue(artists[number % 5], forKey: "artist") }
      }
    }
  }

  private static let small = Result { try stage(count: 25) }
  private static let large = Result { try stage(count: 360, pageSize: 512) }

  // MARK: Crashes

  @Test func `a crash anywhere in a migration leaves the old version or the new one, whole`()
    throws
  {
    var crashes = MigrationCrashes(
      try Self.small.get(),
      Amount.of(
        debug: [(9, 4), (3, 1)], release: [(20, 6), (3, 2)],
        exhaustive: [(nil, nil), (nil, 4), (4, 2)]))
    try crashes.run()
    print("crashes of a small migration: \(crashes.momentCount) moments, \(crashes.counts)")
    #expect(crashes.counts[.old] ?? 0 > 5 && crashes.counts[.new] ?? 0 > 5)
  }

  @Test func `rows that go around the log leave the old version or the new one, whole`() throws {
    var crashes = MigrationCrashes(
      try Self.large.get(),
      Amount.of(debug: [(4, 1)], release: [(6, 2)], exhaustive: [(nil, 60), (3, 3)]))
    try crashes.run()
    print("crashes of a large migration: \(crashes.momentCount) moments, \(crashes.counts)")
    #expect(crashes.counts[.old] ?? 0 > 0 && crashes.counts[.new] ?? 0 > 0)
    let disk = try Self.large.get().disk
    try Self.large.get().migrate(disk)
    #expect(disk.reasons.contains(.directPages))
  }

  // So that the test before can fail: what it looks for is there when a disk forgets these pages.
  // A migration is the first commit after opening, whose meta page is synced with the same file.
  @Test func `pages around the log that were not synced are missed after a crash`() throws {
    var crashes = MigrationCrashes(
      try Self.large.get(), [(4, 2)], ignoring: [.directPages])
    #expect(throws: MigrationScene.Violation.self) { try crashes.run() }
  }

  /// Of models that a seed makes, with the changes it makes.
  @Test func `a crash in any migration of any models leaves the old version or the new one`() throws
  {
    var found = 0
    var seed: UInt64 = environmentValue("QUIRE_SEED").flatMap(UInt64.init) ?? 1000
    while found < Amount.of(debug: 2, release: 3, exhaustive: 200) {
      seed += 1
      let migration = try RandomMigration(seed: seed)
      let old = try ManagedObjectModel(entities: migration.old)
      let new = try ManagedObjectModel(entities: migration.new)
      if old == new { continue }
      let stage = try? MigrationScene(old, new, pageSize: seed % 2 == 0 ? 512 : 4096) {
        try StoreContent.fill($0, old, count: 5, seed: seed)
      }
      guard let stage else { continue }
      found += 1
      var crashes = MigrationCrashes(
        stage, Amount.of(sampled: [(8, 3)], exhaustive: [(nil, 12), (2, 2)]))
      do {
        try crashes.run()
      } catch {
        Issue.record("\(migration)\n\(error)")
        return
      }
    }
  }

  // MARK: Faults

  /// What is left by a migration that met a fault.
  ///
  /// - Returns: whether the migration threw.
  private func expectWhole(
    _ stage: MigrationScene, _ what: String, _ arrange: (SimulatedDisk) -> Void
  ) throws -> Bool {
    let disk = stage.disk
    arrange(disk)
    var failure: PersistenceError?
    do {
      try stage.migrate(disk)
    } catch let error as PersistenceError {
      failure = error
      #expect(error.underlying is StorageError, "\(what): \(error)")
    }
    let hadFailedSync = !disk.failedSyncs.isEmpty
    disk.heal()
    do {
      // The process lives on, and tries again.
      let version = try stage.verify(disk)
      // A sync that failed says nothing of what is on the disk; any other error comes before.
      if failure?.code == .migration, !hadFailedSync, version == .new {
        Issue.record("\(what): \(failure as Any), and yet it has happened")
      }
      if failure == nil, version == .old { Issue.record("\(what): no error, and not migrated") }
    } catch {
      Issue.record("\(what): \(error), after \(failure as Any)")
    }
    return failure != nil
  }

  @Test func `an error of the disk anywhere in a migration leaves the old version, or the new one`()
    throws
  {
    var failures = 0
    var trials = 0
    for (stage, isLarge) in [(try Self.small.get(), false), (try Self.large.get(), true)] {
      let whole = stage.disk
      try stage.migrate(whole)
      var generator = SeededGenerator(seed: 1)
      let step = isLarge ? whole.operationCount : Amount.of(debug: 29, release: 12)
      for fault in SimulatedDisk.Fault.allCases {
        for isForGood in [false, true] {
          for model in SimulatedDisk.SyncFailureModel.allCases
          where isExhaustive || !isLarge || model == .retained {
            let first = 1 + generator.below(Amount.of(sampled: step, exhaustive: 1))
            for operation in stride(
              from: first, through: whole.operationCount,
              by: Amount.of(sampled: step, exhaustive: 1))
            {
              let plan = SimulatedDisk.FaultPlan(operation: operation, fault, isForGood: isForGood)
              trials += 1
              if try expectWhole(
                stage, "\(plan), \(model)", { $0.fail(plan, syncs: model) })
              {
                failures += 1
              }
            }
          }
        }
      }
    }
    print("faults in a migration: \(trials), \(failures) of them told")
    #expect(failures > Amount.of(debug: 10, release: 20))
  }

  @Test func `a read that fails anywhere in a migration leaves the old version`() throws {
    let stage = try Self.small.get()
    let whole = stage.disk
    try stage.migrate(whole)
    var failures = 0
    for fault in SimulatedDisk.QueryFault.allCases {
      for query in stride(
        from: 1, through: whole.queryCount, by: Amount.of(debug: 7, release: 3, exhaustive: 1))
      {
        if try expectWhole(
          stage, "\(fault) of query \(query)", { $0.failQuery(at: query, with: fault) })
        {
          failures += 1
        }
      }
    }
    #expect(failures > 0)
  }

  @Test func `a disk that is full anywhere in a migration leaves the old version`() throws {
    var failures = 0
    for stage in [try Self.small.get(), try Self.large.get()] {
      let start = stage.disk.byteCount
      let whole = stage.disk
      let most = Most()
      whole.observe { state, _ in most.note(state.byteCount) }
      try stage.migrate(whole)
      let needed = most.value - start
      let step = max(
        1,
        needed
          / (isExhaustive
            ? 400 : stage.expected.objects.count > 100 ? 4 : Amount.of(debug: 6, release: 12)))
      for room in stride(from: 0, to: needed, by: step) {
        if try expectWhole(
          stage, "room for \(room) of \(needed) bytes", { $0.limit(to: start + room) })
        {
          failures += 1
        }
      }
    }
    #expect(failures > 3)
  }
}

private final class Most: @unchecked Sendable {
  private(set) var value = 0
  func note(_ number: Int) { value = max(value, number) }
}
