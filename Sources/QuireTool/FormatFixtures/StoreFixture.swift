import QuireStorage

/// A store of `QuireStorage` alone, made to be kept: its files, and the facts that must be true of
/// them.
package struct StoreFixture {
  package let name: String
  /// The way it was made, in a sentence without a full stop.
  package let making: String
  /// The result of opening it: `opens at commit 3`, or the error, with the file's name for its
  /// path.
  package let opening: String
  /// The result of checking it: `sound`, or a part of a finding; the same as opening if that fails.
  package let finding: String
  package let store: [UInt8]
  package let log: [UInt8]?

  package var fileName: String { "\(name).quire" }

  /// The files by their names.
  package var files: [(name: String, bytes: [UInt8])] {
    [(fileName, store)] + (log.map { [("\(fileName)-log", $0)] } ?? [])
  }

  /// A row of the folder's README.
  var row: String { "| `\(fileName)` | \(making) | \(opening) | \(finding) |" }
}

/// The content of trees, kept independently of the store to compare a fixture with it.
package struct FixtureContent: Equatable {
  package var records: [String: [Int64: [UInt8]]] = [:]
  package var indexes: [String: [[UInt8]: [UInt8]]] = [:]

  package init() {}

  /// Reads all of a store.
  package init(of store: PageStore) throws {
    try store.read { snapshot in
      for (name, kind, _) in try snapshot.treeNames() {
        switch kind {
        case .record:
          records[name] = [:]
          guard var cursor = try snapshot.recordTree(name)?.cursor() else { continue }
          while try cursor.next() { records[name]?[try cursor.key] = Array(try cursor.valueBytes) }
        case .index:
          indexes[name] = [:]
          guard var cursor = try snapshot.indexTree(name)?.cursor() else { continue }
          while try cursor.next() {
            indexes[name]?[Array(try cursor.key)] = Array(try cursor.valueBytes)
          }
        }
      }
    }
  }
}

/// One change to a fixture.
enum FixtureStep {
  case put(tree: String, key: Int64, value: [UInt8])
  case enter(tree: String, key: [UInt8], value: [UInt8])
  case remove(tree: String, key: Int64)
  case drop(tree: String)
  case makeIndex(tree: String)

  func apply(to content: inout FixtureContent) {
    switch self {
    case .put(let tree, let key, let value): content.records[tree, default: [:]][key] = value
    case .enter(let tree, let key, let value): content.indexes[tree, default: [:]][key] = value
    case .remove(let tree, let key): content.records[tree]?[key] = nil
    case .drop(let tree):
      content.records[tree] = nil
      content.indexes[tree] = nil
    case .makeIndex(let tree): content.indexes[tree] = [:]
    }
  }

  func apply(in transaction: WriteTransaction) throws {
    switch self {
    case .put(let tree, let key, let value):
      let tree =
        try transaction.mutableRecordTree(tree) ?? transaction.createRecordTree(tree)
      try tree.put(value, for: key)
    case .enter(let tree, let key, let value):
      let tree = try transaction.mutableIndexTree(tree) ?? transaction.createIndexTree(tree)
      try tree.put(value, for: key)
    case .remove(let tree, let key): try transaction.mutableRecordTree(tree)?.remove(key)
    case .drop(let tree): try transaction.dropTree(tree)
    case .makeIndex(let tree): try transaction.createIndexTree(tree)
    }
  }

  /// Bytes that differ from offset to offset and from seed to seed.
  static func bytes(_ count: Int, seed: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed &* 7 &+ $0 / 251) }
  }
}

/// Makes stores in memory, so that nothing depends on the machine.
struct FixtureWorkshop {
  let files = MemoryFileSystem()
  let options: PageStoreOptions

  init(pageSize: Int, identity: StoreIdentity) {
    var options = PageStoreOptions()
    options.pageSize = pageSize
    options.identity = identity
    options.checkpointsInBackground = false
    self.options = options
  }

  /// Makes one commit for each list of steps; then closes the store, or leaves it as after a crash.
  func run(_ commits: [[FixtureStep]], isClosed: Bool) throws {
    let store = try PageStore.open("store", options: options, in: files)
    for steps in commits {
      try store.write { transaction in
        for step in steps { try step.apply(in: transaction) }
      }
    }
    // A handle that is dropped leaves the log, as a crash does.
    if isClosed { try store.close() }
  }

  var store: [UInt8] { files.bytes(of: "store") ?? [] }
  var log: [UInt8]? { files.bytes(of: "store-log") }
  func anatomy() throws -> StoreAnatomy { try StoreAnatomy(of: "store", in: files) }
}
