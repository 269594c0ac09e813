import QuireStorage

/// Draws operations from a seed, in phases: a store that only ever grows, or that stays half full,
/// never meets most of what can happen.
package struct OperationGenerator {
  private var generator: SeededGenerator
  private let configuration: ModelConfiguration
  private var phase = Phase.growing
  private var phaseEnd = 300
  private var operationCount = 0
  /// Where keys that come in order have arrived.
  private var counter = 0
  /// Keys beyond this are not used for now.
  private var reach = 2000

  private enum Phase: CaseIterable { case growing, mixed, draining, reading }

  package init(seed: UInt64, _ configuration: ModelConfiguration) {
    generator = SeededGenerator(seed: seed)
    self.configuration = configuration
  }

  package static func operations(
    seed: UInt64, count: Int, _ configuration: ModelConfiguration
  ) -> [StoreOperation] {
    var generator = OperationGenerator(seed: seed, configuration)
    return (0..<count).map { _ in generator.next() }
  }

  package mutating func next() -> StoreOperation {
    defer { operationCount += 1 }
    if operationCount < 2 {
      return .create(tree: operationCount, [.record, .index][operationCount])
    }
    if operationCount >= phaseEnd {
      phase = Phase.allCases[generator.below(4)]
      phaseEnd = operationCount + 50 + generator.below(500)
      reach = [20, 200, 2000, 2000][generator.below(4)]
    }
    switch generator.below(100) {
    case ..<3: return generator.below(5) == 0 ? .abort : .commit
    case 3: return ending()
    case 4: return around()
    default: break
    }
    switch phase {
    case .growing: return generator.below(10) < 7 ? growth() : question()
    case .mixed:
      switch generator.below(4) {
      case 0: return growth()
      case 1: return removal()
      default: return question()
      }
    case .draining: return generator.below(10) < 7 ? removal() : question()
    case .reading: return generator.below(10) < 1 ? growth() : question()
    }
  }

  private mutating func tree() -> Int {
    generator.below(5) == 0 ? generator.below(StoreOracle.treeLimit) : generator.below(2)
  }

  private mutating func key() -> Int {
    switch configuration.shape {
    case .sequential, .reverse: generator.below(max(1, min(counter + 3, 2000)))
    default: generator.below(reach)
    }
  }

  private mutating func newKey() -> Int {
    switch configuration.shape {
    case .sequential:
      counter += 1
      return counter % 2000
    case .reverse:
      counter += 1
      return 1999 - counter % 2000
    default: return key()
    }
  }

  private mutating func byteCount() -> Int {
    let pageSize = configuration.pageSize - configuration.tailByteCount
    switch generator.below(60) {
    case 0: return generator.below(5 * pageSize + 1)
    // Values that just fill some pages, or just do not.
    case 1: return (1 + generator.below(4)) * (pageSize - 24) - 1 + generator.below(3)
    case 2, 3: return (pageSize - 24) / 4 - 2 + generator.below(5)
    case 4, 5: return generator.below((pageSize - 24) / 4)
    case 6...8: return 0
    default: return generator.below(40)
    }
  }

  private mutating func fill() -> Int { generator.below(ModelValue.fillLimit) }

  private mutating func growth() -> StoreOperation {
    switch generator.below(40) {
    case 0, 1:
      // Small values, mostly: a tree wants many of them before it is deep.
      let byteCount = generator.below(6) == 0 ? byteCount() : generator.below(60)
      let count = 1 + generator.below(byteCount > 400 ? 4 : 120)
      defer { counter += configuration.shape == .sequential ? count : 0 }
      return .putRun(
        tree: tree(), key: newKey(), count: count, byteCount: byteCount, fill: fill())
    case 2, 3: return .copy(tree: tree(), key: key(), to: newKey())
    case 4: return .overtake(tree: tree(), key: key())
    case 5: return .putTooLong(tree: tree())
    default: return .put(tree: tree(), key: newKey(), byteCount: byteCount(), fill: fill())
    }
  }

  private mutating func removal() -> StoreOperation {
    switch generator.below(40) {
    case 0...5: .removeRun(tree: tree(), key: key(), count: 1 + generator.below(60))
    case 6: generator.below(4) == 0 ? .removeAll(tree: tree()) : .check
    default: .remove(tree: tree(), key: key())
    }
  }

  private mutating func view() -> StoreOperation.View {
    switch generator.below(4) {
    case 0: .committed
    case 1: .held(generator.below(6))
    default: .working
    }
  }

  private mutating func question() -> StoreOperation {
    let (view, tree, key) = (view(), tree(), key())
    let (isBetween, steps) = (generator.below(2) == 0, generator.below(14) - 7)
    switch generator.below(100) {
    case 0: return .scan(view, tree: tree, backward: isBetween)
    case 1: return .list(view)
    case 2...20:
      return .seek(view, tree: tree, key: key, isBetween: isBetween, steps: steps)
    case 21...40:
      return .seekBefore(view, tree: tree, key: key, isBetween: isBetween, steps: steps)
    case 41...50:
      let moves = UInt32(truncatingIfNeeded: generator.next()) >> UInt32(8 + generator.below(20))
      return .wander(view, tree: tree, key: key, moves: moves)
    default: return .get(view, tree: tree, key: key)
    }
  }

  private mutating func ending() -> StoreOperation {
    switch generator.below(8) {
    case 0, 1: .verify(generator.below(6))
    case 2: .letGo(generator.below(6))
    default: .hold
    }
  }

  /// What goes on around the trees.
  private mutating func around() -> StoreOperation {
    switch generator.below(20) {
    case 0...2:
      .create(
        tree: generator.below(StoreOracle.treeLimit), generator.below(2) == 0 ? .record : .index)
    // Rarely, or nothing would ever be large.
    case 3: generator.below(6) == 0 ? .drop(tree: tree()) : .drop(tree: 2 + generator.below(4))
    case 4, 5: .rename(tree: tree(), to: tree())
    case 6...8: .checkpoint
    case 9...11: .reopen
    case 12...14: .crash
    case 15: .removeAll(tree: tree())
    default: .commit
    }
  }
}
