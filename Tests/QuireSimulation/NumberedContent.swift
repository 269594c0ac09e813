import QuireStorage

/// What a store holds after so many commits of ours: all of it follows from the number of the last
/// one, so that half a commit, or one that is missing between others, is seen.
///
///     recent  records  the last 400 numbers, each with its value
///     slots   index    64 keys; each commit sets four of them to its value
///     bulk    records  built anew by every 61st commit, most of it around the log
package enum NumberedContent {
  private static let recentCount: Int64 = 400
  private static let slotCount = 64
  private static let bulkCount: Int64 = 3000
  private static let bulkInterval: Int64 = 61

  package struct Wrong: Error, CustomStringConvertible {
    package var description: String
    package init(description: String) { self.description = description }
  }

  /// Bytes that nothing else would be.
  private static func value(_ number: Int64, _ salt: Int64, byteCount: Int) -> [UInt8] {
    var state = UInt64(bitPattern: number &* 0x9E37_79B9 &+ salt &* 0x1_0000_0001 &+ 1)
    return [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
      for index in 0..<byteCount {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        buffer[index] = UInt8(truncatingIfNeeded: state >> 56)
      }
      count = byteCount
    }
  }

  private static func recent(_ number: Int64) -> [UInt8] {
    value(number, 1, byteCount: number % 40 == 0 ? 5000 : Int(number % 90))
  }

  private static func slots(of number: Int64) -> [Int] {
    (0..<4).map { Int(truncatingIfNeeded: number &* 7 &+ Int64($0 * 13)) % slotCount }
  }

  private static func key(ofSlot slot: Int) -> [UInt8] { Array("slot \(slot)".utf8) }

  private static func slotValue(_ number: Int64) -> [UInt8] { value(number, 2, byteCount: 120) }

  private static func bulkValue(_ number: Int64, _ key: Int64) -> [UInt8] {
    value(number, key &+ 3, byteCount: 100)
  }

  /// The number of the last commit.
  package static func last(in reader: some TreeReader) throws -> Int64 {
    try reader.recordTree("recent")?.lastKey ?? 0
  }

  /// Makes the changes of the next commit.
  ///
  /// - Returns: its number.
  package static func change(_ transaction: WriteTransaction) throws -> Int64 {
    let recent =
      try transaction.mutableRecordTree("recent") ?? transaction.createRecordTree("recent")
    let slots = try transaction.mutableIndexTree("slots") ?? transaction.createIndexTree("slots")
    let number = (try recent.lastKey ?? 0) + 1
    try recent.put(NumberedContent.recent(number), for: number)
    if number > recentCount { try recent.remove(number - recentCount) }
    for slot in NumberedContent.slots(of: number) {
      try slots.put(slotValue(number), for: key(ofSlot: slot))
    }
    guard number % bulkInterval == 0 else { return number }
    try transaction.buildRecordTree("bulk, beside") { builder in
      for key in 0..<bulkCount { try builder.append(bulkValue(number, key), for: key) }
    }
    if try transaction.recordTree("bulk") != nil { try transaction.dropTree("bulk") }
    try transaction.renameTree("bulk, beside", to: "bulk")
    return number
  }

  /// - Returns: the number of the last commit.
  /// - Throws: ``Wrong`` if not all is as it was then.
  @discardableResult
  package static func verify(_ reader: some TreeReader) throws -> Int64 {
    let last = try last(in: reader)
    guard last > 0 else {
      guard try reader.treeNames().isEmpty else { throw Wrong(description: "trees, but no commit") }
      return 0
    }
    guard let recent = try reader.recordTree("recent"), let slots = try reader.indexTree("slots")
    else { throw Wrong(description: "a tree is missing") }
    var expected = max(1, last - recentCount + 1)
    var cursor = recent.cursor()
    while try cursor.next() {
      guard try cursor.key == expected,
        try cursor.storedValue().array == NumberedContent.recent(expected)
      else { throw Wrong(description: "commit \(expected) of \(last) left another value") }
      expected += 1
    }
    guard expected == last + 1 else { throw Wrong(description: "commit \(expected) is missing") }
    var writers = [Int64](repeating: 0, count: slotCount)
    for number in max(1, last - 2 * Int64(slotCount))...last {
      for slot in NumberedContent.slots(of: number) { writers[slot] = number }
    }
    for (slot, number) in writers.enumerated() {
      guard try slots.value(for: key(ofSlot: slot))?.array == (number > 0 ? slotValue(number) : nil)
      else { throw Wrong(description: "slot \(slot) is not as commit \(number) left it") }
    }
    try verifyBulk(reader, last / bulkInterval * bulkInterval)
    return last
  }

  private static func verifyBulk(_ reader: some TreeReader, _ number: Int64) throws {
    guard let bulk = try reader.recordTree("bulk") else {
      if number > 0 { throw Wrong(description: "the tree that commit \(number) built is missing") }
      return
    }
    var cursor = bulk.cursor()
    var expected: Int64 = 0
    while try cursor.next() {
      guard try cursor.key == expected,
        try cursor.storedValue().array == bulkValue(number, expected)
      else { throw Wrong(description: "entry \(expected) is not as commit \(number) built it") }
      expected += 1
    }
    guard expected == bulkCount else {
      throw Wrong(description: "commit \(number) built \(bulkCount) entries, there are \(expected)")
    }
  }
}
