/// Some of an object's slots, in their order.
///
/// A save has one for each changed object and looks at it many times. Slots below 64, which mostly
/// are all, are bits of a word, so that a copy counts nothing.
struct SlotSet: Sequence, Equatable {
  private var low: UInt64 = 0
  /// The slots from 64 on.
  private var high: [Int]?

  init() {}

  /// - Parameter slots: ascending.
  init(_ slots: some Sequence<Int>) {
    for slot in slots { append(slot) }
  }

  var isEmpty: Bool { low == 0 && high == nil }

  func contains(_ slot: Int) -> Bool {
    slot < 64 ? low & 1 << UInt64(slot) != 0 : high?.contains(slot) ?? false
  }

  /// - Parameter slot: greater than all that are there.
  mutating func append(_ slot: Int) {
    if slot < 64 { low |= 1 << UInt64(slot) } else { appendHigh(slot) }
  }

  @inline(never)
  private mutating func appendHigh(_ slot: Int) {
    if high == nil { high = [slot] } else { high?.append(slot) }
  }

  /// - Returns: whether the slot was not there.
  @discardableResult
  mutating func insert(_ slot: Int) -> Bool {
    if slot < 64 {
      let isNew = low & 1 << UInt64(slot) == 0
      low |= 1 << UInt64(slot)
      return isNew
    }
    var slots = high ?? []
    let position = slots.firstIndex { $0 >= slot } ?? slots.count
    if position < slots.count, slots[position] == slot { return false }
    slots.insert(slot, at: position)
    high = slots
    return true
  }

  func makeIterator() -> Iterator { Iterator(low: low, high: high) }

  struct Iterator: IteratorProtocol {
    fileprivate var low: UInt64
    fileprivate let high: [Int]?
    private var position = 0

    fileprivate init(low: UInt64, high: [Int]?) {
      self.low = low
      self.high = high
    }

    mutating func next() -> Int? {
      if low != 0 {
        defer { low &= low &- 1 }
        return low.trailingZeroBitCount
      }
      guard let high, position < high.count else { return nil }
      defer { position += 1 }
      return high[position]
    }
  }
}
