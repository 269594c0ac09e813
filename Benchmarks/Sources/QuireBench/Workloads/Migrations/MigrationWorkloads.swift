// A large store brought to the next version of its model.

extension Workload {
  static let migrateRewrite = rewrite("migrate_rewrite", count: 100_000)
  static let migrateRewriteMillion = rewrite("migrate_rewrite_1m", count: 1_000_000)

  /// What a peer calls adding a column: no row is touched before somebody writes it.
  static let migrateDeferred = Workload(
    name: "migrate_deferred",
    summary: "a required attribute for N artworks, rows left: open call to durable commit",
    count: 1_000_000, shortCount: 500, modes: [.full], unit: .millisecondsEach,
    parts: [
      Part(name: "migrate_deferred", goals: [Goal(.times(1, .sqlite))]),
      // What is left when the time in write and sync calls is taken off.
      Part(name: "migrate_deferred_outside", goals: [Goal(.milliseconds(atMost: 1.2))]),
    ],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireMigrations.makeFixture, body: QuireMigrations.leaveRows,
        verify: QuireMigrations.verify),
      Contender(
        engine: .sqlite, fixture: SQLiteMigrations.makeFixture, body: SQLiteMigrations.addColumn,
        verify: SQLiteMigrations.verify),
    ])

  /// How many rows of each kind of change fit into a time: ours alone, as the plot of the
  /// documentation needs it.
  static let migrateKinds = Workload(
    name: "migrate_kinds", summary: "one store, migrated in each way in turn: rows a second",
    count: 200_000, shortCount: 500, modes: [.full],
    parts: MigrationKinds.all.map { Part(name: "migrate_kind_" + $0.name, goals: []) },
    contenders: [
      Contender(
        engine: .quire, fixture: MigrationKinds.makeFixture, body: MigrationKinds.migrate)
    ])

  static let migrateCustom = Workload(
    name: "migrate_custom",
    summary: "a policy makes teachers and students of N persons, another file",
    count: 100_000, shortCount: 500, modes: [.full], unit: .millisecondsEach,
    goals: [Goal(.milliseconds(atMost: 200))],
    contenders: [
      Contender(
        engine: .quire, fixture: QuireMigrations.makePersons, body: QuireMigrations.split,
        verify: QuireMigrations.verifySplit),
      Contender(
        engine: .sqlite, fixture: SQLiteMigrations.makePersons, body: SQLiteMigrations.split,
        verify: SQLiteMigrations.verifySplit),
    ])

  private static func rewrite(_ name: String, count: Int) -> Workload {
    let outside = name + "_outside"
    return Workload(
      name: name,
      summary: "a required attribute for each of N artworks: open call to durable commit",
      count: count, shortCount: 500, modes: [.full], unit: .millisecondsEach,
      parts: [
        Part(name: name, goals: [Goal(.times(4, .sqlite))]),
        // What is left when the time in write and sync calls is taken off.
        Part(name: outside, goals: [Goal(.milliseconds(atMost: 200))]),
      ],
      contenders: [
        Contender(
          engine: .quire, fixture: QuireMigrations.makeFixture,
          body: { try QuireMigrations.rewrite($0, name, outside) },
          verify: QuireMigrations.verify),
        Contender(
          engine: .sqlite, fixture: SQLiteMigrations.makeFixture,
          body: { try SQLiteMigrations.rewrite($0, name) },
          verify: SQLiteMigrations.verify),
      ])
  }
}
