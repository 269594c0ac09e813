import QuireSimulation
import QuireStorage

/// Everything that can be done to a store of which nothing is known. Errors are fine.
enum StoreExercise {
  static func run(_ files: [String: [UInt8]], isReadOnly: Bool) {
    let fileSystem = MemoryFileSystem()
    for (path, bytes) in files { fileSystem.setBytes(bytes, of: path) }
    var options = PageStoreOptions()
    options.isReadOnly = isReadOnly
    options.createIfMissing = false
    options.cacheByteLimit = 64 << 10
    for round in 0..<2 {
      do {
        let store = try PageStore.open("store", options: options, in: fileSystem)
        _ = try? store.check()
        try? store.read { try readAll($0) }
        if !isReadOnly { try? change(store, round) }
        try? store.read { try readAll($0) }
        try store.close()
      } catch {}
    }
  }

  static func readAll(_ reader: any TreeReader) throws {
    for (name, kind, _) in try reader.treeNames() {
      switch kind {
      case .record: if let tree = try reader.recordTree(name) { try? readAll(tree) }
      case .index: if let tree = try reader.indexTree(name) { try? readAll(tree) }
      }
    }
  }

  /// A damaged tree need not end: two of its pages may be one, and give its entries twice. But
  /// nobody can read more than this of the small files made here without going in circles.
  private static let entryLimit = 200_000

  private static func readAll(_ tree: RecordTree) throws {
    var cursor = tree.cursor()
    var count = 0
    // What reads on after a damaged page is not asked: a failed move leaves the cursor unplaced.
    while try cursor.next() {
      let key = try cursor.key
      _ = try? cursor.valueBytes.reduce(0, &+)
      if count % 16 == 0 { _ = try? tree.value(for: key)?.array }
      count += 1
      if count > entryLimit { fatalError("the cursor does not end") }
    }
    while try cursor.previous() {
      count -= 1
      if count < -entryLimit { fatalError("the cursor does not end") }
    }
    for key in [Int64.min, -1, 0, 7, 1000, .max] {
      _ = try? cursor.seek(to: key)
      _ = try? cursor.previous()
      _ = try? cursor.seek(atOrBefore: key)
      _ = try? cursor.next()
      _ = try? cursor.storedValue().array
    }
    withExtendedLifetime(cursor) {}
  }

  private static func readAll(_ tree: IndexTree) throws {
    var cursor = tree.cursor()
    var count = 0
    while try cursor.next() {
      let key = [UInt8](try cursor.key)
      _ = try? cursor.valueBytes.reduce(0, &+)
      if count % 16 == 0 { _ = try? tree.value(for: key)?.array }
      count += 1
      if count > entryLimit { fatalError("the cursor does not end") }
    }
    while try cursor.previous() {
      count -= 1
      if count < -entryLimit { fatalError("the cursor does not end") }
    }
    for key in [[], [0], [7, 7], [UInt8](repeating: 0xFF, count: 200)] as [[UInt8]] {
      _ = try? cursor.seek(to: key)
      _ = try? cursor.previous()
      _ = try? cursor.seek(atOrBefore: key)
      _ = try? cursor.next()
      _ = try? cursor.storedValue().array
    }
    withExtendedLifetime(cursor) {}
  }

  /// Each kind of change in a transaction of its own: the first error ends a transaction.
  private static func change(_ store: PageStore, _ round: Int) throws {
    let names = try store.read { snapshot in
      // A tree that has more entries than the catalog says traps when they are removed: counting
      // down ends below zero. Known; until it is otherwise, such trees are left alone.
      try snapshot.treeNames().filter { entryCount(of: $0.name, $0.kind, in: snapshot) == $0.count }
        .map { ($0.name, $0.kind) }
    }
    for (name, kind) in names.prefix(6) {
      try? store.write { transaction in
        for number in 0..<40 {
          try put(number * 5, transaction, name, kind, byteCount: number == 9 ? 1500 : number)
        }
      }
      try? store.write { try removeSome($0, name, kind) }
    }
    try? store.checkpoint()
    try? store.write { transaction in
      try transaction.createRecordTree("new \(round)").put(
        [UInt8](repeating: 1, count: 3000), for: 1)
      try transaction.createIndexTree("newer \(round)").put([1], for: [1])
    }
    for (name, kind) in names.prefix(6) {
      try? store.write { transaction in
        switch (round + (kind == .record ? 1 : 0)) % 3 {
        case 0:
          try transaction.mutableRecordTree(name)?.removeAll()
        case 1: try transaction.dropTree(name)
        default: try transaction.renameTree(name, to: "renamed " + name)
        }
      }
    }
    // Thrown away.
    let transaction = try store.beginWrite()
    for (name, kind) in names.prefix(6) {
      try? put(3, transaction, name, kind, byteCount: 700)
    }
    transaction.abort()
  }

  private static func entryCount(
    of name: String, _ kind: TreeKind, in snapshot: Snapshot
  ) -> Int? {
    do {
      var count = 0
      switch kind {
      case .record:
        guard var cursor = try snapshot.recordTree(name)?.cursor() else { return nil }
        while try cursor.next() { count += 1 }
      case .index:
        guard var cursor = try snapshot.indexTree(name)?.cursor() else { return nil }
        while try cursor.next() { count += 1 }
      }
      return count
    } catch {
      return nil
    }
  }

  private static func put(
    _ number: Int, _ transaction: WriteTransaction, _ name: String, _ kind: TreeKind,
    byteCount: Int
  ) throws {
    let value = [UInt8](repeating: 5, count: byteCount)
    switch kind {
    case .record: try transaction.mutableRecordTree(name)?.put(value, for: Int64(number))
    case .index: try transaction.mutableIndexTree(name)?.put(value, for: Array("\(number)".utf8))
    }
  }

  private static func removeSome(
    _ transaction: WriteTransaction, _ name: String, _ kind: TreeKind
  ) throws {
    for _ in 0..<60 {
      switch kind {
      case .record:
        guard let tree = try transaction.mutableRecordTree(name), let key = try tree.firstKey else {
          return
        }
        try tree.remove(key)
      case .index:
        guard let tree = try transaction.mutableIndexTree(name) else { return }
        var cursor = tree.cursor()
        guard try cursor.last() else { return }
        try tree.remove([UInt8](try cursor.key))
        withExtendedLifetime(cursor) {}
      }
    }
  }

  /// Files as a life of some operations leaves them; with a log when the store was not closed.
  static func files(seed: UInt64, count: Int, isClosed: Bool) throws -> [String: [UInt8]] {
    var options = PageStoreOptions()
    options.pageSize = 512
    options.checkpointByteLimit = 6 << 10
    options.identity = StoreIdentity(high: seed, low: 4)
    let fileSystem = MemoryFileSystem()
    let store = try PageStore.open("store", options: options, in: fileSystem)
    var generator = SeededGenerator(seed: seed)
    for number in 0..<count {
      try store.write { transaction in
        let records =
          try transaction.mutableRecordTree("r") ?? transaction.createRecordTree("r")
        let index = try transaction.mutableIndexTree("i") ?? transaction.createIndexTree("i")
        for _ in 0..<12 {
          let byteCount = generator.below(12) == 0 ? generator.below(1200) : generator.below(30)
          try records.put(generator.bytes(byteCount), for: Int64(generator.below(60)))
          try index.put(
            generator.bytes(generator.below(20)), for: generator.bytes(generator.below(9)))
          try records.remove(Int64(generator.below(60)))
        }
      }
      if number == count / 2 { try store.checkpoint() }
    }
    if isClosed { try store.close() }
    var files: [String: [UInt8]] = [:]
    for path in fileSystem.paths { files[path] = fileSystem.bytes(of: path) }
    return files
  }
}
