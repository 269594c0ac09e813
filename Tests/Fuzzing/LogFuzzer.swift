import QuireSimulation
import QuireStorage

// An input is a byte of flags, the length of the store's file in units of 64 bytes (2), the file,
// and the log.

private let readOnlyFlag = 1
private let unsealedFlag = 2

func fuzz(_ bytes: [UInt8]) {
  var input = FuzzInput(bytes)
  let flags = input.byte()
  var file = input.bytes(input.word() * 64)
  var log = input.rest()
  guard let sealing = FileSealing(repairing: &file) else { return }
  sealing.sealPages(of: &file)
  if flags & unsealedFlag == 0 {
    let (epoch, chain) = sealing.log(of: file)
    sealing.sealLog(&log, epoch: epoch, chain: chain)
  }
  StoreExercise.run(["store": file, "store-log": log], isReadOnly: flags & readOnlyFlag != 0)
}

func seeds() throws -> [[UInt8]] {
  var seeds: [[UInt8]] = []
  for (number, commits) in [1, 2, 4, 6].enumerated() {
    let files = try StoreExercise.files(seed: UInt64(number), count: commits, isClosed: false)
    guard let file = files["store"], var log = files["store-log"] else { continue }
    // The zeros ahead only make inputs long.
    log.removeLast(log.count - min(log.count, (log.lastIndex { $0 != 0 } ?? 0) + 65))
    let units = UInt16((file.count + 63) / 64)
    seeds.append(
      [UInt8(number & 1), UInt8(truncatingIfNeeded: units), UInt8(units >> 8)] + file + log)
  }
  return seeds
}
