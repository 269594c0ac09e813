import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One store of an old version, migrated on a copy, and compared with what it was.
///
/// A test with it protects a release: for every version that an application ever shipped, take a
/// store that this version wrote, open it with the current model, and check that everything is
/// still there.
///
/// ```swift
/// let check = try MigrationCheck(of: fixtureURL, to: model, in: temporaryFolder)
/// #expect(check.failures.isEmpty)
/// #expect(check.duration < .milliseconds(200))
/// ```
public struct MigrationCheck: Sendable {
  /// The file that was copied.
  public let fixture: URL
  /// The migrated copy, for further looks.
  public let store: URL
  /// The length of the fixture's file.
  public let byteCount: Int
  /// The number of objects that the fixture has.
  public let objectCount: Int
  /// The name of the version the fixture has.
  public let sourceVersion: String
  /// The plan that the migration followed; `nil` when the fixture has the current version.
  public let plan: MigrationPlan?
  /// The time from the call that opens the store to its return, with the new version durable.
  public let duration: Duration
  /// Everything that is wrong after the migration; empty when all is well.
  public let failures: [String]
  /// The number of facts that were compared.
  public let comparedCount: Int
  /// The content of the store after the migration.
  let outcome: StoreSurvey

  /// Copies `fixture` into `folder` and migrates the copy to the model's current version.
  ///
  /// Compared are the objects of every entity, every attribute value that both versions have, every
  /// link that may survive; that the store's UUID stays; that every page, row and reference is
  /// sound; and that opening again does nothing. A log beside the fixture is copied along.
  ///
  /// - Throws: when the fixture cannot be read or copied, or the store cannot be opened with the
  ///   model.
  public init(of fixture: URL, to model: VersionedModel, in folder: URL) throws {
    try self.init(of: fixture, to: model, in: folder, expecting: MigrationExpectations()) { _ in }
  }

  /// - Parameter look: gets a context with the migrated store after everything else was checked; an
  ///   error that it throws is a failure.
  init(
    of fixture: URL, to model: VersionedModel, in folder: URL,
    expecting expectations: MigrationExpectations, look: (ManagedObjectContext) throws -> Void
  ) throws {
    self.fixture = fixture
    store = folder.appending(path: fixture.lastPathComponent)
    try FixtureFiles(store: fixture).copy(to: store)
    let attributes = try FileManager.default.attributesOfItem(
      atPath: store.path(percentEncoded: false))
    byteCount = (attributes[.size] as? Int) ?? Int(attributes[.size] as? UInt64 ?? 0)
    let summary = try StoreSummary(of: store)
    let before = try StoreSurvey(of: store)
    objectCount = before.objects.count
    sourceVersion =
      summary.versionName
      ?? model.version(matching: before.model.entityVersionHashesByName)?.name ?? "unknown"

    let opening = try TimedOpening(of: store, model, expectations)
    duration = opening.duration
    plan = opening.store.migrationReport?.plan
    let identifier = opening.store.identifier
    try opening.close()

    outcome = try StoreSurvey(of: store)
    var comparison = SurveyComparison(before, outcome, model.current, expectations)
    comparison.compare()
    if identifier != summary.identifier {
      comparison.fail("the store's UUID changed from \(summary.identifier) to \(identifier)")
    }
    let inspection = try StoreInspection(of: store)
    for finding in inspection.findings { comparison.fail(finding) }
    let again = try TimedOpening(of: store, model, expectations)
    if again.store.migrationReport != nil { comparison.fail("opening again migrated again") }
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = again.coordinator
    do {
      try look(context)
      // What a property that was looked at could not throw.
      try context.throwKeptErrors()
    } catch {
      comparison.fail("the application's own check says: \(error)")
    }
    try again.close()
    failures = comparison.failures
    comparedCount = comparison.comparedCount + inspection.referenceCount + 2
  }
}

/// A store that was opened, and how long that took, the migration included.
struct TimedOpening {
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  /// From the call that opens the store to its return: what it changed is durable then.
  let duration: Duration

  init(of url: URL, _ model: VersionedModel, _ expectations: MigrationExpectations) throws {
    coordinator = PersistentStoreCoordinator(
      versionedModel: model, classes: expectations.classes)
    let clock = ContinuousClock()
    let start = clock.now
    store = try coordinator.addPersistentStore(
      type: .quire, at: url, options: expectations.options)
    duration = clock.now - start
  }

  func close() throws { try coordinator.remove(store) }
}
