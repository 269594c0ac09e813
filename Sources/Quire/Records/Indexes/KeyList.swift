import QuireStorage

/// Keys in memory, stored one after the other, to be sorted.
package final class KeyList {
  /// Where a key is among the bytes. Its first eight bytes after those that all keys share are
  /// kept here as a number, which mostly decides comparisons.
  private struct Entry {
    var head: UInt64 = 0
    var start: UInt32
    var byteCount: UInt32
  }

  // Sound: only the list uses the memory, and lends it within calls; it is not accessed again while
  // it changes. Each start is that of the memory beside it, and changes with it.
  @exclusivity(unchecked) private var memory: PageMemory
  @exclusivity(unchecked) private var bytes: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var entryMemory: PageMemory
  @exclusivity(unchecked) private var entryStart: UnsafeMutablePointer<Entry>

  /// The number of bytes of all keys, without their entries.
  @exclusivity(unchecked) package private(set) var byteCount = 0
  @exclusivity(unchecked) package private(set) var count = 0
  package var isEmpty: Bool { count == 0 }

  /// The memory of lists without keys, of which a save makes many.
  private static let nothing = PageMemory(byteCount: 0)

  package init() {
    (memory, entryMemory) = (KeyList.nothing, KeyList.nothing)
    bytes = memory.base
    entryStart = KeyList.entries(in: entryMemory)
  }

  /// The memory contains only entries, which are plain numbers.
  private static func entries(in memory: PageMemory) -> UnsafeMutablePointer<Entry> {
    memory.base.bindMemory(to: Entry.self, capacity: memory.byteCount / MemoryLayout<Entry>.stride)
  }

  private var entries: UnsafeMutableBufferPointer<Entry> {
    UnsafeMutableBufferPointer(start: entryStart, count: count)
  }

  package func append(_ key: [UInt8]) {
    reserve(key.count)
    key.withUnsafeBytes {
      if let start = $0.baseAddress {
        (bytes + byteCount).copyMemory(from: start, byteCount: key.count)
      }
    }
    end(key.count)
  }

  /// Removes all keys, and keeps the memory.
  package func removeAll() {
    byteCount = 0
    count = 0
  }

  private func reserve(_ more: Int) {
    if byteCount + more > memory.byteCount { grow(more) }
  }

  @inline(never)
  private func grow(_ more: Int) {
    memory = KeyList.larger(memory, byteCount, more)
    bytes = memory.base
  }

  @inline(never)
  private func growEntries() {
    let stride = MemoryLayout<Entry>.stride
    entryMemory = KeyList.larger(entryMemory, count * stride, stride)
    entryStart = KeyList.entries(in: entryMemory)
  }

  /// Memory with the same content, and room for `more` bytes after it.
  private static func larger(_ memory: PageMemory, _ used: Int, _ more: Int) -> PageMemory {
    // From a quarter of a large page on, a whole one is allocated: that costs a single page fault,
    // while memory that is doubled costs one for each small page, every time.
    let doubled = 2 * memory.byteCount
    let large = doubled > 1 << 18 ? 2 << 20 : 0
    let larger = PageMemory(byteCount: max(1024, doubled, large, used + more))
    larger.base.copyMemory(from: memory.base, byteCount: used)
    return larger
  }

  /// Records the bytes written last as a key.
  private func end(_ keyByteCount: Int) {
    if (count + 1) * MemoryLayout<Entry>.stride > entryMemory.byteCount { growEntries() }
    entryStart[count] = Entry(start: UInt32(byteCount), byteCount: UInt32(keyByteCount))
    count += 1
    byteCount += keyByteCount
  }

  private func key(_ entry: Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes + Int(entry.start), count: Int(entry.byteCount))
  }

  /// A key; valid as long as the list exists and no key is added.
  package subscript(index: Int) -> UnsafeRawBufferPointer {
    precondition(index >= 0 && index < count, "the list has no such key")
    return key(entryStart[index])
  }

  /// - Parameter body: called with each key, which is valid within the call.
  package func forEach(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    for entry in entries { try body(key(entry)) }
  }

  /// - Parameter body: called with portions of consecutive keys, valid within the call, until all
  ///   are taken.
  func forEachRun(_ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) throws -> Void) throws {
    let portion = 1024
    var start = 0
    try withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: portion) { run in
      while start < entries.count {
        let count = min(portion, entries.count - start)
        for index in 0..<count { run.initializeElement(at: index, to: key(entries[start + index])) }
        try body(UnsafeBufferPointer(rebasing: run[..<count]))
        start += count
      }
    }
  }

  /// - Parameter body: called with each pair of consecutive keys.
  func forEachPair(_ body: ([UInt8], [UInt8]) throws -> Void) rethrows {
    for (one, next) in zip(entries, entries.dropFirst()) {
      try body(Array(key(one)), Array(key(next)))
    }
  }
}

// MARK: - Keys from rows

extension KeyList {
  /// Appends the key of a row in the format of ``IndexKeyWriter``.
  ///
  /// - Parameters:
  ///   - fields: fields of texts and references, all ascending.
  ///   - row: a checked row of the current layout.
  /// - Returns: `false`, with nothing appended, if bytes cannot simply be copied: for texts that
  ///   are long, or not ASCII.
  func append(
    _ fields: [FieldTable.Field], of row: UnsafeRawPointer, _ reference: Reference
  ) -> Bool {
    // More than an index key ever needs.
    reserve(IndexKeyWriter.byteLimit + 16)
    let start = bytes + byteCount
    var end = start
    for index in 0..<fields.count {
      let field = fields[index]
      // `IndexKeyWriter` checks whether the key has room for another element.
      guard end - start <= 160 else { return false }
      if field.isNil(in: row) {
        end.storeBytes(of: IndexKeyWriter.Tag.absent, as: UInt8.self)
        end += 1
        continue
      }
      end.storeBytes(of: IndexKeyWriter.Tag.value, as: UInt8.self)
      end += 1
      if field.isKind(.reference) {
        end.storeBytes(of: (field.fixed(in: row) as UInt64).bigEndian, as: UInt64.self)
        end += 8
      } else {
        let text = field.variable(in: row)
        guard text.count <= 64, KeyList.isPlain(text) else { return false }
        if let source = text.baseAddress { end.copyMemory(from: source, byteCount: text.count) }
        end += text.count
        end.storeBytes(of: 0, as: UInt16.self)
        end += 2
      }
    }
    end.storeBytes(of: reference.rawValue.bigEndian, as: UInt64.self)
    self.end(end + 8 - start)
    return true
  }

  /// Whether all bytes are ASCII and none is zero: such a text is copied into a key.
  private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    let (low, high): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
    while offset &+ 8 <= text.count {
      let word = text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      // A byte's own upper bit, or a borrow, shows in one of these if a byte is not allowed.
      if (word | (word &- low)) & high != 0 { return false }
      offset &+= 8
    }
    while offset < text.count {
      if text[offset] == 0 || text[offset] >= 0x80 { return false }
      offset &+= 1
    }
    return true
  }
}

// MARK: - Order

extension KeyList {
  /// Sorts the keys.
  ///
  /// - Complexity: O(*n*) if the keys are sorted already, or differ in the first eight bytes after
  ///   those that all share; otherwise O(*n* log *n*).
  package func sort() {
    let shared = sharedByteCount
    var isSorted = true
    var entries = entries
    for index in entries.indices {
      entries[index].head = KeyOrder.head(
        UnsafeRawBufferPointer(rebasing: key(entries[index])[shared...]))
      if index > 0, isSorted { isSorted = !isLess(entries[index], entries[index - 1]) }
    }
    if isSorted { return }
    if entries.count < 64 { return entries.sort(by: isLess) }
    // Sorting by heads moves the entries to other memory.
    sortByHeads()
    sortRuns()
  }

  /// Sorts the keys with equal heads, after all keys are in the order of their heads.
  private func sortRuns() {
    let entries = entries
    var first = 0
    while first < entries.count {
      var last = first
      while last + 1 < entries.count, entries[last + 1].head == entries[first].head { last += 1 }
      if last > first { sortRun(first...last) }
      first = last + 1
    }
  }

  /// The number of leading bytes that all keys share.
  private var sharedByteCount: Int {
    guard let first = entries.first else { return 0 }
    let start = bytes + Int(first.start)
    var shared = Int(first.byteCount)
    for entry in entries {
      shared = min(shared, Int(entry.byteCount))
      shared = KeyOrder.sharedByteCount(start, bytes + Int(entry.start), shared)
    }
    return shared
  }

  private func isLess(_ left: Entry, _ right: Entry) -> Bool {
    left.head != right.head ? left.head < right.head : KeyOrder.isLess(key(left), key(right))
  }

  /// Sorts keys with equal heads, if they are not in order already, as they mostly are.
  private func sortRun(_ run: ClosedRange<Int>) {
    for index in run.dropFirst() where isLess(entries[index], entries[index - 1]) {
      var run = UnsafeMutableBufferPointer(rebasing: entries[run])
      run.sort(by: isLess)
      return
    }
  }

  /// A radix sort by the bytes of the heads, from the last to the first, skipping equal ones.
  private func sortByHeads() {
    var difference: UInt64 = 0
    for entry in entries { difference |= entry.head ^ entries[0].head }
    var other = PageMemory(byteCount: entryMemory.byteCount)
    for shift in stride(from: UInt64(0), to: 64, by: 8) where difference &>> shift & 0xFF != 0 {
      let target = KeyList.entries(in: other)
      KeyList.distribute(entries, to: target, shift)
      swap(&entryMemory, &other)
      entryStart = target
    }
  }

  /// - Parameter target: memory for as many entries.
  private static func distribute(
    _ source: UnsafeMutableBufferPointer<Entry>, to target: UnsafeMutablePointer<Entry>,
    _ shift: UInt64
  ) {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { starts in
      starts.initialize(repeating: 0)
      for entry in source { starts[Int(entry.head &>> shift & 0xFF)] += 1 }
      var sum = 0
      for digit in 0..<256 { (starts[digit], sum) = (sum, sum + starts[digit]) }
      for entry in source {
        let digit = Int(entry.head &>> shift & 0xFF)
        target[starts[digit]] = entry
        starts[digit] += 1
      }
    }
  }
}
