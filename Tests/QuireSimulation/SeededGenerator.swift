/// A small deterministic generator (SplitMix64): the seed is printed, so that a failure can be
/// repeated.
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

extension SeededGenerator {
  package mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  package mutating func bytes(_ count: Int) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    for _ in 0..<count { result.append(UInt8(truncatingIfNeeded: next())) }
    return result
  }
}
