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

/// A closed store of an old version on a simulated disk, and what its migration must make of it.
struct MigrationScene {
  static let url = URL(filePath: "/folder/store.quire")

  let versions: VersionedModel
  let oldVersion: VersionedModel
  let state: DiskState
  let names: Set<String>
  let before: StoreContent
  let expected: StoreContent

  /// - Parameter pageSize: 512 lets a few thousand rows be a large tree.
  init(
    _ old: ManagedObjectModel, _ new: ManagedObjectModel, pageSize: Int = 4096,
    _ fill: (ManagedObjectContext) throws -> Void
  ) throws {
    versions = try MigrationTrial.versioned(old, new)
    oldVersion = try #require(versions.endingAt("old"))
    let disk = SimulatedDisk()
    var options = PageStoreOptions()
    options.pageSize = pageSize
    try PageStore.open(Self.url.path(percentEncoded: false), options: options, in: disk).close()
    var context = try Self.open(disk, oldVersion)
    try fill(context)
    try context.save()
    try TestStore.close(context)
    context = try Self.open(disk, oldVersion)
    before = try StoreContent(context, old)
    try TestStore.close(context)
    state = SimulatedDisk(disk.files).state
    names = Set(disk.files.keys)
    let oracle = MigrationOracle(old, new, before)
    if !oracle.refusals().isEmpty { throw Violation(description: "\(oracle.refusals())") }
    expected = oracle.expected()
  }

  var disk: SimulatedDisk { SimulatedDisk(state) }

  func disk(ignoring ignored: Set<SyncReason>) -> SimulatedDisk {
    SimulatedDisk(state, ignoring: ignored)
  }

  static func open(
    _ disk: SimulatedDisk, _ model: VersionedModel, _ options: PersistentStoreOptions = [:]
  ) throws -> ManagedObjectContext {
    try TestStore.open(model, options, at: url, in: disk)
  }

  enum Version: String { case old, new }

  struct Violation: Error, CustomStringConvertible {
    var description: String
  }

  private func check(
    _ context: ManagedObjectContext, _ content: StoreContent, _ what: String
  ) throws {
    guard let model = context.persistentStoreCoordinator?.managedObjectModel else { return }
    let lines =
      content.differences(in: try StoreContent(context, model)) + (try StoreFacts(context).findings)
    if !lines.isEmpty {
      throw Violation(description: ([what] + lines.prefix(5)).joined(separator: "\n"))
    }
  }

  /// Opens what is left, sees that it is whole, migrates it, and sees that it is as it should be.
  ///
  /// - Returns: the version that was left.
  func verify(_ disk: SimulatedDisk) throws -> Version {
    var version = Version.old
    do {
      let context = try Self.open(disk, oldVersion)
      try check(context, before, "the old version is not whole")
      try TestStore.close(context)
      try checkFiles(disk)
    } catch let error as PersistenceError
      where error.code == .persistentStoreIncompatibleVersionHash
    {
      version = .new
    }
    let context = try Self.open(disk, versions, .migrating)
    let report = context.persistentStoreCoordinator?.persistentStores.first?.migrationReport
    if (report != nil) != (version == .old) {
      throw Violation(description: "it was \(version), and the report is \(report as Any)")
    }
    try check(
      context, expected, "migrated\(version == .new ? " before" : " again"), it is not whole")
    try TestStore.close(context)
    try checkFiles(disk)
    return version
  }

  /// A log that holds nothing may stay until something is written; nothing else may.
  private func checkFiles(_ disk: SimulatedDisk) throws {
    if !Set(disk.files.keys).isSubset(of: names.union(names.map { $0 + "-log" })) {
      throw Violation(description: "files are left over: \(disk.files.keys.sorted())")
    }
  }

  /// Runs the migration on a disk and closes the store.
  func migrate(_ disk: SimulatedDisk) throws {
    try TestStore.close(try Self.open(disk, versions, .migrating))
  }
}

/// Lets the disk die before every operation of a migration, and before those of a migration that is
/// started again on what was left.
struct MigrationCrashes {
  let stage: MigrationScene
  /// How many moments and how many images of each are looked at, by depth; `nil` for all.
  var limits: [(moments: Int?, images: Int?)]
  private(set) var momentCount = 0
  private(set) var counts: [MigrationScene.Version: Int] = [:]

  private let ignored: Set<SyncReason>

  /// - Parameter ignored: syncs that the disk says it did and did not.
  init(
    _ stage: MigrationScene, _ limits: [(moments: Int?, images: Int?)],
    ignoring ignored: Set<SyncReason> = []
  ) {
    (self.stage, self.limits, self.ignored) = (stage, limits, ignored)
  }

  mutating func run() throws { try run(stage.disk(ignoring: ignored), depth: 0, "") }

  private mutating func run(_ disk: SimulatedDisk, depth: Int, _ path: String) throws {
    let moments = Moments()
    disk.observe { state, operation in moments.add(state, operation) }
    let context = try MigrationScene.open(disk, stage.versions, .migrating)
    disk.observe(nil)
    // It has returned: from now on there is no way back.
    let last = (state: disk.state, operation: disk.operationCount)
    try TestStore.close(context)
    var all = moments.all
    momentCount += all.count
    if let limit = limits[depth].moments, all.count > limit {
      var generator = SeededGenerator(seed: UInt64(all.count))
      // The commit is at the end.
      all =
        all.dropLast(limit / 2).shuffled(using: &generator).prefix(limit - limit / 2)
        + all.suffix(limit / 2)
    }
    for (state, operation) in all + [last] {
      let place = "\(path)crash before operation \(operation)"
      try visit(state, operation, mustBeNew: operation == last.operation, depth, place)
    }
  }

  private mutating func visit(
    _ state: DiskState, _ operation: Int, mustBeNew: Bool, _ depth: Int, _ place: String
  ) throws {
    var images: [CrashImage] = []
    var seen: Set<Int> = []
    CrashImages(state, seed: UInt64(operation)).visit(limit: limits[depth].images) { image in
      if seen.insert(image.digest).inserted { images.append(image) }
      return true
    }
    for image in images {
      do {
        let version = try stage.verify(SimulatedDisk(image))
        counts[version, default: 0] += 1
        if mustBeNew, version == .old {
          throw MigrationScene.Violation(description: "the migration returned and is gone")
        }
      } catch {
        throw MigrationScene.Violation(description: "\(place), \(image): \(error)")
      }
    }
    if depth + 1 < limits.count, let image = images.last {
      try run(SimulatedDisk(image), depth: depth + 1, place + ", then ")
    }
  }
}

/// What an observer collects; the disk calls it with its lock held.
private final class Moments: @unchecked Sendable {
  private(set) var all: [(state: DiskState, operation: Int)] = []
  func add(_ state: DiskState, _ operation: Int) { all.append((state, operation)) }
}
