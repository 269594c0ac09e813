import QuireStorage

/// Steps, and the options of the store they are for: a workload as data.
package struct Scenario: Sendable, CustomStringConvertible {
  package var name = "random"
  package var steps: [Step]
  package var seed: UInt64
  package var pageSize = 512
  /// The bytes at the end of pages that are left out.
  package var tailByteCount = 0
  /// Whether the store is there at first, empty, as a release of format 1 has made it.
  package var beginsInFormat1 = false
  package var checkpointByteLimit = 10 << 10
  package var durability = Durability.full
  /// 64 pages at least.
  package var cacheByteLimit = 64 << 20
  /// 24 pages at least.
  package var transactionByteLimit = 64 << 20
  /// Below the default, snapshots that are held may expire.
  package var retainedByteLimit = 256 << 20
  /// Whether the disk can keep room for a store, as most file systems can.
  package var reservesRoom = false

  package init(_ steps: [Step], name: String = "random", seed: UInt64 = 0) {
    self.name = name
    self.steps = steps
    self.seed = seed
  }

  package var description: String {
    "\(name), seed \(seed), pages of \(pageSize) bytes with a tail of \(tailByteCount), "
      + (beginsInFormat1 ? "in format 1 at first, " : "")
      + "checkpoints at \(checkpointByteLimit), "
      + "a cache of \(cacheByteLimit), transactions of \(transactionByteLimit), "
      + "\(retainedByteLimit) for snapshots, "
      + "durability \(durability)\(reservesRoom ? ", with a reserve" : ""): "
      + "\(steps.count) steps\n  " + steps.map { "\($0)" }.joined(separator: "\n  ")
  }
}
