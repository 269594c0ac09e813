import QuireSimulation
import QuireStorage
import Testing

/// Everything at once, for ten seconds, or as many as `QUIRE_SECONDS` says; `QUIRE_SEED` begins
/// with another round. `.ci/nightly stress` does so for ten minutes, `.ci/nightly address` under
/// the address sanitizer.
@Suite struct StressTests {
  @Test func `eight threads with next to no memory lose nothing and see nothing wrong`() throws {
    let seconds = environmentValue("QUIRE_SECONDS").flatMap(Int.init) ?? 10
    let seed = environmentValue("QUIRE_SEED").flatMap(UInt64.init) ?? 1
    // On the disk for a third of the time, as there every call takes a way through the system.
    let folder = try TemporaryFolder()
    let onDisk = try Stress.run(
      seed: seed, on: DiskFileSystem(), path: folder.path + "/stress",
      for: .milliseconds(seconds * 333))
    let inMemory = try Stress.run(
      seed: seed, on: MemoryFileSystem(), path: "stress", for: .milliseconds(seconds * 667))
    print("stress, from seed \(seed): on disk \(onDisk); in memory \(inMemory)")
    #expect(onDisk.commits > 0 && inMemory.commits > 0 && inMemory.verified > 0)
  }
}
