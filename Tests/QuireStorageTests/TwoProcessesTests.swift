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
        do {
          _ = try PageStore.open(path)
          throw Violation("a store in use was opened")
        } catch StorageError.locked(let owner) {
          guard owner.processID == other.id else { throw Violation("in use by \(owner)") }
        }
        var options = PageStoreOptions()
        options.isReadOnly = true
        let reader = try PageStore.open(path, options: options)
        let seen = try reader.read { try Forks.numbers($0) }
        guard seen.count >= Int(last) else { throw Violation("a commit is not shown") }
        other.kill()
        // A process that died takes nothing back.
        let later = try reader.read { try Forks.numbers($0) }
        guard later.starts(with: seen) else { throw Violation("\(later) after \(seen)") }
        try reader.close()
        let found = try Forks.numbers(at: path)
        guard found == Array(1...Int64(found.count)), found.count >= Int(last) else {
          throw Violation("\(last) commits returned, \(found) are there")
        }
        total = Int64(found.count)
        guard folder.names == ["store"] else { throw Violation("left: \(folder.names)") }
      }
    }
  }

  /// One writes without a pause, with checkpoints and compactions, and dies now and then; the
  /// others look at it.
  @Test func `readers are shown whole commits, and move on`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let path = folder.path + "/store"
      let readers = Amount.of(debug: 2, release: 8)
      let seconds = Amount.of(debug: 2, release: 10, exhaustive: 3_600)
      for durability in [Durability.full, .ordered] {
        let started = try Signal()
        func write() throws {
          var options = PageStoreOptions()
          options.checkpointByteLimit = 64 << 10
          options.durability = durability
          let store = try PageStore.open(path, options: options)
          var number: Int64 = 0
          while true {
            number += 1
            try store.write { transaction in
              let tree =
                try transaction.mutableRecordTree("a") ?? transaction.createRecordTree("a")
              // What is taken from one is given to another.
              for key in 0..<300 as Range<Int64> {
                let sign: Int64 = key % 2 == 0 ? 1 : -1
                let value = withUnsafeBytes(of: sign &* number) { Array($0) }
                try tree.put(value + [UInt8](repeating: 0, count: 60), for: key)
              }
            }
            if number == 3 { started.send(0) }
            if number % 500 == 499 { try store.compact() }
          }
        }
        var writer = try ChildProcess(write)
        _ = started.receive()
        let children = try (0..<readers).map { _ in
          try ChildProcess {
            var options = PageStoreOptions()
            options.isReadOnly = true
            options.cacheByteLimit = 0
            let store = try PageStore.open(path, options: options)
            let end = ContinuousClock.now + .seconds(seconds)
            var (looks, states, last, refusals) = (0, 0, CommitNumber(rawValue: 0), 0)
            while ContinuousClock.now < end {
              do {
                let snapshot = try store.snapshot()
                guard snapshot.commitNumber >= last else { throw Violation("it went back") }
                if snapshot.commitNumber > last { states += 1 }
                last = snapshot.commitNumber
                var (sum, values) = (Int64(0), Set<Int64>())
                guard var cursor = try snapshot.recordTree("a")?.cursor() else { continue }
                while try cursor.next() {
                  let value = try cursor.storedValue().array
                  let number = value.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
                  sum += number
                  values.insert(abs(number))
                }
                guard sum == 0, values.count == 1 else {
                  throw Violation("mixed: \(sum), \(values)")
                }
                looks += 1
              } catch StorageError.snapshotTooOld {
                refusals += 1
              }
            }
            guard states > 5, looks > refusals else {
              throw Violation("\(looks) looks, \(states) states, \(refusals) refused")
            }
          }
        }
        // Whoever comes next recovers what the dead one has left, beside the readers.
        for _ in 0..<(2 * seconds) {
          PageStore.pause(milliseconds: 400)
          writer.kill()
          writer = try ChildProcess(write)
        }
        for child in children { try child.wait() }
        writer.kill()
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
