/// Repeatable random numbers: the same seed gives the same gallery on every machine, for ever.
///
/// SplitMix64, after Steele, Lea and Flood, "Fast splittable pseudorandom number generators"
/// (2014).
package struct SeededRandom {
  private var state: UInt64

  /// Numbers of their own for each name, so that two stores made with one seed share nothing, least
  /// of all their UUID. The name is mixed in by FNV-1a.
  package init(seed: UInt64, stream name: String) {
    state = name.utf8.reduce(seed ^ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 }
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to, but not including, `bound`. The bias of the remainder does not matter
  /// here.
  package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }

  /// True in `percent` of a hundred calls.
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  package mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[below(elements.count)]
  }
}
