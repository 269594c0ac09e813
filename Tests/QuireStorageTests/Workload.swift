import QuireStorage

/// A fixed series of commits, checkpoints, closings and openings, with what the store must hold
/// after each commit.
struct Workload {
  enum Step: Sendable {
    case commit(Int)
    case checkpoint
    /// A clean close, then opening again.
    case reopen
    case close
  }

  let steps: [Step]
  /// The store's content after each number of commits; the first is the empty store.
  let states: [Contents]

  typealias Contents = [String: [[UInt8]]]

  init(_ steps: [Step]) throws {
    self.steps = steps
    let store = PageStore.inMemory(pageSize: 512)
    var states = [try Workload.contents(of: store)]
    for case .commit(let number) in steps {
      try store.write { try Workload.change($0, number) }
      states.append(try Workload.contents(of: store))
    }
    self.states = states
  }

  static func standard() throws -> Workload {
    try Workload([
      .commit(0), .commit(1), .checkpoint, .commit(2), .commit(3), .reopen, .commit(4), .commit(5),
      .commit(6), .close,
    ])
  }

  static var options: PageStoreOptions {
    var options = PageStoreOptions()
    options.pageSize = 512
    options.checkpointByteLimit = 10 << 10
    options.checkpointsInBackground = false
    options.identity = StoreIdentity(high: 17, low: 4)
    return options
  }

  /// How far a run came.
  struct Progress {
    var isCreated = false
    /// Commits that returned.
    var acknowledged = 0
    /// Commits that were begun.
    var begun = 0
    var error: StorageError?
  }

  /// Runs until something fails.
  func run(
    in fileSystem: any FileSystem, options: PageStoreOptions = Workload.options
  ) -> Progress {
    var progress = Progress()
    do {
      var store = try PageStore.open("store", options: options, in: fileSystem)
      progress.isCreated = true
      for step in steps {
        switch step {
        case .commit(let number):
          let transaction = try store.beginWrite()
          try Workload.change(transaction, number)
          progress.begun += 1
          try transaction.commit()
          progress.acknowledged += 1
        case .checkpoint:
          // Without space the log just goes on.
          do throws(StorageError) { try store.checkpoint() } catch .noSpaceLeft {}
        case .reopen:
          try store.close()
          store = try PageStore.open("store", options: options, in: fileSystem)
        case .close: try store.close()
        }
      }
    } catch {
      progress.error = error as? StorageError
    }
    return progress
  }

  static func change(_ transaction: WriteTransaction, _ number: Int) throws {
    let records =
      try transaction.mutableRecordTree("records") ?? transaction.createRecordTree("records")
    let index = try transaction.mutableIndexTree("index") ?? transaction.createIndexTree("index")
    for offset in 0..<12 {
      let key = number * 7 + offset
      try records.put([UInt8](repeating: UInt8(number), count: 20 + offset), for: Int64(key))
      try index.put([UInt8(offset)], for: [UInt8]("key \(key * 31 % 100)".utf8))
    }
    if number % 3 == 1 { try records.put([UInt8](repeating: 0xAB, count: 1500), for: 1000) }
    if number % 3 == 2 {
      try records.remove(1000)
      for key in 0..<10 { try records.remove(Int64(number * 7 - key)) }
    }
  }

  /// Everything in a store.
  static func contents(of store: PageStore) throws -> Contents {
    try store.read { snapshot in
      var contents: Contents = [:]
      for (name, kind, count) in try snapshot.treeNames() {
        var entries = [[UInt8(truncatingIfNeeded: count)]]
        if kind == .record, var cursor = try snapshot.recordTree(name)?.cursor() {
          while try cursor.next() {
            entries.append([UInt8]("\(try cursor.key)".utf8) + (try cursor.storedValue().array))
          }
        } else if var cursor = try snapshot.indexTree(name)?.cursor() {
          while try cursor.next() {
            entries.append(try [UInt8](cursor.key) + cursor.storedValue().array)
          }
        }
        contents[name] = entries
      }
      return contents
    }
  }
}
