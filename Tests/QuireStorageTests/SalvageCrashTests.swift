import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// The store that a salvage writes is there whole or not at all, whatever goes wrong on the way.
@Suite struct SalvageCrashTests {
  private static let path = "/folder/store"
  private static let new = "/folder/new"

  private let files: [String: [UInt8]]
  /// The entries of the damaged store that are left.
  private let rest: [Int64: [UInt8]]

  /// A store of one tree, a leaf of which is overwritten.
  init() throws {
    let disk = MemoryFileSystem()
    var options = PageStoreOptions()
    options.pageSize = 512
    let store = try PageStore.open(Self.path, options: options, in: disk)
    try store.write { transaction in
      let tree = try transaction.createRecordTree("numbers")
      for key in 0..<60 as Range<Int64> {
        try tree.put([UInt8](repeating: UInt8(key), count: key == 30 ? 1_500 : 40), for: key)
      }
    }
    try store.close()
    let all = try Self.entries(disk, Self.path)
    // It has the store's lock from here on.
    let anatomy = try StoreAnatomy(of: Self.path, in: disk)
    let leaf = try #require(
      try (4..<anatomy.shownPageCount).first {
        try anatomy.summary(of: $0).type == "record leaf"
      })
    let lost = try anatomy.content(of: leaf).entries.compactMap { entry -> Int64? in
      if case .number(let key) = entry.key { key } else { nil }
    }
    var bytes = try #require(disk.bytes(of: Self.path))
    bytes.replaceSubrange(leaf * 512..<(leaf + 1) * 512, with: repeatElement(0xA5, count: 512))
    files = [Self.path: bytes]
    rest = all.filter { !lost.contains($0.key) }
    #expect((1..<59).contains(rest.count))
  }

  private static func entries(
    _ fileSystem: any FileSystem, _ path: String
  ) throws -> [Int64: [UInt8]] {
    var options = PageStoreOptions()
    options.createIfMissing = false
    let store = try PageStore.open(path, options: options, in: fileSystem)
    defer { try? store.close() }
    #expect(try store.check().isSound)
    var found: [Int64: [UInt8]] = [:]
    try store.read { snapshot in
      guard let tree = try snapshot.recordTree("numbers") else { return }
      var cursor = tree.cursor()
      while try cursor.next() { found[try cursor.key] = try cursor.storedValue().array }
    }
    return found
  }

  /// - Returns: whether there is a new store; it is whole then.
  private func hasWholeStore(_ disk: SimulatedDisk, _ place: String) throws -> Bool {
    #expect(disk.files[Self.path] == files[Self.path], "\(place)")
    guard disk.files[Self.new] != nil else { return false }
    #expect(try Self.entries(disk, Self.new) == rest, "\(place)")
    return true
  }

  /// What is left of the first attempt neither prevents the second one nor outlives it.
  private func salvageAgain(_ disk: SimulatedDisk, _ place: String) throws {
    try PageStore.salvage(Self.path, to: Self.new, in: disk)
    #expect(try hasWholeStore(disk, place), "\(place)")
    #expect(Set(disk.files.keys) == [Self.path, Self.new], "\(place)")
  }

  @Test(arguments: SimulatedDisk.Fault.allCases, [false, true])
  func `an error leaves no new store, or the whole one`(
    fault: SimulatedDisk.Fault, isForGood: Bool
  ) throws {
    let whole = SimulatedDisk(files)
    try PageStore.salvage(Self.path, to: Self.new, in: whole)
    #expect(whole.operationCount > 8)
    var errorCount = 0
    for operation in 1...whole.operationCount {
      let place = "\(fault) at operation \(operation)\(isForGood ? " and from there on" : "")"
      let disk = SimulatedDisk(files)
      disk.fail(.init(operation: operation, fault, isForGood: isForGood))
      var hasFailed = false
      do {
        try PageStore.salvage(Self.path, to: Self.new, in: disk)
      } catch is StorageError {
        hasFailed = true
        errorCount += 1
      }
      disk.heal()
      let isThere = try hasWholeStore(disk, place)
      #expect(isThere || hasFailed, "\(place)")
      if !isThere { try salvageAgain(disk, place) }
    }
    #expect(errorCount > 5)
  }

  private final class Moments: Sendable {
    private let states = Mutex<[(state: DiskState, operation: Int)]>([])
    var all: [(state: DiskState, operation: Int)] { states.withLock { $0 } }
    func add(_ state: DiskState, _ operation: Int) {
      states.withLock { $0.append((state, operation)) }
    }
  }

  @Test func `a crash leaves no new store, or the whole one`() throws {
    let disk = SimulatedDisk(files)
    let moments = Moments()
    disk.observe { state, operation in moments.add(state, operation) }
    try PageStore.salvage(Self.path, to: Self.new, in: disk)
    disk.observe(nil)
    var counts = (without: 0, with: 0)
    for (state, operation) in moments.all + [(disk.state, disk.operationCount)] {
      try CrashImages(state, seed: UInt64(operation)).visit(
        limit: Amount.of(debug: 4, release: 20, exhaustive: nil)
      ) { image in
        let place = "crash before operation \(operation) of \(disk.operationCount), \(image)"
        let crashed = SimulatedDisk(image)
        if try hasWholeStore(crashed, place) {
          counts.with += 1
        } else {
          counts.without += 1
          #expect(operation < disk.operationCount, "the salvage returned: \(place)")
          try salvageAgain(crashed, place)
        }
        return true
      }
    }
    #expect(counts.without > 10 && counts.with > 0, "\(counts)")
  }

  /// The name of a store under construction may be that of the damaged one.
  @Test func `a damaged store is not taken for the remains of an attempt`() throws {
    let disk = SimulatedDisk([Self.new + "-part": files[Self.path] ?? []])
    #expect(throws: StorageError.self) {
      try PageStore.salvage(Self.new + "-part", to: Self.new, in: disk)
    }
    #expect(disk.files == [Self.new + "-part": files[Self.path] ?? []])
  }
}
