/// The same work done by us and by the peers; mostly one row of the table.
struct Workload: Sendable {
  let name: String
  /// What is timed, in half a line.
  let summary: String
  /// N of the definitions in the README.
  let count: Int
  /// N of a run that only shows that everything works.
  let shortCount: Int
  /// In the order of the table; the first is meant when none is named.
  let modes: [Mode]
  /// How the figures are shown.
  var unit = Unit.operationsPerSecond
  /// Whether N is how long it runs.
  var countIsSeconds = false
  /// What the figures of ours have to be, where that was decided.
  var goals: [Goal] = []
  /// The rows it makes when that is not one of its own name.
  var parts: [Part] = []
  let contenders: [Contender]

  /// One of several figures that a workload has at once.
  struct Part: Sendable {
    let name: String
    let goals: [Goal]
  }

  enum Unit: Sendable {
    case operationsPerSecond, millisecondsEach
    /// A run's time stands for bytes, a microsecond for each.
    case bytesEach
  }

  static let all: [Workload] = [
    .overwriteFdatasync, .appendFdatasync,
    .kvSeqPut, .kvRandPut, .kvRandGet, .kvScan, .kvBulk,
    .kviSeqPut, .kviRandPut, .kviRandGet, .kviScan, .kviBulk,
    .kvLargeScan, .kvLargeUpdate,
    .durableCommit, .durableCommit8, .concurrency, .processes1, .processes2,
    .processes4, .turns2, .processesOpen, .processesHear, .ship,
    .kvOpenCloseSmall, .kvOpenClose,
    .objInsert, .objInsertBatched, .objFetchAll, .objFetchFaults, .objRelease, .objFetchByID,
    .objFetchBySlug, .objBeginsWith, .objFilterAndSort, .objLiveList, .objTraverse, .objGroup,
    .objGroupCount, .objCount, .objUpdate, .objDelete,
    .objWriteThreads, .objWriteTasks, .objReadWait, .objReadAwait, .taskTicker,
    .batchInsert, .batchInsertMany, .batchUpdate, .batchDelete,
    .stackCreate, .openCloseSmall, .migrateSmall, .migrateRewrite, .migrateRewriteMillion,
    .migrateDeferred, .migrateCustom, .migrateKinds,
  ]

  static func named(_ name: String) -> Workload? {
    (all + Series.all.flatMap(\.steps)).first { $0.name == name }
  }

  var rows: [Part] { parts.isEmpty ? [Part(name: name, goals: goals)] : parts }

  func contender(_ engine: Contender.Engine) -> Contender? {
    if engine == .tuned {
      // The same statements; what differs is how the database is opened.
      return contender(.sqlite).map {
        Contender(engine: .tuned, fixture: $0.fixture, body: $0.body, verify: $0.verify)
      }
    }
    return contenders.first { $0.engine == engine }
  }
}
