// What an application and its tests do with stores as such: make them, open them, migrate them.

extension Workload {
  static let stackCreate = Workload(
    name: "stack_create", summary: "20 entities in memory: create, insert, save, fetch, release",
    count: 2_000, shortCount: 20, modes: [.memory], goals: [Goal(.rate(atLeast: 20_000))],
    contenders: [
      Contender(engine: .quire, body: QuireStacks.create),
      Contender(engine: .sqlite, body: SQLiteStacks.create),
    ])

  static let openCloseSmall = Workload(
    name: "open_close_small", summary: "300 objects: open, fetch one object, close",
    count: 1_000, shortCount: 10, modes: [.full],
    contenders: [
      Contender(engine: .quire, fixture: QuireStacks.makeFixture, body: QuireStacks.openAndClose),
      Contender(
        engine: .sqlite, fixture: SQLiteStacks.makeFixture, body: SQLiteStacks.openAndClose),
    ])

  static let migrateSmall = Workload(
    name: "migrate_small", summary: "300 objects in a fresh copy: open call to durable commit",
    count: 50, shortCount: 3, modes: [.full], unit: .millisecondsEach,
    parts: [
      Part(
        name: "migrate_small",
        goals: [Goal(.milliseconds(atMost: 200)), Goal(.times(1, .sqlite))]),
      // What is left when the time in write and sync calls is taken off.
      Part(name: "migrate_small_outside", goals: [Goal(.milliseconds(atMost: 1.5))]),
    ],
    contenders: [
      Contender(engine: .quire, fixture: QuireStacks.makeFixture, body: QuireStacks.migrate),
      Contender(engine: .sqlite, fixture: SQLiteStacks.makeFixture, body: SQLiteStacks.migrate),
    ])
}
