import QuireStorage
import Testing

/// All keys of an index tree from one on, in one place of memory.
struct KeyVisitTests {
  private static func key(_ number: Int) -> [UInt8] {
    Array("\(number % 7 == 0 ? "a common beginning of keys, " : "")\(number * 37 % 1_000)".utf8)
  }

  private static let keys = Set((0..<1_000).map(key)).sorted { $0.lexicographicallyPrecedes($1) }

  private func store() throws -> PageStore {
    let store = PageStore.inMemory(pageSize: 512)
    try store.write { transaction in
      let tree = try transaction.createIndexTree("tree")
      for number in 0..<1_000 { try tree.put([], for: Self.key(number)) }
    }
    return store
  }

  private func keys(_ tree: IndexTree, from lower: [UInt8], limit: Int) throws -> [[UInt8]] {
    var found: [[UInt8]] = []
    try lower.withUnsafeBytes { lower in
      try tree.visitKeys(from: lower) {
        found.append(Array($0))
        return found.count < limit
      }
    }
    return found
  }

  @Test(arguments: ["", "1", "500", "a common beginning of keys, 5", "a common c", "b"])
  func `keys come in order from the first to the last that is wanted`(lower: String) throws {
    let store = try store()
    let tree = try #require(try store.snapshot().indexTree("tree"))
    try #require(tree.count == Self.keys.count)
    let lower = Array(lower.utf8)
    let expected = Self.keys.filter { !$0.lexicographicallyPrecedes(lower) }
    #expect(try keys(tree, from: lower, limit: .max) == expected)
    for limit in [1, 2, 77, expected.count] where limit > 0 && limit <= expected.count {
      #expect(try keys(tree, from: lower, limit: limit) == Array(expected.prefix(limit)))
    }
  }

  @Test func `a transaction shows the keys that it has put`() throws {
    let store = try store()
    try store.write { transaction in
      try #require(try transaction.mutableIndexTree("tree")).put([], for: [1])
      let tree = try #require(try transaction.indexTree("tree"))
      #expect(try keys(tree, from: [], limit: 2) == [[1], Self.keys[0]])
    }
  }

  @Test func `what the visitor throws ends the visit`() throws {
    struct Enough: Error {}
    let store = try store()
    let tree = try #require(try store.snapshot().indexTree("tree"))
    var count = 0
    #expect(throws: Enough.self) {
      try tree.visitKeys(from: UnsafeRawBufferPointer(start: nil, count: 0)) { _ in
        count += 1
        if count == 5 { throw Enough() }
        return true
      }
    }
    #expect(count == 5)
  }
}
