import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// What transactions, cursors and snapshots promise, and how they refuse.
@Suite struct `Transactions` {
  private let store = PageStore.inMemory(pageSize: 512)

  @Test func `a snapshot does not see what is committed later`() throws {
    try store.write { try $0.createRecordTree("a").put([1], for: 1) }
    let snapshot = try store.snapshot()
    try store.write { try $0.mutableRecordTree("a")?.put([2], for: 1) }
    #expect(try snapshot.recordTree("a")?.value(for: 1)?.array == [1])
    #expect(try store.read { try $0.recordTree("a")?.value(for: 1)?.array } == [2])
    #expect(snapshot.commitNumber < (try store.snapshot().commitNumber))
  }

  @Test func `a commit can show what it made, and nothing that came after`() throws {
    let first = try store.beginWrite()
    try first.createRecordTree("a").put([1], for: 1)
    let shown = try first.commitAndShow()
    #expect(shown.commitNumber == store.statistics.commitNumber)
    try store.write { try $0.mutableRecordTree("a")?.put([2], for: 1) }
    #expect(try shown.recordTree("a")?.value(for: 1)?.array == [1])
    let idle = try store.beginWrite()
    let seen = try idle.commitAndShow()
    #expect(seen.commitNumber == store.statistics.commitNumber)
    #expect(try seen.recordTree("a")?.value(for: 1)?.array == [2])
    let failing = try store.beginWrite()
    failing.abort()
    #expect(throws: StorageError.self) { try failing.commitAndShow() }
  }

  @Test func `a stored value outlives its snapshot, its page's changes and the store`() throws {
    var store: PageStore? = PageStore.inMemory()
    try store?.write { try $0.createRecordTree("a").put([1, 2, 3], for: 1) }
    let value = try #require(try store?.snapshot().recordTree("a")?.value(for: 1))
    try store?.write { transaction in
      let tree = try transaction.mutableRecordTree("a")
      try tree?.put([4, 5, 6], for: 1)
      let own = try tree?.value(for: 1)
      try tree?.put([7, 8, 9], for: 1)
      #expect(own?.array == [4, 5, 6])
    }
    store = nil
    #expect(value.array == [1, 2, 3])
  }

  @Test func `aborting, failing and dropping leave nothing`() throws {
    struct Stop: Error {}
    try store.write { _ = try $0.createRecordTree("a") }
    let before = try Workload.contents(of: store)
    let number = store.statistics.commitNumber
    #expect(throws: Stop.self) {
      try store.write { transaction in
        try transaction.mutableRecordTree("a")?.put([1], for: 1)
        throw Stop()
      }
    }
    _ = try store.beginWrite().createIndexTree("b")
    let transaction = try store.beginWrite()
    try transaction.dropTree("a")
    transaction.abort()
    #expect(try Workload.contents(of: store) == before)
    #expect(store.statistics.commitNumber == number)
  }

  @Test func `a transaction without changes uses up no number`() throws {
    let number = store.statistics.commitNumber
    #expect(try store.beginWrite().commit() == number)
  }

  @Test func `a cursor that its transaction overtook says so`() throws {
    try store.write { transaction in
      let tree = try transaction.createRecordTree("a")
      let other = try transaction.createRecordTree("b")
      for key in 0..<50 { try tree.put([1], for: Int64(key)) }
      var cursor = tree.cursor()
      #expect(try cursor.seek(to: 10))
      try other.put([1], for: 1)
      #expect(try cursor.next())
      try tree.remove(30)
      #expect(throws: StorageError.self) { try cursor.next() }
      #expect(throws: StorageError.self) { try cursor.key }
      #expect(throws: StorageError.self) { try cursor.valueBytes }
      #expect(try cursor.seek(to: 29))
      #expect(try cursor.next())
      #expect(try cursor.key == 31)
    }
  }

  @Test func `trees of an ended transaction refuse`() throws {
    let transaction = try store.beginWrite()
    let tree = try transaction.createRecordTree("a")
    var cursor = tree.cursor()
    try tree.put([1], for: 1)
    try transaction.commit()
    #expect(throws: StorageError.self) { try tree.put([2], for: 1) }
    #expect(throws: StorageError.self) { try tree.value(for: 1) }
    #expect(throws: StorageError.self) { try cursor.first() }
    #expect(throws: StorageError.self) { try transaction.commit() }
    #expect(throws: StorageError.self) { try transaction.createRecordTree("b") }
    #expect(throws: StorageError.self) { try transaction.recordTree("a") }
    transaction.abort()
  }

  @Test func `trees are created, renamed and dropped by name`() throws {
    try store.write { transaction in
      let tree = try transaction.createRecordTree("a")
      try tree.put([1], for: 1)
      try transaction.renameTree("a", to: "b")
      try tree.put([2], for: 2)
      #expect(throws: StorageError.self) { try transaction.createIndexTree("b") }
      #expect(throws: StorageError.self) { try transaction.renameTree("a", to: "c") }
      #expect(throws: StorageError.self) { try transaction.indexTree("b") }
      try transaction.createIndexTree("c").put([], for: [])
      let dropped = try transaction.createIndexTree("d")
      try transaction.dropTree("d")
      #expect(throws: StorageError.self) { try dropped.put([], for: []) }
      // Equal to Swift, different in bytes.
      _ = try transaction.createRecordTree("caf\u{E9}")
      _ = try transaction.createRecordTree("cafe\u{301}")
      #expect(try transaction.treeNames().map(\.count) == [2, 1, 0, 0])
    }
    try store.read { snapshot in
      let names = try snapshot.treeNames()
      #expect(names.map { [UInt8]($0.name.utf8) }.count == 4)
      #expect(names.prefix(2).map(\.name) == ["b", "c"])
      #expect(names.map(\.count) == [2, 1, 0, 0])
      #expect(try snapshot.recordTree("a") == nil)
    }
    #expect(try store.check().isSound)
  }

  @Test func `a key that is too long is refused, one that just fits is not`() throws {
    let limit = store.keyByteLimit
    try store.write { transaction in
      let tree = try transaction.createIndexTree("a")
      let long = [UInt8](repeating: 1, count: limit + 1)
      #expect(throws: StorageError.keyTooLong(byteCount: limit + 1, limit: limit)) {
        try tree.put([], for: long)
      }
      #expect(try !tree.remove(long))
      #expect(try tree.value(for: long) == nil)
      try tree.put([1], for: [UInt8](long.dropLast()))
      var cursor = tree.cursor()
      #expect(try !cursor.seek(to: long))
      #expect(try cursor.seek(atOrBefore: long))
    }
    #expect(try store.check().entryCount == 1)
  }

  @Test func `readers on other threads see whole commits while a writer works`() async throws {
    let store = store
    try store.write { transaction in
      let tree = try transaction.createRecordTree("a")
      for key in 0..<40 { try tree.put([0], for: Int64(key)) }
    }
    let done = Flag()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<3 {
        group.addTask {
          var count = 0
          while !done.isSet.load(ordering: .relaxed) || count == 0 {
            let snapshot = try store.snapshot()
            var cursor = try #require(try snapshot.recordTree("a")).cursor()
            var values: Set<[UInt8]> = []
            while try cursor.next() { values.insert(try cursor.storedValue().array) }
            #expect(values.count == 1)
            count += 1
          }
          return count
        }
      }
      for round in 1..<Amount.of(sampled: 100, exhaustive: 2000) {
        try store.write { transaction in
          let tree = try #require(try transaction.mutableRecordTree("a"))
          let value = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: round % 60)
          for key in 0..<40 { try tree.put(value, for: Int64(key)) }
        }
      }
      done.isSet.store(true, ordering: .relaxed)
      for try await count in group { #expect(count > 0) }
    }
    #expect(try store.check().isSound)
  }

  @Test func `writers on several threads take turns`() async throws {
    let store = store
    try store.write { try $0.createRecordTree("a").put([0, 0], for: 0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<50 {
            try store.write { transaction in
              let tree = try #require(try transaction.mutableRecordTree("a"))
              let old = try #require(try tree.value(for: 0)).array
              let sum = Int(old[0]) + Int(old[1]) << 8 + 1
              try tree.put([UInt8(sum & 255), UInt8(sum >> 8)], for: 0)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.read { try $0.recordTree("a")?.value(for: 0)?.array } == [200, 0])
  }
}

private final class Flag: Sendable {
  let isSet = Atomic(false)
}
