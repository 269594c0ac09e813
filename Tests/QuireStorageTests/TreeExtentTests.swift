import QuireSimulation
import QuireStorage
import Testing

@Suite struct TreeExtentTests {
  private func survey(_ path: String, _ tree: String) throws -> TreeAnatomy {
    try #require(try StoreAnatomy(of: path).trees.first { $0.name == tree })
  }

  @Test(arguments: [0, 1, 40, 2_000])
  func `the pages of a tree are counted without its leaves`(entryCount: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/store"
    let store = try PageStore.open(path)
    try store.write { transaction in
      let tree = try transaction.createRecordTree("rows")
      for key in 0..<entryCount { try tree.put(Array(repeating: 7, count: 300), for: Int64(key)) }
      #expect(try transaction.recordTree("rows")?.extent().isExact == true)
    }
    let extent = try #require(try store.snapshot().recordTree("rows")?.extent())
    try store.close()
    #expect(extent.isExact)
    #expect(extent.pageCount == (try survey(path, "rows")).pageCount)
  }

  @Test func `of a large tree some pages are read, and the count is about right`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/store"
    var options = PageStoreOptions()
    // Small pages make many levels.
    options.pageSize = 512
    let store = try PageStore.open(path, options: options)
    try store.write { transaction in
      let tree = try transaction.createIndexTree("index")
      for number in 0..<60_000 {
        let key = withUnsafeBytes(of: UInt64(number &* 2_654_435_761).byteSwapped) { Array($0) }
        try tree.put(Array(repeating: 1, count: number % 50), for: key)
      }
      let long = try transaction.createRecordTree("long")
      for key in 0..<2_000 {
        try long.put(Array(repeating: 1, count: key % 4 == 0 ? 1_200 : 20), for: Int64(key))
      }
    }
    try store.close()
    var reading = PageStoreOptions()
    reading.isReadOnly = true
    let again = try PageStore.open(path, options: reading)
    let before = again.statistics.cachedByteCount
    let extent = try #require(try again.snapshot().indexTree("index")?.extent())
    let read = (again.statistics.cachedByteCount - before) / 512
    let long = try #require(try again.snapshot().recordTree("long")?.extent())
    try again.close()
    let whole = try survey(path, "index")
    #expect(whole.pageCount > 4_000 && whole.height > 3)
    #expect(abs(extent.pageCount - whole.pageCount) < whole.pageCount / 10)
    #expect(!extent.isExact)
    #expect(read < whole.height * TreeExtent.sampleCount)
    let wholeLong = try survey(path, "long")
    #expect(abs(long.pageCount - wholeLong.pageCount) < wholeLong.pageCount / 10)
  }
}
