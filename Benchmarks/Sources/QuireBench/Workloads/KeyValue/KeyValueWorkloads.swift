// The lowest floor alone: an ordered map of bytes, or of integers to bytes, beside SQLite's two
// kinds of table and LMDB's two kinds of key.

extension Workload {
  static let kvSeqPut = put("kv_seq_put", .bytes, .ascending)
  static let kvRandPut = put("kv_rand_put", .bytes, .shuffled)
  static let kvRandGet = get("kv_rand_get", .bytes)
  static let kvScan = scan("kv_scan", .bytes)
  static let kvBulk = bulk("kv_bulk", .bytes)

  static let kviSeqPut = put("kvi_seq_put", .integers, .ascending)
  static let kviRandPut = put("kvi_rand_put", .integers, .shuffled)
  static let kviRandGet = get("kvi_rand_get", .integers)
  static let kviScan = scan("kvi_scan", .integers)
  static let kviBulk = bulk("kvi_bulk", .integers)

  private static let millionCount = 1_000_000
  private static let fewCount = 3_000

  private static func put(_ name: String, _ keys: KeyKind, _ order: KeyOrder) -> Workload {
    let isAscending = order == .ascending
    let rates =
      isAscending
      ? [Goal(.times(2, .sqlite))] : [Goal(.times(3, .sqlite)), Goal(.times(1, .lmdb))]
    let disk = [Mode.ordered, .full].map { Goal(.disk(atMostThoseOf: .sqlite), in: $0) }
    return Workload(
      name: name,
      summary: isAscending
        ? "puts in the order of the keys, 1,000 a commit"
        : "puts in shuffled order, 1,000 a commit",
      count: millionCount, shortCount: fewCount,
      // One row in memory is enough to see what the disk costs.
      modes: name == "kv_seq_put" ? [.ordered, .full, .none, .memory] : [.ordered, .full],
      goals: rates + disk,
      contenders: keys.engines.map { engine, steps in
        Contender(engine: engine, body: steps.put(order), verify: { try steps.verify($0) })
      })
  }

  // Reading is the same in every mode; this one does not wait for the disk to make the fixture.

  private static func get(_ name: String, _ keys: KeyKind) -> Workload {
    Workload(
      name: name, summary: "gets in shuffled order within one snapshot",
      count: millionCount, shortCount: fewCount, modes: [.ordered],
      goals: [Goal(.times(1, .lmdb)), Goal(.times(2.5, .sqlite))],
      contenders: keys.engines.map { engine, steps in
        Contender(
          engine: engine, fixture: steps.put(.ascending), body: { try steps.get($0) })
      })
  }

  private static func scan(_ name: String, _ keys: KeyKind) -> Workload {
    Workload(
      name: name, summary: "every key and value, in order",
      count: millionCount, shortCount: fewCount, modes: [.ordered],
      goals: [Goal(.times(1.5, .sqlite)), Goal(.times(1, .lmdb), isStretch: true)],
      contenders: keys.engines.map { engine, steps in
        Contender(
          engine: engine, fixture: steps.put(.ascending), body: { try steps.scan($0) })
      })
  }

  private static func bulk(_ name: String, _ keys: KeyKind) -> Workload {
    Workload(
      name: name,
      summary: "a tree built from sorted input in one transaction, LMDB's by MDB_APPEND",
      count: millionCount, shortCount: fewCount, modes: [.ordered, .full],
      goals: [Goal(.times(2, .sqlite)), Goal(.times(1, .lmdb), in: .ordered)],
      contenders: keys.engines.map { engine, steps in
        Contender(
          engine: engine, body: { try steps.bulk($0) }, verify: { try steps.verify($0) })
      })
  }

  // MARK: More than fits

  /// Two gigabytes under a cache of the usual size: what is measured is the memory as well.
  static let kvLargeScan = large("kv_large_scan", "every key and value of 2 GB, in order") {
    steps in
    { try steps.scan($0) }
  }
  static let kvLargeUpdate = large(
    "kv_large_update", "new values for a hundredth of 2 GB, all over it, 1,000 a commit",
    verify: { steps in { try steps.verifyUpdates($0) } }
  ) { steps in
    { try steps.update($0) }
  }

  private static func large(
    _ name: String, _ summary: String, verify: ((any KeyValueSteps) -> Contender.Step)? = nil,
    _ body: (any KeyValueSteps) -> Contender.Step
  ) -> Workload {
    Workload(
      name: name, summary: summary, count: 17_000_000, shortCount: fewCount, modes: [.ordered],
      goals: [Goal(.memory(atMostMegabytes: 128))],
      contenders: KeyKind.bytes.engines(.usual).map { engine, steps in
        Contender(
          engine: engine, fixture: { try steps.bulk($0) }, body: body(steps),
          verify: verify?(steps))
      })
  }

  // MARK: Commits, threads, openings

  static let durableCommit = Workload(
    name: "durable_commit", summary: "one put a commit",
    count: 2_000, shortCount: 50, modes: [.full], goals: [Goal(.times(0.9, .machine))],
    contenders: KeyKind.bytes.engines.map { engine, steps in
      Contender(
        engine: engine, body: { try steps.commitOneByOne($0) }, verify: { try steps.verify($0) })
    } + [Machine.overwriting])

  static let durableCommit8 = Workload(
    name: "durable_commit_8", summary: "one put a commit from eight threads, N in all",
    count: 16_000, shortCount: 80, modes: [.full], goals: [Goal(.timesRow(4, "durable_commit"))],
    contenders: KeyKind.bytes.engines.map { engine, steps in
      Contender(
        engine: engine, body: { try steps.commitFromThreads($0) },
        verify: { try steps.verify($0) })
    } + [Machine.overwriting])

  static let concurrency = Workload(
    name: "concurrency", summary: "N seconds of one writer in batches of 100 beside one reader",
    count: 5, shortCount: 1, modes: [.ordered, .full], countIsSeconds: true,
    parts: [
      Part(name: "conc_reads", goals: [Goal(.times(1, .lmdb))]),
      Part(name: "conc_writes", goals: [Goal(.times(2, .sqlite))]),
    ],
    contenders: KeyKind.bytes.engines.map { engine, steps in
      Contender(
        engine: engine, fixture: { try steps.makeConcurrencyFixture($0) },
        body: { try steps.writeAndRead($0) })
    })

  static let processes1 = processes(1)
  static let processes2 = processes(2)
  static let processes4 = processes(4)

  private static func processes(_ readers: Int) -> Workload {
    Workload(
      name: "processes_\(readers)",
      summary: "N seconds of one writer in batches of 100 beside \(readers) reading processes",
      count: 5, shortCount: 1, modes: [.ordered, .full], countIsSeconds: true,
      parts: [
        Part(
          name: "proc_reads_\(readers)",
          goals: [Goal(.times(1, .sqlite))] + (readers == 1 ? [Goal(.times(1, .lmdb))] : [])),
        Part(name: "proc_writes_\(readers)", goals: []),
      ],
      contenders: KeyKind.bytes.engines.map { engine, steps in
        Contender(
          engine: engine, fixture: { try steps.makeConcurrencyFixture($0) },
          body: { try Concurrency.measure($0, readers: readers, steps) })
      })
  }

  static let turns2 = Workload(
    name: "turns_2", summary: "N seconds of two processes that commit one entry at a time",
    count: 5, shortCount: 1, modes: [.ordered, .full], countIsSeconds: true,
    parts: [Part(name: "proc_turns_2", goals: [Goal(.times(1, .sqlite))])],
    contenders: KeyKind.bytes.engines.map { engine, steps in
      Contender(
        engine: engine, fixture: { try steps.makeConcurrencyFixture($0) },
        body: { try Concurrency.measureTurns($0, processes: 2, steps) })
    })

  static let processesOpen = Workload(
    name: "processes_open",
    summary: "N seconds of opening, reading one row and closing, beside a process that writes",
    count: 5, shortCount: 1, modes: [.ordered, .full], countIsSeconds: true,
    parts: [Part(name: "proc_open", goals: [])],
    contenders: KeyKind.bytes.engines.map { engine, steps in
      Contender(
        engine: engine, fixture: { try steps.makeConcurrencyFixture($0) },
        body: { try Concurrency.measureOpenings($0, steps) })
    })

  static let processesHear = Workload(
    name: "processes_hear",
    summary: "N seconds of a commit every 2 ms: from its beginning until another process sees it",
    count: 5, shortCount: 1, modes: [.ordered, .full], unit: .millisecondsEach,
    countIsSeconds: true, parts: [Part(name: "proc_heard", goals: [])],
    contenders: KeyKind.bytes.engines.map { engine, steps in
      Contender(
        engine: engine, fixture: { try steps.makeConcurrencyFixture($0) },
        body: { try Concurrency.measureHearing($0, steps) })
    })

  /// LMDB has no log that could be shipped.
  static let ship = Workload(
    name: "ship", summary: "bytes that N commits of one put each leave to be shipped",
    count: 5_000, shortCount: 50, modes: [.ordered, .full], unit: .bytesEach,
    parts: [Part(name: "shipped_bytes", goals: [Goal(.times(1, .sqlite))])],
    contenders: [
      Contender(
        engine: .quire, fixture: { try QuireKeyValue<ByteKeys>().makeConcurrencyFixture($0) },
        body: { try QuireKeyValue<ByteKeys>().ship($0) }),
      Contender(
        engine: .sqlite, fixture: { try SQLiteKeyValue(keys: .bytes).makeConcurrencyFixture($0) },
        body: { try SQLiteKeyValue(keys: .bytes).ship($0) }),
    ])

  static let kvOpenCloseSmall = openAndClose(
    "kv_open_close_small", "a store of 300 KB", OpenedStore.smallCount, openings: 1_000)
  static let kvOpenClose = openAndClose(
    "kv_open_close", "a store of 10 MB", OpenedStore.largeCount, openings: 500)

  private static func openAndClose(
    _ name: String, _ store: String, _ entryCount: Int, openings: Int
  ) -> Workload {
    Workload(
      name: name, summary: "\(store): open, read one row, close",
      count: openings, shortCount: 10, modes: [.full], goals: [Goal(.times(1, .sqlite))],
      contenders: KeyKind.bytes.engines.map { engine, steps in
        Contender(
          engine: engine, fixture: steps.makeStore(entryCount),
          body: steps.openAndClose(entryCount))
      })
  }
}
