import Quire
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// What commits of one put each leave to be sent elsewhere.

extension Run {
  /// Notes how many bytes an operation takes.
  fileprivate func record(_ name: String, _ operationCount: Int, bytes: Int) {
    record(name, operationCount, in: .microseconds(bytes))
  }
}

extension QuireKeyValue {
  /// The segments, in a folder that already has the base. They are written every 100 commits, as
  /// the second between two of them has some.
  func ship(_ run: Run) throws {
    let store = try PageStore.open(run.path("store.quire"), options: try options(run))
    let folder = run.url("shipped")
    let shipping = try StoreShipping(of: run.url("store.quire"), to: folder)
    try shipping.ship()
    let base = try segmentByteCount(folder)
    let data = KeyValueData()
    try run.time {
      for index in 0..<run.count {
        try put(CollectionOfOne(Concurrency.newNumber(index)), data, store)
        if index % 100 == 99 { try shipping.ship() }
      }
      try shipping.ship()
    }
    run.record("shipped_bytes", run.count, bytes: try segmentByteCount(folder) - base)
    try store.close()
    let generations = try StoreShipping.generations(in: folder)
    try run.expect(generations.count, 1, "generations")
    try run.expect(generations.map(\.missingCommitCount), [0], "commits that are missing")
  }

  private func segmentByteCount(_ folder: URL) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
      .filter { $0.hasSuffix(".segment") }
      .reduce(0) { try $0 + WorkFolder.byteCount(of: folder.appending(path: $1)) }
  }
}

extension SQLiteKeyValue {
  /// The write-ahead log, which is what others ship of it: the pages that a commit changes.
  func ship(_ run: Run) throws {
    let database = try open(run, isShared: true)
    // The log begins with the first commit, and has all of them.
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0")
    let rows = try SQLiteRows(database, keys)
    try run.time {
      for index in 0..<run.count { try rows.put(Concurrency.newNumber(index)) }
    }
    run.record(
      "shipped_bytes", run.count, bytes: try WorkFolder.byteCount(of: run.url("store.sqlite-wal")))
  }
}
