import QuireStorage
import Testing

/// Pages are used again, and pages that hold nothing are free.
@Suite struct `Space` {
  @Test(arguments: [512, 4096])
  func `filling, emptying and filling again does not make the file grow`(pageSize: Int) throws {
    let store = PageStore.inMemory(pageSize: pageSize)
    try store.write {
      try $0.createRecordTree("a")
      try $0.createIndexTree("b")
    }
    let start = store.statistics
    func fill() throws {
      try store.write { transaction in
        let (a, b) = (
          try transaction.mutableRecordTree("a"), try transaction.mutableIndexTree("b")
        )
        for number in 0..<1500 {
          let key = number * 7919 % 1500
          let byteCount = number % 50 == 0 ? pageSize * 2 : 30
          try a?.put([UInt8](repeating: 1, count: byteCount), for: Int64(key))
          try b?.put([], for: [UInt8]("key number \(key)".utf8))
        }
      }
      #expect(try store.check().isSound)
    }
    func empty(removingEach: Bool) throws {
      try store.write { transaction in
        let (a, b) = (
          try transaction.mutableRecordTree("a"), try transaction.mutableIndexTree("b")
        )
        if removingEach {
          for number in 0..<1500 {
            let key = number * 6007 % 1500
            #expect(try a?.remove(Int64(key)) == true)
            #expect(try b?.remove([UInt8]("key number \(key)".utf8)) == true)
          }
        } else {
          try a?.removeAll()
          try b?.removeAll()
        }
      }
      let statistics = store.statistics
      #expect(
        statistics.pageCount - statistics.freePageCount == start.pageCount - start.freePageCount)
      #expect(try store.check().isSound)
    }
    try fill()
    let full = store.statistics.pageCount
    for round in 0..<4 {
      try empty(removingEach: round % 2 == 0)
      try fill()
      #expect(store.statistics.pageCount <= full)
    }
  }

  @Test func `a dropped tree gives every page back`() throws {
    let store = PageStore.inMemory(pageSize: 512)
    try store.write { _ = try $0.createRecordTree("stays") }
    let before = store.statistics
    try populate(store)
    try store.write {
      try $0.dropTree("records")
      try $0.dropTree("index")
    }
    let after = store.statistics
    #expect(after.pageCount - after.freePageCount == before.pageCount - before.freePageCount)
    #expect(try store.check().isSound)
  }

  /// A group has 118 pages of 512 bytes; its map must be stepped over.
  @Test func `long values and trees cross from one map's pages to the next's`() throws {
    let fileSystem = MemoryFileSystem()
    var options = PageStoreOptions()
    options.pageSize = 512
    var store = try PageStore.open("store", options: options, in: fileSystem)
    let long = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 / 488) }
    let backwards = [UInt8](long.reversed())
    try store.write { transaction in
      let tree = try transaction.createRecordTree("a")
      try tree.put(long, for: 1)
      try tree.put([2], for: 2)
      try tree.put(backwards, for: 3)
    }
    #expect(store.statistics.pageCount > 20 * 118)
    try store.close()
    store = try PageStore.open("store", options: options, in: fileSystem)
    #expect(try store.read { try $0.recordTree("a")?.value(for: 1)?.array } == long)
    #expect(try store.check().isSound)
    try store.write { try $0.mutableRecordTree("a")?.remove(1) }
    let count = store.statistics.pageCount
    try store.write { try $0.mutableRecordTree("a")?.put(long, for: 4) }
    #expect(store.statistics.pageCount == count)
    #expect(try store.read { try $0.recordTree("a")?.value(for: 3)?.array } == backwards)
    #expect(try store.check().isSound)
    try store.close()
  }

  @Test func `keys that ascend leave full pages behind`() throws {
    let store = PageStore.inMemory()
    try store.write { transaction in
      let tree = try transaction.createRecordTree("a")
      for key in 0..<10_000 { try tree.put([UInt8](repeating: 1, count: 88), for: Int64(key)) }
    }
    // 100 bytes an entry, 40 to a page of 4072.
    #expect(store.statistics.pageCount <= 10_000 / 40 + 10)
  }
}
