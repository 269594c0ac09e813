/// Which object stands for which row: the objects a context knows, by their places in the store.
///
/// A hash table for this alone, with open addressing: every object that is read, made, saved or
/// forgotten passes here several times. References are spread by a multiplication, which does for
/// keys that a store gives out one by one.
struct ObjectRegister {
  private struct Entry {
    /// 0 where there is none: keys begin at 1.
    var reference: UInt64
    var object: Unmanaged<ManagedObject>?
  }

  private var entries: [Entry] = []
  /// How far a product is shifted to make an index.
  private var shift: UInt64 = 64
  private(set) var count = 0

  private static var none: Entry { Entry(reference: 0, object: nil) }
  private static let smallestBitCount: UInt64 = 4

  var objects: [ManagedObject] { entries.compactMap { $0.object?.takeUnretainedValue() } }

  @inline(__always)
  private func home(_ reference: UInt64) -> Int {
    Int(truncatingIfNeeded: (reference &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }

  /// Where the reference is, or where it would go; the table must not be empty.
  @inline(__always)
  private func place(of reference: UInt64) -> Int {
    let mask = entries.count - 1
    var index = home(reference)
    while entries[index].reference != reference, entries[index].reference != 0 {
      index = (index + 1) & mask
    }
    return index
  }

  subscript(reference: Reference) -> Unmanaged<ManagedObject>? {
    entries.isEmpty ? nil : entries[place(of: reference.rawValue)].object
  }

  /// Enters an object, in the place of one that was there under the same reference.
  mutating func set(_ reference: Reference, to object: Unmanaged<ManagedObject>) {
    // At most three quarters full, so that the ways stay short.
    if 4 * (count + 1) > 3 * entries.count { grow() }
    let index = place(of: reference.rawValue)
    if entries[index].reference == 0 { count += 1 }
    entries[index] = Entry(reference: reference.rawValue, object: object)
  }

  mutating func remove(_ reference: Reference) {
    guard !entries.isEmpty else { return }
    var hole = place(of: reference.rawValue)
    guard entries[hole].reference != 0 else { return }
    count -= 1
    // What follows without a gap moves up where its way from home leads over the hole.
    let mask = entries.count - 1
    var index = (hole + 1) & mask
    while entries[index].reference != 0 {
      let distance = (index - home(entries[index].reference)) & mask
      if distance >= (index - hole) & mask {
        entries[hole] = entries[index]
        hole = index
      }
      index = (index + 1) & mask
    }
    entries[hole] = ObjectRegister.none
  }

  /// Removes an object, unless another one has its place.
  mutating func removeEntry(of object: ManagedObject) {
    guard let entry = self[object.reference],
      entry.toOpaque() == Unmanaged.passUnretained(object).toOpaque()
    else { return }
    remove(object.reference)
  }

  private mutating func grow() {
    let old = entries
    shift = entries.isEmpty ? 64 - ObjectRegister.smallestBitCount : shift - 1
    entries = Array(repeating: ObjectRegister.none, count: 1 << (64 - shift))
    for entry in old where entry.reference != 0 { entries[place(of: entry.reference)] = entry }
  }
}
