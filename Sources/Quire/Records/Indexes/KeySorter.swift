import QuireStorage

/// How many bytes of keys are sorted at once. Tests want few.
package enum KeyMemory {
  /// Eight megabytes.
  @TaskLocal package static var byteCount = 8 << 20
}

/// Sorts any number of keys in little memory: what does not fit is put into trees of the
/// transaction, one for each sorted run, and merged; see ``LinkSorter``.
final class KeySorter {
  private let transaction: WriteTransaction
  /// Where the runs go; a name that no other tree begins with.
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

  /// Whether no run was put aside.
  var isEmpty: Bool { runNames.isEmpty }

  /// Takes all keys of a list as a run of their own.
  func take(_ list: KeyList) throws {
    if list.isEmpty { return }
    try spill(list)
  }

  /// Takes keys that are in order already as a run of their own.
  ///
  /// - Parameter body: appends them.
  func takeRun(_ body: (borrowing IndexTreeBuilder) throws -> Void) throws {
    let run = "\(name)/\(runNames.count)"
    try transaction.buildTemporaryIndexTree(run, body)
    runNames.append(run)
  }

  /// Makes a tree of the keys, which nothing may be added to afterwards; none when there is no key.
  ///
  /// - Parameter check: gets two keys that follow each other, for all of them.
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

/// The keys of several sorted runs in one order: a binary heap of the runs by their next keys, so
/// that a key costs a few comparisons also where there are hundreds of runs.
private struct RunMerge {
  private struct Head {
    // Sound: it lies in the room of the run's own cursor, which `runs` keeps, and is replaced
    // whenever that cursor moves.
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
    for place in stride(from: heads.count / 2 - 1, through: 0, by: -1) { sink(place) }
  }

  /// The lowest key, valid until it is removed; `nil` when there is none.
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

  /// Exchanges a head with the lower one below it, for as long as that is lower.
  private mutating func sink(_ start: Int) {
    var place = start
    while true {
      var lowest = place
      for child in 2 * place + 1..<2 * place + 3 where child < heads.count {
        if KeyOrder.isLess(heads[child].key, heads[lowest].key) { lowest = child }
      }
      if lowest == place { return }
      heads.swapAt(place, lowest)
      place = lowest
    }
  }
}
