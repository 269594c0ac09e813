import QuireStorage

/// Changes entries of a store through the engine, so that all checksums are right: what a program
/// could have written that knows the format, or a mistake in ours.
///
/// Each change says what it has done, for whoever looks at a failure.
struct EntryForgery {
  var choices: any ForgeryChoices

  /// Changes one to three entries, in one transaction.
  mutating func change(_ pages: PageStore) throws -> String {
    var notes: [String] = []
    try pages.write { transaction in
      for _ in 0...choices.below(3) {
        if let note = try change(transaction) { notes.append(note) }
        // Mostly one change: several hide each other.
        if choices.below(3) != 0 { break }
      }
    }
    return notes.joined(separator: "; ")
  }

  private mutating func change(_ transaction: WriteTransaction) throws -> String? {
    let trees = try transaction.treeNames()
    guard !trees.isEmpty else { return nil }
    // The schema is read first, and everything depends on it.
    let schema = trees.first { $0.name == "schema" }
    let chosen = choices.below(4) == 0 ? schema : nil
    let tree = chosen ?? trees[choices.below(trees.count)]
    if choices.below(40) == 0 { return try changeTree(tree.name, tree.kind, transaction) }
    let note =
      switch tree.kind {
      case .record: try changeRecord(tree.name, transaction)
      case .index: try changeIndex(tree.name, transaction)
      }
    return note.map { "\(tree.name): \($0)" }
  }

  // MARK: Trees

  private mutating func changeTree(
    _ name: String, _ kind: TreeKind, _ transaction: WriteTransaction
  ) throws -> String {
    switch choices.below(4) {
    case 0:
      try transaction.dropTree(name)
      return "\(name) is dropped"
    case 1:
      switch kind {
      case .record: try transaction.mutableRecordTree(name)?.removeAll()
      case .index: try transaction.mutableIndexTree(name)?.removeAll()
      }
      return "\(name) is empty"
    case 2:
      try transaction.dropTree(name)
      switch kind {
      case .record: _ = try transaction.createIndexTree(name)
      case .index: _ = try transaction.createRecordTree(name)
      }
      return "\(name) is of the other kind"
    default:
      let others = ["rows/9", "links/9", "indexes/9", "blobs", "history", "keys", name + "/new"]
      let other = others[choices.below(others.count)]
      if try transaction.treeNames().contains(where: { $0.name == other }) {
        try transaction.dropTree(other)
      }
      guard name != other else { return "\(name) is dropped" }
      try transaction.renameTree(name, to: other)
      return "\(name) is called \(other)"
    }
  }

  // MARK: Entries of records

  private mutating func changeRecord(
    _ name: String, _ transaction: WriteTransaction
  ) throws -> String? {
    guard let tree = try transaction.mutableRecordTree(name) else { return nil }
    let keys = try EntryForgery.keys(of: tree.reading)
    if keys.isEmpty {
      let key = extremeKey(near: 0)
      try tree.put(choices.bytes(choices.below(40)), for: key)
      return "\(key) is new"
    }
    let key = keys[choices.below(keys.count)]
    let value = try tree.value(for: key)?.array ?? []
    switch choices.below(8) {
    case 0:
      try tree.remove(key)
      return "\(key) is removed"
    case 1, 2:
      let other = extremeKey(near: key)
      let isMoved = choices.below(2) == 0
      if isMoved { try tree.remove(key) }
      try tree.put(value, for: other)
      return "\(other) has what \(key) \(isMoved ? "had" : "has")"
    case 3:
      let other = keys[choices.below(keys.count)]
      let otherValue = try tree.value(for: other)?.array ?? []
      try tree.put(otherValue, for: key)
      try tree.put(value, for: other)
      return "\(key) and \(other) have each other's values"
    default:
      let (changed, note) = changed(value, try foreignValue(transaction))
      try tree.put(changed, for: key)
      return "\(key) \(note)"
    }
  }

  private mutating func extremeKey(near key: Int64) -> Int64 {
    let candidates: [Int64] = [
      key &+ 1, key &- 1, 0, 1, -1, .min, .min + 1, .max, .max - 1, 1 << 48, 1 << 48 - 1, 1 << 62,
      1 << 32, 1 << 16,
    ]
    return candidates[choices.below(candidates.count)]
  }

  // MARK: Entries of indexes

  private mutating func changeIndex(
    _ name: String, _ transaction: WriteTransaction
  ) throws -> String? {
    guard let tree = try transaction.mutableIndexTree(name) else { return nil }
    let keys = try EntryForgery.keys(of: tree.reading)
    if keys.isEmpty {
      let key = choices.bytes(choices.below(40))
      try tree.put([], for: key)
      return "\(key) is new"
    }
    let key = keys[choices.below(keys.count)]
    let value = try tree.value(for: key)?.array ?? []
    let isSchema = name == "schema"
    let title = isSchema ? "“\(String(decoding: key, as: UTF8.self))”" : "\(key)"
    // Names of the schema's keys say less than what is behind them.
    switch choices.below(isSchema ? 12 : 4) {
    case 0:
      try tree.remove(key)
      return "\(title) is removed"
    case 1:
      let other = keys[choices.below(keys.count)]
      let otherValue = try tree.value(for: other)?.array ?? []
      try tree.put(otherValue, for: key)
      try tree.put(value, for: other)
      return "\(title) and \(other) have each other's values"
    case 2:
      let (changed, note) = changed(key, keys[choices.below(keys.count)])
      if choices.below(2) == 0 { try tree.remove(key) }
      let limited = Array(changed.prefix(200))
      try tree.put(value, for: limited)
      return "the key \(title) \(note)"
    case 3 where !isSchema:
      let (changed, note) = changed(value, choices.bytes(choices.below(20)))
      try tree.put(changed, for: key)
      return "the value of \(title) \(note)"
    default:
      var (changed, note) = changed(value, try foreignValue(transaction))
      if key == Array("model".utf8), choices.below(4) != 0 {
        EntryForgery.sealArchive(&changed)
        note += ", with a right checksum"
      }
      try tree.put(changed, for: key)
      return "\(title) \(note)"
    }
  }

  /// Makes the checksum of a model's archive right again.
  private static func sealArchive(_ bytes: inout [UInt8]) {
    guard bytes.count >= 8 else { return }
    let content = bytes.dropLast(8)
    let checksum = content.reduce(UInt64(0xCBF2_9CE4_8422_2325)) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    bytes = content + withUnsafeBytes(of: checksum.littleEndian) { Array($0) }
  }

  // MARK: Bytes

  /// A value that belongs elsewhere.
  private mutating func foreignValue(_ transaction: WriteTransaction) throws -> [UInt8] {
    let trees = try transaction.treeNames()
    let tree = trees[choices.below(trees.count)]
    switch tree.kind {
    case .record:
      guard let tree = try transaction.recordTree(tree.name) else { return [] }
      let keys = try EntryForgery.keys(of: tree)
      return keys.isEmpty ? [] : try tree.value(for: keys[choices.below(keys.count)])?.array ?? []
    case .index:
      guard let tree = try transaction.indexTree(tree.name) else { return [] }
      let keys = try EntryForgery.keys(of: tree)
      return keys.isEmpty ? [] : try tree.value(for: keys[choices.below(keys.count)])?.array ?? []
    }
  }

  private mutating func changed(
    _ bytes: [UInt8], _ foreign: [UInt8]
  ) -> (bytes: [UInt8], note: String) {
    var bytes = bytes
    if bytes.isEmpty { return (choices.bytes(1 + choices.below(30)), "was empty and is nonsense") }
    // Most numbers are at the beginning.
    let reach = choices.below(2) == 0 ? min(bytes.count, 32) : bytes.count
    let place = choices.below(reach)
    switch choices.below(12) {
    case 0:
      return (Array(bytes[..<place]), "is cut at \(place)")
    case 1:
      return (bytes + choices.bytes(1 + choices.below(20)), "is longer")
    case 2:
      return (foreign, "has \(foreign.count) bytes from elsewhere")
    case 3:
      let end = min(bytes.count, place + 1 + choices.below(16))
      bytes.removeSubrange(place..<end)
      return (bytes, "lacks bytes from \(place) to \(end)")
    case 4:
      bytes.insert(contentsOf: choices.bytes(1 + choices.below(8)), at: place)
      return (bytes, "has bytes more at \(place)")
    case 5:
      let end = min(bytes.count, place + 1 + choices.below(64))
      bytes.insert(contentsOf: bytes[place..<end], at: place)
      return (bytes, "has bytes from \(place) to \(end) twice")
    case 6, 7:
      let (old, new) = (bytes[place], UInt8(truncatingIfNeeded: choices.below(256)))
      bytes[place] = new
      return (bytes, "has \(new) at \(place), not \(old)")
    case 8:
      bytes[place] ^= 1 << UInt8(truncatingIfNeeded: choices.below(8))
      return (bytes, "has another bit at \(place)")
    default:
      return (bytes, changeNumber(in: &bytes, at: place))
    }
  }

  /// Puts a number into the bytes that is at the end of what its width holds.
  private mutating func changeNumber(in bytes: inout [UInt8], at place: Int) -> String {
    let width = [1, 2, 4, 8][choices.below(4)]
    let end = min(bytes.count, place + width)
    let number: [UInt8] =
      switch choices.below(6) {
      case 0: Array(repeating: 0, count: 8)
      case 1: Array(repeating: 255, count: 8)
      case 2: Array(repeating: 255, count: width - 1) + [127]
      case 3: Array(repeating: 0, count: width - 1) + [128]
      case 4: [1] + Array(repeating: 0, count: 7)
      default: [254] + Array(repeating: 255, count: 7)
      }
    bytes.replaceSubrange(place..<end, with: number[..<(end - place)])
    return "has \(Array(number[..<(end - place)])) at \(place)"
  }

  private static func keys(of tree: RecordTree) throws -> [Int64] {
    var keys: [Int64] = []
    var cursor = tree.cursor()
    while try cursor.next() { keys.append(try cursor.key) }
    return keys
  }

  private static func keys(of tree: IndexTree) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    var cursor = tree.cursor()
    while try cursor.next() { keys.append(Array(try cursor.key)) }
    return keys
  }
}
