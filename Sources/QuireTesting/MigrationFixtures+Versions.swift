import Quire

/// The versions of a model that have users, so that a fixture of each must be kept.
public enum ShippedVersions: Sendable, ExpressibleByArrayLiteral {
  /// All but the current one, which is still in development.
  case allButCurrent
  /// All, the current one too: the right choice on a branch for releases.
  case all
  /// These and no others, if some versions were never published.
  case named([String])

  public init(arrayLiteral elements: String...) { self = .named(elements) }

  func versions(of model: VersionedModel) -> [VersionedModel.Version] {
    switch self {
    case .allButCurrent: model.versions.filter { $0 != model.currentVersion }
    case .all: model.versions
    case .named(let names): model.versions.filter { names.contains($0.name) }
    }
  }

  func unknownNames(in model: VersionedModel) -> [String] {
    guard case .named(let names) = self else { return [] }
    return names.filter { model.version(named: $0) == nil }
  }
}

extension MigrationFixtures {
  /// Fails when a shipped version has no fixture, or when a version was changed since its fixture
  /// was recorded.
  ///
  /// A store contains the model it was written with, so the fixtures themselves are the record of
  /// what was shipped: when a version is edited in place instead of adding one, its fixture no
  /// longer fits, and the error prints the differences. That holds for every fixture in the folder,
  /// whatever `shipped` is. So record one of the current version on the day it ships; from then on
  /// it cannot be edited unnoticed.
  ///
  /// - Parameters:
  ///   - model: all versions. Those with equal hashes, which differ only in what is not stored, can
  ///     share a fixture.
  ///   - shipped: the versions that must have a fixture. A version in development needs none, but
  ///     if it has one, that must be up to date.
  /// - Complexity: O(bytes of the fixtures).
  /// - Throws: ``MigrationFixtureError`` with all failures: the folder is missing or empty; a
  ///   fixture cannot be read or is unsound; a fixture fits no version any more; a shipped version
  ///   has no fixture; a name in `shipped` is of no version.
  public func requireFixtures(
    of model: VersionedModel, shipped: ShippedVersions = .allButCurrent
  ) throws {
    var failures = shipped.unknownNames(in: model).map {
      "\($0) is said to be shipped, and is no version of \(model.name): it has "
        + model.versions.map(\.name).joined(separator: ", ")
    }
    var versions: [FixtureVersion] = []
    var claimed: Set<String> = []
    for fixture in try all {
      do {
        let version = try FixtureVersion(of: fixture)
        // A damaged store is no fixture, even if its version can still be read.
        failures += try StoreInspection(of: fixture.url).findings.map {
          "“\(fixture.name)” is unsound: \($0)"
        }
        if let mismatch = version.mismatch(in: model) {
          failures.append("“\(fixture.name)”: \(mismatch)")
          if let name = version.recordedName { claimed.insert(name) }
        } else {
          versions.append(version)
        }
      } catch {
        failures.append("“\(fixture.name)” cannot be read: \(fixture.diagnosis(of: error))")
      }
    }
    for version in shipped.versions(of: model)
    where !claimed.contains(version.name) && !versions.contains(where: { $0.fits(version) }) {
      let target =
        version == model.currentVersion ? "model" : "model.endingAt(\"\(version.name)\")"
      failures.append(
        """
        there is no fixture of \(version.name). Keep a store that a release with it wrote, with \
        record(copying:of:), or record(\(target)) { context in … } one.
        """)
    }
    if !failures.isEmpty { throw failure(failures) }
  }
}
