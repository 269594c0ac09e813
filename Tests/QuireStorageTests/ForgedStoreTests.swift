import QuireSimulation
import QuireStorage
import Testing

/// Numbers under right checksums that nobody would write. To refuse them is as good as to overlook
/// them; nothing may trap, go on for ever, or cost more than the files are large.
@Suite("Forged stores") struct ForgedStoreTests {
  @Test(arguments: ForgedStore.Kind.allCases)
  func `each number of a store may be any`(kind: ForgedStore.Kind) throws {
    let store = try ForgedStore(kind)
    let fields = store.fields()
    func forgeries(_ field: ForgedStore.Field) -> [(field: ForgedStore.Field, value: UInt64)] {
      store.extremes(for: field).map { (field, $0) }
    }
    let seed = environmentValue("QUIRE_SEED").flatMap { UInt64($0) } ?? 5
    var generator = SeededGenerator(seed: seed)
    // Of the pages there are too many; the others are all of them when there is time.
    let isInPage = { (field: ForgedStore.Field) in
      field.file == "store" && field.offset >= 3 * ForgedStore.pageSize
    }
    let (pages, others) = (fields.filter(isInPage), fields.filter { !isInPage($0) })
    func draw(from fields: [ForgedStore.Field]) -> (field: ForgedStore.Field, value: UInt64) {
      let all = forgeries(fields[generator.below(fields.count)])
      return all[generator.below(all.count)]
    }
    var drawn =
      isExhaustive
      ? others.flatMap(forgeries)
      : (0..<Amount.of(debug: 3, release: 8)).map { _ in draw(from: others) }
    drawn += (0..<Amount.of(debug: 3, release: 8, exhaustive: 20_000))
      .map { _ in draw(from: pages) }
    print("forged: \(fields.count) numbers of \(kind), in \(drawn.count) ways, seed \(seed)")
    for (field, value) in drawn {
      var forged = store
      forged.set(field, to: value)
      expectBounds(forged, "\(field) = \(value)")
    }
  }

  /// Some of them only count if others fit: a page that the store is said to have.
  @Test(arguments: ForgedStore.Kind.allCases)
  func `several numbers of a store may be any`(kind: ForgedStore.Kind) throws {
    let store = try ForgedStore(kind)
    let fields = store.fields()
    let kinds = Dictionary(grouping: fields) { "\($0.file) \($0.name)" }
    let heads = kinds.keys.filter { !$0.contains("number") }.sorted()
    let first = environmentValue("QUIRE_SEED").flatMap { UInt64($0) } ?? 0
    for seed in first..<first + Amount.of(sampled: 10, exhaustive: 20_000) {
      var generator = SeededGenerator(seed: seed)
      var forged = store
      var what: [String] = []
      for _ in 0...(1 + generator.below(3)) {
        // Evenly of the kinds of numbers: those of pages are most of them.
        let same = kinds[heads[generator.below(heads.count)]] ?? fields
        let field = same[generator.below(same.count)]
        let values = store.extremes(for: field)
        let value = values[generator.below(values.count)]
        forged.set(field, to: value)
        what.append("\(field) = \(value)")
      }
      expectBounds(forged, "seed \(seed): \(what.joined(separator: ", "))")
    }
  }

  /// Opens it, looks at everything, changes everything.
  private func expectBounds(_ forged: ForgedStore, _ what: String) {
    let size = forged.files.values.reduce(0) { $0 + $1.count }
    let disk = BoundedDisk(
      forged.files, readLimit: 40 * size + (8 << 20), fileLimit: 4 * size + (1 << 20))
    _ = try? StoreAnatomy(of: "store", in: disk)
    for isReadOnly in [true, false] {
      let wroteAll = exercise(disk, isReadOnly: isReadOnly, what)
      guard wroteAll else { continue }
      // What was written and closed without an error can be opened again: to be read alone, where
      // numbers have come to their end.
      var options = ForgedStore.options
      do {
        do {
          try PageStore.open("store", options: options, in: disk).close()
        } catch StorageError.damaged(_, let reason) where reason.contains("read alone") {
          options.isReadOnly = true
          try PageStore.open("store", options: options, in: disk).close()
        }
      } catch {
        Issue.record("\(what): written, closed, and then: \(error)")
      }
    }
    if disk.isExhausted { Issue.record("\(what): more was read than may be") }
  }

  /// - Returns: whether there was no error, and something was written.
  private func exercise(_ disk: BoundedDisk, isReadOnly: Bool, _ what: String) -> Bool {
    var options = ForgedStore.options
    options.isReadOnly = isReadOnly
    do {
      let store = try PageStore.open("store", options: options, in: disk)
      var errors = 0
      func attempt(_ body: () throws -> Void) { do { try body() } catch { errors += 1 } }
      attempt { _ = try store.check() }
      attempt { try scan(try store.snapshot(), what) }
      if !isReadOnly {
        attempt { try change(store) }
        attempt { try store.checkpoint() }
        attempt { try store.write { try $0.mutableRecordTree("records")?.removeAll() } }
        attempt { try store.write { try $0.dropTree("index") } }
        attempt {
          try store.write { transaction in
            let tree = try transaction.createRecordTree("new")
            for key in 0..<60 as Range<Int64> {
              try tree.put([UInt8](repeating: 1, count: Int(key) * 20), for: key)
            }
          }
        }
        attempt {
          try store.write { transaction in
            _ = try transaction.buildRecordTree("built") { builder in
              for key in 0..<900 as Range<Int64> {
                try builder.append([UInt8](repeating: 4, count: 60), for: key)
              }
            }
          }
        }
        attempt { try scan(try store.snapshot(), what) }
      }
      attempt { try store.close() }
      return !isReadOnly && errors == 0
    } catch {
      return false
    }
  }

  private func change(_ store: PageStore) throws {
    try store.write { transaction in
      let records = try transaction.mutableRecordTree("records")
      let index = try transaction.mutableIndexTree("index")
      for key in 0..<30 as Range<Int64> {
        try records?.put([UInt8](repeating: 5, count: Int(key) * 30), for: key * 5)
        try index?.put([7], for: Array("index/\(key * 11)".utf8))
        try records?.remove(key * 6)
      }
    }
  }

  private func scan(_ snapshot: Snapshot, _ what: String) throws {
    let limit = 20_000
    for (name, kind, _) in try snapshot.treeNames() {
      _ = try? snapshot.recordTree(name)?.extent()
      _ = try? snapshot.indexTree(name)?.extent()
      for isForward in [true, false] {
        var count = 0
        switch kind {
        case .record:
          guard var cursor = try snapshot.recordTree(name)?.cursor() else { continue }
          while count < limit, try isForward ? cursor.next() : cursor.previous() {
            _ = try? cursor.valueBytes
            count += 1
          }
        case .index:
          guard var cursor = try snapshot.indexTree(name)?.cursor() else { continue }
          while count < limit, try isForward ? cursor.next() : cursor.previous() {
            _ = try cursor.key
            count += 1
          }
        }
        if count == limit { Issue.record("\(what): \(name) does not end") }
      }
    }
  }
}
