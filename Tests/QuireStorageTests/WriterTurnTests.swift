import Foundation
import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// Writers that wait without a thread.
@Suite struct `Turns of writers` {
  /// What was called, in this order.
  private final class Calls: Sendable {
    private let names = Mutex<[String]>([])
    var all: [String] { names.withLock { $0 } }
    func add(_ name: String) { names.withLock { $0.append(name) } }
  }

  private func wait(_ store: PageStore, _ turn: WriterTurn, _ name: String, _ calls: Calls) {
    store.wait(for: turn) { calls.add(name) }
  }

  @Test func `the first that has come is called first, and others when it has had its turn`() throws
  {
    let (store, calls) = (PageStore.inMemory(), Calls())
    let turns = ["a", "b", "c"].map { ($0, WriterTurn()) }
    let transaction = try store.beginWrite()
    for (name, turn) in turns {
      // On another thread, as this one would wait for itself.
      runOnThreads(1) { _ in
        do {
          let early = try store.beginWriteIfFree(turn)
          #expect(early == nil)
        } catch {
          Issue.record("\(error)")
        }
      }
      wait(store, turn, name, calls)
    }
    #expect(calls.all.isEmpty)
    transaction.abort()
    #expect(calls.all == ["a"])
    // It has not come yet. Those behind it do not overtake it, nor does one that has just come.
    #expect(try store.beginWriteIfFree(turns[1].1) == nil)
    #expect(try store.beginWriteIfFree(WriterTurn()) == nil)
    for (index, (name, turn)) in turns.enumerated() {
      #expect(calls.all.count == index + 1 && calls.all.last == name)
      try #require(try store.beginWriteIfFree(turn)).abort()
    }
    #expect(calls.all.count == 3)
    try #require(try store.beginWriteIfFree(WriterTurn())).abort()
  }

  @Test func `one that a thread has overtaken is the first again`() throws {
    let (store, calls) = (PageStore.inMemory(), Calls())
    let (first, second) = (WriterTurn(), WriterTurn())
    let transaction = try store.beginWrite()
    wait(store, first, "first", calls)
    wait(store, second, "second", calls)
    transaction.abort()
    let other = try store.beginWrite()
    wait(store, first, "first again", calls)
    #expect(calls.all == ["first"])
    other.abort()
    #expect(calls.all == ["first", "first again"])
    // The turn is free: there is nothing to wait for.
    wait(store, first, "at once", calls)
    #expect(calls.all.last == "at once")
    try #require(try store.beginWriteIfFree(first)).abort()
    #expect(calls.all.last == "second")
  }

  @Test func `one that gives up is called at once, and keeps nobody waiting`() throws {
    let (store, calls) = (PageStore.inMemory(), Calls())
    let turns = (0..<4).map { _ in WriterTurn() }
    let transaction = try store.beginWrite()
    for (number, turn) in turns.enumerated() { wait(store, turn, "\(number)", calls) }
    store.giveUp(turns[1])
    #expect(calls.all == ["1"])
    wait(store, turns[1], "1 again", calls)
    #expect(calls.all == ["1", "1 again"])
    transaction.abort()
    #expect(calls.all.last == "0")
    // Called, and not come yet.
    store.giveUp(turns[0])
    #expect(calls.all.last == "2")
    let other = try #require(try store.beginWriteIfFree(turns[2]))
    store.giveUp(turns[3])
    #expect(calls.all == ["1", "1 again", "0", "2", "3"])
    other.abort()
    try #require(try store.beginWriteIfFree(WriterTurn())).abort()
  }

  @Test func `a store that is closed meanwhile refuses all that wait`() throws {
    let (store, calls) = (PageStore.inMemory(), Calls())
    let turns = [WriterTurn(), WriterTurn()]
    let transaction = try store.beginWrite()
    for turn in turns { wait(store, turn, "called", calls) }
    transaction.abort()
    try store.close()
    for turn in turns {
      #expect(throws: StorageError.closed) { _ = try store.beginWriteIfFree(turn) }
      store.giveUp(turn)
    }
    #expect(calls.all == ["called", "called"])
  }

  @Test func `the thread that writes is not called to wait for itself`() throws {
    let store = PageStore.inMemory()
    let transaction = try store.beginWrite()
    #expect(throws: StorageError.writerBusy) { _ = try store.beginWriteIfFree(WriterTurn()) }
    transaction.abort()
  }

  /// Threads and those without one, as many as there may be: each has its turn, one at a time.
  @Test func `nobody is forgotten among threads and writers without one`() throws {
    let (store, pool) = (PageStore.inMemory(), WorkerThreads(width: 3))
    let inside = Mutex(0)
    let done = Mutex(0)
    @Sendable func write(_ transaction: WriteTransaction) {
      #expect(
        inside.withLock { inside in
          inside += 1
          return inside
        } == 1)
      inside.withLock { $0 -= 1 }
      transaction.abort()
    }
    @Sendable func attempt(_ turn: WriterTurn, _ group: DispatchGroup) {
      do {
        guard let transaction = try store.beginWriteIfFree(turn) else {
          return store.wait(for: turn) { pool.run { attempt(turn, group) } }
        }
        write(transaction)
        done.withLock { $0 += 1 }
      } catch {
        Issue.record("\(error)")
      }
      group.leave()
    }
    for _ in 0..<20 {
      let group = DispatchGroup()
      for _ in 0..<100 {
        group.enter()
        let turn = WriterTurn()
        pool.run { attempt(turn, group) }
      }
      runOnThreads(4) { _ in
        for _ in 0..<25 {
          do { write(try store.beginWrite()) } catch { Issue.record("\(error)") }
        }
      }
      #expect(group.wait(timeout: .now() + 300) == .success)
    }
    #expect(done.withLock { $0 } == 2_000)
  }
}
