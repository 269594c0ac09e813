// The gallery changed where it is stored, by one request each, beside one statement, or one that is
// prepared once.

extension Workload {
  static let batchInsert = Workload(
    name: "batch_insert", summary: "N artworks by one request, with two indexes",
    count: 1_000_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(3, .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeArtists, body: QuireBatches.insert,
        verify: { try QuireObjects.verify($0, updatedCount: 0) }),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeArtists, body: SQLiteBatches.insert,
        verify: { try SQLiteObjects.verify($0, updatedCount: 0) }),
    ])

  static let batchInsertMany = Workload(
    name: "batch_insert_many", summary: "the same of 10 N, made on the way",
    count: 1_000_000, shortCount: 500, modes: [.ordered],
    goals: [Goal(.memory(atMostMegabytes: 256), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeArtists, body: QuireBatches.insertMany),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeArtists, body: SQLiteBatches.insertMany),
    ])

  static let batchUpdate = Workload(
    name: "batch_update", summary: "all N prices doubled",
    count: 1_000_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(2, .sqlite), in: .ordered)],
    contenders: [
      Contender(engine: .quire, fixture: QuireBatches.makeAll, body: QuireBatches.update),
      Contender(engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteBatches.update),
    ])

  static let batchDelete = Workload(
    name: "batch_delete", summary: "N / 2 artworks deleted by a predicate without an index",
    count: 1_000_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(5, .sqlite), in: .ordered)],
    contenders: [
      Contender(engine: .quire, fixture: QuireBatches.makeAll, body: QuireBatches.delete),
      Contender(engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteBatches.delete),
    ])
}
