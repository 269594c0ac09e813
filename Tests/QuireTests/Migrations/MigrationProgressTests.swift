import Quire
import QuireSimulation
import QuireStorage
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite struct MigrationProgressTests {
  /// What a progress told.
  private final class Log: Sendable {
    struct Entry {
      var fraction: Double
      var phase: String
    }
    private let entries = Mutex<[Entry]>([])
    var all: [Entry] { entries.withLock { $0 } }

    /// - Parameter limit: how many calls there may be before the migration is cancelled.
    func progress(cancellingAfter limit: Int = .max) -> MigrationProgress {
      MigrationProgress { [self] progress in
        let count = entries.withLock {
          $0.append(Entry(fraction: progress.fractionCompleted, phase: progress.phase))
          return $0.count
        }
        if count >= limit { progress.cancel() }
      }
    }
  }

  private static let old = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string)
      Relationship("works", toMany: "Work", inverse: "artist")
    }
    Entity("Work") {
      Attribute("title", .string)
      Relationship("artist", toOne: "Artist", inverse: "works")
    }
  }
  private static let new = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string)
      Attribute("born", .integer16)
      Relationship("works", toMany: "Work", inverse: "artists")
    }
    Entity("Work") {
      Attribute("title", .string)
      Attribute("year", .integer16)
      Relationship("artists", toMany: "Artist", inverse: "works", renamedFrom: "artist")
    }
  }

  private static func files(count: Int) throws -> [String: [UInt8]] {
    try TestStore.files(MigrationTrial.versioned(old, new), at: "old") { context in
      var artist: ManagedObject?
      for number in 0..<count {
        if number % 5 == 0 {
          artist = try TestStore.insert(
            "Artist", ["name": String(repeating: "n", count: 700)], context)
        }
        let work = try TestStore.insert(
          "Work", ["title": "\(number)" + String(repeating: "t", count: 200)], context)
        try work.setValue(artist, forKey: "artist")
      }
    }
  }

  private static func mapping() throws -> MappingModel {
    var mapping = try MappingModel.inferredMappingModel(
      forSourceModel: old, destinationModel: new)
    // As somebody has looked at it, it is carried out through objects.
    mapping.entityMappings[0].userInfo = ["edited": "yes"]
    return mapping
  }

  private static func options(
    byManager: Bool, _ progress: MigrationProgress
  ) throws -> PersistentStoreOptions {
    var options = PersistentStoreOptions.migrating
    options.migrationProgress = progress
    if byManager { options.mappingModels = [try mapping()] }
    return options
  }

  @Test(arguments: [false, true])
  func `it goes from nothing to everything, and tells so a few hundred times at most`(
    byManager: Bool
  ) throws {
    let versions = try MigrationTrial.versioned(Self.old, Self.new)
    let log = Log()
    let progress = log.progress()
    #expect(progress.totalUnitCount == 0 && progress.fractionCompleted == 0)
    let context = try TestStore.open(
      versions, Self.options(byManager: byManager, progress),
      in: SimulatedDisk(Self.files(count: Amount.of(debug: 1_500, release: 3_000))))
    #expect(context.openStore?.migrationReport != nil)
    #expect(progress.fractionCompleted == 1)
    #expect(progress.completedUnitCount == progress.totalUnitCount && progress.totalUnitCount > 0)
    let fractions = log.all.map(\.fraction)
    #expect(fractions == fractions.sorted() && fractions.last == 1)
    #expect(log.all.count > 5 && log.all.count < 300)
    let phases = Set(log.all.map(\.phase))
    #expect(phases.contains { $0.contains("Work") } && phases.contains { $0.contains("Artist") })
  }

  @Test(arguments: [false, true])
  func `cancelled at any time, the old version is whole, and the next opening migrates`(
    byManager: Bool
  ) throws {
    let versions = try MigrationTrial.versioned(Self.old, Self.new)
    let oldVersions = try #require(versions.endingAt("old"))
    let rowCount = Amount.of(debug: 1_500, release: 3_000)
    let files = try Self.files(count: rowCount)
    let log = Log()
    _ = try TestStore.open(
      versions, Self.options(byManager: byManager, log.progress()), in: SimulatedDisk(files))
    let batches = log.all.filter { $0.phase.contains("Work") }
    #expect(batches.count > 3, "the rows of one entity come in batches")
    var cancelled = 0
    // Each phase and each batch is a place to be cancelled; in debug some of them are.
    let step = Amount.of(debug: 9, release: 1)
    let limits = stride(from: log.all.count, through: 1, by: -step)
    for limit in limits {
      let disk = SimulatedDisk(files)
      let told = Log()
      let progress = told.progress(cancellingAfter: limit)
      do {
        let context = try TestStore.open(
          versions, Self.options(byManager: byManager, progress), in: disk)
        #expect(context.openStore?.migrationReport != nil)
        #expect(limit == log.all.count, "after the commit there is nothing to cancel")
      } catch let error as PersistenceError {
        #expect(error.code == .migrationCancelled, "\(error)")
        cancelled += 1
        #expect(told.all.count == limit, "it goes no further than where it is")
        let context = try TestStore.open(oldVersions, in: disk)
        #expect(context.openStore?.migrationHistory.count == 0)
        let count = try context.count(for: FetchRequest<ManagedObject>(entityName: "Work"))
        #expect(count == rowCount)
        #expect(disk.files.keys.sorted().allSatisfy { $0.hasPrefix("/store.quire") })
        #expect(!disk.files.keys.contains { $0.contains("-migrating") })
      }
    }
    #expect(cancelled == Array(limits).count - 1)
  }

  @Test func `cancelled while two threads rewrite an entity, the old version is whole`() throws {
    // Without the relationship, whose links keep the rows on one thread.
    let old = try ManagedObjectModel { Entity("Work") { Attribute("title", .string) } }
    let new = try ManagedObjectModel {
      Entity("Work") {
        Attribute("title", .string)
        Attribute("year", .integer16)
      }
    }
    let versions = try MigrationTrial.versioned(old, new)
    let oldVersions = try #require(versions.endingAt("old"))
    // In debug fewer rows, which are longer.
    let (rowCount, threadRowCount) = Amount.of(debug: (900, 800), release: (17_000, 16_384))
    let files = try TestStore.files(versions, at: "old") { context in
      for number in 0..<rowCount {
        let title = String(repeating: "\(number)", count: Amount.of(debug: 150, release: 1))
        _ = try TestStore.insert("Work", ["title": title], context)
      }
    }
    func migrate(_ disk: SimulatedDisk, _ progress: MigrationProgress) throws {
      try RewritingThreads.$rowCount.withValue(threadRowCount) {
        _ = try TestStore.open(versions, Self.options(byManager: false, progress), in: disk)
      }
    }
    let log = Log()
    try migrate(SimulatedDisk(files), log.progress())
    let batches = log.all.indices.filter { log.all[$0].phase == "rewriting Work" }
    #expect(batches.count > 2)
    for index in batches.dropLast() {
      let disk = SimulatedDisk(files)
      let told = Log()
      let progress = told.progress(cancellingAfter: index + 1)
      let error = #expect(throws: PersistenceError.self) { try migrate(disk, progress) }
      #expect(error?.code == .migrationCancelled)
      #expect(told.all.count == index + 1)
      let context = try TestStore.open(oldVersions, in: disk)
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Work")) == rowCount)
    }
  }

  @Test func `cancelled beforehand, nothing begins, not even a backup`() throws {
    let versions = try MigrationTrial.versioned(Self.old, Self.new)
    let disk = SimulatedDisk(try Self.files(count: 3))
    let progress = MigrationProgress()
    progress.cancel()
    var options = try Self.options(byManager: false, progress)
    options.migrationBackup = .beside
    let error = #expect(throws: PersistenceError.self) {
      try TestStore.open(versions, options, in: disk)
    }
    #expect(error?.code == .migrationCancelled)
    #expect(error?.message.contains("old") == true)
    #expect(disk.files["/store.quire~"] == nil)
  }

  @Test func `of a path cancelled after a step, the step stays`() throws {
    let persons = try PersonVersions()
    var options = PersistentStoreOptions.migrating
    options.mappingModels = [persons.split(), persons.count()]
    let progress = MigrationProgress { if $0.phase.contains("2 is there") { $0.cancel() } }
    options.migrationProgress = progress
    let disk = SimulatedDisk(try persons.files())
    let error = #expect(throws: PersistenceError.self) {
      try TestStore.open(persons.model, options, in: disk)
    }
    #expect(error?.code == .migrationCancelled)
    #expect(error?.message.contains("step 2 of 3") == true)
    #expect(progress.totalUnitCount == 3_000 && progress.completedUnitCount == 1_000)
    let two = try TestStore.open(try #require(persons.model.endingAt("2")), in: disk)
    #expect(try StoreLines.lines(two).count == 3)
  }
}
