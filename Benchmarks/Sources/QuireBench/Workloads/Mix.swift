/// The finalizer of splitmix64, of `x` one step on: all data of the benchmark come from it.
func mix(_ x: UInt64) -> UInt64 {
  var z = x &+ 0x9E37_79B9_7F4A_7C15
  z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
  z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
  return z ^ (z >> 31)
}

/// `0..<count` in an order that looks random and is always the same: by `mix`.
func shuffled(_ count: Int) -> [Int] {
  (0..<count).map { (mix(UInt64($0)), $0) }.sorted { $0 < $1 }.map(\.1)
}

extension Int {
  /// The number with zeros before it, `width` digits in all.
  func padded(_ width: Int) -> String {
    let digits = String(self)
    return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }
}
