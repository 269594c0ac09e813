import Quire

// Fixtures of programs whose classes are the model: these have the present version alone, and a
// store of each former one.
extension MigrationFixtures {
  /// Records a fixture of the version that the classes declare now, with what `fill` inserts.
  ///
  /// ```swift
  /// try fixtures.record("1.0", for: Artist.self) { Artist(context: $0).name = "Hilma" }
  /// ```
  ///
  /// - Parameters:
  ///   - name: the file's path in the folder, without extension; mostly the release that ships it.
  ///   - classes: as for a container.
  ///   - replacing: whether a fixture of that name may be replaced: only if no release has it.
  ///   - fill: inserts what the store shall hold. It is saved afterwards.
  /// - Returns: the fixture, which is a closed store without a log. The same classes and insertions
  ///   make the same file, byte for byte, if no default value is made anew for each object.
  /// - Throws: what ``record(_:named:uuid:replacing:classes:fill:)`` and
  ///   `ManagedObjectModel.init(for:)` throw.
  @discardableResult
  public func record(
    _ name: String, for classes: ManagedObject.Type..., replacing: Bool = false,
    fill: (ManagedObjectContext) throws -> Void
  ) throws -> MigrationFixture {
    try record(
      VersionedModel(ManagedObjectModel(for: classes), name: name), replacing: replacing,
      classes: ManagedObjectModel.classes(for: classes), fill: fill)
  }

  /// Fails when there is no fixture of the version that the classes declare now: they have changed
  /// since the newest one was recorded.
  ///
  /// A fixture that is recorded whenever the classes change is there when the next version comes.
  /// Until a release has shipped it, it may be replaced.
  ///
  /// - Throws: ``MigrationFixtureError``, with the differences from the fixture that is nearest and
  ///   what to write; what ``all`` throws.
  /// - Complexity: O(bytes of the fixtures).
  public func requireFixture(for classes: ManagedObject.Type...) throws {
    let model = VersionedModel(try ManagedObjectModel(for: classes))
    var versions: [FixtureVersion] = []
    var failures: [String] = []
    for fixture in try all {
      do {
        versions.append(try FixtureVersion(of: fixture))
      } catch {
        failures.append("“\(fixture.name)” cannot be read: \(fixture.diagnosis(of: error))")
      }
    }
    if !versions.contains(where: { $0.fits(model.currentVersion) }),
      // Of several as near, the newest.
      let nearest = versions.reversed().min(by: {
        $0.distance(to: model.currentVersion) < $1.distance(to: model.currentVersion)
      })
    {
      let list = classes.map { "\($0).self" }.joined(separator: ", ")
      failures.append(
        """
        the classes have changed, and there is no fixture of what they declare now. From \
        “\(nearest.fixture.name)” to the classes:
        \(nearest.difference(to: model.currentVersion))
        \(nearest.renamings(to: model.currentVersion))Record one: fixtures.record("NAME", for: \(list)) { context in … }. If a release has shipped \
        “\(nearest.fixture.name)”, keep that beside it; if none has, record under that name, with \
        replacing: true.
        """)
    }
    if !failures.isEmpty { throw failure(failures) }
  }

  /// Checks each fixture: that its store, of whatever version, migrates to what the classes declare
  /// now. What is checked is what the method of ``MigrationFixture`` checks.
  ///
  /// ```swift
  /// try fixtures.check(for: Artist.self, Artwork.self, budget: .milliseconds(200))
  /// ```
  ///
  /// - Parameters:
  ///   - budget: the time that opening may take; no time is checked when `nil`.
  ///   - counts: those of single fixtures, by their names.
  ///   - changedEntities: as for ``MigrationFixture``, like `dropped` and `options`.
  ///   - look: gets each fixture, and a context with its migrated copy.
  /// - Throws: ``MigrationFixtureError`` with the failures of all fixtures.
  public func check(
    for classes: ManagedObject.Type..., budget: Duration? = nil,
    counts: [String: ExpectedCounts] = [:], changedEntities: Set<String> = [],
    dropped: Set<String> = [], options: PersistentStoreOptions = .migrating,
    look: (MigrationFixture, ManagedObjectContext) throws -> Void = { _, _ in }
  ) throws {
    let current = try ManagedObjectModel(for: classes)
    var failures: [String] = []
    for fixture in try all {
      // A store is migrated from the model that it carries.
      let stored = try? FixtureVersion(of: fixture).storedModel
      let versions = stored.map {
        VersionedModel(versions: [.init(fixture.name, $0), .init("the classes", current)])
      }
      do {
        try fixture.check(
          migratingTo: (versions ?? nil) ?? VersionedModel(current), budget: budget,
          counts: counts[fixture.name] ?? [:], changedEntities: changedEntities,
          dropped: dropped, classes: ManagedObjectModel.classes(for: classes), options: options
        ) { try look(fixture, $0) }
      } catch {
        failures.append("\(error)")
      }
    }
    if !failures.isEmpty { throw failure(failures) }
  }
}
