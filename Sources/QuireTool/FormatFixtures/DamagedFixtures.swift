import QuireStorage

/// Stores that something happened to, each with what must be said of it: `Fixtures/Damaged`.
///
/// All are one of two stores of 512-byte pages: one that was closed after two commits, and one
/// whose process died with the last four of six commits in its log. What is claimed follows from
/// the damage and from where pages lie, not from what the engine answers.
package struct DamagedFixtures {
  package static let folderName = "Damaged"
  private static let pageSize = 512
  private static let identity = StoreIdentity(
    high: 0xDADA_0001_0000_4000, low: 0x8000_0000_0000_0002)
  private static let otherIdentity = StoreIdentity(
    high: 0xDADA_0001_0000_4000, low: 0x8000_0000_0000_0003)

  /// The closed store after its first commit, and as it ended.
  private let earlier: [UInt8]
  private let closed: [UInt8]
  private let closedAnatomy: StoreAnatomy
  private let died: [UInt8]
  private let log: [UInt8]
  private let diedAnatomy: StoreAnatomy
  private let foreignLog: [UInt8]
  private var fixtures: [StoreFixture] = []

  package static func all() throws -> [StoreFixture] {
    var all = try DamagedFixtures()
    try all.damagePages()
    try all.damageHead()
    all.damageLogs()
    return all.fixtures
  }

  private init() throws {
    let first = FixtureWorkshop(pageSize: Self.pageSize, identity: Self.identity)
    try first.run([Self.commit(1)], isClosed: true)
    earlier = first.store
    try first.run([Self.commit(2)], isClosed: true)
    closed = first.store
    closedAnatomy = try first.anatomy()
    let second = FixtureWorkshop(pageSize: Self.pageSize, identity: Self.identity)
    try second.run([Self.commit(1), Self.commit(2)], isClosed: true)
    try second.run((3...6).map { Self.commit($0) }, isClosed: false)
    died = second.store
    log = second.log ?? []
    diedAnatomy = try second.anatomy()
    let third = FixtureWorkshop(pageSize: Self.pageSize, identity: Self.otherIdentity)
    try third.run((1...2).map { Self.commit($0) }, isClosed: false)
    foreignLog = third.log ?? []
  }

  /// Each commit writes all values anew, at the same offsets.
  private static func commit(_ number: Int) -> [FixtureStep] {
    var steps: [FixtureStep] = (0..<40).map {
      .put(tree: "a", key: Int64($0), value: FixtureStep.bytes(20, seed: $0 + 50 * number))
    }
    if number == 1 {
      steps.append(.put(tree: "a", key: 100, value: FixtureStep.bytes(1100, seed: 9)))
      steps += (0..<40).map { .enter(tree: "b", key: Array("key \($0)".utf8), value: [UInt8($0)]) }
    }
    return steps
  }

  private mutating func add(
    _ name: String, _ making: String, opening: String = "opens at commit 2",
    finding: String? = nil, _ store: [UInt8], _ log: [UInt8]? = nil
  ) {
    fixtures.append(
      StoreFixture(
        name: name, making: making, opening: opening, finding: finding ?? opening, store: store,
        log: log))
  }

  // MARK: Pages

  private func range(_ page: Int) -> Range<Int> {
    page * Self.pageSize..<(page + 1) * Self.pageSize
  }

  /// The pages of the closed store of a type and a tree, ascending.
  private func pages(_ type: String, of tree: String) throws -> [Int] {
    try (0..<closedAnatomy.shownPageCount).filter {
      let page = try closedAnatomy.summary(of: $0)
      return page.type == type && page.tree == tree
    }
  }

  private mutating func damagePages() throws {
    let leaves = try pages("record leaf", of: "a")
    let (leaf, other) = (leaves[0], leaves[1])
    let overflow = try pages("overflow", of: "a")[1]
    let wrong = "its checksum is wrong"

    var store = closed
    store[leaf * Self.pageSize + 300] ^= 0x10
    add(
      "flipped-bit", "one bit of page \(leaf), a leaf, flipped", finding: "page \(leaf): \(wrong)",
      store)

    store = closed
    store.replaceSubrange(range(leaf).suffix(256), with: earlier[range(leaf).suffix(256)])
    add(
      "torn-page", "the second half of page \(leaf), a leaf, as it was at commit 1",
      finding: "page \(leaf): \(wrong)", store)

    store = closed
    store.replaceSubrange(range(leaf), with: earlier[range(leaf)])
    add(
      "stale-page", "page \(leaf), a leaf, as it was at commit 1: a write that was lost",
      finding: "page \(leaf): it is of commit 1, which is not the one that wrote it last", store)

    store = closed
    store.replaceSubrange(range(other), with: closed[range(leaf)])
    add(
      "misdirected-page", "page \(leaf) also in the place of page \(other), a leaf",
      finding: "page \(other): \(wrong)", store)

    store = closed
    store.replaceSubrange(
      range(overflow), with: [UInt8](repeating: 0, count: Self.pageSize))
    add(
      "zeroed-page", "zeros in the place of page \(overflow), a part of a long value",
      finding: "page \(overflow): \(wrong)", store)

    let count = closedAnatomy.pageCount
    add(
      "truncated", "cut off in the last page but one",
      finding: "the store is said to have \(count) pages, and ends after \(count - 1)",
      Array(closed[..<((count - 2) * Self.pageSize + 100)]))

    store = closed
    store[3 * Self.pageSize + 200] ^= 1
    add(
      "damaged-map", "one bit of page 3, the page map, flipped",
      opening: "page 3 is damaged: the first page map cannot be read: \(wrong)", store)

    store = closed
    for page in [3, leaf] { store.replaceSubrange(range(page), with: earlier[range(page)]) }
    add(
      "stale-map",
      "page 3, the page map, and page \(leaf), a leaf, as they were at commit 1: writes that were "
        + "lost, while the meta page arrived",
      opening: "page 3 is damaged: the first page map cannot be read: "
        + "it is of commit 1, that of commit 2 is missing", store)
    try forgePages(leaf)
  }

  /// Pages with right checksums and wrong content, as a faulty program would write them.
  private mutating func forgePages(_ leaf: Int) throws {
    var store = closed
    let entry = 3 * Self.pageSize + 24 + 4 * leaf
    store.replaceSubrange(entry..<entry + 4, with: [0, 0, 0, 0])
    PageSealing.seal(&store, page: 3, pageSize: Self.pageSize, identity: Self.identity)
    add(
      "used-page-marked-free",
      "page \(leaf), a leaf, is marked as free in the page map, whose checksum is right",
      finding: "page \(leaf): it is marked as free, but something refers to it", store)

    store = closed
    // After the length of the value: kind, flags, zeros, root, then the count.
    let catalogued = try closedAnatomy.content(of: 4).entries[0].offset + 2 + 8
    store[4 * Self.pageSize + catalogued] += 1
    PageSealing.seal(&store, page: 4, pageSize: Self.pageSize, identity: Self.identity)
    add(
      "wrong-count", "the catalog counts an entry too many, its checksum is right",
      finding: "tree a: it has 41 entries, the catalog says 42", store)
  }

  // MARK: Head

  private mutating func damageHead() throws {
    var store = closed
    store[30] ^= 1
    add(
      "damaged-identity", "one bit of the identity in page 0 flipped; the meta pages repeat it",
      finding: "page 0: its checksum is wrong", store)

    for page in 1...2 { store[page * Self.pageSize + 128 + 30] ^= 1 }
    add(
      "damaged-identities", "one bit of the identity flipped in page 0 and in both meta pages",
      opening: "page 0 is damaged: its checksum is wrong", store)

    store = closed
    store.replaceSubrange(
      range(0),
      with: StoreForgery.identityPage(
        pageSize: Self.pageSize, identity: Self.otherIdentity, version: .current))
    let bothWrong = "page 1 is damaged: the checksums of both meta pages are wrong"
    add(
      "other-identity", "page 0 of another store, with its right checksum", opening: bothWrong,
      store)

    store.replaceSubrange(
      range(0),
      with: StoreForgery.identityPage(
        pageSize: Self.pageSize, identity: Self.identity,
        version: FormatVersion(major: 3, minor: 0)))
    add(
      "newer-format", "format 3.0 in page 0, with its right checksum",
      opening: "the store has format 3.0; this release reads up to \(FormatVersion.current)", store)

    add(
      "line-ends-changed", "every CR LF changed to LF, as a transfer of text does",
      opening: "line-ends-changed.quire is not a Quire store: it does not begin as a store does",
      Self.withUnixLineEnds(closed))

    store = closed
    store[Self.pageSize + 20] ^= 1
    store[2 * Self.pageSize + 20] ^= 1
    add("damaged-metas", "one bit of both meta pages flipped", opening: bothWrong, store)

    store = closed
    let missing =
      "the store was not closed cleanly and its log damaged-newest-meta.quire-log is missing"
    let newest = closedAnatomy.metas.first { $0.counts }?.id.rawValue ?? 1
    store[Int(newest) * Self.pageSize + 20] ^= 1
    add(
      "damaged-newest-meta",
      "one bit of the meta page that counts flipped; the other one is from before closing",
      opening: missing, store)

    store = closed
    store[4 * Self.pageSize + 25] ^= 1
    add(
      "damaged-catalog", "one bit of page 4, the root of the catalog, flipped",
      opening: "page 4 is damaged: the catalog of trees cannot be read: its checksum is wrong",
      store)
  }

  private static func withUnixLineEnds(_ bytes: [UInt8]) -> [UInt8] {
    bytes.indices.filter { index in
      !(bytes[index] == 13 && index + 1 < bytes.count && bytes[index + 1] == 10)
    }.map { bytes[$0] }
  }

  // MARK: Logs

  private mutating func damageLogs() {
    add(
      "missing-log", "its process died; the log was not copied along",
      opening: "the store was not closed cleanly and its log missing-log.quire-log is missing",
      died)
    add(
      "foreign-log", "its process died; the log beside it is of a store of another identity",
      opening: "the log foreign-log.quire-log belongs to another store", died, foreignLog)

    let records = diedAnatomy.log?.records.filter { $0.state == .counts } ?? []
    guard records.count == 4 else { return }
    var damaged = log
    damaged[records[1].offset + 100] ^= 1
    add(
      "damaged-log", "one bit in the record of commit 4 flipped; those of 5 and 6 follow it",
      opening: "the log damaged-log.quire-log is damaged: commits 4 to 5 were durable and are lost",
      died, damaged)

    var torn = log
    let last = records[3]
    let half = last.offset + last.byteCount / 2..<last.offset + last.byteCount
    torn.replaceSubrange(half, with: [UInt8](repeating: 0, count: half.count))
    add(
      "torn-log", "the second half of the last record, commit 6, was never written: no damage",
      opening: "opens at commit 5", finding: "sound", died, torn)
  }
}
