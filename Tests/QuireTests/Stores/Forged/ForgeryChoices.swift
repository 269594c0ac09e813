import QuireSimulation

/// Where the decisions of a forgery come from: a seeded generator, or the input of a fuzzer.
protocol ForgeryChoices {
  /// A number from 0 up to `limit`, which is above 0.
  mutating func below(_ limit: Int) -> Int
  mutating func bytes(_ count: Int) -> [UInt8]
}

extension SeededGenerator: ForgeryChoices {}
