import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store that a version of an application wrote, kept to see that the current one can open it.
///
/// ```swift
/// @Test(arguments: try MigrationFixtures(in: folder).all)
/// func `every shipped store migrates`(fixture: MigrationFixture) throws {
///   try fixture.check(migratingTo: model, budget: .milliseconds(200))
/// }
/// ```
public struct MigrationFixture: Sendable, Hashable, Identifiable, CustomStringConvertible {
  /// The store. It is read, and never opened for writing.
  public let url: URL
  /// The path from the fixtures' folder: what reports and the list of tests show.
  public let name: String

  /// - Parameter name: the name of the file unless given.
  public init(at url: URL, name: String? = nil) {
    self.url = url
    self.name = name ?? url.lastPathComponent
  }

  public var id: String { name }
  public var description: String { name }

  /// The number of copies that are opened before a migration counts as too slow.
  public static let copyCount = 3

  /// Migrates a copy of the fixture to the model's current version, and throws everything that is
  /// wrong with the outcome.
  ///
  /// Checked are:
  /// - that every object is there, with each attribute value that both versions have and each link
  ///   that may survive, as the difference of the two models says;
  /// - that every page and row is sound, and every reference has its object, which refers back;
  /// - that the store's UUID is what it was, and that opening a second time does nothing;
  /// - that the fixture's own files were not touched.
  ///
  /// A test with this fails on the text of the error; there is nothing else to expect.
  ///
  /// - Parameters:
  ///   - model: all versions; the current one is migrated to. A fixture of the current version is
  ///     opened and compared all the same.
  ///   - budget: the time that opening may take, from the call to the durable commit of the
  ///     migration. Machines that run tests are noisy: when the first copy takes longer, up to two
  ///     more are made and opened, and the fastest counts. No time is checked when `nil`.
  ///   - counts: the number of objects of entities afterwards, where a mapping merges or drops
  ///     some.
  ///   - changedEntities: entities whose objects a mapping of your own makes. Their soundness is
  ///     checked, and their number if `counts` has one, but not their values and links.
  ///   - dropped: what goes on purpose, as `"Person.nickname"` or `"Nickname"`, by the names that
  ///     the fixture's version has. Where something of the same kind comes, it may be a renaming
  ///     that the model does not tell of, and the values that go are a failure.
  ///   - stepByStep: also migrate another copy over every version between the fixture's and the
  ///     current one, and expect the same outcome, object by object. The outcome is not the same,
  ///     even if all is well, where a version drops something that a later one has again, or gives
  ///     it a default.
  ///   - classes: the classes of the objects that `look` gets.
  ///   - options: the options with which the application opens its store.
  ///   - look: gets a context with the migrated copy, to check what only the application knows. An
  ///     error that it throws is reported with the rest. The context ends with the call.
  /// - Throws: ``MigrationFixtureError`` with all failures, also for a fixture that cannot be read.
  /// - Complexity: O(bytes of the fixture), which are held in memory to check that the files do not
  ///   change.
  public func check(
    migratingTo model: VersionedModel, budget: Duration? = nil, counts: ExpectedCounts = [:],
    changedEntities: Set<String> = [], dropped: Set<String> = [], stepByStep: Bool = false,
    classes: [ManagedObject.Type] = [], options: PersistentStoreOptions = .migrating,
    look: (ManagedObjectContext) throws -> Void = { _ in }
  ) throws {
    let expectations = MigrationExpectations(
      counts: counts, changedEntities: changedEntities, dropped: dropped, classes: classes,
      options: options)
    let failures = failures(model, budget, stepByStep, expectations, look)
    guard failures.isEmpty else { throw MigrationFixtureError("the fixture “\(name)”", failures) }
  }

  private func failures(
    _ model: VersionedModel, _ budget: Duration?, _ stepByStep: Bool,
    _ expectations: MigrationExpectations, _ look: (ManagedObjectContext) throws -> Void
  ) -> [String] {
    var failures: [String] = []
    do {
      let files = FixtureFiles(store: url)
      let content = try files.content()
      do {
        let findings = try StoreInspection(of: url).findings
        if !findings.isEmpty {
          failures += findings.map { "before any migration it is unsound: \($0)" }
        } else if let mismatch = try FixtureVersion(of: self).mismatch(in: model) {
          failures.append(mismatch)
        } else {
          failures += try FixtureFiles.withTemporaryFolder { folder in
            let trial = FixtureTrial(
              fixture: self, model: model, folder: folder, expectations: expectations)
            return try trial.failures(within: budget, stepByStep: stepByStep, look)
          }
        }
      } catch {
        failures.append(diagnosis(of: error))
      }
      failures += try files.changes(since: content)
    } catch {
      failures.append("it cannot be read: \(error)")
    }
    return failures
  }

  /// An error of the engine, with what most often is behind it.
  func diagnosis(of error: any Error) -> String {
    let start = (try? Data(contentsOf: url))?.prefix(40) ?? Data()
    if start.starts(with: Array("version https://git-lfs".utf8)) {
      return "it is a pointer of Git LFS, not the store itself: fetch it with “git lfs pull”"
    }
    if start.starts(with: Array("SQLite format 3".utf8)) {
      return "it is a SQLite database: bring a Core Data store in with “quire import” first"
    }
    return "\(error)"
  }
}

/// The copies that are made of one fixture during a check.
private struct FixtureTrial {
  let fixture: MigrationFixture
  let model: VersionedModel
  let folder: URL
  let expectations: MigrationExpectations

  func failures(
    within budget: Duration?, stepByStep: Bool, _ look: (ManagedObjectContext) throws -> Void
  ) throws -> [String] {
    let check = try MigrationCheck(
      of: fixture.url, to: model, in: try subfolder("checked"), expecting: expectations, look: look)
    var failures = check.failures + expectations.forgotten(in: check.plan)
    if let budget { failures += try lateness(check.duration, budget) }
    if stepByStep {
      failures += try StepwiseMigration(of: try copy("stepwise"), in: model, expectations)
        .failures(comparedWith: check.outcome)
    }
    return failures
  }

  private func lateness(_ first: Duration, _ budget: Duration) throws -> [String] {
    var best = first
    var copies = 1
    while best > budget, copies < MigrationFixture.copyCount {
      copies += 1
      let opening = try TimedOpening(of: try copy("timed \(copies)"), model, expectations)
      best = min(best, opening.duration)
      try opening.close()
    }
    guard best > budget else { return [] }
    return [
      "opening it took \(best.milliseconds) ms, the best of \(copies) copies, and may take "
        + "\(budget.milliseconds) ms"
    ]
  }

  private var fileName: String { fixture.url.lastPathComponent }

  private func subfolder(_ name: String) throws -> URL {
    let subfolder = folder.appending(path: name)
    try FileManager.default.createDirectory(at: subfolder, withIntermediateDirectories: true)
    return subfolder
  }

  private func copy(_ name: String) throws -> URL {
    let copy = try subfolder(name).appending(path: fileName)
    try FixtureFiles(store: fixture.url).copy(to: copy)
    return copy
  }
}

extension Duration {
  /// The duration in milliseconds with one decimal place, for messages.
  fileprivate var milliseconds: String {
    let tenths = (self / .microseconds(100)).rounded()
    return "\(tenths / 10)"
  }
}
