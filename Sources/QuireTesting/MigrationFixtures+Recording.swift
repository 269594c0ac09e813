import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension MigrationFixtures {
  /// Records a fixture of the current version, with what `fill` inserts.
  ///
  /// ```swift
  /// try MigrationFixtures(in: folder).record(model, classes: [Artist.self]) { context in
  ///   let artist = Artist(context: context)
  ///   artist.name = "Hilma"
  /// }
  /// ```
  ///
  /// The same version and the same insertions make the same file, byte for byte, so that recording
  /// again shows no change in version control where nothing changed. Older versions that were never
  /// recorded are so with `model.endingAt("1.0")`, which is `nil` if the model has no such version.
  ///
  /// - Parameters:
  ///   - model: its current version is recorded.
  ///   - name: the file's path in the folder, without extension; the version's name unless given.
  ///     With names of their own, a version has as many fixtures as there are kinds of users.
  ///   - uuid: the store's; unless given one that follows from version and name.
  ///   - replacing: whether a fixture of that name may be replaced.
  ///   - classes: the classes of the objects; not needed for those that are inserted and set by
  ///     name.
  ///   - fill: inserts what the store shall hold. It is saved afterwards, and may be before.
  /// - Returns: the fixture, which is a closed store without a log.
  /// - Throws: ``MigrationFixtureError`` when there is such a file and it may not be replaced; what
  ///   `fill` and the save throw; an error of the disk. Nothing is written before
  ///   the new store is whole and sound.
  @discardableResult
  public func record(
    _ model: VersionedModel, named name: String? = nil, uuid: UUID? = nil, replacing: Bool = false,
    classes: [ManagedObject.Type] = [], fill: (ManagedObjectContext) throws -> Void
  ) throws -> MigrationFixture {
    let fixture = try fixture(for: model, name)
    try requireRoom(for: fixture, replacing)
    return try FixtureFiles.withTemporaryFolder { folder in
      let store = folder.appending(path: fixture.url.lastPathComponent)
      var options = PersistentStoreOptions()
      options.storeUUID = uuid ?? Self.uuid(for: fixture, model)
      let coordinator = PersistentStoreCoordinator(versionedModel: model, classes: classes)
      let opened = try coordinator.addPersistentStore(type: .quire, at: store, options: options)
      let context = ManagedObjectContext()
      context.persistentStoreCoordinator = coordinator
      try fill(context)
      // Also without changes: it throws what `fill` could not, such as a class that is not passed.
      try context.save()
      try coordinator.remove(opened)
      return try publish(store, as: fixture, replacing)
    }
  }

  /// Records a fixture of the current version, as a copy of a store that an application has.
  ///
  /// The copy holds the last save at the time of the call, also one that is in the log alone, and
  /// is a closed store. The store may be open in this process, and is not changed.
  ///
  /// - Parameters:
  ///   - store: the file. It is not migrated, so it must have the current version.
  ///   - model: its current version is the one recorded.
  ///   - name: the fixture's path in the folder, without extension; the version's name unless
  ///     given.
  ///   - replacing: whether a fixture of that name may be replaced.
  /// - Returns: the fixture. It has the UUID of the store it was copied from.
  /// - Throws: ``MigrationFixtureError`` when the store has another version, or is unsound, or when
  ///   there is such a fixture and it may not be replaced; `PersistenceError` when the store
  ///   cannot be opened, also because another process has it open; an error of the disk. Nothing is
  ///   written before the copy is whole and sound.
  @discardableResult
  public func record(
    copying store: URL, of model: VersionedModel, named name: String? = nil,
    replacing: Bool = false
  ) throws -> MigrationFixture {
    let fixture = try fixture(for: model, name)
    try requireRoom(for: fixture, replacing)
    let source = try FixtureVersion(of: MigrationFixture(at: store))
    guard source.fits(model.currentVersion) else {
      let difference = ModelDifference(from: source.storedModel, to: model.current)
      throw MigrationFixtureError(
        "recording “\(fixture.name)”",
        [
          "the store “\(store.lastPathComponent)” does not have the current version, "
            + "\(model.currentVersion.name). From its model to the current one:\n\(difference)"
        ])
    }
    return try FixtureFiles.withTemporaryFolder { folder in
      let copy = folder.appending(path: fixture.url.lastPathComponent)
      let coordinator = PersistentStoreCoordinator(managedObjectModel: source.storedModel)
      let opened = try coordinator.addPersistentStore(
        type: .quire, at: store, options: [ReadOnlyPersistentStoreOption: true])
      try opened.backUp(to: copy)
      try coordinator.remove(opened)
      return try publish(copy, as: fixture, replacing)
    }
  }

  // MARK: Where it goes

  private func fixture(for model: VersionedModel, _ name: String?) throws -> MigrationFixture {
    // Names of versions are free text, and may have characters that file names may not have.
    let name =
      name
      ?? String(model.currentVersion.name.map { "/\\:".contains($0) ? "-" : $0 })
    guard !name.isEmpty, !name.split(separator: "/").contains("..") else {
      throw failure("“\(name)” is no name for a fixture")
    }
    let path = name + ".quire"
    return MigrationFixture(at: folder.appending(path: path), name: path)
  }

  private func requireRoom(for fixture: MigrationFixture, _ replacing: Bool) throws {
    guard !replacing, FixtureFiles.isThere(fixture.url) else { return }
    throw MigrationFixtureError(
      "recording “\(fixture.name)”",
      [
        "there is such a fixture already. It represents stores that users have: replace it, with "
          + "replacing: true, only if no release has written one, or record another under another "
          + "name"
      ])
  }

  /// Moves a closed store to its location, in one step.
  private func publish(
    _ store: URL, as fixture: MigrationFixture, _ replacing: Bool
  ) throws -> MigrationFixture {
    let findings = try StoreInspection(of: store).findings
    guard findings.isEmpty else {
      throw MigrationFixtureError("recording “\(fixture.name)”", findings)
    }
    try FileManager.default.createDirectory(
      at: fixture.url.deletingLastPathComponent(), withIntermediateDirectories: true)
    let bytes = try Data(contentsOf: store)
    guard replacing else {
      try bytes.write(to: fixture.url, options: .withoutOverwriting)
      return fixture
    }
    let files = FixtureFiles(store: fixture.url)
    // A log of the old store must not be taken for one of the new.
    for suffix in FixtureFiles.suffixes where FixtureFiles.isThere(files.url(suffix)) {
      try FileManager.default.removeItem(at: files.url(suffix))
    }
    try bytes.write(to: fixture.url, options: .atomic)
    return fixture
  }

  /// A UUID that is the same for the same fixture: version 8, variant 1 (RFC 9562).
  private static func uuid(for fixture: MigrationFixture, _ model: VersionedModel) -> UUID {
    var bytes = Array(model.current.versionChecksum.bytes.prefix(16))
    for (index, byte) in fixture.name.utf8.enumerated() {
      bytes[index % 16] = (bytes[index % 16] &* 31) &+ byte
    }
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    return UUID(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8],
        bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
      ))
  }
}
