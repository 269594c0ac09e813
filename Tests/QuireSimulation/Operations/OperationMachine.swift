import QuireStorage

/// Applies operations to a store in memory, to one in files, and to sorted dictionaries, and
/// compares every answer.
///
/// The part that changes stores is here; `OperationMachine+Reading.swift` has the questions.
package final class OperationMachine {
  /// A store under test.
  final class Subject {
    let name: String
    var store: PageStore
    var transaction: WriteTransaction?
    var held: [Snapshot] = []
    /// Opens the store's files again; `nil` when there are none.
    let open: (() throws -> PageStore)?

    init(_ name: String, _ store: PageStore, open: (() throws -> PageStore)? = nil) {
      self.name = name
      self.store = store
      self.open = open
    }
  }

  /// An answer was not what it should be.
  package struct Mismatch: Error, CustomStringConvertible {
    package var description: String
  }

  let keys: KeyUniverse
  let names: [String]
  private(set) var subjects: [Subject]
  private(set) var committed = StoreOracle()
  /// What the open transaction should show.
  private(set) var working: StoreOracle?
  private(set) var held: [StoreOracle] = []
  private let configuration: ModelConfiguration
  private let memoryFiles: MemoryFileSystem?
  private var commitCount = 0
  private var keyByteLimit: Int

  /// Snapshots beyond these are let go, the oldest first.
  private static let heldLimit = 6

  package init(_ configuration: ModelConfiguration) throws {
    self.configuration = configuration
    let memory = PageStore.inMemory(configuration.options)
    keyByteLimit = memory.keyByteLimit
    keys = .of(configuration.shape, limit: keyByteLimit)
    names = StoreOracle.names(limit: keyByteLimit)
    subjects = [Subject("the store in memory", memory)]
    let fileSystem: (any FileSystem)?
    switch configuration.files {
    case .none: (memoryFiles, fileSystem) = (nil, nil)
    case .memory:
      memoryFiles = MemoryFileSystem()
      fileSystem = memoryFiles
    case .simulatedDisk: (memoryFiles, fileSystem) = (nil, SimulatedDisk())
    case .slowDisk:
      let files = MemoryFileSystem()
      memoryFiles = files
      // A commit is alone here, and would wait for nothing.
      fileSystem = SlowDisk(files, recordCount: 4) { $0 != .commit }
    }
    if let fileSystem {
      let open: () throws -> PageStore = {
        try PageStore.open("store", options: configuration.options, in: fileSystem)
      }
      subjects.append(Subject("the store in files", try open(), open: open))
    }
  }

  /// Makes the oracle wrong, to see that the comparison notices.
  package func deceive(tree: Int, _ entry: TreeOracle.Entry) {
    working?.trees[tree]?.put(entry)
  }

  func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw Mismatch(description: message()) }
  }

  func rank(_ key: Int) -> Int { Int(key.magnitude) % keys.count }
  func number(_ tree: Int) -> Int { Int(tree.magnitude) % StoreOracle.treeLimit }

  package func apply(_ operation: StoreOperation) throws {
    switch operation {
    case .create(let tree, let kind): try create(number(tree), kind)
    case .drop(let tree): try drop(number(tree))
    case .rename(let tree, let other): try rename(number(tree), to: number(other))
    case .put(let tree, let key, let byteCount, let fill):
      try put(number(tree), [entry(key, byteCount, fill)])
    case .putRun(let tree, let key, let count, let byteCount, let fill):
      let first = rank(key)
      let entries = (first..<min(first + count, keys.count)).map { entry($0, byteCount, fill + $0) }
      try put(number(tree), entries)
    case .copy(let tree, let key, let other): try copy(number(tree), rank(key), to: rank(other))
    case .remove(let tree, let key): try remove(number(tree), rank(key))
    case .removeRun(let tree, let key, let count):
      try removeRun(number(tree), rank(key), count: count)
    case .removeAll(let tree): try removeAll(number(tree))
    case .putTooLong(let tree): try putTooLong(number(tree))
    case .overtake(let tree, let key): try overtake(number(tree), rank(key))
    case .commit: try commit()
    case .abort: abort()
    case .hold: try hold()
    case .verify(let index): try verifyHeld(index)
    case .letGo(let index): letGo(index)
    case .checkpoint: try checkpoint()
    case .reopen: try reopen()
    case .crash: try crash()
    case .check: try check()
    case .get, .seek, .seekBefore, .wander, .scan, .list: try read(operation)
    }
  }

  private func entry(_ key: Int, _ byteCount: Int, _ fill: Int) -> TreeOracle.Entry {
    TreeOracle.Entry(
      key: rank(key), byteCount: min(Int(byteCount.magnitude), ModelValue.longestByteCount),
      fill: Int(fill.magnitude) % ModelValue.fillLimit)
  }

  // MARK: Changing

  /// The transaction of each store; begins one if there is none.
  private func begin() throws {
    guard working == nil else { return }
    for subject in subjects { subject.transaction = try subject.store.beginWrite() }
    working = committed
  }

  func transaction(of subject: Subject) throws -> WriteTransaction {
    guard let transaction = subject.transaction else {
      throw Mismatch(description: "\(subject.name) has no transaction")
    }
    return transaction
  }

  /// The tree for changing; where the oracle has none, there must be none.
  private func mutableTree(_ tree: Int, of subject: Subject) throws -> ModelMutableTree? {
    let transaction = try transaction(of: subject)
    switch working?.trees[tree]?.kind {
    case .record?:
      let record = try transaction.mutableRecordTree(names[tree])
      try expect(record != nil, "\(subject.name): tree \(tree) is missing")
      return ModelMutableTree(record: record, index: nil, keys: keys)
    case .index?:
      let index = try transaction.mutableIndexTree(names[tree])
      try expect(index != nil, "\(subject.name): tree \(tree) is missing")
      return ModelMutableTree(record: nil, index: index, keys: keys)
    case nil:
      let record = try transaction.mutableRecordTree(names[tree])
      let index = try transaction.mutableIndexTree(names[tree])
      try expect(record == nil && index == nil, "\(subject.name): tree \(tree) should not exist")
      return nil
    }
  }

  /// - Parameter body: is told the tree of each store; not called where there is none.
  private func change(_ tree: Int, _ body: (ModelMutableTree, Subject) throws -> Void) throws {
    try begin()
    for subject in subjects {
      guard let mutable = try mutableTree(tree, of: subject) else { continue }
      try body(mutable, subject)
    }
  }

  /// Runs what the documentation says is refused as an invalid argument.
  func expectInvalid<R>(_ what: String, _ body: @autoclosure () throws -> R) throws {
    do {
      _ = try body()
    } catch StorageError.invalidArgument {
      return
    }
    throw Mismatch(description: "\(what) was not refused")
  }

  private func create(_ tree: Int, _ kind: TreeKind) throws {
    try begin()
    let isTaken = working?.trees[tree] != nil
    for subject in subjects {
      let transaction = try transaction(of: subject)
      if isTaken {
        try expectInvalid(
          "\(subject.name): a second tree \(tree)", try make(tree, kind, in: transaction))
      } else {
        try make(tree, kind, in: transaction)
      }
    }
    if !isTaken { working?.trees[tree] = TreeOracle(kind) }
  }

  private func make(_ tree: Int, _ kind: TreeKind, in transaction: WriteTransaction) throws {
    switch kind {
    case .record: try transaction.createRecordTree(names[tree])
    case .index: try transaction.createIndexTree(names[tree])
    }
  }

  private func drop(_ tree: Int) throws {
    try begin()
    let exists = working?.trees[tree] != nil
    for subject in subjects {
      let transaction = try transaction(of: subject)
      if exists {
        try transaction.dropTree(names[tree])
      } else {
        try expectInvalid(
          "\(subject.name): dropping a tree that is not there",
          try transaction.dropTree(names[tree]))
      }
    }
    working?.trees[tree] = nil
  }

  private func rename(_ tree: Int, to other: Int) throws {
    try begin()
    let isPossible = working?.trees[tree] != nil && working?.trees[other] == nil
    for subject in subjects {
      let transaction = try transaction(of: subject)
      if isPossible {
        try transaction.renameTree(names[tree], to: names[other])
      } else {
        try expectInvalid(
          "\(subject.name): an impossible new name",
          try transaction.renameTree(names[tree], to: names[other]))
      }
    }
    if isPossible, let oracle = working?.trees[tree] {
      working?.trees[tree] = nil
      working?.trees[other] = oracle
    }
  }

  private func put(_ tree: Int, _ entries: [TreeOracle.Entry]) throws {
    try change(tree) { mutable, subject in
      for entry in entries {
        let expected = working?.trees[tree]?.entry(for: entry.key) != nil
        let existed = try mutable.put(entry.value, entry.key)
        try expect(existed == expected, "\(subject.name): put says \(existed), not \(expected)")
      }
      let count = mutable.reading.count
      let new = entries.count { working?.trees[tree]?.entry(for: $0.key) == nil }
      let expected = (working?.trees[tree]?.entries.count ?? 0) + new
      try expect(count == expected, "\(subject.name): \(count) entries after put, not \(expected)")
    }
    for entry in entries { working?.trees[tree]?.put(entry) }
  }

  private func copy(_ tree: Int, _ key: Int, to other: Int) throws {
    try begin()
    guard var entry = working?.trees[tree]?.entry(for: key) else { return }
    let expected = working?.trees[tree]?.entry(for: other) != nil
    try change(tree) { mutable, subject in
      var cursor = mutable.reading.cursor()
      let isFound = try cursor.seek(key, isBetween: false, before: false)
      try expect(isFound, "\(subject.name): \(key) was not found")
      let existed = try mutable.put(lentBy: &cursor, other)
      try expect(existed == expected, "\(subject.name): put says \(existed), not \(expected)")
    }
    entry.key = other
    working?.trees[tree]?.put(entry)
  }

  private func remove(_ tree: Int, _ key: Int) throws {
    try change(tree) { mutable, subject in
      let expected = working?.trees[tree]?.entry(for: key) != nil
      let existed = try mutable.remove(key)
      try expect(existed == expected, "\(subject.name): remove says \(existed), not \(expected)")
    }
    working?.trees[tree]?.remove(key)
  }

  private func removeRun(_ tree: Int, _ key: Int, count: Int) throws {
    try begin()
    guard let oracle = working?.trees[tree] else { return }
    let first = oracle.lowerBound(of: key)
    let run = oracle.entries[first..<min(first + max(0, count), oracle.entries.count)]
    try change(tree) { mutable, subject in
      var cursor = mutable.reading.cursor()
      for entry in run {
        guard try cursor.seek(key, isBetween: false, before: false), try cursor.isAt(entry.key)
        else { throw Mismatch(description: "\(subject.name): \(entry.key) was not found") }
        let existed = try mutable.remove(lentBy: cursor)
        try expect(existed, "\(subject.name): \(entry.key) was not removed")
      }
      let count = mutable.reading.count
      try expect(
        count == oracle.entries.count - run.count, "\(subject.name): \(count) entries are left")
    }
    for entry in run { working?.trees[tree]?.remove(entry.key) }
  }

  private func removeAll(_ tree: Int) throws {
    try change(tree) { mutable, subject in
      try mutable.removeAll()
      try expect(mutable.reading.count == 0, "\(subject.name): something is left")
    }
    working?.trees[tree]?.removeAll()
  }

  private func putTooLong(_ tree: Int) throws {
    let limit = keyByteLimit
    let key = [UInt8](repeating: 0xFF, count: limit + 1)
    try change(tree) { mutable, subject in
      guard let index = mutable.index else { return }
      do {
        _ = try index.put([1], for: key)
        throw Mismatch(description: "\(subject.name): a key that is too long was taken")
      } catch StorageError.keyTooLong(limit + 1, limit) {}
      let isThere = try index.contains(key)
      let wasThere = try index.remove(key)
      try expect(!isThere && !wasThere, "\(subject.name): there is a key that is too long")
    }
  }

  private func overtake(_ tree: Int, _ key: Int) throws {
    try begin()
    guard let entry = working?.trees[tree]?.entry(for: key) else { return }
    try change(tree) { mutable, subject in
      var cursor = mutable.reading.cursor()
      _ = try cursor.seek(key, isBetween: false, before: false)
      _ = try mutable.put(entry.value, key)
      let isRefused = try cursor.refuses()
      try expect(isRefused, "\(subject.name): a stale cursor answers")
      guard try cursor.seek(key, isBetween: false, before: true), try cursor.isAt(key),
        try cursor.holds(entry.value)
      else { throw Mismatch(description: "\(subject.name): \(key) is not there any more") }
    }
  }

  // MARK: Ending

  private func commit() throws {
    guard let oracle = working else { return }
    let before = committed
    var numbers: [CommitNumber] = []
    for subject in subjects {
      numbers.append(try transaction(of: subject).commit())
      subject.transaction = nil
    }
    working = nil
    committed = oracle
    // The one in memory comes first; one in a file may have given a number to nothing, which pages
    // of a transaction that was given up have.
    try expect(
      numbers.dropFirst().allSatisfy { $0 >= numbers[0] },
      "the stores disagree on the commit: \(numbers)")
    for (subject, number) in zip(subjects, numbers) {
      let newest = try subject.store.snapshot().commitNumber
      try expect(newest == number, "\(subject.name): commit \(number) gives \(newest)")
    }
    commitCount += 1
    if before != committed, commitCount % configuration.commitsPerCheck == 0 { try check() }
  }

  private func abort() {
    for subject in subjects {
      subject.transaction?.abort()
      subject.transaction = nil
    }
    working = nil
  }

  // MARK: Snapshots

  private func hold() throws {
    if held.count == OperationMachine.heldLimit { letGo(0) }
    for subject in subjects { subject.held.append(try subject.store.snapshot()) }
    held.append(committed)
  }

  /// Lets go of snapshots that have expired, as they may with little memory for what they keep.
  /// Each must say so, rather than show anything.
  func letExpiredGo() throws {
    for index in held.indices.reversed() {
      for subject in subjects {
        do throws(StorageError) {
          _ = try subject.held[index].treeNames()
        } catch .snapshotExpired {
          let limit = configuration.retainedByteLimit
          try expect(limit < 256 << 20, "\(subject.name): a snapshot expired, with \(limit) bytes")
          letGo(index)
          break
        }
      }
    }
  }

  private func verifyHeld(_ index: Int) throws {
    try letExpiredGo()
    guard !held.isEmpty else { return }
    let index = Int(index.magnitude) % held.count
    for subject in subjects {
      try compare(
        subject.held[index], held[index], "\(subject.name), the snapshot held as \(index)")
    }
  }

  private func letGo(_ index: Int) {
    guard !held.isEmpty else { return }
    let index = Int(index.magnitude) % held.count
    held.remove(at: index)
    for subject in subjects { subject.held.remove(at: index) }
  }

  // MARK: Files

  private func checkpoint() throws {
    for subject in subjects {
      do throws(StorageError) {
        try subject.store.checkpoint()
      } catch {
        // It waits for the transaction under way, which is ours.
        guard error == .writerBusy, working != nil else { throw error }
      }
    }
  }

  private func reopen() throws {
    for subject in subjects {
      guard let open = subject.open else { continue }
      if working != nil {
        do {
          try subject.store.close()
          throw Mismatch(description: "\(subject.name) was closed during a transaction")
        } catch StorageError.writerBusy {}
        continue
      }
      try endSnapshots(of: subject)
      try subject.store.close()
      if let memoryFiles {
        try expect(memoryFiles.paths == ["store"], "closing left \(memoryFiles.paths)")
      }
      subject.store = try open()
    }
    if working == nil, subjects.contains(where: { $0.open != nil }) { forgetHeld() }
  }

  /// Snapshots are right to the last, and end with their store.
  private func endSnapshots(of subject: Subject) throws {
    try letExpiredGo()
    for index in held.indices {
      try compare(subject.held[index], held[index], "\(subject.name), held to the end as \(index)")
    }
  }

  private func forgetHeld() {
    held = []
    for subject in subjects { subject.held = [] }
  }

  /// Loses the open transaction, and nothing else.
  private func crash() throws {
    guard subjects.contains(where: { $0.open != nil }) else { return }
    abort()
    for subject in subjects {
      guard let open = subject.open else { continue }
      try endSnapshots(of: subject)
      subject.store = .inMemory()
      subject.store = try open()
    }
    forgetHeld()
  }

  private func check() throws {
    for subject in subjects {
      let report = try subject.store.check()
      try expect(report.isSound, "\(subject.name): \(report)")
      let entryCount = committed.trees.reduce(0) { $0 + ($1?.entries.count ?? 0) }
      try expect(
        report.entryCount == entryCount,
        "\(subject.name): \(report.entryCount) entries were inspected, not \(entryCount)")
    }
  }

  /// Compares everything, closes, opens once more and compares again.
  package func finish() throws {
    for index in held.indices { try verifyHeld(index) }
    abort()
    try compareNewest()
    try check()
    try reopen()
    try compareNewest()
    try check()
    for subject in subjects { try subject.store.close() }
  }

  private func compareNewest() throws {
    for subject in subjects {
      try compare(try subject.store.snapshot(), committed, "\(subject.name), the newest commit")
    }
  }
}
