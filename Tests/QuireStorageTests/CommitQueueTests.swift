import Foundation
import QuireSimulation
import QuireStorage
import Synchronization
import Testing

@Suite("Commits that wait for the disk")
struct CommitQueueTests {
  /// What was written, and what a sync has brought to disk.
  private final class Disk: Sendable {
    struct State {
      var written: UInt64 = 0
      var durable: UInt64 = 0
      var shown: UInt64 = 0
      var syncCount = 0
      var isSyncing = false
    }
    let state = Mutex(State())

    /// As behind the turnstile: numbers are noted in order.
    func write(_ queue: CommitQueue) -> UInt64 {
      state.withLock { state in
        state.written += 1
        queue.noteWritten(CommitNumber(rawValue: state.written))
        return state.written
      }
    }

    func sync(_ microseconds: UInt32, failing: Bool = false) throws(StorageError) {
      let before = state.withLock { state in
        #expect(!state.isSyncing)
        state.isSyncing = true
        state.syncCount += 1
        return state.written
      }
      if microseconds > 0 { usleep(microseconds) }
      state.withLock { state in
        state.isSyncing = false
        if !failing { state.durable = before }
      }
      if failing {
        throw .io(operation: "sync", path: "log", code: 5, message: "Input/output error")
      }
    }
  }

  /// Syncs that take no time, about as long as a thread takes to wake, and longer than the next one
  /// stays awake.
  @Test(arguments: [0, 100, 2_000] as [UInt32])
  func `nobody returns before a sync that began later has ended`(microseconds: UInt32) {
    let (disk, queue) = (Disk(), CommitQueue(CommitNumber(rawValue: 0)))
    let (threadCount, commitCount) = (8, microseconds > 1_000 ? 40 : 400)
    runOnThreads(threadCount) { thread in
      var random = SeededGenerator(seed: UInt64(thread))
      for _ in 0..<commitCount {
        let number = disk.write(queue)
        do {
          try queue.waitUntilDurable(CommitNumber(rawValue: number)) { () throws(StorageError) in
            try disk.sync(microseconds)
          } publish: { commit in
            disk.state.withLock { $0.shown = max($0.shown, commit.rawValue) }
            return []
          }
        } catch {
          Issue.record("\(error)")
        }
        let (durable, shown) = disk.state.withLock { ($0.durable, $0.shown) }
        #expect(durable >= number && shown >= number)
        if random.next() % 8 == 0 { usleep(UInt32(random.next() % 300)) }
      }
    }
    let (written, durable, syncCount) = disk.state.withLock {
      ($0.written, $0.durable, $0.syncCount)
    }
    #expect(written == UInt64(threadCount * commitCount))
    #expect(durable == written)
    #expect(queue.durableCommit.rawValue == written)
    // Where a sync takes long, several share it.
    if microseconds > 0 { #expect(syncCount < threadCount * commitCount) }
  }

  /// When others stop coming, nobody is left who would wake the last one.
  @Test func `the last one is not forgotten`() {
    for burst in 0..<400 {
      let (disk, queue) = (Disk(), CommitQueue(CommitNumber(rawValue: 0)))
      runOnThreads(6) { thread in
        for commit in 0..<4 {
          let number = disk.write(queue)
          do {
            try queue.waitUntilDurable(CommitNumber(rawValue: number)) { () throws(StorageError) in
              try disk.sync(UInt32((burst * 7 + thread * 3 + commit) % 60))
            } publish: { _ in
              []
            }
          } catch {
            Issue.record("\(error)")
          }
        }
      }
      #expect(disk.state.withLock { $0.durable } == 24)
    }
  }

  @Test func `the error of a sync is everybody's, and stays`() {
    let (disk, queue) = (Disk(), CommitQueue(CommitNumber(rawValue: 0)))
    let errorCount = Mutex(0)
    runOnThreads(8) { _ in
      let number = disk.write(queue)
      do {
        try queue.waitUntilDurable(CommitNumber(rawValue: number)) { () throws(StorageError) in
          try disk.sync(3_000, failing: true)
        } publish: { _ in
          Issue.record("nothing is on disk")
          return []
        }
      } catch {
        errorCount.withLock { $0 += 1 }
      }
    }
    #expect(errorCount.withLock { $0 } == 8)
    #expect(disk.state.withLock { $0.syncCount } == 1)
    #expect(queue.durableCommit.rawValue == 0)
  }

  // MARK: Without a thread

  /// Threads that wait, and commits that wait without one.
  @Test(arguments: [0, 100, 2_000] as [UInt32])
  func `no function is called before a sync that began later has ended`(microseconds: UInt32) {
    let (disk, queue) = (Disk(), CommitQueue(CommitNumber(rawValue: 0)))
    let (threadCount, commitCount) = (6, microseconds > 1_000 ? 40 : 400)
    let group = DispatchGroup()
    runOnThreads(threadCount) { thread in
      var random = SeededGenerator(seed: UInt64(thread))
      let sync: @Sendable () throws(StorageError) -> Void = { () throws(StorageError) in
        try disk.sync(microseconds)
      }
      let publish: @Sendable (CommitNumber) -> [AnyObject] = { commit in
        disk.state.withLock { $0.shown = max($0.shown, commit.rawValue) }
        return []
      }
      for _ in 0..<commitCount {
        let number = disk.write(queue)
        let check: @Sendable (StorageError?) -> Void = { error in
          let (durable, shown) = disk.state.withLock { ($0.durable, $0.shown) }
          #expect(error == nil && durable >= number && shown >= number)
        }
        if thread % 3 == 0 {
          do {
            try queue.waitUntilDurable(
              CommitNumber(rawValue: number), sync: sync, publish: publish)
          } catch {
            Issue.record("\(error)")
          }
          check(nil)
        } else {
          group.enter()
          queue.whenDurable(CommitNumber(rawValue: number), sync: sync, publish: publish) {
            check($0)
            group.leave()
          }
        }
        if random.next() % 8 == 0 { usleep(UInt32(random.next() % 300)) }
      }
    }
    #expect(group.wait(timeout: .now() + 300) == .success)
    let (written, durable, syncCount) = disk.state.withLock {
      ($0.written, $0.durable, $0.syncCount)
    }
    #expect(written == UInt64(threadCount * commitCount))
    #expect(durable == written)
    if microseconds > 0 { #expect(syncCount < threadCount * commitCount) }
  }

  /// While one syncs, the others return at once, and one sync serves them all.
  @Test func `a commit that waits without a thread keeps none`() {
    let (disk, queue) = (Disk(), CommitQueue(CommitNumber(rawValue: 0)))
    let (began, door) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let first = disk.write(queue)
    let group = DispatchGroup()
    group.enter()
    runOnThread {
      queue.whenDurable(CommitNumber(rawValue: first)) { () throws(StorageError) in
        began.signal()
        door.wait()
        try disk.sync(0)
      } publish: { _ in
        []
      } finish: {
        #expect($0 == nil)
        group.leave()
      }
    }
    began.wait()
    let finished = Mutex(0)
    for _ in 0..<1_000 {
      group.enter()
      queue.whenDurable(CommitNumber(rawValue: disk.write(queue))) { () throws(StorageError) in
        try disk.sync(0)
      } publish: { _ in
        []
      } finish: {
        #expect($0 == nil)
        finished.withLock { $0 += 1 }
        group.leave()
      }
    }
    #expect(finished.withLock { $0 } == 0)
    door.signal()
    #expect(group.wait(timeout: .now() + 300) == .success)
    #expect(finished.withLock { $0 } == 1_000)
    #expect(disk.state.withLock { $0.syncCount } == 2)
  }

  @Test func `the error of a sync is also that of those that wait without a thread`() {
    let (disk, queue) = (Disk(), CommitQueue(CommitNumber(rawValue: 0)))
    let errorCount = Mutex(0)
    let group = DispatchGroup()
    for _ in 0..<50 { group.enter() }
    runOnThreads(5) { _ in
      for _ in 0..<10 {
        queue.whenDurable(CommitNumber(rawValue: disk.write(queue))) { () throws(StorageError) in
          try disk.sync(3_000, failing: true)
        } publish: { _ in
          Issue.record("nothing is on disk")
          return []
        } finish: { error in
          if error != nil { errorCount.withLock { $0 += 1 } }
          group.leave()
        }
      }
    }
    #expect(group.wait(timeout: .now() + 300) == .success)
    #expect(errorCount.withLock { $0 } == 50)
    #expect(disk.state.withLock { $0.syncCount } == 1)
  }

  /// As when a checkpoint or a new log has made everything durable.
  @Test func `a commit that becomes durable by other means finishes without a sync`() {
    let (disk, queue) = (Disk(), CommitQueue(CommitNumber(rawValue: 0)))
    let (began, door) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let first = disk.write(queue)
    let group = DispatchGroup()
    group.enter()
    runOnThread {
      queue.whenDurable(CommitNumber(rawValue: first)) { () throws(StorageError) in
        began.signal()
        door.wait()
      } publish: { _ in
        []
      } finish: { _ in
        group.leave()
      }
    }
    began.wait()
    let finished = Mutex(0)
    let second = CommitNumber(rawValue: disk.write(queue))
    queue.whenDurable(second) { () throws(StorageError) in
      Issue.record("there is nothing to sync")
    } publish: { _ in
      []
    } finish: { _ in
      finished.withLock { $0 += 1 }
    }
    queue.noteDurable(second)
    #expect(finished.withLock { $0 } == 1)
    door.signal()
    #expect(group.wait(timeout: .now() + 300) == .success)
  }
}
