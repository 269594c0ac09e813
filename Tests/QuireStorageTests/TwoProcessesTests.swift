import QuireSimulation
import QuireStorage
import Testing

/// Real processes that want the same store.
@Suite struct `Two processes` {
  @Test func `one is told of the other, and after its death finds all it was told of`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = folder.path + "/store"
      var total: Int64 = 0
      for round in 0..<8 {
        let committed = try Signal()
        let other = try ChildProcess {
          let store = try PageStore.open(path)
          while true {
            total += 1
            try Forks.commit(total, to: store)
            committed.send(Int32(total))
            if total % 7 == 0 { try store.compact() }
          }
        }
        var last: Int32 = 0
        for _ in 0...round { last = committed.receive() }
        for isReadOnly in [false, true] {
          var options = PageStoreOptions()
          options.isReadOnly = isReadOnly
          do {
            _ = try PageStore.open(path, options: options)
            throw Violation("a store in use was opened")
          } catch StorageError.locked(let owner) {
            guard owner.processID == other.id else { throw Violation("in use by \(owner)") }
          }
        }
        other.kill()
        let found = try Forks.numbers(at: path)
        guard found == Array(1...Int64(found.count)), found.count >= Int(last) else {
          throw Violation("\(last) commits returned, \(found) are there")
        }
        total = Int64(found.count)
        guard folder.names == ["store"] else { throw Violation("left: \(folder.names)") }
      }
    }
  }

  @Test func `of two that make the same store at once, one does, and the other is told`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let count = Amount.of(debug: 12, release: 40)
      for round in 0..<count {
        let path = "\(folder.path)/store-\(round)"
        let (go, isDone) = (try Signal(), try Signal())
        let children = try (0..<2).map { number in
          try ChildProcess {
            _ = go.receive()
            while true {
              do {
                let store = try PageStore.open(path)
                try Forks.commit(Int64(number), to: store)
                try store.close()
                break
              } catch StorageError.locked {}
            }
            isDone.send()
          }
        }
        for _ in children { go.send() }
        for child in children { try child.wait() }
        guard try Forks.numbers(at: path) == [0, 1] else { throw Violation("a commit is gone") }
      }
      guard folder.names.count == count else { throw Violation("left: \(folder.names)") }
    }
  }
}
