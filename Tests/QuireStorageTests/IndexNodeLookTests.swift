import QuireSimulation
import QuireStorage
import Testing

/// What is told of an index node by one quick look, against all that there is to check.
@Suite struct `Looks at index nodes` {
  private func pages(
    _ pageSize: Int, _ keys: [[UInt8]], values: Bool
  ) throws -> [[UInt8]] {
    var options = PageStoreOptions()
    options.pageSize = pageSize
    let disk = SimulatedDisk()
    let store = try PageStore.open("store", options: options, in: disk)
    try store.write { transaction in
      let tree = try transaction.createIndexTree("index")
      for (number, key) in keys.enumerated() {
        try tree.put(values ? [UInt8](repeating: 1, count: number % 9) : [], for: key)
      }
    }
    try store.close()
    let bytes = try #require(disk.files["store"])
    return stride(from: 0, to: bytes.count, by: pageSize).map {
      Array(bytes[$0..<($0 + pageSize)])
    }
  }

  private static func key(_ number: Int) -> [UInt8] {
    Array("\(number % 5 == 0 ? "a longer beginning" : "")\(number)\(number % 3)".utf8)
  }

  @Test(arguments: [512, 4096], [false, true])
  func `a node that looks sound is sound, whatever byte is changed`(
    pageSize: Int, areInOrder: Bool
  ) throws {
    var keys = (0..<400).map(Self.key)
    if areInOrder { keys.sort { $0.lexicographicallyPrecedes($1) } }
    let nodes = try pages(pageSize, keys, values: !areInOrder)
      .filter { IndexNodeProof.looks(at: $0) != nil }
    try #require(nodes.count > 2)
    #expect(nodes.allSatisfy { IndexNodeProof.looks(at: $0)?.isSound ?? false })
    let sureCount = nodes.count(where: { IndexNodeProof.looks(at: $0)?.isSurelySound ?? false })
    if areInOrder { #expect(sureCount == nodes.count) }
    var generator = SeededGenerator(seed: UInt64(pageSize))
    var refusedCount = 0
    for _ in 0..<Amount.of(sampled: 1_500, exhaustive: 200_000) {
      var node = nodes[generator.below(nodes.count)]
      for _ in 0...generator.below(2) {
        let position = 18 + generator.below(generator.below(2) == 0 ? 120 : pageSize - 18)
        node[position] =
          generator.below(3) == 0
          ? UInt8(truncatingIfNeeded: generator.next())
          : node[position] &+ [1, 2, 0xFF, 0xFE][generator.below(4)]
      }
      guard let looks = IndexNodeProof.looks(at: node) else { continue }
      if looks.isSurelySound { #expect(looks.isSound, "\(node)") }
      if !looks.isSound { refusedCount += 1 }
    }
    #expect(refusedCount > 100)
  }
}
