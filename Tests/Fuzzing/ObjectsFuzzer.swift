import Quire
import QuireSimulation
import QuireStorage

// An input is what an `EntryForgery` chooses, which changes entries of a store of objects; the
// first byte says which store. Then everything is done with its objects that can be.

/// Takes what is chosen off an input.
private struct InputChoices: ForgeryChoices {
  var input: FuzzInput

  mutating func below(_ limit: Int) -> Int { (limit <= 256 ? input.byte() : input.word()) % limit }
  mutating func bytes(_ count: Int) -> [UInt8] {
    let bytes = input.bytes(count)
    return bytes + Array(repeating: 0, count: count - bytes.count)
  }
}

// Sound: the fuzzer has one thread. Made once, as making a store takes longer than trying it.
nonisolated(unsafe) private var originals: [[String: [UInt8]]] = []

func fuzz(_ bytes: [UInt8]) {
  do {
    if originals.isEmpty {
      originals = try [false, true].map { try ForgedScene.files(isDeferred: $0) }
    }
    var input = FuzzInput(bytes)
    let fileSystem = MemoryFileSystem()
    for (path, bytes) in originals[input.byte() % 2] { fileSystem.setBytes(bytes, of: path) }
    let path = ForgedScene.url.path(percentEncoded: false)
    let pages = try PageStore.open(path, in: fileSystem)
    var forgery = EntryForgery(choices: InputChoices(input: input))
    let note = try forgery.change(pages)
    try pages.close()
    let exercise = ForgedExercise(ForgedScene.content(of: fileSystem))
    exercise.run()
    if exercise.findings == [], let error = exercise.unexpectedErrors.first {
      fatalError("\(note): nothing was found to be wrong, and \(error)")
    }
  } catch {
    fatalError("the store cannot be made or changed: \(error)")
  }
}

func seeds() throws -> [[UInt8]] {
  var random = SeededGenerator(seed: 1)
  return (0..<200).map { _ in random.bytes(64) }
}
