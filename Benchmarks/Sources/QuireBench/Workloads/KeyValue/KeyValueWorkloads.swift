// The lowest floor alone: an ordered map of bytes beside a table with a blob for its key.

extension Workload {
  static let kvSeqPut = Workload(
    name: "kv_seq_put", summary: "puts in the order of the keys, 1,000 a commit",
    count: 1_000_000, shortCount: 5_000, modes: [.full, .none, .memory],
    contenders: [
      Contender(
        engine: .quire, body: QuireKeyValue.put,
        verify: { try QuireKeyValue.verify($0) }),
      Contender(
        engine: .sqlite, body: SQLiteKeyValue.put,
        verify: { try SQLiteKeyValue.verify($0) }),
    ])

  static let kvRandGet = Workload(
    name: "kv_rand_get", summary: "gets in shuffled order within one snapshot",
    count: 1_000_000, shortCount: 5_000, modes: [.full],
    contenders: [
      Contender(engine: .quire, fixture: QuireKeyValue.put, body: QuireKeyValue.get),
      Contender(engine: .sqlite, fixture: SQLiteKeyValue.put, body: SQLiteKeyValue.get),
    ])

  static let kvScan = Workload(
    name: "kv_scan", summary: "every key and value, in order",
    count: 1_000_000, shortCount: 5_000, modes: [.full],
    contenders: [
      Contender(engine: .quire, fixture: QuireKeyValue.put, body: QuireKeyValue.scan),
      Contender(engine: .sqlite, fixture: SQLiteKeyValue.put, body: SQLiteKeyValue.scan),
    ])
}
