import Dispatch
import Foundation
import QuireSimulation
import QuireStorage
import Synchronization
import Testing

// While a store was looked at for damage, which reads pages that nothing vouches for, another
// thread of the process could not open it to be read: a test of fixtures failed now and then.

/// One file that is opened several times in one process.
@Suite struct SharedOpeningTests {
  private enum Use: CaseIterable {
    case writing, reading, salvaging

    var options: PageStoreOptions {
      var options = Proof.options
      options.isReadOnly = self != .writing
      options.readsUnvouchedPages = self == .salvaging
      return options
    }
  }

  private func values(_ store: PageStore) throws -> [UInt8] {
    try store.read { try Proof.values($0) }
  }

  /// It had its name, and was still locked by the thread that made it: to another one it was in use
  /// by an unknown process.
  @Test func `a store that one thread has just made is opened by another`() throws {
    let disk = HookedDisk()
    let (isTrying, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let failures = Mutex<[String]>([])
    disk.afterPublishing {
      Thread {
        isTrying.signal()
        do {
          try PageStore.open("store", options: Proof.options, in: disk).close()
        } catch {
          failures.withLock { [text = "\(error)"] in $0.append(text) }
        }
        isOver.signal()
      }.start()
      isTrying.wait()
      // Time enough to fail; it is not to be over before the store is this thread's.
      if isOver.wait(timeout: .now() + .milliseconds(100)) == .success { isOver.signal() }
    }
    let store = try PageStore.open("store", options: Proof.options, in: disk)
    isOver.wait()
    #expect(failures.withLock { $0 } == [])
    try Proof.put(store, 0..<3, 7)
    #expect(try values(store) == [7, 7, 7])
    try store.close()
  }

  @Test func `whoever reads a store opens it beside others who do`() throws {
    for first in Use.allCases {
      for second in Use.allCases {
        for isFirstClosedFirst in [false, true] {
          let disk = SimulatedDisk()
          let new = try PageStore.open("store", options: Proof.options, in: disk)
          try Proof.put(new, 0..<3, 7)
          try new.close()
          let one = try PageStore.open("store", options: first.options, in: disk)
          if first == .salvaging, second == .writing {
            // Of what nothing vouches for, a writer could change something meanwhile.
            #expect(throws: StorageError.locked(.readers)) {
              try PageStore.open("store", options: second.options, in: disk)
            }
            #expect(try values(one) == [7, 7, 7])
            try one.close()
          } else {
            let other = try PageStore.open("store", options: second.options, in: disk)
            let third = try PageStore.open("store", options: second.options, in: disk)
            try (isFirstClosedFirst ? one : other).close()
            let rest = isFirstClosedFirst ? other : one
            #expect(try values(rest) == [7, 7, 7])
            try third.close()
            #expect(try values(rest) == [7, 7, 7])
            try rest.close()
          }
          // Nothing is left open or locked.
          let last = try PageStore.open("store", options: Proof.options, in: disk)
          try Proof.put(last, 0..<1, 8)
          #expect(try values(last) == [8, 7, 7])
          try last.close()
        }
      }
    }
  }

  @Test func `a reader follows a writer of the same process`() throws {
    let disk = SimulatedDisk()
    try PageStore.open("store", options: Proof.options, in: disk).close()
    let reader = try PageStore.open("store", options: Use.reading.options, in: disk)
    let writer = try PageStore.open("store", options: Use.writing.options, in: disk)
    let late = try PageStore.open("store", options: Use.reading.options, in: disk)
    for number in 1...3 as ClosedRange<UInt8> {
      try Proof.put(writer, 0..<3, number)
      #expect(try values(reader) == [number, number, number])
      #expect(try values(late) == [number, number, number])
      try writer.compact()
    }
    try writer.close()
    for store in [reader, late] { #expect(try values(store) == [3, 3, 3]) }
    try reader.close()
    try late.close()
  }

  @Test func `who reads what nothing vouches for does not read it for others`() throws {
    let disk = SimulatedDisk()
    let new = try PageStore.open("store", options: Proof.options, in: disk)
    try Proof.put(new, 0..<3, 7)
    try new.close()
    var files = disk.files
    // The first page map.
    files["store"]?[3 * 512 + 100] ^= 1
    for isSalvagingFirst in [false, true] {
      let disk = SimulatedDisk(files)
      var salvaging: PageStore?
      if isSalvagingFirst {
        salvaging = try PageStore.open("store", options: Use.salvaging.options, in: disk)
      }
      #expect(throws: StorageError.self) {
        try PageStore.open("store", options: Use.reading.options, in: disk)
      }
      let store = try PageStore.open("store", options: Use.salvaging.options, in: disk)
      #expect(try values(store) == [7, 7, 7])
      try store.close()
      try salvaging?.close()
    }
  }
}
