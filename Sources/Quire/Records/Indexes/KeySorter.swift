import QuireStorage

/// How many bytes of keys are sorted at once. Tests want few.
package enum KeyMemory {
  /// Eight megabytes.
  @TaskLocal package static var byteCount = 8 << 20
}

/// Sorts any number of keys in little memory: what does not fit is put into trees of the
/// transaction, one for each sorted run, and merged; see ``LinkSorter``.
final class KeySorter {
  /// A key among the bytes; its first eight are here as a number, which decides nearly always.
  private struct Place {
    var head: UInt64
    var start: Int
    var end: Int
  }

  private let transaction: WriteTransaction
  /// Where the runs go; a name that no other tree begins with.
  private let name: String
  private let byteLimit: Int
  private var bytes: [UInt8] = []
  private var keys: [Place] = []
  private var runNames: [String] = []

  init(_ transaction: WriteTransaction, _ name: String) {
    self.transaction = transaction
    self.name = name
    byteLimit = KeyMemory.byteCount
  }

  func add(_ key: [UInt8]) throws {
    let head = key.withUnsafeBytes(KeyOrder.head)
    keys.append(Place(head: head, start: bytes.count, end: bytes.count + key.count))
    bytes.append(contentsOf: key)
    if bytes.count >= byteLimit { try spill() }
  }

  /// Makes a tree of the keys, which nothing may be added to afterwards; none when there is no key.
  ///
  /// - Parameter check: gets two keys that follow each other, for all of them.
  func build(_ treeName: String, _ check: (([UInt8], [UInt8]) throws -> Void)? = nil) throws {
    guard !runNames.isEmpty else {
      if !keys.isEmpty { try buildSorted(treeName, check) }
      return
    }
    if !keys.isEmpty { try spill() }
    try merge(into: treeName, check)
    for run in runNames { try transaction.dropTree(run) }
  }

  private func spill() throws {
    let run = "\(name)/\(runNames.count)"
    try buildSorted(run, nil)
    runNames.append(run)
    bytes.removeAll(keepingCapacity: true)
    keys.removeAll(keepingCapacity: true)
  }

  private func buildSorted(
    _ treeName: String, _ check: (([UInt8], [UInt8]) throws -> Void)?
  ) throws {
    try bytes.withUnsafeBytes { bytes in
      func key(_ place: Place) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[place.start..<place.end])
      }
      keys.sort {
        $0.head != $1.head ? $0.head < $1.head : KeyOrder.isLess(key($0), key($1))
      }
      if let check {
        for (one, next) in zip(keys, keys.dropFirst()) {
          try check(Array(key(one)), Array(key(next)))
        }
      }
      try transaction.buildIndexTree(treeName) { builder in
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        for place in keys { try builder.append(nothing, for: key(place)) }
      }
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

/// The order of bytes, as trees have it.
enum KeyOrder {
  /// The first eight bytes as a number in that order, with zeros for those that are not there.
  static func head(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    if bytes.count >= 8 { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
    return bytes.enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64(56 - 8 * $1.offset) }
  }

  static func isLess(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    let count = min(left.count, right.count)
    var offset = 0
    while offset + 8 <= count {
      let one = UInt64(bigEndian: left.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      let other = UInt64(bigEndian: right.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      if one != other { return one < other }
      offset += 8
    }
    while offset < count {
      if left[offset] != right[offset] { return left[offset] < right[offset] }
      offset += 1
    }
    return left.count < right.count
  }
}
