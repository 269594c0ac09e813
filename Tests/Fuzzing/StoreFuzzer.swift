import QuireSimulation
import QuireStorage

// An input is a byte of flags and the bytes of a store's file.

private let readOnlyFlag = 1
private let unsealedFlag = 2

func fuzz(_ bytes: [UInt8]) {
  var input = FuzzInput(bytes)
  let flags = input.byte()
  var file = input.rest()
  // Sometimes the checksums are part of the question.
  if flags & unsealedFlag == 0 {
    guard let sealing = FileSealing(repairing: &file) else { return }
    sealing.sealPages(of: &file)
  }
  StoreExercise.run(["store": file], isReadOnly: flags & readOnlyFlag != 0)
}

func seeds() throws -> [[UInt8]] {
  var seeds: [[UInt8]] = []
  for (number, commits) in [0, 1, 2, 4, 8].enumerated() {
    let file = try StoreExercise.files(seed: UInt64(number), count: commits, isClosed: true)[
      "store"]
    seeds.append([0] + (file ?? []))
    seeds.append([1] + (file ?? []))
  }
  return seeds
}
