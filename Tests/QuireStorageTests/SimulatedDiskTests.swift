import QuireSimulation
import QuireStorage
import Testing

/// The disk that the other suites rely on: it must be able to do everything a real one can.
@Suite struct `A simulated disk` {
  private let disk = SimulatedDisk(["old": [UInt8](repeating: 1, count: 1024)])

  private func write(_ byte: UInt8, _ range: Range<Int>, to path: String = "old") throws {
    let bytes = [UInt8](repeating: byte, count: range.count)
    let file = try disk.open(path, .write)
    try bytes.withUnsafeBytes { try file.write($0, at: range.lowerBound) }
  }

  private func sync(_ path: String = "old") throws {
    try disk.open(path, .write).sync(for: .commit)
  }

  /// Everything a file may hold after a crash, each once.
  private func contents(of path: String = "old") -> Set<[UInt8]?> {
    var contents: Set<[UInt8]?> = []
    CrashImages(disk.state, seed: 1).visit(limit: nil) { image in
      contents.insert(image.files[path]?.bytes)
      return true
    }
    return contents
  }

  private func bytes(_ parts: (UInt8, Int)...) -> [UInt8] {
    parts.flatMap { [UInt8](repeating: $0.0, count: $0.1) }
  }

  @Test func `synced writes are in every crash image, unsynced ones in some of them`() throws {
    try write(2, 0..<512)
    try sync()
    #expect(contents() == [bytes((2, 512), (1, 512))])
    try write(3, 512..<1024)
    #expect(contents().count == 3)
    #expect(contents().isSuperset(of: [disk.files["old"], bytes((2, 512), (1, 512))]))
  }

  @Test func `waiting writes are kept in any order`() throws {
    for number in 0..<4 { try write(UInt8(10 + number), number * 200..<(number * 200 + 100)) }
    let found = Set(
      contents().compactMap { $0 }.map { bytes in
        (0..<4).map { bytes[$0 * 200] == UInt8(10 + $0) }
      })
    #expect(found.count == 16)
  }

  @Test func `a write is torn between any of its sectors, and spoils none beyond them`() throws {
    try write(2, 100..<1024)
    let found = contents().compactMap { $0 }
    #expect(found.contains(bytes((1, 100), (2, 412), (1, 512))))
    #expect(found.contains(bytes((1, 512), (2, 512))))
    // Nonsense in a sector.
    #expect(found.contains { $0[100..<512].contains { $0 > 2 } })
    #expect(found.allSatisfy { $0[..<100].allSatisfy { $0 == 1 } })
  }

  @Test func `a file grows without its data, and data comes without growth`() throws {
    try write(2, 512..<1536)
    let found = contents()
    #expect(found.contains(bytes((1, 1024), (0, 512))))
    #expect(found.contains(bytes((1, 512), (2, 512))))
  }

  @Test func `a truncation is kept, lost, or got part of the way`() throws {
    try disk.open("old", .write).truncate(to: 100)
    #expect(
      contents() == [
        bytes((1, 1024)), bytes((1, 100)), bytes((1, 1024 - 308)), bytes((1, 1024 - 616)),
      ])
  }

  @Test func `two writes are torn at once`() throws {
    try write(2, 0..<1024)
    _ = try disk.open("other", .create)
    try disk.syncFolder(of: "other", for: .creationFolder)
    try write(3, 0..<1024, to: "other")
    let state = disk.state
    var found = 0
    CrashImages(state, seed: 1).visit(limit: nil) { image in
      let (old, other) = (image.files["old"]?.bytes ?? [], image.files["other"]?.bytes ?? [])
      // A sector of each, and the other one as it was.
      if old.contains(1), old.contains(2), other.count == 1024, other.contains(3),
        other.contains(0)
      {
        found += 1
      }
      return true
    }
    #expect(found > 0)
  }

  @Test func `names wait for their own folder`() throws {
    _ = try disk.open("a/new", .create)
    try disk.syncFolder(of: "b/other", for: .creationFolder)
    #expect(contents(of: "a/new") == [nil, []])
    try disk.publish("a/new", as: "a/final")
    try disk.syncFolder(of: "a/x", for: .creationFolder)
    #expect(contents(of: "a/final") == [[]])
    try disk.remove("a/final")
    #expect(contents(of: "a/final") == [[], nil])
    try disk.replace("a/final", by: "old")
    #expect(contents(of: "a/final").count == 3)
  }

  @Test func `more operations than can be tried in every order are sampled`() throws {
    for number in 0..<30 { try write(UInt8(number), number * 10..<(number * 10 + 10)) }
    #expect(contents().count > 150)
    var visited = 0
    CrashImages(disk.state, seed: 1).visit(limit: 20) { image in
      if visited == 0 { #expect(image.files["old"]?.bytes == bytes((1, 1024))) }
      if visited == 1 { #expect(image.isComplete) }
      visited += 1
      return true
    }
    #expect(visited == 20)
  }

  @Test func `after a failed sync the next one succeeds and writes nothing`() throws {
    for model in SimulatedDisk.SyncFailureModel.allCases {
      let disk = SimulatedDisk(["old": [1, 1]])
      let file = try disk.open("old", .write)
      try [2 as UInt8].withUnsafeBytes { try file.write($0, at: 0) }
      disk.fail(.init(operation: 2, .ioError), syncs: model)
      #expect(throws: StorageError.self) { try file.sync(for: .commit) }
      let shown: [UInt8] = model == .btrfs ? [1, 1] : [2, 1]
      #expect(disk.files["old"] == shown, "\(model)")
      #expect(disk.isShutDown == (model == .xfs))
      disk.heal()
      try file.sync(for: .commit)
      disk.evict()
      #expect(disk.files["old"] == (model == .retained ? [2, 1] : [1, 1]), "\(model)")
    }
  }

  @Test func `a page that is written again takes what a failed sync left in it along`() throws {
    let disk = SimulatedDisk(["old": [1, 1]])
    let file = try disk.open("old", .write)
    try [2 as UInt8].withUnsafeBytes { try file.write($0, at: 0) }
    disk.fail(.init(operation: 2, .ioError), syncs: .ext4)
    #expect(throws: StorageError.self) { try file.sync(for: .commit) }
    try [3 as UInt8].withUnsafeBytes { try file.write($0, at: 1) }
    try file.sync(for: .commit)
    disk.evict()
    #expect(disk.files["old"] == [2, 3])
  }

  @Test func `a full disk takes what it has room for`() throws {
    disk.limit(to: 1100)
    #expect(throws: StorageError.noSpaceLeft(path: "old")) { try write(5, 1000..<1200) }
    #expect(disk.files["old"] == bytes((1, 1000), (5, 100)))
    #expect(throws: StorageError.noSpaceLeft(path: "old")) {
      try disk.open("old", .write).truncate(to: 1101)
    }
    try write(6, 0..<1100)
    disk.heal()
    try write(7, 1000..<1200)
    #expect(disk.files["old"]?.count == 1200)
  }

  @Test func `reads end early or fail, once or for good`() throws {
    let file = try disk.open("old", .read)
    var room = bytes((0, 10))
    func read() throws -> Int { try room.withUnsafeMutableBytes { try file.read(at: 0, into: $0) } }
    disk.failQuery(at: disk.queryCount + 2, with: .shortRead)
    #expect(try [read(), read(), read()] == [10, 5, 10])
    disk.failQuery(at: disk.queryCount + 2, with: .ioError, isForGood: true)
    #expect(try read() == 10)
    #expect(throws: StorageError.self) { try read() }
    #expect(throws: StorageError.self) { try read() }
  }
}
