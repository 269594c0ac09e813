/// One row of the table: the same work done by us and by the peers.
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
  /// What the figure of ours has to be, where that was decided.
  var goal: Goal?
  let contenders: [Contender]

  enum Unit: Sendable { case operationsPerSecond, millisecondsEach }

  enum Goal: Sendable {
    case atLeast(operationsPerSecond: Double)
    case within(milliseconds: Double)
  }

  static let all: [Workload] = [
    .kvSeqPut, .kvRandGet, .kvScan,
    .objInsert, .objFetchAll, .objUpdate,
    .stackCreate, .openCloseSmall, .migrateSmall,
  ]

  static func named(_ name: String) -> Workload? { all.first { $0.name == name } }

  func contender(_ engine: Contender.Engine) -> Contender? {
    contenders.first { $0.engine == engine }
  }
}
