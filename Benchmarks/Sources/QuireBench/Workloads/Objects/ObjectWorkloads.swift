// The gallery through managed objects and a context, as an application would, beside two tables
// with the indexes that the model declares.

extension Workload {
  static let objInsert = Workload(
    name: "obj_insert", summary: "N artworks set up property by property, one save",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(2, .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeArtists, body: QuireObjects.insert,
        verify: { try QuireObjects.verify($0, updatedCount: 0) }),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeArtists, body: SQLiteObjects.insert,
        verify: { try SQLiteObjects.verify($0, updatedCount: 0) }),
    ])

  static let objFetchAll = Workload(
    name: "obj_fetch_all", summary: "all N, every attribute and the artist's id read",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [
      Goal(.times(1, .sqlite), in: .ordered), Goal(.memory(atMostMegabytes: 40), in: .ordered),
    ],
    contenders: [
      Contender(engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.fetchAll),
      Contender(engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.fetchAll),
    ])

  static let objUpdate = Workload(
    name: "obj_update", summary: "N / 10 by id: fetch, change the price; one save",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(3, .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.update,
        verify: { try QuireObjects.verify($0, updatedCount: $0.count / 10) }),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.update,
        verify: { try SQLiteObjects.verify($0, updatedCount: $0.count / 10) }),
    ])

  static let objInsertBatched = Workload(
    name: "obj_insert_batched", summary: "N artworks, a save every 1,000",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(2, .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeArtists, body: QuireObjects.insertBatched,
        verify: { try QuireObjects.verify($0, updatedCount: 0) }),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeArtists, body: SQLiteObjects.insertBatched,
        verify: { try SQLiteObjects.verify($0, updatedCount: 0) }),
    ])

  static let objFetchFaults = Workload(
    name: "obj_fetch_faults", summary: "all N, nothing of them read",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    // Of what SQLite takes to read them, as nobody asks it for less.
    goals: [Goal(.timesRowOf(3, "obj_fetch_all", .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.fetchFaults),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.fetchFaults),
    ])

  static let objRelease = Workload(
    name: "obj_release", summary: "N fetched objects, of which all was read, are let go of",
    count: 100_000, shortCount: 500, modes: [.ordered, .memory],
    contenders: [
      Contender(engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.release)
    ])

  static let objFetchByID = Workload(
    name: "obj_fetch_by_pk", summary: "N by id in shuffled order, every attribute read",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(2, .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.fetchByID),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.fetchByID),
    ])

  static let objFetchBySlug = Workload(
    name: "obj_fetch_by_slug", summary: "N requests for one slug each, every attribute read",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(2, .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.fetchBySlug),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.fetchBySlug),
    ])

  static let objBeginsWith = Workload(
    name: "obj_begins_with", summary: "10,000 requests for N / 10,000 slugs by how they begin",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(2, .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.beginsWith),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.beginsWith),
    ])

  static let objFilterAndSort = Workload(
    name: "obj_filter_sort", summary: "20 times price > x sorted by createdAt, limit 1,000",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(3, .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.filterAndSort),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.filterAndSort),
    ])

  static let objTraverse = Workload(
    name: "obj_traverse", summary: "each artist's artworks, every attribute read",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(2, .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.traverse),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.traverse),
    ])

  static let objGroup = Workload(
    name: "obj_group", summary: "number, sum and average of prices by artist, ten times",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(1.5, .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.group),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.group),
    ])

  static let objCount = Workload(
    name: "obj_count", summary: "how many artworks each artist has, asked one by one, ten times",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(5, .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.count),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.count),
    ])

  static let objGroupCount = Workload(
    name: "obj_group_count", summary: "number of artworks by artist, ten times",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.groupCount),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.groupCount),
    ])

  static let objDelete = Workload(
    name: "obj_delete", summary: "N / 10 by id: fetch, delete; one save",
    count: 100_000, shortCount: 500, modes: [.ordered, .full, .memory],
    goals: [Goal(.times(3, .sqlite), in: .ordered)],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireObjects.makeAll, body: QuireObjects.delete),
      Contender(
        engine: .sqlite, fixture: SQLiteObjects.makeAll, body: SQLiteObjects.delete),
    ])
}
