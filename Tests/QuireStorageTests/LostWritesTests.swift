import QuireSimulation
import QuireStorage
import Synchronization
import Testing

/// Writes that the disk acknowledged and lost, many at once: each read is an error, or right.
@Suite("Lost writes")
struct LostWritesTests {
  private static let pageSize = 512

  /// What a file of which writes were lost answers; `nil` if nothing of it is wrong.
  private func problem(
    _ files: [String: [UInt8]], _ models: [StoreModel], isReadOnly: Bool
  ) -> String? {
    var options = DamageFixture.options(pageSize: Self.pageSize)
    options.isReadOnly = isReadOnly
    do throws(StorageError) {
      let store = try PageStore.open("store", options: options, in: SimulatedDisk(files))
      let last = models.count - 1
      var reading = ReadingCheck(last...last, of: models)
      reading.read(store)
      let report = try store.check()
      try store.close()
      if let problem = reading.problem { return problem }
      return report.isSound && reading.errorCount > 0 ? "unreadable, but sound" : nil
    } catch {
      return nil
    }
  }

  private struct History {
    var times: [[UInt8]] = []
    var models = [StoreModel()]
    var files: [String: [UInt8]] = [:]

    /// The store's file after each of some commits, checkpoints and closings drawn by a seed; the
    /// last of them closes the store, or leaves commits in the log.
    init(_ generator: inout SeededGenerator, isClosed: Bool) throws {
      let disk = SimulatedDisk()
      let options = DamageFixture.options(pageSize: pageSize)
      var store: PageStore? = try PageStore.open("store", options: options, in: disk)
      let count = 3 + generator.below(6)
      for version in 1...count {
        var steps: [Step] = []
        for _ in 0...generator.below(3) {
          let tree = Step.TreeName.allCases[generator.below(4)]
          let start = generator.below(60)
          let keys = start..<(start + 1 + generator.below(version == 1 ? 400 : 60))
          steps.append(
            generator.below(4) == 0
              ? .remove(tree, keys: keys)
              : .put(tree, keys: keys, byteCount: generator.below(200), version: version))
        }
        let transaction = try store?.beginWrite()
        for step in steps { try transaction.map { try step.perform(in: $0) } }
        try transaction?.commit()
        var model = models[models.count - 1]
        for step in steps { model.apply(step) }
        models.append(model)
        switch generator.below(4) {
        case 0 where version < count: continue
        case 1:
          try store?.close()
          times.append(disk.files["store"] ?? [])
          store = try PageStore.open("store", options: options, in: disk)
        default:
          try store?.checkpoint()
          times.append(disk.files["store"] ?? [])
        }
      }
      if isClosed {
        try store?.close()
      } else {
        let step = Step.put(.records, keys: 3..<20, byteCount: 30, version: count + 1)
        try store?.write { transaction in try step.perform(in: transaction) }
        models.append(models[models.count - 1])
        models[models.count - 1].apply(step)
      }
      times.append(disk.files["store"] ?? [])
      store = nil
      files = disk.files
    }
  }

  @Test(arguments: [true, false])
  func `pages and maps of earlier times give errors or the last commit`(isClosed: Bool) throws {
    let seeds = Amount.of(debug: 1, release: 2, exhaustive: 400)
    var count = 0
    var wrong: [String] = []
    for seed in 1...seeds {
      var generator = SeededGenerator(seed: UInt64(seed))
      let history = try History(&generator, isClosed: isClosed)
      let lost = LostWrites(history.times, pageSize: Self.pageSize)
      for number in 0..<Amount.of(debug: 2, release: 8, exhaustive: 60) {
        var files = history.files
        let pages = lost.drawPages(using: &generator)
        files["store"] = lost.image(losing: pages, using: &generator)
        count += 1
        for isReadOnly in [true, false] {
          if let problem = problem(files, history.models, isReadOnly: isReadOnly) {
            wrong.append("seed \(seed), image \(number), without \(pages): \(problem)")
          }
        }
      }
    }
    print("images with lost writes: \(count), wrong: \(wrong.count)")
    #expect(wrong.isEmpty, "\(wrong.prefix(3))")
  }

  /// The pages of one checkpoint, every set of them: none is taken for new.
  @Test func `of a small checkpoint any writes may be lost`() throws {
    let disk = SimulatedDisk()
    let store = try PageStore.open(
      "store", options: DamageFixture.options(pageSize: Self.pageSize), in: disk)
    let steps: [Step] = [
      .put(.records, keys: 0..<30, byteCount: 20, version: 1),
      .put(.records, keys: 4..<27, byteCount: 20, version: 2),
    ]
    var models = [StoreModel()]
    var times: [[UInt8]] = []
    for step in steps {
      try store.write { transaction in try step.perform(in: transaction) }
      models.append(models[models.count - 1])
      models[models.count - 1].apply(step)
      try store.checkpoint()
      times.append(disk.files["store"] ?? [])
    }
    try store.close()
    times.append(disk.files["store"] ?? [])
    let lost = LostWrites(times, pageSize: Self.pageSize)
    let pages = lost.changedPages
    try #require((3...10).contains(pages.count), "\(pages)")
    var generator = SeededGenerator(seed: 1)
    for set in 1..<(1 << pages.count) {
      let chosen = pages.enumerated().filter { set >> $0.offset & 1 != 0 }.map(\.element)
      let image = lost.image(losing: chosen, using: &generator)
      let problem = problem(["store": image], models, isReadOnly: true)
      #expect(problem == nil, "without \(chosen): \(problem ?? "")")
    }
  }

  private enum End: CaseIterable {
    case givenUp, givenUpAndClosed, crash, crashAndClosed
  }

  /// Pages written around the log by a transaction that was given up, or that a crash ended, behind
  /// the end or where pages were free, have the number of the commit that came instead.
  @Test(arguments: End.allCases, [false, true])
  private func `pages of a commit that never was are not taken for the next one's`(
    end: End, hasFreePages: Bool
  ) throws {
    var disk = SimulatedDisk()
    let options = DamageFixture.options(pageSize: Self.pageSize)
    var store: PageStore? = try PageStore.open("store", options: options, in: disk)
    var model = StoreModel()
    func write(_ step: Step) throws {
      try store?.write { transaction in try step.perform(in: transaction) }
      model.apply(step)
    }
    func large(_ version: Int) -> Step {
      .build(.otherRecords, keys: 0..<1, byteCount: 600 * Self.pageSize, version: version)
    }
    try write(.put(.records, keys: 0..<5, byteCount: 20, version: 1))
    if hasFreePages {
      try write(large(0))
      try write(.build(.otherIndex, keys: 0..<1, byteCount: 40 * Self.pageSize, version: 0))
      try write(.drop(.otherRecords))
      try store?.checkpoint()
    }
    let pageCount = store?.statistics.pageCount ?? 0
    if end != .givenUp, end != .givenUpAndClosed {
      try store?.close()
      store = try PageStore.open("store", options: options, in: disk)
    }
    let transaction = try store?.beginWrite()
    try transaction.map { try large(2).perform(in: $0) }
    var times = [disk.files["store"] ?? []]
    if end == .givenUp || end == .givenUpAndClosed {
      transaction?.abort()
    } else {
      disk = SimulatedDisk(disk.files)
      store = try PageStore.open("store", options: options, in: disk)
    }
    if end == .crashAndClosed || end == .givenUpAndClosed {
      try store?.close()
      store = try PageStore.open("store", options: options, in: disk)
    }
    try write(large(3))
    #expect(((store?.statistics.pageCount ?? 0) == pageCount) == hasFreePages)
    try store?.close()
    times.append(disk.files["store"] ?? [])

    #expect(LostWrites(times, pageSize: Self.pageSize).changedPages.count > 500)
    expectNoneTakenForNew(times, model)
  }

  private func expectNoneTakenForNew(_ times: [[UInt8]], _ model: StoreModel) {
    let lost = LostWrites(times, pageSize: Self.pageSize)
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<20 {
      let pages = lost.drawPages(using: &generator).filter { $0 > 8 }
      let image = lost.image(losing: pages, using: &generator)
      let problem = problem(["store": image], [model], isReadOnly: true)
      #expect(problem == nil, "without \(pages.count) pages: \(problem ?? "")")
    }
  }

  /// With ordered durability a crash may take several commits; the pages that went around the log
  /// then must not have a number further on than the next.
  @Test func `pages around the log are of the next commit, whatever a crash took`() throws {
    let disk = SimulatedDisk()
    var options = DamageFixture.options(pageSize: Self.pageSize)
    options.durability = .ordered
    let store = try PageStore.open("store", options: options, in: disk)
    func put(_ version: Int) -> Step {
      .put(.records, keys: 0..<5, byteCount: 20, version: version)
    }
    func large(_ version: Int) -> Step {
      .build(.otherRecords, keys: 0..<1, byteCount: 600 * Self.pageSize, version: version)
    }
    for version in 1...4 {
      try store.write { transaction in try put(version).perform(in: transaction) }
    }
    let states = Mutex<[DiskState]>([])
    disk.observe { state, _ in states.withLock { $0.append(state) } }
    let transaction = try store.beginWrite()
    try large(5).perform(in: transaction)
    disk.observe(nil)
    var last = StoreModel()
    last.apply(put(4))
    var count = 0
    for state in states.withLock({ $0 }) {
      try CrashImages(state, seed: 1).visit(limit: Amount.of(sampled: 30, exhaustive: 400)) {
        image in
        // Whether there is anything of the pages around the log.
        let stray = image.files["store"]?.bytes.dropFirst(100 * Self.pageSize) ?? []
        guard stray.contains(where: { $0 != 0 }) else { return true }
        count += 1
        let store = try PageStore.open("store", options: options, in: SimulatedDisk(image))
        #expect(try ContentDigest(of: try store.snapshot()) == last.digest, "\(image)")
        return true
      }
    }
    #expect(count > 10)
    transaction.abort()
  }
}
