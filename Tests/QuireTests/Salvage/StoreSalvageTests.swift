import Quire
import QuireSimulation
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Of a store with a page overwritten, everything comes back but what was on the page.
@Suite struct StoreSalvageTests {
  private static let thingCount = Amount.of(debug: 60, release: 160)

  /// The pages that are tried: some of each kind, as many as one test may take; all when everything
  /// is asked for.
  private static func pages(_ scene: SalvageScene, _ damage: SalvageScene.Damage) throws -> [Int] {
    if isExhaustive { return Array(0..<scene.pageCount) }
    var kinds: [String: [Int]] = [:]
    for page in 0..<scene.pageCount {
      let summary = try scene.anatomy.summary(of: page)
      kinds["\(summary.type) of \(summary.tree ?? "")", default: []].append(page)
    }
    let seed = UInt64.random(in: 0...UInt64.max)
    print("pages lost by seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let some = kinds.sorted { $0.key < $1.key }.flatMap { kind, pages in
      pages.shuffled(using: &random).prefix(Amount.of(debug: 1, release: 8))
    }
    // Each kind of damage begins elsewhere, so that together they meet three in eight of the kinds.
    let place = Int(seed % 8) + (SalvageScene.Damage.allCases.firstIndex(of: damage) ?? 0)
    return Amount.some(of: some, oneIn: 8, at: place)
  }

  @Test(arguments: SalvageScene.Damage.allCases)
  func `every object that is not on the lost page is kept, with its links`(
    _ damage: SalvageScene.Damage
  ) throws {
    let scene = try SalvageScene(thingCount: Self.thingCount)
    for page in try Self.pages(scene, damage) { try check(page, damage, scene) }
  }

  /// The trees without a name are told apart by what is in them. Links without another side are
  /// those of the entity that has their owners.
  @Test func `a lost page of the catalog costs nothing`() throws {
    let scene = try SalvageScene(thingCount: Self.thingCount)
    let pages = try (0..<scene.pageCount).filter {
      let summary = try scene.anatomy.summary(of: $0)
      return summary.tree == "(catalog)"
    }
    #expect(pages.count > 2)
    for page in pages { try check(page, .noise, scene) }
  }

  private func check(
    _ page: Int, _ damage: SalvageScene.Damage, _ scene: SalvageScene
  ) throws {
    let lost = try scene.lost(with: page)
    let summary = try scene.anatomy.summary(of: page)
    let what = "page \(page), \(summary.type) of \(summary.tree ?? "nothing")"
    let needsModel = summary.tree == "schema"
    let found = try scene.salvage(
      scene.damaged(page, damage), model: needsModel ? scene.model : nil)
    let links = try scene.lostLinks(with: page)
    var expected = scene.content(without: lost.objects, links)
    if !lost.values.isEmpty {
      for value in found.report.lostValues {
        expected.objects[.init(value.entity, value.key)]?.values[value.attribute] = nil
      }
      #expect(found.report.lostValues.count == lost.values.count, "\(what)")
    } else {
      #expect(found.report.lostValues.isEmpty, "\(what)")
    }
    let differences = expected.differences(in: found.content)
    #expect(differences.isEmpty, "\(what): \(differences.prefix(5).joined(separator: "\n"))")
    #expect(found.findings.isEmpty, "\(what): \(found.findings.prefix(5))")
    let told = Set(
      found.report.entities.flatMap { entity in
        entity.lostKeys.map { ObjectName(entity.name, $0) }
      })
    #expect(told.isSubset(of: lost.objects), "\(what): \(told.subtracting(lost.objects))")
    #expect(found.report.lostCount == lost.objects.count, "\(what)")
    #expect(
      found.report.lostLinks.reduce(0) { $0 + $1.count } == links.count, "\(what)")
  }

  /// Several pages at once may cost more than what is on them, but never make something up.
  @Test func `objects that salvage keeps after the loss of several pages are unchanged`() throws {
    let scene = try SalvageScene(thingCount: Self.thingCount)
    let seed = UInt64.random(in: 0...UInt64.max)
    print("several pages lost by seed \(seed)")
    var random = SeededGenerator(seed: seed)
    // Most pages are those of long values.
    let nodes = try (4..<scene.pageCount).filter {
      try scene.anatomy.summary(of: $0).type != "overflow"
    }
    for round in 0..<Amount.of(debug: 4, release: 40, exhaustive: 400) {
      var bytes = scene.bytes
      var pages: [Int] = []
      var hasFlippedRows = false
      for _ in 0..<Int.random(in: 2...12, using: &random) {
        let isNode = Bool.random(using: &random)
        // Without the first page no checksum can be verified.
        let page =
          pages.isEmpty && round % 4 == 3
          ? 0
          : isNode
            ? nodes.randomElement(using: &random) ?? 4
            : Int.random(in: 0..<scene.pageCount, using: &random)
        pages.append(page)
        let damage = SalvageScene.Damage.allCases.randomElement(using: &random) ?? .zeros
        bytes = scene.damaged(page, damage, of: bytes)
        let type = try scene.anatomy.summary(of: page).type
        if damage == .bit, type == "record leaf" { hasFlippedRows = true }
      }
      // A flipped bit of a key makes another key of it.
      Self.check(
        scene, bytes, without: pages, mayHaveOtherKeys: hasFlippedRows && pages.contains(0),
        "round \(round): pages \(pages)")
    }
  }

  /// A tree whose name is lost fits where the root of another was: only its entries tell.
  @Test func `a tree without a name is not taken for a lost part of another`() throws {
    let scene = try SalvageScene(thingCount: Self.thingCount)
    let summaries = try (4..<scene.pageCount).map(scene.anatomy.summary(of:))
    let names = summaries.filter { $0.tree == "(catalog)" && $0.level == 0 }.map {
      Int($0.id.rawValue)
    }
    var highest: [String: Int] = [:]
    for summary in summaries {
      guard let tree = summary.tree, tree != "(catalog)", summary.type.hasPrefix("index") else {
        continue
      }
      highest[tree] = max(highest[tree] ?? 0, summary.level)
    }
    let roots = summaries.filter { summary in
      summary.type.hasPrefix("index") && summary.tree.map { highest[$0] == summary.level } ?? false
    }.map { Int($0.id.rawValue) }
    #expect(names.count > 1 && roots.count > 10)
    var pairs = names.flatMap { name in roots.map { [name, $0] } }
    pairs.shuffle()
    for pages in pairs.prefix(Amount.of(debug: 8, release: .max)) {
      let bytes = pages.reduce(into: scene.bytes) { $0 = scene.damaged($1, .zeros, of: $0) }
      Self.check(scene, bytes, without: pages, "pages \(pages)")
    }
  }

  /// What is left is as it was, and the new store is consistent.
  private static func check(
    _ scene: SalvageScene, _ bytes: [UInt8], without pages: [Int], mayHaveOtherKeys: Bool = false,
    _ what: String
  ) {
    let found: (report: SalvageReport, content: StoreContent, findings: [String])
    do {
      found = try scene.salvage(bytes, model: scene.model)
    } catch {
      // Neither the size of pages nor anything else is known.
      #expect(pages.contains(0) && pages.contains(3), "\(what): \(error)")
      return
    }
    #expect(found.findings.isEmpty, "\(what): \(found.findings.prefix(5))")
    for (name, node) in found.content.objects {
      guard let former = scene.content.objects[name] else {
        if !mayHaveOtherKeys { Issue.record("\(what): \(name) was never there") }
        continue
      }
      for (key, value) in node.values where key != "partCount" {
        // Without the first page nothing tells a flipped bit.
        if former.values[key] != value, !pages.contains(0) {
          Issue.record("\(what): \(name).\(key) is another")
        }
      }
      for (key, members) in node.links {
        let before = Set(former.links[key] ?? [])
        if !before.isSuperset(of: members), !pages.contains(0) {
          Issue.record("\(what): \(name).\(key) has members that it had not")
        }
      }
    }
  }

  @Test func `a sound store comes out as it is`() throws {
    let scene = try SalvageScene(thingCount: Self.thingCount)
    let found = try scene.salvage(scene.bytes)
    #expect(found.report.isComplete)
    #expect(found.report.damage.isEmpty)
    #expect(scene.content.differences(in: found.content).isEmpty)
    #expect(found.findings.isEmpty)
  }

  /// A page that the disk does not give is a lost one; what the new store does not give is an
  /// error.
  @Test func `a disk that fails once costs nothing without a word`() throws {
    let scene = try SalvageScene(thingCount: 20)
    let (path, new) = ("/folder/store.quire", "/folder/new.quire")
    func salvage(failingAt query: Int?) throws -> (SalvageReport, StoreContent, queries: Int) {
      let disk = SimulatedDisk()
      let file = try disk.open(path, .create)
      try scene.bytes.withUnsafeBytes { try file.write($0, at: 0) }
      if let query { disk.failQuery(at: query, with: .ioError) }
      let report = try StoreSalvage(of: URL(filePath: path), model: nil, in: disk)
        .write(to: URL(filePath: new), in: disk)
      let queries = disk.queryCount
      disk.heal()
      let context = try TestStore.open(
        VersionedModel(scene.model), at: URL(filePath: new), in: disk)
      defer { try? TestStore.close(context) }
      return (report, try StoreContent(context, scene.model), queries)
    }
    let whole = try salvage(failingAt: nil)
    #expect(whole.0.isComplete)
    let seed = UInt64.random(in: 0...UInt64.max)
    print("failing reads by seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let queries = Array(1...whole.queries).shuffled(using: &random)
    for query in queries.prefix(Amount.of(debug: 6, release: 60, exhaustive: queries.count)) {
      guard let found = try? salvage(failingAt: query) else { continue }
      let isWhole = whole.1.differences(in: found.1).isEmpty
      #expect(isWhole || !found.0.isComplete || !found.0.damage.isEmpty, "query \(query)")
    }
  }

  /// What leads to a lost object must not lead to a new one, whose key it has.
  @Test func `a new object has no key of a lost one, though the counters of keys are lost`() throws
  {
    let scene = try SalvageScene(thingCount: Self.thingCount)
    var lastLeaf: (page: Int, key: Int64) = (0, 0)
    var bytes = scene.bytes
    for page in 0..<scene.pageCount {
      let summary = try scene.anatomy.summary(of: page)
      if summary.tree == "keys" { bytes = scene.damaged(page, .zeros, of: bytes) }
      guard summary.type == "record leaf", summary.tree?.hasPrefix("rows/") == true,
        case .number(let key)? = try scene.anatomy.content(of: page).entries.last?.key
      else { continue }
      if key > lastLeaf.key { lastLeaf = (page, key) }
    }
    let lost = try scene.lost(with: lastLeaf.page).objects
    let entity = try #require(lost.first).entity
    _ = try scene.salvage(scene.damaged(lastLeaf.page, .zeros, of: bytes)) { context in
      let objects = try lost.map { _ in try context.insert(entity) }
      try context.save()
      #expect(lost.isDisjoint(with: objects.map(ObjectName.init)))
    }
  }

  @Test func `a token of the history before a salvage has expired, also the last one`() throws {
    let files = MemoryFileSystem()
    let url = URL(filePath: "/folder/library.quire")
    let version = VersionedModel(HistoryLibrary.model)
    let context = try TestStore.open(version, HistoryLibrary.tracking, at: url, in: files)
    try context.insert("Author", ["name": "a"])
    try context.save()
    let last = try #require(context.historyToken)
    #expect(try context.history(after: last).isEmpty)
    try TestStore.close(context)
    let new = URL(filePath: "/folder/new.quire")
    try StoreSalvage(of: url, model: nil, in: files).write(to: new, in: files)
    let salvaged = try TestStore.open(version, HistoryLibrary.tracking, at: new, in: files)
    defer { try? TestStore.close(salvaged) }
    let error = #expect(throws: PersistenceError.self) { try salvaged.history(after: last) }
    #expect(error?.code == .persistentHistoryTokenExpired)
    let next = try #require(salvaged.historyToken)
    try salvaged.insert("Author", ["name": "b"])
    try salvaged.save()
    #expect(try salvaged.history(after: next).count == 1)
  }

  /// Keys under right checksums that are too large, or not in order.
  @Test func `a forged key is left out`() throws {
    let scene = try SalvageScene(thingCount: Self.thingCount)
    var leaves: [String: Int] = [:]
    for page in 0..<scene.pageCount {
      let summary = try scene.anatomy.summary(of: page)
      if summary.type == "record leaf", let tree = summary.tree { leaves[tree] = page }
    }
    #expect(leaves.keys.contains("blobs"))
    let bases = [Int64.max - 1000, 1 << 48, 0, -5, .min]
    for (place, leaf) in leaves.sorted(by: { $0.key < $1.key }).enumerated() {
      let (tree, page) = leaf
      for base in Amount.some(of: bases, oneIn: 3, at: place) {
        var bytes = scene.bytes
        let sealing = try #require(FileSealing(repairing: &bytes))
        let start = page * SalvageScene.pageSize
        bytes.setNumber(UInt64(bitPattern: base), at: start + 24, byteCount: 8)
        sealing.sealPage(page, at: start, in: &bytes)
        let found = try scene.salvage(bytes, model: scene.model)
        #expect(found.findings.isEmpty, "\(tree), \(base): \(found.findings.prefix(5))")
      }
    }
  }
}
