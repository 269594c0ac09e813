extension Scenario {
  /// Everything once: creation, commits, overflow values, checkpoints that the log's limit starts,
  /// an abort, a clean close, a death, a dropped and a renamed tree, pages used again, trees built
  /// and replaced, a checkpoint with commits between its parts, a compaction, a backup.
  package static let scripted = Scenario(
    [
      .put(.records, keys: 0..<14, byteCount: 20, version: 1),
      .put(.index, keys: 0..<14, byteCount: 3, version: 1), .commit,
      .put(.records, keys: 6..<9, byteCount: 1400, version: 2), .fork, .commit, .hold, .checkpoint,
      .put(.records, keys: 8..<20, byteCount: 30, version: 3), .commit,
      .remove(.records, keys: 0..<7), .put(.otherIndex, keys: 0..<6, byteCount: 40, version: 3),
      .commit, .reopen,
      .put(.records, keys: 40..<44, byteCount: 700, version: 4), .commit,
      .drop(.index), .put(.records, keys: 50..<52, byteCount: 9, version: 5), .abort,
      .rename(.otherIndex, to: .index), .remove(.records, keys: 6..<9), .commit, .die,
      .put(.index, keys: 3..<30, byteCount: 12, version: 6), .commit, .release,
      .drop(.records), .commit,
      .put(.records, keys: 0..<10, byteCount: 60, version: 7), .commit,
      .put(.records, keys: 0..<10, byteCount: 60, version: 8), .commit, .reopen,
      .build(.otherRecords, keys: 0..<30, byteCount: 50, version: 9),
      .build(.index, keys: 0..<20, byteCount: 9, version: 9), .commit, .hold,
      .flip(.otherRecords, version: 10), .commit, .backUp(1), .beginCheckpoint,
      .flip(.index, version: 11), .commit, .fork, .writeCheckpoint,
      .put(.records, keys: 3..<8, byteCount: 90, version: 12), .commit, .completeCheckpoint,
      .remove(.otherRecords, keys: 0..<25), .commit, .compact,
      .put(.index, keys: 3..<9, byteCount: 20, version: 13), .commit, .release, .die,
    ], name: "scripted")

  /// A store of format 1 is written by this release: a process dies right after the first commit,
  /// and one closes the store before the next.
  package static let upgrading: Scenario = {
    var scenario = Scenario(
      [
        .reopen, .put(.records, keys: 0..<9, byteCount: 20, version: 1), .commit, .die,
        .put(.records, keys: 0..<9, byteCount: 60, version: 2), .commit, .reopen,
        .put(.index, keys: 0..<9, byteCount: 20, version: 3), .commit, .checkpoint,
      ], name: "upgrading")
    scenario.beginsInFormat1 = true
    return scenario
  }()

  /// Each with one thing at its worst; short, as most are large or slow.
  package static let special = [
    aroundLog, freedAndReused, freedUnsynced, cutUnsynced, heldWhileReused, overlapping, expiring,
    goingRound, idling, givenUp, spilling, spillingIntoFreed,
  ]

  /// Transactions whose pages go to the file before the commit: in new places, and where they are;
  /// some are given up.
  package static let spilling: Scenario = {
    var scenario = Scenario(
      [
        .put(.records, keys: 0..<90, byteCount: 100, version: 1),
        .put(.index, keys: 0..<60, byteCount: 60, version: 1), .commit, .checkpoint, .hold,
        .put(.records, keys: 20..<110, byteCount: 100, version: 2),
        .put(.index, keys: 30..<90, byteCount: 60, version: 2),
        .put(.otherRecords, keys: 0..<4, byteCount: 3_000, version: 2), .commit,
        .put(.records, keys: 0..<110, byteCount: 100, version: 3), .abort,
        .put(.records, keys: 0..<60, byteCount: 120, version: 4), .remove(.index, keys: 0..<70),
        .commit, .release, .checkpoint, .drop(.otherRecords),
        .put(.records, keys: 0..<110, byteCount: 90, version: 5), .commit, .die,
        .put(.index, keys: 0..<90, byteCount: 90, version: 6), .commit,
        .put(.records, keys: 0..<110, byteCount: 80, version: 7), .die,
        .put(.records, keys: 0..<110, byteCount: 100, version: 8),
        .put(.otherRecords, keys: 0..<4, byteCount: 3_000, version: 8), .commit,
      ], name: "spilling")
    scenario.transactionByteLimit = 0
    scenario.cacheByteLimit = 0
    return scenario
  }()

  /// Pages that go to places which were freed a moment before: the log has what was there, or a
  /// checkpoint under way is about to write it.
  package static let spillingIntoFreed: Scenario = {
    let grown: [Step] = [
      .put(.otherRecords, keys: 0..<120, byteCount: 100, version: 1),
      .put(.records, keys: 0..<90, byteCount: 100, version: 1), .commit,
    ]
    var scenario = Scenario(
      grown + [
        .drop(.otherRecords), .commit, .put(.records, keys: 0..<90, byteCount: 100, version: 2),
        .commit, .die,
      ] + grown + [
        .overlap([
          .drop(.otherRecords), .commit, .put(.records, keys: 0..<90, byteCount: 100, version: 3),
          .commit, .put(.records, keys: 0..<30, byteCount: 100, version: 4), .commit,
        ]), .die,
      ] + grown + [
        .beginCheckpoint, .drop(.otherRecords), .commit,
        .put(.records, keys: 0..<90, byteCount: 100, version: 6), .commit, .die,
        .put(.index, keys: 0..<9, byteCount: 30, version: 5), .commit,
      ], name: "spillingIntoFreed")
    scenario.transactionByteLimit = 0
    scenario.checkpointByteLimit = 200 << 10
    return scenario
  }()

  /// The log goes while the store is open, with a snapshot of before, and with none; then a death
  /// without one, and one after the next commit.
  package static let idling = Scenario(
    [
      .put(.records, keys: 0..<20, byteCount: 60, version: 1), .commit, .hold,
      .put(.records, keys: 5..<25, byteCount: 700, version: 2),
      .put(.index, keys: 0..<14, byteCount: 30, version: 2), .commit, .removeLog,
      .put(.records, keys: 0..<9, byteCount: 40, version: 3), .commit,
      .drop(.index), .remove(.records, keys: 8..<25), .commit, .removeLog, .release, .removeLog,
      .put(.otherIndex, keys: 0..<6, byteCount: 40, version: 4), .commit, .checkpoint,
      .put(.records, keys: 3..<12, byteCount: 90, version: 5), .commit, .removeLog, .die,
      .put(.records, keys: 0..<6, byteCount: 20, version: 6), .commit, .removeLog,
      .put(.records, keys: 2..<4, byteCount: 20, version: 7), .commit, .die,
      .put(.records, keys: 1..<3, byteCount: 20, version: 8), .commit, .removeLog, .reopen,
    ], name: "idling")

  /// Trees so large that most of them goes around the log, built and replaced.
  package static let aroundLog = Scenario(
    [
      .put(.records, keys: 0..<6, byteCount: 20, version: 1),
      .build(.otherRecords, keys: 0..<1, byteCount: large, version: 1), .commit,
      .flip(.otherRecords, version: 2), .commit,
      .put(.records, keys: 2..<4, byteCount: 20, version: 3), .commit, .die,
    ], name: "aroundLog")

  /// Trees that went around the log for nothing: the commits after that have other numbers than
  /// their pages.
  package static let givenUp = Scenario(
    [
      .put(.records, keys: 0..<6, byteCount: 20, version: 1), .commit,
      .build(.otherRecords, keys: 0..<1, byteCount: large, version: 1), .abort,
      .build(.otherIndex, keys: 0..<1, byteCount: large, version: 2), .commit,
      .build(.otherRecords, keys: 0..<1, byteCount: large, version: 3), .abort, .removeLog,
      .put(.records, keys: 0..<9, byteCount: 20, version: 4), .commit, .die,
    ], name: "givenUp")

  /// Pages that are freed, used again around the log, and in the log's records from before.
  package static let freedAndReused = Scenario(
    [
      .put(.records, keys: 0..<6, byteCount: 20, version: 1),
      .build(.index, keys: 0..<1, byteCount: large, version: 1), .commit,
      .put(.otherRecords, keys: 0..<9, byteCount: 700, version: 2), .commit,
      .drop(.index), .drop(.otherRecords), .commit,
      .build(.otherRecords, keys: 0..<1, byteCount: large, version: 3), .commit,
      .checkpoint, .drop(.otherRecords), .commit,
      .build(.otherIndex, keys: 0..<1, byteCount: large, version: 4), .commit, .die,
    ], name: "freedAndReused")

  /// Pages freed by a commit that no sync followed, and written around the log at once.
  package static let freedUnsynced: Scenario = {
    var scenario = Scenario(
      [
        .put(.records, keys: 0..<6, byteCount: 20, version: 1),
        .build(.otherRecords, keys: 0..<1, byteCount: large, version: 1), .commit, .checkpoint,
        .drop(.otherRecords), .commit,
        .build(.otherIndex, keys: 0..<1, byteCount: large, version: 2), .commit,
        .put(.records, keys: 0..<6, byteCount: 30, version: 3), .commit,
      ], name: "freedUnsynced")
    scenario.durability = .ordered
    return scenario
  }()

  /// A checkpoint that could cut off what a commit wrote around the log, and one that no sync
  /// followed freed.
  package static let cutUnsynced: Scenario = {
    var scenario = Scenario(
      [
        .put(.records, keys: 0..<6, byteCount: 20, version: 1), .commit, .beginCheckpoint,
        .build(.otherRecords, keys: 0..<1, byteCount: large, version: 1), .commit,
        .drop(.otherRecords), .commit, .writeCheckpoint,
        .put(.records, keys: 0..<6, byteCount: 30, version: 3), .commit,
      ], name: "cutUnsynced")
    scenario.durability = .ordered
    return scenario
  }()

  /// Snapshots that see what is freed, used again, and overwritten by checkpoints.
  package static let heldWhileReused: Scenario = {
    var scenario = Scenario(
      [
        .put(.records, keys: 0..<30, byteCount: 60, version: 1),
        .build(.otherRecords, keys: 0..<1, byteCount: large, version: 1), .commit, .reopen, .hold,
        .flip(.otherRecords, version: 2), .put(.records, keys: 0..<30, byteCount: 60, version: 2),
        .commit, .hold, .drop(.otherRecords), .commit, .checkpoint, .hold,
        .build(.otherRecords, keys: 0..<1, byteCount: large, version: 3), .commit, .checkpoint,
        .put(.records, keys: 0..<30, byteCount: 60, version: 4), .commit, .checkpoint,
        .drop(.otherRecords), .commit, .compact,
        .put(.records, keys: 0..<3, byteCount: 60, version: 5), .commit,
      ], name: "heldWhileReused")
    scenario.cacheByteLimit = 0
    return scenario
  }()

  /// Commits at every moment of checkpoints, with snapshots of before.
  package static let overlapping: Scenario = {
    var scenario = Scenario(
      [
        .put(.records, keys: 0..<20, byteCount: 40, version: 1),
        .put(.index, keys: 0..<20, byteCount: 10, version: 1), .commit, .hold,
        .overlap([
          .put(.records, keys: 5..<15, byteCount: 40, version: 2), .remove(.index, keys: 0..<9),
          .put(.otherRecords, keys: 0..<9, byteCount: 200, version: 2), .commit,
          .put(.records, keys: 9..<30, byteCount: 40, version: 3), .commit, .hold,
          .remove(.records, keys: 0..<12), .commit, .flip(.otherRecords, version: 4), .commit,
          .drop(.index), .commit, .put(.otherIndex, keys: 0..<9, byteCount: 90, version: 5),
          .commit, .hold, .put(.records, keys: 0..<30, byteCount: 9, version: 6), .commit,
        ]),
        .overlap([
          .build(.index, keys: 0..<40, byteCount: 30, version: 7), .commit, .drop(.records),
          .commit,
          .put(.otherRecords, keys: 3..<30, byteCount: 60, version: 8), .commit,
          .flip(.index, version: 9), .commit,
        ]),
        .put(.records, keys: 0..<9, byteCount: 9, version: 10), .commit, .die,
      ], name: "overlapping")
    scenario.checkpointByteLimit = 200 << 10
    return scenario
  }()

  /// The same with no memory for what snapshots keep, so that each expires with the next commit:
  /// the version that a checkpoint is writing must not.
  package static let expiring: Scenario = {
    var scenario = overlapping
    scenario.name = "expiring"
    scenario.retainedByteLimit = 0
    return scenario
  }()

  /// A small log that goes round and round, with commits that nothing synced.
  package static let goingRound: Scenario = {
    var steps: [Step] = [.put(.records, keys: 0..<30, byteCount: 20, version: 0), .commit]
    for version in 1..<24 {
      let first = version * 7 % 24
      steps += [
        .put(.records, keys: first..<(first + 3), byteCount: 30 + version, version: version),
        .commit,
      ]
      if version % 8 == 3 { steps.append(.beginCheckpoint) }
      if version % 8 == 6 { steps.append(.writeCheckpoint) }
    }
    var scenario = Scenario(steps, name: "goingRound")
    scenario.checkpointByteLimit = 4 << 10
    scenario.durability = .ordered
    return scenario
  }()

  /// The bytes of a value that is written around the log in pages of 512 bytes.
  private static let large = 280_000

  package static func random(seed: UInt64) -> Scenario {
    var generator = SeededGenerator(seed: seed)
    var workload = Scenario([], seed: seed)
    workload.pageSize = [512, 512, 1024, 4096][generator.below(4)]
    workload.checkpointByteLimit = workload.pageSize * (4 + generator.below(20))
    if generator.below(3) == 0 { workload.cacheByteLimit = 0 }
    for version in 1...(3 + generator.below(5)) {
      for _ in 0...generator.below(3) {
        workload.steps.append(change(version, workload.pageSize, &generator))
      }
      workload.steps.append(generator.below(8) == 0 ? .abort : .commit)
      switch generator.below(18) {
      case 0, 1: workload.steps.append(.checkpoint)
      case 2: workload.steps.append(.reopen)
      case 3: workload.steps.append(.die)
      case 4: workload.steps.append(.hold)
      case 5: workload.steps.append(.release)
      case 6: workload.steps.append(.beginCheckpoint)
      case 7: workload.steps.append(.writeCheckpoint)
      case 8: workload.steps.append(.compact)
      case 9: workload.steps.append(.backUp(version))
      case 10: workload.steps.append(overlap(version, &workload, &generator))
      default: break
      }
    }
    if generator.below(2) == 0 { workload.steps.append(.reopen) }
    // By numbers of its own, and no operation of the disk: all else is as it would be without.
    var forks = SeededGenerator(seed: ~seed)
    workload.steps.insert(.fork, at: forks.below(workload.steps.count))
    if forks.below(2) == 0 { workload.transactionByteLimit = 0 }
    if forks.below(2) == 0 { workload.retainedByteLimit = 0 }
    workload.reservesRoom = forks.below(2) == 0
    workload.tailByteCount = [0, 28, 64][forks.below(3)]
    return workload
  }

  private static func overlap(
    _ version: Int, _ workload: inout Scenario, _ generator: inout SeededGenerator
  ) -> Step {
    // So that no commit beside a checkpoint has to wait for it.
    workload.checkpointByteLimit = workload.pageSize * 200
    var steps: [Step] = []
    for number in 0..<(2 + generator.below(5)) {
      steps.append(change(version + 100 * (number + 1), workload.pageSize, &generator))
      if generator.below(4) > 0 { steps.append(.commit) }
      if generator.below(4) == 0 { steps.append(.hold) }
    }
    return .overlap(steps)
  }

  private static func change(
    _ version: Int, _ pageSize: Int, _ generator: inout SeededGenerator
  ) -> Step {
    let tree = Step.TreeName.allCases[generator.below(4)]
    let first = generator.below(40)
    switch generator.below(15) {
    case 0...5:
      return .put(
        tree, keys: first..<(first + 1 + generator.below(20)), byteCount: generator.below(60),
        version: version)
    case 6, 7:
      return .put(
        tree, keys: first..<(first + 1 + generator.below(3)),
        byteCount: pageSize / 5 + generator.below(3 * pageSize), version: version)
    case 8, 9: return .remove(tree, keys: first..<(first + 1 + generator.below(30)))
    case 10: return .drop(tree)
    case 11, 12:
      return .build(
        tree, keys: first..<(first + generator.below(40)), byteCount: generator.below(90),
        version: version)
    case 13: return .flip(tree, version: version)
    default: return .rename(tree, to: tree.other)
    }
  }
}
