import QuireSimulation
import QuireStorage
import Testing

@Suite("Ranges of trees")
struct RangeTests {
  @Test func `a range has the entries between its bounds, both ways`() throws {
    let seed: UInt64 = 40
    print("ranges: seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    let store = PageStore.inMemory(pageSize: 512)
    var records: [Int64] = []
    var keys: [[UInt8]] = []
    try store.write { transaction in
      let recordTree = try transaction.createRecordTree("records")
      let indexTree = try transaction.createIndexTree("index")
      for _ in 0..<500 {
        let key = Int64(generator.below(2000) - 1000)
        if try !recordTree.put([UInt8(truncatingIfNeeded: key)], for: key) { records.append(key) }
        let bytes = (0..<generator.below(5)).map { _ in [0, 7, 255][generator.below(3)] as UInt8 }
        if try !indexTree.put(bytes, for: bytes) { keys.append(bytes) }
      }
    }
    records.sort()
    keys.sort { $0.lexicographicallyPrecedes($1) }
    let snapshot = try store.snapshot()
    let recordTree = try #require(try snapshot.recordTree("records"))
    let indexTree = try #require(try snapshot.indexTree("index"))
    for _ in 0..<200 {
      let bounds = [generator.below(2400) - 1200, generator.below(2400) - 1200].sorted()
      let (low, high) = (Int64(bounds[0]), Int64(bounds[1]))
      let isReversed = generator.below(2) == 0
      func ordered<T>(_ list: [T]) -> [T] { isReversed ? list.reversed() : list }
      #expect(
        try all(recordTree.entries(in: low...high, reversed: isReversed))
          == ordered(records.filter { (low...high).contains($0) }))
      #expect(
        try all(recordTree.entries(in: low..<high, reversed: isReversed))
          == ordered(records.filter { (low..<high).contains($0) }))
      let lower = keys[generator.below(keys.count)]
      let upper = keys[generator.below(keys.count)] + [1]
      #expect(
        try all(indexTree.entries(from: lower, to: upper, reversed: isReversed))
          == ordered(
            keys.filter {
              !$0.lexicographicallyPrecedes(lower) && $0.lexicographicallyPrecedes(upper)
            }))
      let prefix = [UInt8](lower.prefix(generator.below(3)))
      #expect(
        try all(indexTree.entries(withPrefix: prefix, reversed: isReversed))
          == ordered(keys.filter { $0.starts(with: prefix) }))
    }
    #expect(try all(recordTree.entries(in: Int64.min...Int64.max)) == records)
    #expect(try all(indexTree.entries()) == keys)
  }

  private func all(_ range: RecordRange) throws -> [Int64] {
    var range = range
    var keys: [Int64] = []
    while try range.next() {
      keys.append(try range.key)
      #expect(try range.valueBytes.first == UInt8(truncatingIfNeeded: try range.key))
    }
    #expect(try range.next() == false)
    return keys
  }

  private func all(_ range: IndexRange) throws -> [[UInt8]] {
    var range = range
    var keys: [[UInt8]] = []
    while try range.next() {
      keys.append([UInt8](try range.key))
      #expect(try range.storedValue().array == keys.last)
    }
    return keys
  }
}
