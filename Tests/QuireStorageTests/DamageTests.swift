import QuireSimulation
import QuireStorage
import Testing

/// Flipped bits, lost ends, pages in the wrong place or of the wrong time: an error or the right
/// data, never anything else.
@Suite struct `Damage` {
  /// What a store with damage answered.
  private enum Answer: Hashable {
    case refused(String)
    /// Opened; the version that everything read belongs to, if one alone.
    case shown(version: Int?, isSound: Bool)
    case wrong(String)
  }

  /// Opens what is there, reads everything, inspects it.
  ///
  /// - Parameters:
  ///   - versions: what may be shown; the last one alone, if nothing else is said.
  ///   - mustBeFound: whether a sound report is wrong.
  private func answer(
    _ files: [String: [UInt8]], _ fixture: DamageFixture, _ versions: ClosedRange<Int>? = nil,
    mustBeFound: Bool = false, isReadOnly: Bool = true
  ) -> Answer {
    var options = DamageFixture.options(pageSize: 512)
    options.isReadOnly = isReadOnly
    do throws(StorageError) {
      let store = try PageStore.open("store", options: options, in: SimulatedDisk(files))
      var reading = ReadingCheck(versions ?? fixture.last...fixture.last, of: fixture.models)
      reading.read(store)
      if let problem = reading.problem { return .wrong(problem) }
      let report = try store.check()
      if report.isSound, reading.errorCount > 0 { return .wrong("unreadable, but sound") }
      if report.isSound, mustBeFound { return .wrong("the inspection finds nothing") }
      try store.close()
      let number = reading.possible.count == 1 ? reading.possible[0].number : nil
      return .shown(version: number, isSound: report.isSound)
    } catch {
      return .refused("\(error)".split(separator: " ").prefix(2).joined(separator: " "))
    }
  }

  private func expectTruth(
    _ files: [String: [UInt8]], _ fixture: DamageFixture, _ versions: ClosedRange<Int>? = nil,
    mustBeFound: Bool = false, _ what: String
  ) {
    if case .wrong(let problem) = answer(files, fixture, versions, mustBeFound: mustBeFound) {
      Issue.record("\(what): \(problem)")
    }
  }

  @Test func `any flipped byte of a closed store gives an error or the last commit`() throws {
    let fixture = try DamageFixture(isClosed: true)
    let used = fixture.pagesInUse
    for (position, masks) in flips(fixture.store.count, seed: 1) {
      for mask in masks {
        var files = fixture.files
        files["store"]?[position] ^= mask
        // Of the meta pages one is enough.
        expectTruth(
          files, fixture, mustBeFound: used.contains(position / 512) && position >= 3 * 512,
          "byte \(position) ^ \(mask)")
      }
    }
  }

  @Test func `a store opened for writing after a flipped byte shows no wrong data either`() throws {
    let fixture = try DamageFixture(isClosed: false)
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<Amount.of(debug: 100, release: 300, exhaustive: 5000) {
      var files = fixture.files
      let path = generator.below(2) == 0 ? "store" : "store-log"
      let count = try #require(files[path]?.count)
      let position = generator.below(count)
      files[path]?[position] ^= UInt8(1 << generator.below(8))
      let versions = fixture.versions(afterDamageTo: position..<(position + 1), of: path)
      let answer = answer(files, fixture, versions, isReadOnly: false)
      if case .wrong(let problem) = answer { Issue.record("\(path), byte \(position): \(problem)") }
    }
  }

  /// Of the last commit nothing written later says that it was there, so it may be missing; of the
  /// ones before it the log itself says so.
  @Test func `any flipped byte of the log gives an error or a whole commit`() throws {
    let fixture = try DamageFixture(isClosed: false)
    let log = try #require(fixture.files["store-log"])
    let used = try #require(log.lastIndex { $0 != 0 }) + 1
    var answers: Set<Answer> = []
    for (position, masks) in flips(used, seed: 2) + [(used - 1, [0x10])] {
      for mask in masks {
        var files = fixture.files
        files["store-log"]?[position] ^= mask
        let range = position..<(position + 1)
        let answer = answer(
          files, fixture, fixture.versions(afterDamageTo: range, of: "store-log"))
        answers.insert(answer)
        if case .wrong(let problem) = answer {
          Issue.record("log byte \(position) ^ \(mask): \(problem)")
        }
      }
    }
    // Damage and a torn end both occurred, and were told from each other.
    let previous = Answer.shown(version: fixture.last - 1, isSound: true)
    #expect(answers.contains(previous), "\(answers)")
    #expect(answers.contains { if case .refused = $0 { true } else { false } }, "\(answers)")
  }

  @Test func `a store or a log cut short gives an error or a whole commit`() throws {
    for isClosed in [true, false] {
      let fixture = try DamageFixture(isClosed: isClosed)
      for (path, bytes) in fixture.files where path != "store-owner" {
        for length in stride(from: 0, to: bytes.count, by: 512) {
          var files = fixture.files
          files[path] = [UInt8](bytes[..<length])
          // A log cut short may have lost any of its commits: a torn end looks the same.
          expectTruth(
            files, fixture, isClosed ? nil : fixture.checkpointed...fixture.last,
            "\(path) cut to \(length)")
        }
      }
    }
  }

  @Test func `an inspection tells a file that was cut, and writing in its first page`() throws {
    let fixture = try DamageFixture(isClosed: true)
    var files = fixture.files
    files["store"]?.removeLast()
    expectTruth(files, fixture, mustBeFound: true, "one byte less")
    files = fixture.files
    files["store"]?[100] = 1
    expectTruth(files, fixture, mustBeFound: true, "something in the first page")
  }

  @Test func `a page in another's place is damaged`() throws {
    let fixture = try DamageFixture(isClosed: true)
    let used = fixture.pagesInUse
    let count = fixture.store.count / 512
    var generator = SeededGenerator(seed: 3)
    for target in 0..<count {
      for source in 0..<count where source != target {
        guard isExhaustive || generator.below(count) < 5 else { continue }
        var files = fixture.files
        fixture.copyPage(source, to: target, of: &files)
        expectTruth(
          files, fixture, mustBeFound: target > 2 && used.contains(target),
          "page \(source) in place of \(target)")
        // And that one in the first one's place, as if two writes had been exchanged.
        let old = fixture.page(target)
        files["store"]?.replaceSubrange(source * 512..<(source + 1) * 512, with: old)
        expectTruth(
          files, fixture, nil, "pages \(source) and \(target) exchanged")
      }
    }
  }

  @Test func `sectors of zeros give an error or the last commit`() throws {
    for isClosed in [true, false] {
      let fixture = try DamageFixture(isClosed: isClosed)
      for (path, bytes) in fixture.files where path != "store-owner" {
        for start in stride(from: 0, to: bytes.count, by: 512) {
          var files = fixture.files
          let end = min(start + 512, bytes.count)
          files[path]?.replaceSubrange(
            start..<end, with: repeatElement(0, count: end - start))
          expectTruth(
            files, fixture, fixture.versions(afterDamageTo: start..<end, of: path),
            "zeros in \(path) at \(start)")
        }
      }
    }
  }

  /// A write that never happened leaves a page that is whole, in its place, and of the past.
  @Test func `a page of an earlier time gives an error or the last commit`() throws {
    let fixture = try DamageFixture(isClosed: true)
    var wrong: [String] = []
    var count = 0
    for page in 1..<(fixture.store.count / 512) {
      for (age, earlier) in fixture.earlierStores.enumerated()
      where (page + 1) * 512 <= earlier.count {
        let old = [UInt8](earlier[page * 512..<(page + 1) * 512])
        guard old != fixture.page(page) else { continue }
        count += 1
        var files = fixture.files
        files["store"]?.replaceSubrange(page * 512..<(page + 1) * 512, with: old)
        if case .wrong(let problem) = answer(files, fixture) {
          wrong.append("page \(page) of time \(age): \(problem)")
        }
      }
    }
    print("pages of an earlier time: \(count), of them taken for new: \(wrong.count)")
    #expect(count > 20)
    #expect(wrong.isEmpty, "\(wrong.prefix(5))")
  }

  @Test func `a damaged page is named, and the other trees stay readable`() throws {
    let disk = SimulatedDisk()
    var options = DamageFixture.options(pageSize: 512)
    let store = try PageStore.open("store", options: options, in: disk)
    try store.write { transaction in
      try transaction.createRecordTree("good").put([1], for: 1)
      try transaction.createRecordTree("bad").put([2], for: 2)
    }
    try store.close()
    var files = disk.files
    // Page 5 is the first tree's root, page 6 the second's.
    files["store"]?[6 * 512 + 100] ^= 1
    options.isReadOnly = true
    let damaged = try PageStore.open("store", options: options, in: SimulatedDisk(files))
    try damaged.read { snapshot in
      #expect(try snapshot.recordTree("good")?.value(for: 1)?.array == [1])
      let bad = try #require(try snapshot.recordTree("bad"))
      do throws(StorageError) {
        _ = try bad.value(for: 2)
        Issue.record("a damaged page was read")
      } catch .damaged(let page, _) {
        #expect(page.rawValue == 6)
      } catch {
        Issue.record("\(error)")
      }
    }
    #expect(try damaged.check().findings.contains { $0.page?.rawValue == 6 })
    try damaged.close()
  }

  /// Content that no checksum can catch: each page is changed at random and sealed again.
  @Test func `nonsense under a right checksum neither traps nor hangs`() throws {
    let fixture = try DamageFixture(isClosed: true)
    var generator = SeededGenerator(seed: 77)
    for _ in 0..<Amount.of(debug: 120, release: 300, exhaustive: 20_000) {
      var damaged = fixture.store
      let page = 3 + generator.below(damaged.count / 512 - 3)
      for _ in 0...generator.below(3) {
        // The header and the slots after it are where numbers are trusted.
        let position = page * 512 + 8 + generator.below(generator.below(2) == 0 ? 60 : 504)
        damaged[position] = UInt8(truncatingIfNeeded: generator.next())
      }
      PageSealing.seal(&damaged, page: page, pageSize: 512, identity: Scenario.identity)
      exercise(["store": damaged])
    }
  }

  /// The same for a deep index tree: a node that lies about its prefix, its heads or its cells, or
  /// two nodes that disagree about a bound.
  @Test func `nonsense in index nodes neither traps nor hangs`() throws {
    let seed: UInt64 = 78
    print("index nonsense: seed \(seed)")
    func key(_ number: Int) -> [UInt8] {
      Array("node/\(number % 3 == 0 ? "longer/and/longer/still/" : "")\(number * 37 % 1000)".utf8)
    }
    let disk = SimulatedDisk()
    let store = try PageStore.open("store", options: DamageFixture.options(pageSize: 512), in: disk)
    try store.write { transaction in
      let tree = try transaction.createIndexTree("index")
      for number in 0..<250 { try tree.put([1, 2, 3], for: key(number)) }
    }
    try store.close()
    let bytes = try #require(disk.files["store"])
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<Amount.of(debug: 150, release: 400, exhaustive: 20_000) {
      var damaged = bytes
      let page = 5 + generator.below(bytes.count / 512 - 5)
      for _ in 0...generator.below(2) {
        let position = page * 512 + 16 + generator.below(generator.below(2) == 0 ? 60 : 496)
        damaged[position] =
          generator.below(3) == 0
          ? UInt8(truncatingIfNeeded: generator.next())
          : damaged[position] &+ [1, 2, 0xFF, 0xFE][generator.below(4)]
      }
      PageSealing.seal(&damaged, page: page, pageSize: 512, identity: Scenario.identity)
      let store = try PageStore.open(
        "store", options: DamageFixture.options(pageSize: 512),
        in: SimulatedDisk(["store": damaged]))
      for _ in 0..<4 {
        try? store.write { transaction in
          guard let tree = try transaction.mutableIndexTree("index") else { return }
          for _ in 0..<25 { try tree.put([4, 5], for: key(generator.below(2000))) }
          for _ in 0..<50 { try tree.remove(key(generator.below(250))) }
          var cursor = tree.cursor()
          while try cursor.previous() { _ = try cursor.key }
        }
      }
      try? store.close()
    }
  }

  /// Opens for writing and does everything to it; only errors are allowed.
  private func exercise(_ files: [String: [UInt8]]) {
    do {
      let store = try PageStore.open(
        "store", options: DamageFixture.options(pageSize: 512), in: SimulatedDisk(files))
      _ = try store.check()
      _ = try? ContentDigest(of: try store.snapshot())
      for name in ["records", "otherRecords"] {
        try? store.write { transaction in
          for key in 0..<20 {
            try transaction.mutableRecordTree(name)?
              .put([UInt8](repeating: 7, count: key * 9), for: Int64(key * 3))
          }
        }
      }
      try? store.write { transaction in
        try transaction.mutableRecordTree("records")?.removeAll()
        try transaction.dropTree("index")
      }
      try store.close()
    } catch {
      // An error is an answer; a trap or a loop without end is what this looks for.
    }
  }

  /// Every byte with three patterns when there is time; else the start, and some drawn by a seed.
  private func flips(_ count: Int, seed: UInt64) -> [(position: Int, masks: [UInt8])] {
    let masks: [UInt8] = [0x01, 0x80, 0xFF]
    guard !isExhaustive else { return (0..<count).map { ($0, masks) } }
    var generator = SeededGenerator(seed: seed)
    print("flipped bytes: seed \(seed)")
    let (first, others) = Amount.of(debug: (50, 250), release: (100, 700))
    let drawn = (0..<first).map { $0 * 2 } + (0..<others).map { _ in generator.below(count) }
    return drawn.map { ($0, [masks[generator.below(3)]]) }
  }
}
