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

  /// Makes a tree of the keys, which nothing may be added to afterwards; none when there is no key.
  ///
  /// - Parameter check: gets two keys that follow each other, for all of them.
  func build(_ treeName: String, _ check: (([UInt8], [UInt8]) throws -> Void)? = nil) throws {
    guard !runNames.isEmpty else {
      if !keys.isEmpty { try buildSorted(keys, treeName, check) }
      return
    }
    if !keys.isEmpty { try spill(keys) }
    try merge(into: treeName, check)
    for run in runNames { try transaction.dropTree(run) }
  }

  private func spill(_ keys: KeyList) throws {
    let run = "\(name)/\(runNames.count)"
    try buildSorted(keys, run, nil)
    runNames.append(run)
    keys.removeAll()
  }

  private func buildSorted(
    _ keys: KeyList, _ treeName: String, _ check: (([UInt8], [UInt8]) throws -> Void)?
  ) throws {
    keys.sort()
    if let check { try keys.forEachPair(check) }
    try transaction.buildIndexTree(treeName) { builder in
      let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
      try keys.forEach { try builder.append(nothing, for: $0) }
    }
  }

  private func merge(
    into treeName: String, _ check: (([UInt8], [UInt8]) throws -> Void)?
  ) throws {
    var runs = try runNames.compactMap { try transaction.indexTree($0)?.entries() }
    var heads: [[UInt8]?] = []
    for place in runs.indices {
      heads.append(try runs[place].next() ? Array(try runs[place].key) : nil)
    }
    var last: [UInt8]?
    try transaction.buildIndexTree(treeName) { builder in
      while let least = KeySorter.least(heads), let head = heads[least] {
        if let check, let last { try check(last, head) }
        last = head
        try builder.append([], for: head)
        heads[least] = try runs[least].next() ? Array(try runs[least].key) : nil
      }
    }
  }

  /// The run with the lowest key. There are few runs: one for each eight megabytes.
  private static func least(_ heads: [[UInt8]?]) -> Int? {
    var least: Int?
    for (place, head) in heads.enumerated() {
      guard let head else { continue }
      guard let best = least.flatMap({ heads[$0] }) else {
        least = place
        continue
      }
      let isLess = head.withUnsafeBytes { left in
        best.withUnsafeBytes { KeyOrder.isLess(left, $0) }
      }
      if isLess { least = place }
    }
    return least
  }
}
