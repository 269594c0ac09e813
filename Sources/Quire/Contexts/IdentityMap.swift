/// The registered objects of a session or context, by their references: one object for each row.
///
/// Every object that is read, made, saved or released is looked up here several times. Eight
/// consecutive references share a cache line, as objects of adjacent rows are usually made and
/// released together; a hash table, the directory, finds the lines. A fetch of all rows writes line
/// after line, and looks up the directory once for each.
struct IdentityMap: ~Copyable {
  private struct Entry {
    /// The line's number and one; 0 where there is none.
    var mark: UInt64
    /// The line's address, and in the lower bits the number of objects in it.
    var word: UInt
  }

  /// The objects of eight references, a whole cache line.
  private typealias Line = UnsafeMutablePointer<Unmanaged<ManagedObject>?>

  // Sound: the memory belongs to this map alone, which is not copied. An index into the directory
  // is made of a product's upper bits, or reduced by `mask`.
  /// `mask` + 1 buckets, each with an entry.
  private var entries: UnsafeMutablePointer<Entry>
  private var mask: Int
  /// The number of bits by which a product is shifted to make an index.
  private var shift: UInt64
  private var lineCount = 0
  private var lines = LineMemory()
  /// The index of the entry that was found last.
  private var recent = 0
  private(set) var count = 0

  private static let smallestBitCount: UInt64 = 4
  private static var lineBitCount: UInt64 { 3 }
  private static var lineMask: UInt64 { 1 << lineBitCount - 1 }
  private static var groupBitCount: UInt64 { 3 }
  private static var groupMask: UInt64 { 1 << groupBitCount - 1 }
  static var lineByteCount: Int { 64 }
  /// Upper bound on the capacity reserved from an unverified row count.
  static var believedCount: Int { 1 << 17 }

  init() {
    shift = 64 - IdentityMap.smallestBitCount
    mask = 1 << IdentityMap.smallestBitCount - 1
    entries = IdentityMap.directory(mask + 1)
  }

  deinit { entries.deallocate() }

  var objects: [ManagedObject] {
    var objects: [ManagedObject] = []
    objects.reserveCapacity(count)
    forEach { objects.append($0.takeUnretainedValue()) }
    return objects
  }

  private func forEach(_ body: (Unmanaged<ManagedObject>) -> Void) {
    for bucket in 0...mask where entries[bucket].mark != 0 {
      let line = line(at: bucket)
      for index in 0...Int(IdentityMap.lineMask) { line[index].map(body) }
    }
  }

  /// Removes all objects, after the context has cleared their arenas.
  ///
  /// - Parameter mayHaveChanges: whether any of them has ever had changes.
  /// - Returns: the objects with changes, which may retain others. The caller keeps them until all
  ///   have released their destinations.
  mutating func abandon(mayHaveChanges: Bool) -> [ManagedObject] {
    var changed: [ManagedObject] = []
    if mayHaveChanges {
      forEach { object in
        object._withUnsafeGuaranteedRef { if $0.hasSlots { changed.append($0) } }
      }
    }
    self = IdentityMap()
    return changed
  }

  // MARK: One object

  subscript(reference: Reference) -> Unmanaged<ManagedObject>? {
    mutating get {
      guard find(reference.rawValue) else { return nil }
      return line(at: recent)[index(of: reference.rawValue)]
    }
  }

  /// Reserves room for a number of more objects with consecutive references, up to
  /// ``believedCount``.
  mutating func reserve(_ more: Int) {
    let lines = min(max(0, more), IdentityMap.believedCount) >> IdentityMap.lineBitCount
    growIfFull(with: lineCount + lines)
  }

  /// Enters an object, and replaces one that is there under the same reference.
  mutating func set(_ reference: Reference, to object: Unmanaged<ManagedObject>) {
    if !find(reference.rawValue) { addLine(of: reference.rawValue) }
    let slot = line(at: recent) + index(of: reference.rawValue)
    if slot.pointee == nil {
      count &+= 1
      entries[recent].word &+= 1
    }
    slot.pointee = object
  }

  /// Removes an object, unless another one is there under its reference.
  mutating func removeEntry(of object: ManagedObject) {
    let reference = object.reference.rawValue
    guard find(reference) else { return }
    let slot = line(at: recent) + index(of: reference)
    guard slot.pointee?.toOpaque() == Unmanaged.passUnretained(object).toOpaque() else { return }
    slot.pointee = nil
    count &-= 1
    entries[recent].word &-= 1
    if entries[recent].word & UInt(IdentityMap.lineByteCount &- 1) == 0 {
      removeLine(at: recent)
    }
  }

  // MARK: Lines

  private func line(at bucket: Int) -> Line {
    let address = entries[bucket].word & ~UInt(IdentityMap.lineByteCount &- 1)
    return UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
      .assumingMemoryBound(to: Unmanaged<ManagedObject>?.self)
  }

  private func index(of reference: UInt64) -> Int {
    Int(truncatingIfNeeded: reference & IdentityMap.lineMask)
  }

  private func mark(of reference: UInt64) -> UInt64 {
    reference &>> IdentityMap.lineBitCount &+ 1
  }

  /// Looks up the line of a reference, and sets `recent` to its entry.
  ///
  /// - Returns: whether there is one.
  private mutating func find(_ reference: UInt64) -> Bool {
    let mark = mark(of: reference)
    if entries[recent].mark == mark { return true }
    return search(mark)
  }

  private mutating func search(_ mark: UInt64) -> Bool {
    let bucket = bucket(of: mark)
    guard entries[bucket].mark != 0 else { return false }
    recent = bucket
    return true
  }

  /// The bucket of a line's entry, or the one to which it would be added.
  private func bucket(of mark: UInt64) -> Int {
    var bucket = arena(mark)
    while entries[bucket].mark != mark, entries[bucket].mark != 0 { bucket = (bucket + 1) & mask }
    return bucket
  }

  /// The index at which the search for a line begins. Groups of eight lines are spread by a
  /// multiplication, which is enough for keys that a store assigns consecutively. The lines of a
  /// group are adjacent, as one is often looked up after the other.
  private func arena(_ mark: UInt64) -> Int {
    let product = (mark &>> IdentityMap.groupBitCount) &* 0x9E37_79B9_7F4A_7C15
    let group = product &>> (shift &+ IdentityMap.groupBitCount)
    let bucket = group &<< IdentityMap.groupBitCount | mark & IdentityMap.groupMask
    return Int(truncatingIfNeeded: bucket)
  }

  @inline(never)
  private mutating func addLine(of reference: UInt64) {
    growIfFull(with: lineCount + 1)
    let mark = mark(of: reference)
    recent = bucket(of: mark)
    entries[recent] = Entry(mark: mark, word: UInt(bitPattern: lines.take()))
    lineCount += 1
  }

  @inline(never)
  private mutating func removeLine(at bucket: Int) {
    lines.give(UnsafeMutableRawPointer(line(at: bucket)))
    lineCount -= 1
    // Entries that follow without a gap move up, unless their search begins behind the hole.
    var hole = bucket
    var next = (hole + 1) & mask
    while entries[next].mark != 0 {
      let distance = (next - arena(entries[next].mark)) & mask
      if distance >= (next - hole) & mask {
        entries[hole] = entries[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    entries[hole] = Entry(mark: 0, word: 0)
  }

  private static func directory(_ count: Int) -> UnsafeMutablePointer<Entry> {
    let entries = UnsafeMutablePointer<Entry>.allocate(capacity: count)
    entries.initialize(repeating: Entry(mark: 0, word: 0), count: count)
    return entries
  }

  /// Keeps the directory at most five eighths full, so that searches stay short.
  private mutating func growIfFull(with lineCount: Int) {
    if 8 * lineCount > 5 * (mask + 1) { grow(for: lineCount) }
  }

  @inline(never)
  private mutating func grow(for lineCount: Int) {
    let (old, oldCount) = (entries, mask + 1)
    while 8 * lineCount > 5 * (mask + 1) {
      shift -= 1
      mask = 2 * mask + 1
    }
    entries = IdentityMap.directory(mask + 1)
    recent = 0
    for index in 0..<oldCount where old[index].mark != 0 {
      entries[bucket(of: old[index].mark)] = old[index]
    }
    old.deallocate()
  }
}
