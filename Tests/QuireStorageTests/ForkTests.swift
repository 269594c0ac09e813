import QuireSimulation
import QuireStorage
import Testing

// A write transaction was open at a fork. The parent committed, the child committed as well, over
// the parent's record in the log, and once the parent had died its store did not open any more.

/// Children made by `fork` of a process that has stores open.
@Suite struct `Forks` {
  /// What a parent has open, and a child inherits.
  final class Inheritance {
    let path: String
    var store: PageStore?
    var transaction: WriteTransaction?
    var tree: MutableRecordTree?
    var snapshot: Snapshot?

    init(_ path: String, isBusy: Bool) throws {
      self.path = path
      var options = PageStoreOptions()
      options.pageSize = 512
      options.checkpointsInBackground = false
      options.imageByteLimit = 0
      let store = try PageStore.open(path, options: options)
      self.store = store
      try Forks.commit(1, to: store)
      snapshot = try store.snapshot()
      guard isBusy else { return }
      let transaction = try store.beginWrite()
      tree = try transaction.mutableRecordTree("numbers")
      try tree?.put([2], for: 2)
      self.transaction = transaction
    }

    func drop() {
      tree = nil
      transaction = nil
      snapshot = nil
      store = nil
    }
  }

  static func commit(_ number: Int64, to store: PageStore?) throws {
    try store?.write { transaction in
      let tree =
        try transaction.mutableRecordTree("numbers") ?? transaction.createRecordTree("numbers")
      try tree.put([UInt8(number)], for: number)
    }
  }

  static func numbers(at path: String) throws -> [Int64] {
    let store = try PageStore.open(path)
    defer { try? store.close() }
    guard try store.check().isSound else { throw Violation("\(path) is not sound") }
    return try store.read { try numbers($0) }
  }

  static func numbers(_ snapshot: Snapshot) throws -> [Int64] {
    var numbers: [Int64] = []
    guard var cursor = try snapshot.recordTree("numbers")?.cursor() else { return [] }
    while try cursor.next() { numbers.append(try cursor.key) }
    return numbers
  }

  struct Door: Sendable {
    let name: String
    /// Whether it is refused, rather than without effect.
    var isRefused = true
    let go: @Sendable (Inheritance) throws -> Void
  }

  static let transactionDoors = [
    Door(name: "commit") { try $0.transaction?.commit() },
    Door(name: "commit and show") { _ = try $0.transaction?.commitAndShow() },
    Door(name: "put") { try $0.tree?.put([9], for: 9) },
    Door(name: "remove") { try $0.tree?.remove(1) },
    Door(name: "create a tree") { try $0.transaction?.createRecordTree("other") },
    Door(name: "drop a tree") { try $0.transaction?.dropTree("numbers") },
    Door(name: "rename a tree") { try $0.transaction?.renameTree("numbers", to: "other") },
    Door(name: "build a tree") { inheritance in
      try inheritance.transaction?.buildRecordTree("built") { builder in
        for key in 0..<9000 as Range<Int64> {
          try builder.append([UInt8](repeating: 1, count: 60), for: key)
        }
      }
    },
    Door(name: "abort", isRefused: false) { $0.transaction?.abort() },
    Door(name: "drop a transaction", isRefused: false) {
      $0.tree = nil
      $0.transaction = nil
    },
  ]

  static let storeDoors = [
    Door(name: "begin") { _ = try $0.store?.beginWrite() },
    Door(name: "write") { try Forks.commit(9, to: $0.store) },
    Door(name: "checkpoint") { try $0.store?.checkpoint() },
    Door(name: "begin a checkpoint") { try $0.store?.beginCheckpoint() },
    Door(name: "write a checkpoint") { try $0.store?.writeCheckpoint() },
    Door(name: "complete a checkpoint") { try $0.store?.completeCheckpoint() },
    Door(name: "remove the log") { try $0.store?.removeLog() },
    Door(name: "compact") { try $0.store?.compact() },
    Door(name: "back up") { try $0.store?.backUp(to: $0.path + "-copy") },
    Door(name: "back up again") { try $0.store?.backUp(replacing: $0.path + "-copy") },
    Door(name: "restore") { try $0.store?.restore(to: $0.path + "-copy") },
    Door(name: "replace") { try $0.store?.replace($0.path + "-copy") },
    Door(name: "take a snapshot") { _ = try $0.store?.snapshot() },
    Door(name: "look into a snapshot") { _ = try $0.snapshot?.recordTree("numbers") },
    Door(name: "check") { _ = try $0.store?.check() },
    Door(name: "close") { try $0.store?.close() },
    Door(name: "close twice") {
      try? $0.store?.close()
      try $0.store?.close()
    },
    Door(name: "figures", isRefused: false) { _ = $0.store?.statistics },
    Door(name: "limit the cache", isRefused: false) { $0.store?.limitCache(to: 0) },
    Door(name: "drop a snapshot", isRefused: false) { $0.snapshot = nil },
    Door(name: "drop everything", isRefused: false) { $0.drop() },
  ]

  /// Lets a child through a door while its parent goes on, and looks at what the parent's death
  /// would leave afterwards.
  static func tryDoor(_ door: Door, isBusy: Bool) throws {
    let folder = try TemporaryFolder()
    let parent = try Inheritance(folder.path + "/store", isBusy: isBusy)
    let (go, done) = (try Signal(), try Signal())
    let child = try ChildProcess {
      _ = go.receive()
      do {
        try door.go(parent)
        if door.isRefused { throw Violation("\(door.name) is not refused in a child") }
      } catch StorageError.forked {}
      done.send()
    }
    if let transaction = parent.transaction {
      try transaction.commit()
    } else {
      try commit(2, to: parent.store)
    }
    let before = try folder.contents()
    go.send()
    try child.wait()
    guard try folder.contents() == before else {
      throw Violation("a child has changed files by \(door.name)")
    }
    for number in 3...5 as ClosedRange<Int64> { try commit(number, to: parent.store) }
    let other = try TemporaryFolder()
    try folder.copy(to: other)
    guard try numbers(at: other.path + "/store") == [1, 2, 3, 4, 5] else {
      throw Violation("commits are lost after \(door.name) in a child")
    }
    parent.drop()
    guard try numbers(at: parent.path) == [1, 2, 3, 4, 5] else {
      throw Violation("commits are lost after \(door.name) in a child")
    }
  }

  @Test func `a child cannot change its parent's store in a transaction`() async {
    await #expect(processExitsWith: .success) {
      for door in Forks.transactionDoors { try Forks.tryDoor(door, isBusy: true) }
    }
  }

  @Test func `a child cannot change its parent's store by any other way`() async {
    await #expect(processExitsWith: .success) {
      for door in Forks.storeDoors {
        for isBusy in [true, false] { try Forks.tryDoor(door, isBusy: isBusy) }
      }
    }
  }

  // The child goes on where the parent is, and would remove the copy that the parent is making.
  @Test func `a fork in the middle of a copy leaves the copy to the parent`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = folder.path + "/store"
      let store = try PageStore.open(path)
      try Forks.commit(1, to: store)
      for copy in 0..<3 {
        var isChild = false
        func split(_ done: Int, _ total: Int) throws -> Bool {
          guard done == total else { return true }
          let child = try ChildProcess.split()
          isChild = child == nil
          try child?.wait()
          return !isChild
        }
        do {
          switch copy {
          case 0: try store.backUp(to: path + "-copy", progress: split)
          case 1: try store.backUp(replacing: path + "-copy", progress: split)
          default: try store.compact(progress: split)
          }
        } catch {
          guard isChild else { throw error }
        }
        if isChild { dieAtOnce() }
      }
      try store.close()
      guard folder.names == ["store", "store-copy"], try Forks.numbers(at: path) == [1],
        try Forks.numbers(at: path + "-copy") == [1]
      else { throw Violation("there are \(folder.names)") }
    }
  }

  // Opening succeeded once the parent had closed the store, with the parent's own store as what was
  // open; everything was refused then.
  @Test func `a child opens the store anew when its parent has closed it`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let parent = try Inheritance(folder.path + "/store", isBusy: false)
      let (closed, done) = (try Signal(), try Signal())
      let child = try ChildProcess {
        do {
          _ = try PageStore.open(parent.path)
          throw Violation("opened while the parent had it open")
        } catch StorageError.locked(let owner) {
          guard owner.processID == parentProcessID else { throw Violation("in use by \(owner)") }
        }
        done.send()
        _ = closed.receive()
        let store = try PageStore.open(parent.path)
        try Forks.commit(2, to: store)
        let again = try PageStore.open(parent.path)
        try Forks.commit(3, to: again)
        try store.compact()
        let grandchild = try ChildProcess {
          do {
            try Forks.commit(9, to: store)
            throw Violation("a grandchild may write")
          } catch StorageError.forked {}
        }
        try grandchild.wait()
        try again.close()
        try Forks.commit(4, to: store)
        guard try store.check().isSound, try Forks.numbers(store.snapshot()) == [1, 2, 3, 4] else {
          throw Violation("the child sees something else")
        }
        try store.close()
      }
      _ = done.receive()
      try parent.store?.close()
      closed.send()
      try child.wait()
      guard folder.names == ["store"], try Forks.numbers(at: parent.path) == [1, 2, 3, 4] else {
        throw Violation("there are \(folder.names)")
      }
    }
  }

  // A child that lived on kept the lock of a parent that had died.
  @Test func `a parent's lock goes with the parent, however long its child lives`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = folder.path + "/store"
      let (end, orphan) = (try Signal(), try Signal())
      let parent = try ChildProcess {
        let store = try PageStore.open(path)
        try Forks.commit(1, to: store)
        _ = try ChildProcess {
          orphan.send()
          _ = end.receive()
          withExtendedLifetime(store) {}
        }
        dieAtOnce()
      }
      _ = orphan.receive()
      try parent.wait()
      defer { end.send() }
      guard try Forks.numbers(at: path) == [1] else { throw Violation("the commit is gone") }
    }
  }

  /// At a fork, the other threads may hold any lock; a child must not wait for what they hold.
  @Test func `a child waits for nothing that a thread of its parent had in hand`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let parent = try Inheritance(folder.path + "/store", isBusy: false)
      let shared = try #require(parent.store)
      let path = folder.path
      for number in 0..<3 as Range<Int64> {
        runOnThread {
          var round: Int64 = 0
          while true {
            round += 1
            try Forks.commit(number * 10 + 10 + round % 10, to: shared)
            _ = try Forks.numbers(shared.snapshot())
            let other = try PageStore.open("\(path)/other-\(number)")
            try Forks.commit(round % 40, to: other)
            try other.close()
          }
        }
      }
      func open(_ own: String, _ number: Int) throws {
        let store = try PageStore.open(own)
        try Forks.commit(Int64(number), to: store)
        guard try Forks.numbers(store.snapshot()).count == number + 1 else {
          throw Violation("a child misses commits")
        }
        try store.close()
      }
      // Once here, so that the runtime has what it makes of types when they are used first: there
      // are locks of its own for that, and a thread might hold one.
      try open("\(path)/parent", 0)
      for number in 0..<Amount.of(sampled: 60, exhaustive: 2000) {
        let child = try ChildProcess {
          try open("\(path)/child", number)
          parent.drop()
        }
        try child.wait()
      }
      dieAtOnce()
    }
  }
}
