import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// A crash, and then a disk that fails or is full while the store recovers: that opening throws,
/// and the next one on a disk that works shows what it would have shown.
@Suite struct RecoveryFaultTests {
  private static let options: PageStoreOptions = {
    var options = Scenario.scripted.options
    // Should the store be gone, a new one would be another one.
    options.identity = StoreIdentity(high: 99, low: 99)
    return options
  }()

  private func digest(on disk: SimulatedDisk) throws -> ContentDigest {
    let store = try PageStore.open(Scenario.path, options: Self.options, in: disk)
    let digest = try ContentDigest(of: try store.snapshot())
    #expect(try store.check().isSound)
    try store.close()
    return digest
  }

  /// The disk at some moments of a workload with everything in it.
  private func states() throws -> [DiskState] {
    let disk = SimulatedDisk()
    let states = Mutex<[DiskState]>([])
    disk.observe { state, _ in states.withLock { $0.append(state) } }
    try ScenarioRun(.scripted, on: disk).run()
    disk.observe(nil)
    let all = states.withLock { $0 }
    let step = Amount.of(debug: 131, release: 31, exhaustive: 3)
    return stride(from: all.count / 8, to: all.count, by: step).map { all[$0] }
  }

  /// The images of a crash that need a recovery, which has so many operations.
  private func visit(
    _ body: (CrashImage, _ operationCount: Int, ContentDigest) throws -> Void
  ) throws {
    for (number, state) in try states().enumerated() {
      try CrashImages(state, seed: UInt64(number)).visit(
        limit: Amount.of(sampled: 3, exhaustive: 12)
      ) { image in
        guard image.files[Scenario.path] != nil else { return true }
        let disk = SimulatedDisk(image)
        let store = try PageStore.open(Scenario.path, options: Self.options, in: disk)
        let operationCount = disk.operationCount
        let expected = try ContentDigest(of: try store.snapshot())
        try store.close()
        if operationCount > 3 { try body(image, operationCount, expected) }
        return true
      }
    }
  }

  @Test(arguments: SimulatedDisk.Fault.allCases, [false, true])
  func `a fault at any operation of a recovery costs nothing`(
    fault: SimulatedDisk.Fault, isForGood: Bool
  ) throws {
    var (recoveries, errors) = (0, 0)
    try visit { image, operationCount, expected in
      recoveries += 1
      for operation in 1...operationCount {
        guard isExhaustive || (operation + recoveries) % 3 == 0 else { continue }
        let disk = SimulatedDisk(image)
        disk.fail(SimulatedDisk.FaultPlan(operation: operation, fault, isForGood: isForGood))
        do {
          _ = try digest(on: disk)
        } catch is StorageError {
          errors += 1
        }
        disk.heal()
        let what = "\(fault) at operation \(operation) after \(image)"
        #expect(try digest(on: disk) == expected, "\(what)")
      }
    }
    print("\(fault)\(isForGood ? " for good" : ""): \(recoveries) recoveries, \(errors) errors")
    #expect(recoveries > 3 && errors > 3)
  }

  @Test func `a disk that is full during a recovery costs nothing`() throws {
    var (recoveries, errors) = (0, 0)
    try visit { image, _, expected in
      recoveries += 1
      for room in stride(from: 0, to: 20_000, by: Amount.of(sampled: 1700, exhaustive: 256)) {
        let disk = SimulatedDisk(image)
        disk.limit(to: disk.state.byteCount + room)
        do {
          _ = try digest(on: disk)
        } catch StorageError.noSpaceLeft {
          errors += 1
          // Reading needs no room.
          var options = Self.options
          options.isReadOnly = true
          let store = try PageStore.open(Scenario.path, options: options, in: disk)
          #expect(try ContentDigest(of: try store.snapshot()) == expected)
          try store.close()
        } catch StorageError.poisoned(.noSpaceLeft) {
          errors += 1
        }
        disk.heal()
        #expect(try digest(on: disk) == expected, "room for \(room) bytes after \(image)")
      }
    }
    print("full disks: \(recoveries) recoveries, \(errors) errors")
    #expect(recoveries > 3 && errors > 3)
  }
}
