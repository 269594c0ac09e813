/// Which object stands for which row: the objects a context knows, by their places in the store.
///
/// A hash table for this alone, with open addressing: every object that is read, made, saved or
/// forgotten passes here several times. References are spread by a multiplication, which does for
/// keys that a store gives out one by one; but four that follow each other are at home side by
/// side, in one line of memory, as they come and go together.
struct ObjectRegister: ~Copyable {
  private struct Entry {
    /// 0 where there is none: keys begin at 1.
    var reference: UInt64
    var object: Unmanaged<ManagedObject>?
  }

  // Sound: the memory belongs to this register alone, which is not copied. A place is a product's
  // upper bits, or one that `mask` has brought back into the table.
  /// `mask` + 1 entries.
  private var entries: UnsafeMutablePointer<Entry>
  private var mask: Int
  /// How far a product is shifted to make a place.
  private var shift: UInt64
  private(set) var count = 0

  private static var none: Entry { Entry(reference: 0, object: nil) }
  private static let smallestBitCount: UInt64 = 4
  /// How many references are at home side by side, as a power of two.
  private static var groupBitCount: UInt64 { 2 }
  /// How many objects a number is believed that only says how many there may be.
  static var believedCount: Int { 1 << 17 }

  init() {
    shift = 64 - ObjectRegister.smallestBitCount + ObjectRegister.groupBitCount
    mask = 1 << ObjectRegister.smallestBitCount - 1
    entries = .allocate(capacity: mask + 1)
    entries.initialize(repeating: ObjectRegister.none, count: mask + 1)
  }

  deinit { entries.deallocate() }

  var objects: [ManagedObject] {
    UnsafeBufferPointer(start: entries, count: mask + 1)
      .compactMap { $0.object?.takeUnretainedValue() }
  }

  /// Forgets all objects, whose homes have left their context.
  ///
  /// - Returns: those with changes, which may hold others: they may go when the first lets go of
  ///   the others, and have to be held until all of them know.
  mutating func abandon() -> [ManagedObject] {
    var changed: [ManagedObject] = []
    for place in 0...mask {
      entries[place].object?._withUnsafeGuaranteedRef { object in
        if !object.slots.isEmpty { changed.append(object) }
      }
    }
    self = ObjectRegister()
    return changed
  }

  /// Where the reference is, or where it would go.
  @inline(__always)
  private func place(of reference: UInt64) -> Int {
    var place = home(reference)
    while entries[place].reference != reference, entries[place].reference != 0 {
      place = (place + 1) & mask
    }
    return place
  }

  @inline(__always)
  private func home(_ reference: UInt64) -> Int {
    let product = (reference &>> ObjectRegister.groupBitCount) &* 0x9E37_79B9_7F4A_7C15
    let group = product &>> shift
    let place = reference & (1 &<< ObjectRegister.groupBitCount &- 1)
    return Int(truncatingIfNeeded: group &<< ObjectRegister.groupBitCount | place)
  }

  subscript(reference: Reference) -> Unmanaged<ManagedObject>? {
    @inline(__always) get { entries[place(of: reference.rawValue)].object }
  }

  /// Makes room for so many more objects, as far as the number is believed.
  mutating func reserve(_ more: Int) {
    let wanted = count + min(max(0, more), ObjectRegister.believedCount)
    while isFull(with: wanted) { grow() }
  }

  /// At most five eighths full, so that the ways stay short.
  @inline(__always)
  private func isFull(with count: Int) -> Bool { 8 * count > 5 * (mask + 1) }

  /// Enters an object, in the place of one that was there under the same reference.
  mutating func set(_ reference: Reference, to object: Unmanaged<ManagedObject>) {
    if isFull(with: count + 1) { grow() }
    let place = place(of: reference.rawValue)
    if entries[place].reference == 0 { count += 1 }
    entries[place] = Entry(reference: reference.rawValue, object: object)
  }

  /// Removes an object, unless another one has its place.
  mutating func removeEntry(of object: ManagedObject) {
    let place = place(of: object.reference.rawValue)
    if entries[place].object?.toOpaque() == Unmanaged.passUnretained(object).toOpaque() {
      removeEntry(at: place)
    }
  }

  private mutating func removeEntry(at place: Int) {
    count -= 1
    // What follows without a gap moves up where its way from home leads over the hole.
    var hole = place
    var next = (hole + 1) & mask
    while entries[next].reference != 0 {
      let distance = (next - home(entries[next].reference)) & mask
      if distance >= (next - hole) & mask {
        entries[hole] = entries[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    entries[hole] = ObjectRegister.none
  }

  private mutating func grow() {
    let (old, oldCount) = (entries, mask + 1)
    shift -= 1
    mask = 2 * oldCount - 1
    entries = .allocate(capacity: mask + 1)
    entries.initialize(repeating: ObjectRegister.none, count: mask + 1)
    for index in 0..<oldCount where old[index].reference != 0 {
      entries[place(of: old[index].reference)] = old[index]
    }
    old.deallocate()
  }
}
