/// Which object stands for which row: the objects a context knows, by their places in the store.
///
/// A hash table for this alone, with open addressing: every object that is read, made, saved or
/// forgotten passes here several times. References are spread by a multiplication, which does for
/// keys that a store gives out one by one.
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

  init() {
    shift = 64 - ObjectRegister.smallestBitCount
    mask = 1 << ObjectRegister.smallestBitCount - 1
    entries = .allocate(capacity: mask + 1)
    entries.initialize(repeating: ObjectRegister.none, count: mask + 1)
  }

  deinit { entries.deallocate() }

  var objects: [ManagedObject] {
    UnsafeBufferPointer(start: entries, count: mask + 1)
      .compactMap { $0.object?.takeUnretainedValue() }
  }

  /// Takes all objects from their context, and forgets them.
  ///
  /// - Returns: those with changes, which may hold others: they may go when the first lets go of
  ///   the others, and have to be held until all of them know.
  mutating func abandon() -> [ManagedObject] {
    var changed: [ManagedObject] = []
    for place in 0...mask {
      entries[place].object?._withUnsafeGuaranteedRef { object in
        object.context = nil
        object.session = nil
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
    Int(truncatingIfNeeded: (reference &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }

  subscript(reference: Reference) -> Unmanaged<ManagedObject>? {
    @inline(__always) get { entries[place(of: reference.rawValue)].object }
  }

  /// Enters an object, in the place of one that was there under the same reference.
  mutating func set(_ reference: Reference, to object: Unmanaged<ManagedObject>) {
    // At most three quarters full, so that the ways stay short.
    if 4 * (count + 1) > 3 * (mask + 1) { grow() }
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
