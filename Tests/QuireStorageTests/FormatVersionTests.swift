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

  private func withStoreVersion(
    _ major: UInt16, _ minor: UInt16, _ feature: StoreForgery.Feature? = nil
  ) throws -> [String: [UInt8]] {
    var files = files
    let identity = try #require(Proof.options.identity)
    files["store"]?.replaceSubrange(
      0..<512,
      with: StoreForgery.identityPage(
        pageSize: 512, identity: identity, version: FormatVersion(major: major, minor: minor),
        with: feature))
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
    for major in [0, 3, .max] as [UInt16] {
      expectRefusal(
        try withStoreVersion(major, 0), isReadOnly: isReadOnly,
        FormatVersion(major: major, minor: 0), .current)
    }
  }

  @Test func `a later minor version is read, and not written`() throws {
    let later = try withStoreVersion(2, 1)
    expectRefusal(later, isReadOnly: false, FormatVersion(major: 2, minor: 1), .current)
    let (values, after) = opened(later, isReadOnly: true)
    #expect(try values.get() == [3, 3, 3, 3])
    #expect(after == later)
  }

  /// Whoever does not know of it would show what is sealed, or write while another does.
  @Test(arguments: StoreForgery.Feature.allCases, [true, false])
  func `a store with something that this release does not know is refused`(
    feature: StoreForgery.Feature, isReadOnly: Bool
  ) throws {
    let strange = try withStoreVersion(2, 0, feature)
    let (values, after) = opened(strange, isReadOnly: isReadOnly)
    do {
      _ = try values.get()
      Issue.record("it is opened")
    } catch {
      guard case StorageError.unsupportedFeature = error else { throw error }
      #expect("\(error)".contains("which this release does not know"))
    }
    #expect(after == strange)
  }

  // MARK: Format 1

  /// An earlier release may go on with a store that this one has looked at.
  @Test func `a store of format 1 becomes one of format 2 when it is first written`() throws {
    let disk = SimulatedDisk()
    try Proof.put(try PageStore.open("store", options: Proof.options, in: disk), 0..<4, 1)
    try PageStore.open("store", options: Proof.options, in: disk).close()
    let new = try #require(disk.files["store"])
    let old = try #require(StoreForgery.inFormat1(new))
    disk.alter { $0.put(old, at: "store") }
    #expect(try StoreAnatomy(of: "store", in: disk).version == FormatVersion(major: 1, minor: 0))

    var store = try PageStore.open("store", options: Proof.options, in: disk)
    #expect(try Proof.values(store.snapshot()) == [1, 1, 1, 1])
    try store.write { _ in }
    try store.close()
    #expect(disk.files["store"] == old)

    store = try PageStore.open("store", options: Proof.options, in: disk)
    try Proof.put(store, 0..<4, 2)
    try store.close()
    let anatomy = try StoreAnatomy(of: "store", in: disk)
    #expect(anatomy.version == .current)
    #expect(anatomy.isSound)
    #expect(disk.files["store"]?[..<512] == new[..<512])
  }

  /// A process of an earlier release that died left a log beside the store.
  @Test func `the log of a store of format 1 is read, and the store stays as it is`() throws {
    let disk = SimulatedDisk()
    var store: PageStore? = try PageStore.open("store", options: Proof.options, in: disk)
    try store.map { try Proof.put($0, 0..<4, 1) }
    try store?.close()
    let old = try #require(disk.files["store"].flatMap(StoreForgery.inFormat1))
    disk.alter { $0.put(old, at: "store") }
    store = try PageStore.open("store", options: Proof.options, in: disk)
    try store.map { try Proof.put($0, 0..<4, 2) }
    store = nil
    // The log was begun after the store had become one of format 2; before, its meta pages name the
    // same log.
    disk.alter { $0.put(old, at: "store") }
    store = try PageStore.open("store", options: Proof.options, in: disk)
    #expect(try store.map { try Proof.values($0.snapshot()) } == [2, 2, 2, 2])
    try store?.close()
    #expect(try StoreAnatomy(of: "store", in: disk).version == FormatVersion(major: 1, minor: 0))
  }

  /// The step cannot be made of two copies: it is cut at every byte.
  @Test func `a first page that was cut short while it was written anew is read from its copy`()
    throws
  {
    let disk = SimulatedDisk()
    try Proof.put(try PageStore.open("store", options: Proof.options, in: disk), 0..<4, 1)
    try PageStore.open("store", options: Proof.options, in: disk).close()
    let new = try #require(disk.files["store"])
    let old = try #require(StoreForgery.inFormat1(new))
    for end in 0...104 {
      var torn = new
      torn.replaceSubrange(end..<512, with: old[end..<512])
      for isReadOnly in [true, false] {
        var options = Proof.options
        options.isReadOnly = isReadOnly
        let disk = SimulatedDisk(["store": torn])
        let store = try PageStore.open("store", options: options, in: disk)
        #expect(try Proof.values(store.snapshot()) == [1, 1, 1, 1], "\(end)")
        try store.close()
        if isReadOnly { #expect(disk.files["store"] == torn) }
      }
      // A disk that lost power may have written anything there.
      torn.replaceSubrange(0..<512, with: (0..<512).map { UInt8(truncatingIfNeeded: $0 &* end) })
      let nonsense = SimulatedDisk(["store": torn])
      try PageStore.open("store", options: Proof.options, in: nonsense).close()
      #expect(nonsense.files["store"] == new)
      #expect(
        try StoreAnatomy(of: "store", in: SimulatedDisk(["store": torn])).identity
          == Proof.options.identity)
    }
  }

  // MARK: Logs

  /// A reader that knows no such log would see no commits in it, and the next writer would throw
  /// them away.
  @Test(arguments: [true, false])
  func `a log of another major version is refused, and stays`(isReadOnly: Bool) throws {
    expectRefusal(
      try withLogVersion(3, 0), isReadOnly: isReadOnly, FormatVersion(major: 3, minor: 0),
      FormatVersion(major: 2, minor: 0))
  }

  @Test(arguments: [true, false])
  func `a log of a later minor version shows all its commits`(isReadOnly: Bool) throws {
    let (values, _) = opened(try withLogVersion(2, 7), isReadOnly: isReadOnly)
    #expect(try values.get() == [3, 3, 3, 3])
  }
}
