import Synchronization

/// Remembers the slots of an entity's typed properties by where they lie in an object, so that
/// names are looked for once, and not once for each object.
///
/// Two classes may have other properties at the same place: each has a table of its own. Mostly an
/// entity has one class, whose table is read without a lock.
final class SlotCache: Sendable {
  /// The slots of one class, by the property's offset in an object.
  private final class Table: Sendable {
    /// Offsets up to two kilobytes, which are multiples of four.
    static let count = 512

    let type: ObjectIdentifier
    // Sound: its elements are atomic, and it goes with the table. -1 where nothing is known.
    nonisolated(unsafe) private let slots: UnsafeMutablePointer<Atomic<Int32>>

    init(_ type: ObjectIdentifier) {
      self.type = type
      slots = .allocate(capacity: Table.count)
      for index in 0..<Table.count { (slots + index).initialize(to: Atomic(-1)) }
    }

    deinit {
      slots.deinitialize(count: Table.count)
      slots.deallocate()
    }

    subscript(offset: Int) -> Int? {
      let index = offset >> 2
      guard offset >= 0, index < Table.count else { return nil }
      let slot = slots[index].load(ordering: .relaxed)
      return slot < 0 ? nil : Int(slot)
    }

    func set(_ slot: Int, at offset: Int) {
      let index = offset >> 2
      guard offset >= 0, index < Table.count else { return }
      slots[index].store(Int32(slot), ordering: .relaxed)
    }
  }

  private let first = AtomicLazyReference<Table>()
  private let others = Mutex<[Table]>([])

  func slot(at offset: Int, in type: Any.Type) -> Int? {
    table(of: type, makes: false)?[offset]
  }

  func remember(_ slot: Int, at offset: Int, in type: Any.Type) {
    table(of: type, makes: true)?.set(slot, at: offset)
  }

  @inline(__always)
  private func table(of type: Any.Type, makes: Bool) -> Table? {
    let identifier = ObjectIdentifier(type)
    if let first = first.load(), first.type == identifier { return first }
    return other(identifier, makes: makes)
  }

  private func other(_ identifier: ObjectIdentifier, makes: Bool) -> Table? {
    if makes, first.load() == nil {
      let table = first.storeIfNil(Table(identifier))
      if table.type == identifier { return table }
    }
    return others.withLock { others in
      if let table = others.first(where: { $0.type == identifier }) { return table }
      guard makes else { return nil }
      let table = Table(identifier)
      others.append(table)
      return table
    }
  }
}
