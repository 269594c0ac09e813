import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Stores of objects whose entries were changed under right checksums: nothing that is done with
/// them traps or takes long, and what an inspection calls sound works.
@Suite struct `Forged entries` {
  @Test(arguments: [false, true])
  func `a forged entry gives an answer or an error`(isDeferred: Bool) throws {
    let files = try ForgedScene.files(isDeferred: isDeferred)
    let seed = environmentValue("QUIRE_SEED").flatMap { UInt64($0) } ?? 1
    let count =
      environmentValue("QUIRE_COUNT").flatMap { UInt64($0) }
      ?? Amount.of(debug: 1, release: 5, exhaustive: 2_000)
    print("forged entries: seeds \(seed)..<\(seed + count)")
    let traces = environmentValue("QUIRE_TRACE") == "1"
    var sound = 0
    for seed in seed..<seed + count {
      let (note, forged) = try forge(files, seed)
      if traces { print("\(isDeferred) \(seed): \(note)") }
      let start = ContinuousClock.now
      let exercise = ForgedExercise(forged) { if traces { print("  \($0)") } }
      exercise.run()
      let duration = ContinuousClock.now - start
      if traces { for error in exercise.errors { print("    ! \(error)") } }
      #expect(duration < .seconds(60), "seed \(seed): \(note) took \(duration)")
      guard exercise.findings == [] else { continue }
      sound += 1
      #expect(exercise.unexpectedErrors == [], "seed \(seed): \(note)")
    }
    print("\(sound) of \(count) were found to be sound")
  }

  @Test(arguments: [false, true])
  func `a store that was not forged is sound, and everything works in it`(isDeferred: Bool) throws {
    let exercise = ForgedExercise(try ForgedScene.files(isDeferred: isDeferred))
    exercise.run()
    #expect(exercise.findings == [])
    #expect(exercise.errors == [])
  }

  private func forge(
    _ files: [String: [UInt8]], _ seed: UInt64
  ) throws -> (note: String, files: [String: [UInt8]]) {
    let fileSystem = MemoryFileSystem()
    for (path, bytes) in files { fileSystem.setBytes(bytes, of: path) }
    let path = ForgedScene.url.path(percentEncoded: false)
    let pages = try PageStore.open(path, in: fileSystem)
    var forgery = EntryForgery(choices: SeededGenerator(seed: seed))
    let note = try forgery.change(pages)
    try pages.close()
    return (note, ForgedScene.content(of: fileSystem))
  }
}
