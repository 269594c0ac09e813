import QuireStorage

/// The number of bytes of keys that are sorted in memory at a time. Tests set a small one.
package enum KeyMemory {
  /// Eight megabytes.
  @TaskLocal package static var byteCount = 8 << 20
}

/// Sorts any number of keys in limited memory: full runs are put into temporary trees of the
/// transaction, and merged at the end; see ``LinkSorter``.
final class KeySorter {
  private let transaction: WriteTransaction
  /// The prefix of the names of run trees; no other tree has it.
  private let name: String
  private let byteLimit: Int
  private let keys = KeyList()
  private var runNames: [String] = []

  init(_ transaction: WriteTransaction, _ name: String) {
    self.transaction = transaction
    self.name = name
    byteLimit = KeyMemory.byteCount
  }

  func add(_ key: [UInt8]) throws {
    keys.append(key)
    if keys.byteCount >= byteLimit { try spill(keys) }
  }

  /// Whether no run was written to a tree.
  var isEmpty: Bool { runNames.isEmpty }

  /// Takes all keys of a list as a run.
  func take(_ list: KeyList) throws {
    if list.isEmpty { return }
    try spill(list)
  }

  /// Takes sorted keys as a run.
  ///
  /// - Parameter body: appends the keys.
  func takeRun(_ body: (borrowing IndexTreeBuilder) throws -> Void) throws {
    let run = "\(name)/\(runNames.count)"
    try transaction.buildTemporaryIndexTree(run, body)
    runNames.append(run)
  }

  /// Builds a tree of the keys, or none without a key. No key may be added afterwards.
  ///
  /// - Parameter check: called with each pair of consecutive keys.
  func build(_ treeName: String, _ check: (([UInt8], [UInt8]) throws -> Void)? = nil) throws {
    guard !runNames.isEmpty else {
      if keys.isEmpty { return }
      keys.sort()
      if let check { try keys.forEachPair(check) }
      try transaction.buildIndexTree(treeName) { try append(keys, to: $0) }
      return
    }
    if !keys.isEmpty { try spill(keys) }
    try merge(into: treeName, check)
    for run in runNames { try transaction.dropTree(run) }
  }

  private func spill(_ keys: KeyList) throws {
    keys.sort()
    try takeRun { try append(keys, to: $0) }
    keys.removeAll()
  }

  private func append(_ keys: KeyList, to builder: borrowing IndexTreeBuilder) throws {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    try keys.forEach { try builder.append(nothing, for: $0) }
  }

  private func merge(
    into treeName: String, _ check: (([UInt8], [UInt8]) throws -> Void)?
  ) throws {
    var runs = try RunMerge(runNames.compactMap { try transaction.indexTree($0)?.entries() })
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    var last: [UInt8]?
    try transaction.buildIndexTree(treeName) { builder in
      while let key = runs.lowest {
        if let check {
          let key = Array(key)
          if let last { try check(last, key) }
          last = key
        }
        try builder.append(nothing, for: key)
        try runs.removeLowest()
      }
    }
  }
}

/// Merges the keys of several sorted runs. A binary heap has the runs by their next keys, so that a
/// key costs a few comparisons even with hundreds of runs.
private struct RunMerge {
  private struct Head {
    // Sound: the key is in memory of the run's cursor, which `runs` keeps, and is replaced whenever
    // that cursor moves.
    var key: UnsafeRawBufferPointer
    var run: Int
  }

  private var runs: [IndexRange]
  private var heads: [Head] = []

  init(_ runs: [IndexRange]) throws {
    self.runs = runs
    for run in runs.indices where try self.runs[run].next() {
      heads.append(Head(key: try self.runs[run].key, run: run))
    }
    for position in stride(from: heads.count / 2 - 1, through: 0, by: -1) { sink(position) }
  }

  /// The lowest key, valid until it is removed; `nil` if there is none.
  var lowest: UnsafeRawBufferPointer? { heads.first?.key }

  mutating func removeLowest() throws {
    let run = heads[0].run
    if try runs[run].next() {
      heads[0].key = try runs[run].key
    } else {
      heads.swapAt(0, heads.count - 1)
      heads.removeLast()
    }
    sink(0)
  }

  /// Moves a head down the heap until none of its children is lower.
  private mutating func sink(_ start: Int) {
    var position = start
    while true {
      var lowest = position
      for child in 2 * position + 1..<2 * position + 3 where child < heads.count {
        if KeyOrder.isLess(heads[child].key, heads[lowest].key) { lowest = child }
      }
      if lowest == position { return }
      heads.swapAt(position, lowest)
      position = lowest
    }
  }
}
