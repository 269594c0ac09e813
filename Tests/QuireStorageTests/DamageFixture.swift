import QuireSimulation
import QuireStorage

/// A small store to be damaged, with what it held at each time.
struct DamageFixture {
  private(set) var files: [String: [UInt8]] = [:]
  /// The content after each commit.
  private(set) var models = [StoreModel()]
  /// The number of commits at the last checkpoint.
  private(set) var checkpointed = 0
  /// Where the last commit begins in the log.
  private(set) var lastRecord = 0
  /// The store's file as it was when it was closed after earlier commits.
  private(set) var earlierStores: [[UInt8]] = []

  var store: [UInt8] { files["store"] ?? [] }
  var last: Int { models.count - 1 }

  /// What may be shown after damage to these bytes of a file: the last commit alone, unless they
  /// belong to its own record, since nothing written later says that it was there.
  func versions(afterDamageTo range: Range<Int>, of path: String) -> ClosedRange<Int> {
    guard path == "store-log", range.upperBound > lastRecord else { return last...last }
    // A sector may hold the end of the one before as well.
    return (range.count > 1 ? checkpointed : last - 1)...last
  }

  static func options(pageSize: Int) -> PageStoreOptions {
    var scenario = Scenario.scripted
    scenario.pageSize = pageSize
    scenario.checkpointByteLimit = 1 << 20
    return scenario.options
  }

  private static let commits: [[Step]] = [
    [
      .put(.records, keys: 0..<30, byteCount: 20, version: 1),
      .put(.index, keys: 0..<25, byteCount: 3, version: 1),
    ],
    [.put(.records, keys: 6..<9, byteCount: 1400, version: 2)],
    [
      .put(.otherRecords, keys: 0..<20, byteCount: 40, version: 3),
      .remove(.records, keys: 7..<8), .put(.records, keys: 8..<12, byteCount: 25, version: 3),
    ],
    [.put(.otherIndex, keys: 0..<12, byteCount: 90, version: 4)],
    [.put(.records, keys: 20..<33, byteCount: 30, version: 5), .remove(.index, keys: 3..<9)],
  ]

  /// - Parameter isClosed: whether the store was closed at the end; otherwise its process died with
  ///   the last three commits in the log.
  init(isClosed: Bool) throws {
    let disk = SimulatedDisk()
    let options = DamageFixture.options(pageSize: 512)
    var store: PageStore? = try PageStore.open("store", options: options, in: disk)
    for (number, steps) in DamageFixture.commits.enumerated() {
      var model = models[last]
      for step in steps { model.apply(step) }
      let before = disk.files["store-log"] ?? []
      let transaction = try store?.beginWrite()
      for step in steps { try transaction.map { try step.perform(in: $0) } }
      try transaction?.commit()
      models.append(model)
      let after = disk.files["store-log"] ?? []
      lastRecord =
        zip(before, after).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        ?? before.count
      if isClosed {
        try store?.close()
        if number < DamageFixture.commits.count - 1 {
          earlierStores.append(disk.files["store"] ?? [])
          store = try PageStore.open("store", options: options, in: disk)
        }
      } else if number == 1 {
        try store?.checkpoint()
        checkpointed = models.count - 1
      }
    }
    store = nil
    files = disk.files
  }

  /// The bytes of a page of the store's file.
  func page(_ number: Int) -> [UInt8] { [UInt8](store[number * 512..<(number + 1) * 512]) }

  func copyPage(_ source: Int, to target: Int, of files: inout [String: [UInt8]]) {
    files["store"]?.replaceSubrange(target * 512..<(target + 1) * 512, with: page(source))
  }

  /// The pages in use, by the format: page 3 is the map of the first 118 pages, and has four bytes
  /// for each from byte 24 on, which are zero for a free page.
  var pagesInUse: Set<Int> {
    let map = [UInt8](page(3).dropFirst(24))
    precondition(store.count / 512 <= 118, "the fixture has outgrown its first map")
    return Set(
      (0..<(store.count / 512)).filter { map[$0 * 4..<($0 + 1) * 4].contains { $0 != 0 } })
  }
}
