import Quire
import QuireSimulation
import Testing

/// Keys in memory, against an array of arrays.
@Suite struct `Lists of keys` {
  private func isLess(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.lexicographicallyPrecedes(right)
  }

  /// - Parameter spread: how many different numbers the keys are made of: of few, many are equal in
  ///   all that a list compares first.
  private func check(
    _ list: KeyList, count: Int, spread: Int, prefix: [UInt8], _ generator: inout SeededGenerator
  ) {
    var model: [[UInt8]] = []
    for _ in 0..<count {
      let number = generator.below(spread)
      let digits = (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
      let key = prefix + digits + generator.bytes(generator.below(12))
      model.append(key)
      list.append(key)
    }
    #expect(list.count == count)
    #expect(list.byteCount == model.reduce(0) { $0 + $1.count })
    list.sort()
    model.sort(by: isLess)
    var found: [[UInt8]] = []
    list.forEach { found.append(Array($0)) }
    #expect(found == model, "\(count) keys of \(spread) numbers")
    for place in stride(from: 0, to: count, by: max(1, count / 100)) {
      #expect(Array(list[place]) == model[place])
    }
  }

  @Test(arguments: [0, 1, 2, 63, 64, 65, 1_000, 5_000])
  func `a list that is sorted is in the order of bytes, whatever was in it before`(count: Int) {
    var generator = SeededGenerator(seed: UInt64(count))
    let list = KeyList()
    for (spread, prefix) in [(1 << 30, []), (50, Array("shared by all".utf8)), (1, [0]), (3, [])] {
      check(list, count: count, spread: spread, prefix: prefix, &generator)
      list.removeAll()
      #expect(list.isEmpty)
    }
  }

  /// Memory is the system's from some size on: keys and their places have both passed it here.
  @Test func `many keys are sorted as few are`() {
    var generator = SeededGenerator(seed: 17)
    let prefix = [UInt8](repeating: 7, count: 60)
    func key(_ number: Int) -> [UInt8] {
      prefix + [UInt8(number >> 16), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
    }
    let list = KeyList()
    let count = 40_000
    for number in (0..<count).shuffled(using: &generator) { list.append(key(number)) }
    #expect(list.byteCount > 2 << 20)
    list.sort()
    #expect(list.count == count)
    var number = 0
    list.forEach {
      if !$0.elementsEqual(key(number)) { Issue.record("another key than \(number)") }
      number += 1
    }
  }
}
