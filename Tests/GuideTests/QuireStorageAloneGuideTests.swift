import QuireSimulation
import QuireStorage
import Testing

@Suite struct QuireStorageAloneGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  private let folder = try! TemporaryFolder()
  private var path: String { folder.path + "/words.store" }

  @Test func `a store is written, read and walked through`() throws {
    let store = try PageStore.open(path)
    try store.write { transaction in
      let words = try transaction.createIndexTree("words")
      for word in ["pear", "apple", "plum"] {
        try words.put(Array("a fruit".utf8), for: Array(word.utf8))
      }
    }
    let value = try store.read { snapshot in
      try snapshot.indexTree("words")?.value(for: Array("pear".utf8))?.array
    }
    print(value.map { String(decoding: $0, as: UTF8.self) } ?? "not there")
    #expect(
      printed.take() == """
        a fruit
        """)
    let found = try store.read { snapshot in
      var found: [String] = []
      guard var entries = try snapshot.indexTree("words")?.entries(withPrefix: Array("p".utf8))
      else { return found }
      while try entries.next() { found.append(String(decoding: try entries.key, as: UTF8.self)) }
      return found
    }
    print(found)
    #expect(
      printed.take() == """
        ["pear", "plum"]
        """)
    try store.close()
    #expect(folder.names == ["words.store"])
  }

  func key(priority: UInt8, number: Int64) -> [UInt8] {
    [255 - priority] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }

  func add(_ job: String, priority: UInt8, to store: PageStore) throws {
    try store.write { transaction in
      let jobs = try transaction.mutableRecordTree("jobs") ?? transaction.createRecordTree("jobs")
      let queue = try transaction.mutableIndexTree("queue") ?? transaction.createIndexTree("queue")
      let number = (try jobs.lastKey ?? 0) + 1
      try jobs.put(Array(job.utf8), for: number)
      try queue.put([], for: key(priority: priority, number: number))
    }
  }

  func next(in store: PageStore) throws -> String? {
    try store.write { transaction -> String? in
      guard let jobs = try transaction.mutableRecordTree("jobs"),
        let queue = try transaction.mutableIndexTree("queue")
      else { return nil }
      var cursor = queue.cursor()
      guard try cursor.next() else { return nil }
      let first = Array(try cursor.key)
      let number = first.dropFirst().reduce(0) { $0 << 8 | Int64($1) }
      let job = try jobs.value(for: number).map { String(decoding: $0.array, as: UTF8.self) }
      try queue.remove(first)
      try jobs.remove(number)
      return job
    }
  }

  @Test func `a queue is in the order of its keys`() throws {
    let store = PageStore.inMemory()
    try add("sweep", priority: 1, to: store)
    try add("put out the fire", priority: 9, to: store)
    while let job = try next(in: store) { print(job) }
    #expect(
      printed.take() == """
        put out the fire
        sweep
        """)
    // What is added later does not take the place of what waits.
    for job in ["one", "two", "three"] { try add(job, priority: 1, to: store) }
    #expect(try next(in: store) == "one")
    try add("four", priority: 1, to: store)
    #expect(try (0..<4).map { _ in try next(in: store) } == ["two", "three", "four", nil])
  }

  @Test func `a tree is built in order`() throws {
    let store = PageStore.inMemory()
    try store.write { transaction in
      try transaction.buildRecordTree("squares") { builder in
        for number in 0..<10_000 as Range<Int64> {
          try builder.append(Array("\(number * number)".utf8), for: number)
        }
      }
    }
    print(try store.read { try $0.recordTree("squares")?.count ?? 0 })
    #expect(
      printed.take() == """
        10000
        """)
  }

  @Test func `errors say what to do`() throws {
    try PageStore.open(path).close()
    do throws(StorageError) {
      let store = try PageStore.open(path)
      try store.close()
    } catch {
      switch error {
      case .locked(let owner): print("another program has it: \(owner)")
      case .noSpaceLeft: print("the disk is full")
      case .damaged, .logDamaged, .logMissing: print("restore a backup: \(error)")
      default: print("\(error)")
      }
    }
    #expect(printed.take() == "")
  }
}
