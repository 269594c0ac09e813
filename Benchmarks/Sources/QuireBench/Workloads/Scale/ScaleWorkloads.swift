// One store of each size, made once, and everything that is asked of it in a process of its own:
// what grows with the size of a store, and what does not.

/// Workloads that follow one another in the same folder, at several sizes.
struct Series: Sendable {
  let name: String
  let steps: [Workload]
  /// The numbers of objects, smallest first.
  let sizes: [Int]

  static let all: [Series] = [.scale]

  static let scale = Series(
    name: "scale",
    steps: [
      .scaleInsert, .scaleOpen, .scaleByID, .scaleBySlug, .scaleBeginsWith, .scaleCount,
      .scaleByArtist, .scaleScan, .scaleGroup, .scaleUpdate, .scaleDelete, .scaleMigrate,
    ],
    sizes: [1_000, 10_000, 100_000, 1_000_000, 10_000_000])
}

extension Workload {
  fileprivate static let scaleInsert = step(
    "scale_insert", "N artworks by one request, with two indexes, and the store closed",
    QuireScale.insert, SQLiteScale.insert)

  fileprivate static let scaleOpen = step(
    "scale_open", "open, read one artwork, close", unit: .millisecondsEach,
    QuireScale.open, SQLiteScale.open)

  fileprivate static let scaleByID = step(
    "scale_by_id", "10,000 artworks by their IDs, every attribute read",
    QuireScale.fetchByID, SQLiteScale.fetchByID)

  fileprivate static let scaleBySlug = step(
    "scale_by_slug", "10,000 artworks by their slugs",
    QuireScale.fetchBySlug, SQLiteScale.fetchBySlug)

  fileprivate static let scaleBeginsWith = step(
    "scale_begins_with", "artworks by beginnings that ten slugs have",
    QuireScale.beginsWith, SQLiteScale.beginsWith)

  fileprivate static let scaleCount = step(
    "scale_count", "how many artworks each of 1,000 artists has, by an index",
    QuireScale.count, SQLiteScale.count)

  fileprivate static let scaleByArtist = step(
    "scale_by_artist", "the artworks of ten artists, by an index",
    QuireScale.fetchByArtist, SQLiteScale.fetchByArtist)

  fileprivate static let scaleScan = step(
    "scale_scan", "the first 1,000 by date of those above a price, without an index",
    QuireScale.scan, SQLiteScale.scan)

  fileprivate static let scaleGroup = step(
    "scale_group", "number, sum and average of prices by artist",
    QuireScale.group, SQLiteScale.group)

  fileprivate static let scaleUpdate = step(
    "scale_update", "the prices of ten artists' artworks raised, a transaction each",
    QuireScale.update, SQLiteScale.update)

  fileprivate static let scaleDelete = step(
    "scale_delete", "the artworks of ten artists deleted, a transaction each",
    QuireScale.delete, SQLiteScale.delete)

  fileprivate static let scaleMigrate = step(
    "scale_migrate", "a required attribute for each artwork, all rows written anew",
    QuireScale.migrate, SQLiteScale.migrate)

  private static func step(
    _ name: String, _ summary: String, unit: Unit = .operationsPerSecond,
    _ ours: @escaping Contender.Step, _ theirs: @escaping Contender.Step
  ) -> Workload {
    Workload(
      name: name, summary: summary, count: 1_000_000, shortCount: 1_000, modes: [.ordered],
      unit: unit,
      contenders: [
        Contender(engine: .quire, body: ours), Contender(engine: .sqlite, body: theirs),
      ])
  }
}
