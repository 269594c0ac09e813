import QuireSimulation
import QuireStorage
import Testing

/// What becomes of files that a later release wrote: `docs/versioning.md`.
@Suite("Format versions")
struct FormatVersionTests {
  /// A store whose process died with commits in the log.
  private let files: [String: [UInt8]]
  private let sealing: FileSealing

  init() throws {
    let disk = SimulatedDisk()
    var store: PageStore? = try PageStore.open("store", options: Proof.options, in: disk)
    for byte in 1...3 as ClosedRange<UInt8> {
      try store.map { try Proof.put($0, 0..<4, byte) }
    }
    store = nil
    var files = disk.files
    files["store-owner"] = nil
    var file = try #require(files["store"])
    sealing = try #require(FileSealing(repairing: &file))
    self.files = files
  }

  /// Opens a store, and returns what it shows and the files as they are then.
  private func opened(
    _ files: [String: [UInt8]], isReadOnly: Bool
  ) -> (values: Result<[UInt8], any Error>, after: [String: [UInt8]]) {
    var options = Proof.options
    options.isReadOnly = isReadOnly
    let disk = SimulatedDisk(files)
    let values = Result {
      try PageStore.open("store", options: options, in: disk).read { try Proof.values($0) }
    }
    return (values, disk.files)
  }

  private func withStoreVersion(_ major: UInt16, _ minor: UInt16) throws -> [String: [UInt8]] {
    var files = files
    let identity = try #require(Proof.options.identity)
    files["store"]?.replaceSubrange(
      0..<512,
      with: StoreForgery.identityPage(
        pageSize: 512, identity: identity, version: FormatVersion(major: major, minor: minor)))
    return files
  }

  private func withLogVersion(_ major: UInt64, _ minor: UInt64) throws -> [String: [UInt8]] {
    var files = files
    var log = try #require(files["store-log"])
    log.setNumber(major, at: 8, byteCount: 2)
    log.setNumber(minor, at: 10, byteCount: 2)
    sealing.sealLogHeader(&log)
    files["store-log"] = log
    return files
  }

  private func expectRefusal(
    _ files: [String: [UInt8]], isReadOnly: Bool, _ found: FormatVersion,
    _ supported: FormatVersion
  ) {
    let (values, after) = opened(files, isReadOnly: isReadOnly)
    #expect(throws: StorageError.unsupportedFormat(found: found, supported: supported)) {
      try values.get()
    }
    #expect(after == files, "a store that is refused stays as it is, and nothing comes beside it")
  }

  @Test(arguments: [true, false])
  func `another major version is refused, and nothing is written`(isReadOnly: Bool) throws {
    for major in [0, 2, .max] as [UInt16] {
      expectRefusal(
        try withStoreVersion(major, 0), isReadOnly: isReadOnly,
        FormatVersion(major: major, minor: 0), .current)
    }
  }

  @Test func `a later minor version is read, and not written`() throws {
    let later = try withStoreVersion(1, 1)
    expectRefusal(later, isReadOnly: false, FormatVersion(major: 1, minor: 1), .current)
    let (values, after) = opened(later, isReadOnly: true)
    #expect(try values.get() == [3, 3, 3, 3])
    #expect(after == later)
  }

  /// A reader that knows no such log would see no commits in it, and the next writer would throw
  /// them away.
  @Test(arguments: [true, false])
  func `a log of another major version is refused, and stays`(isReadOnly: Bool) throws {
    expectRefusal(
      try withLogVersion(2, 0), isReadOnly: isReadOnly, FormatVersion(major: 2, minor: 0),
      FormatVersion(major: 1, minor: 1))
  }

  @Test(arguments: [true, false])
  func `a log of a later minor version shows all its commits`(isReadOnly: Bool) throws {
    let (values, _) = opened(try withLogVersion(1, 7), isReadOnly: isReadOnly)
    #expect(try values.get() == [3, 3, 3, 3])
  }
}
