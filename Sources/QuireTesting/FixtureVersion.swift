import Quire

/// The version of a model that a fixture has, from the file's own content.
struct FixtureVersion {
  let fixture: MigrationFixture
  /// The name that the version had when the store was written, or migrated to it.
  let recordedName: String?
  /// The model that the store carries.
  let storedModel: ManagedObjectModel

  /// - Throws: when the fixture cannot be opened.
  init(of fixture: MigrationFixture) throws {
    self.fixture = fixture
    recordedName = try StoreSummary(of: fixture.url).versionName
    storedModel = try PersistentStoreCoordinator.managedObjectModel(storedAt: fixture.url)
  }

  func fits(_ version: VersionedModel.Version) -> Bool {
    version.model.entityVersionHashesByName == storedModel.entityVersionHashesByName
  }

  /// The difference and its remedy when no version of the model equals the fixture's; `nil` when
  /// one does.
  func mismatch(in model: VersionedModel) -> String? {
    // A version may have another name now; its stores can be migrated all the same.
    // Its own name first, so that no other versions are read.
    let hashes = storedModel.entityVersionHashesByName
    if model.version(matching: hashes, probably: recordedName) != nil { return nil }
    if let version = recordedName.flatMap({ model.version(named: $0) }) {
      return changedInPlace(version, in: model)
    }
    guard let nearest = nearestVersion(in: model) else { return "the model has no version" }
    if let recordedName {
      return """
        its version, \(recordedName), is not a version of \(model.name) any more, and no other \
        equals it. The nearest, \(nearest.name), differs from what the fixture has:
        \(difference(to: nearest))
        Bring the version back: stores of users that have it could not be opened.
        """
    }
    return model.versions.count == 1
      ? changedInPlace(nearest, in: model)
      : """
      it has none of the versions of \(model.name). The nearest, \(nearest.name), differs from what \
      the fixture has:
      \(difference(to: nearest))
      If \(nearest.name) was shipped as the fixture has it, bring that back and make the change in \
      a new version. If the fixture is of another version, add that to the model.
      """
  }

  private func changedInPlace(
    _ version: VersionedModel.Version, in model: VersionedModel
  ) -> String {
    """
    the model of \(version.name) was changed after this fixture was recorded:
    \(difference(to: version))
    Stores of users that have \(version.name) as it was could not be opened. If it was shipped, \
    bring it back as it was, and make the change in a new version\
    \(version == model.currentVersion ? "" : ", after \(model.currentVersion.name)"). \
    If it never was, record the fixture anew, with replacing: true.
    """
  }

  func difference(to version: VersionedModel.Version) -> String {
    let difference = ModelDifference(from: storedModel, to: version.model)
    return "\(difference)".split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
  }

  /// What may have been renamed, on lines of its own; empty if nothing.
  func renamings(to version: VersionedModel.Version) -> String {
    let difference = ModelDifference(from: storedModel, to: version.model)
    return difference.possibleRenamings.map { "\($0)\n" }.joined()
  }

  /// In how many entities the fixture differs from a version.
  func distance(to version: VersionedModel.Version) -> Int {
    let (ours, theirs) = (
      storedModel.entityVersionHashesByName, version.model.entityVersionHashesByName
    )
    return Set(ours.keys).union(theirs.keys).count { ours[$0] != theirs[$0] }
  }

  private func nearestVersion(in model: VersionedModel) -> VersionedModel.Version? {
    // Of several as near, the newest.
    model.versions.reversed().min { distance(to: $0) < distance(to: $1) }
  }
}
