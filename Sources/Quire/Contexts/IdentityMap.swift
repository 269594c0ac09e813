/// Which object stands for which row: the objects a context knows, by their places in the store.
///
/// Every object that is read, made, saved or forgotten passes here several times. Eight references
/// that follow each other share a line of memory, as objects come and go together; a hash table,
/// the directory, says where the lines are. A fetch of all rows writes line after line, and finds
/// the directory's entry once for each.
struct IdentityMap: ~Copyable {
  private struct Entry {
    /// The line's number and one; 0 where there is none.
    var mark: UInt64
    /// The line's address, and in the lower bits how many objects are in it.
    var word: UInt
  }

  /// The objects of eight references, a whole line of memory.
  private typealias Line = UnsafeMutablePointer<Unmanaged<ManagedObject>?>

  // Sound: the memory belongs to this register alone, which is not copied. A place is a product's
  // upper bits, or one that `mask` has brought back into the directory.
  /// `mask` + 1 entries.
  private var entries: UnsafeMutablePointer<Entry>
  private var mask: Int
  /// How far a product is shifted to make a place.
  private var shift: UInt64
  private var lineCount = 0
  private var lines = LineMemory()
  /// The entry that was looked for last.
  private var recent = 0
  private(set) var count = 0

  private static let smallestBitCount: UInt64 = 4
  private static var lineBitCount: UInt64 { 3 }
  private static var lineMask: UInt64 { 1 << lineBitCount - 1 }
  private static var groupBitCount: UInt64 { 3 }
  private static var groupMask: UInt64 { 1 << groupBitCount - 1 }
  static var lineByteCount: Int { 64 }
  /// How many objects a number is believed that only says how many there may be.
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
    for place in 0...mask where entries[place].mark != 0 {
      let line = line(at: place)
      for index in 0...Int(IdentityMap.lineMask) { line[index].map(body) }
    }
  }

  /// Forgets all objects, whose arenas have left their context.
  ///
  /// - Parameter mayHaveChanges: whether any of them has ever had changes.
  /// - Returns: those with changes, which may hold others: they may go when the first lets go of
  ///   the others, and have to be held until all of them know.
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
    @inline(__always) mutating get {
      guard find(reference.rawValue) else { return nil }
      return line(at: recent)[index(of: reference.rawValue)]
    }
  }

  /// Makes room for so many more objects that follow each other, as far as the number is believed.
  mutating func reserve(_ more: Int) {
    let lines = min(max(0, more), IdentityMap.believedCount) >> IdentityMap.lineBitCount
    growIfFull(with: lineCount + lines)
  }

  /// Enters an object, in the place of one that was there under the same reference.
  @inline(__always)
  mutating func set(_ reference: Reference, to object: Unmanaged<ManagedObject>) {
    if !find(reference.rawValue) { addLine(of: reference.rawValue) }
    let slot = line(at: recent) + index(of: reference.rawValue)
    if slot.pointee == nil {
      count &+= 1
      entries[recent].word &+= 1
    }
    slot.pointee = object
  }

  /// Removes an object, unless another one has its place.
  @inline(__always)
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

  @inline(__always)
  private func line(at place: Int) -> Line {
    let address = entries[place].word & ~UInt(IdentityMap.lineByteCount &- 1)
    return UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped
      .assumingMemoryBound(to: Unmanaged<ManagedObject>?.self)
  }

  @inline(__always)
  private func index(of reference: UInt64) -> Int {
    Int(truncatingIfNeeded: reference & IdentityMap.lineMask)
  }

  @inline(__always)
  private func mark(of reference: UInt64) -> UInt64 {
    reference &>> IdentityMap.lineBitCount &+ 1
  }

  /// Looks for the line of a reference; `recent` is its entry, if there is one.
  @inline(__always)
  private mutating func find(_ reference: UInt64) -> Bool {
    let mark = mark(of: reference)
    if entries[recent].mark == mark { return true }
    return search(mark)
  }

  private mutating func search(_ mark: UInt64) -> Bool {
    let place = place(of: mark)
    guard entries[place].mark != 0 else { return false }
    recent = place
    return true
  }

  /// Where the line is, or where it would go.
  private func place(of mark: UInt64) -> Int {
    var place = arena(mark)
    while entries[place].mark != mark, entries[place].mark != 0 { place = (place + 1) & mask }
    return place
  }

  /// Groups of eight lines are spread by a multiplication, which does for keys that a store gives
  /// out one by one. A group lies together, as whoever comes for one line comes for the next.
  private func arena(_ mark: UInt64) -> Int {
    let product = (mark &>> IdentityMap.groupBitCount) &* 0x9E37_79B9_7F4A_7C15
    let group = product &>> (shift &+ IdentityMap.groupBitCount)
    let place = group &<< IdentityMap.groupBitCount | mark & IdentityMap.groupMask
    return Int(truncatingIfNeeded: place)
  }

  @inline(never)
  private mutating func addLine(of reference: UInt64) {
    growIfFull(with: lineCount + 1)
    let mark = mark(of: reference)
    recent = place(of: mark)
    entries[recent] = Entry(mark: mark, word: UInt(bitPattern: lines.take()))
    lineCount += 1
  }

  @inline(never)
  private mutating func removeLine(at place: Int) {
    lines.give(UnsafeMutableRawPointer(line(at: place)))
    lineCount -= 1
    // What follows without a gap moves up where its way from home leads over the hole.
    var hole = place
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

  /// The directory is at most five eighths full, so that the ways stay short.
  @inline(__always)
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
      entries[place(of: old[index].mark)] = old[index]
    }
    old.deallocate()
  }
}
