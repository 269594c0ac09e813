import Synchronization

/// The slots of an entity's typed properties, by their offsets in objects, so that a name is looked
/// up once and not for each object.
///
/// The first object of a class in which a property is accessed finds its slot; objects made later
/// get it when they are made. Two classes may have different properties at one offset, so each
/// class has a table. Most entities have one class, whose table is read without a lock.
final class SlotCache: Sendable {
  /// The slots of one class, by the property's offset in an object.
  private final class Table: Sendable {
    private struct Property {
      var offset: Int16
      var slot: Int16
    }

    /// Eight bytes of an object that contain typed properties. New objects get the known slots of a
    /// window in one store; most classes need one window.
    ///
    /// A window ends with a property, so that it is inside the object, after its header.
    private struct Window: ~Copyable {
      let offset: Int
      let bits = Atomic<UInt64>(0)
      /// The known ones among the bits. Sound without a lock: the bits are written first.
      let mask = Atomic<UInt64>(0)

      static var byteCount: Int { MemoryLayout<UInt64>.size }

      func position(of offset: Int) -> Int? {
        let position = offset - self.offset
        return (0..<Window.byteCount).contains(position) ? position : nil
      }

      func add(_ note: UInt8, at position: Int) {
        let shift = UInt64(position * 8)
        bits.store(bits.load(ordering: .relaxed) | UInt64(note) << shift, ordering: .relaxed)
        mask.store(mask.load(ordering: .relaxed) | 255 << shift, ordering: .releasing)
      }

      func fill(_ object: UnsafeMutableRawPointer) {
        let mask = mask.load(ordering: .acquiring)
        let bits = bits.load(ordering: .relaxed) & mask
        let former = UInt64(
          littleEndian: object.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        object.storeBytes(
          of: (former & ~mask | bits).littleEndian, toByteOffset: offset, as: UInt64.self)
      }
    }

    /// The largest number of typed properties of a class, and the offsets that they may have; slots
    /// of others are looked up in each object.
    private static let capacity = 512
    private static let offsets = 16..<1 << 14

    let type: ObjectIdentifier
    // Sound, both: elements are written under the cache's lock, beyond the count, and the count
    // that includes them is published afterwards. From then on a property is only read, and a
    // window has atomic parts. Both are freed with the table.
    nonisolated(unsafe) private let properties: UnsafeMutablePointer<Property>
    private let count = Atomic(0)
    nonisolated(unsafe) private let windows: UnsafeMutablePointer<Window>
    private let windowCount = Atomic(0)

    init(_ type: ObjectIdentifier) {
      self.type = type
      properties = .allocate(capacity: Table.capacity)
      windows = .allocate(capacity: Table.capacity)
    }

    deinit {
      properties.deallocate()
      windows.deallocate()
    }

    func slot(at offset: Int) -> Int? {
      for index in 0..<count.load(ordering: .acquiring) where properties[index].offset == offset {
        return Int(properties[index].slot)
      }
      return nil
    }

    func fill(_ object: UnsafeMutableRawPointer) {
      for index in 0..<windowCount.load(ordering: .acquiring) { windows[index].fill(object) }
    }

    func clear(_ object: UnsafeMutableRawPointer) {
      for index in 0..<count.load(ordering: .acquiring) {
        object.storeBytes(
          of: SlotCache.unknown, toByteOffset: Int(properties[index].offset), as: UInt8.self)
      }
    }

    /// Adds a slot. Must be called under the cache's lock.
    func add(_ slot: Int, at offset: Int) {
      let count = self.count.load(ordering: .relaxed)
      guard count < Table.capacity, Table.offsets.contains(offset), self.slot(at: offset) == nil,
        let slot = Int16(exactly: slot)
      else { return }
      (properties + count).initialize(to: Property(offset: Int16(offset), slot: slot))
      self.count.store(count + 1, ordering: .releasing)
      recordInWindow(SlotCache.marker(of: Int(slot)), at: offset)
    }

    private func recordInWindow(_ note: UInt8, at offset: Int) {
      let count = windowCount.load(ordering: .relaxed)
      for index in 0..<count {
        if let position = windows[index].position(of: offset) {
          return windows[index].add(note, at: position)
        }
      }
      let position = Window.byteCount - 1
      (windows + count).initialize(to: Window(offset: offset - position))
      windows[count].add(note, at: position)
      windowCount.store(count + 1, ordering: .releasing)
    }
  }

  /// The byte of a property whose slot is not known, or too high for a byte.
  static var unknown: UInt8 { 255 }
  /// The byte that marks the property whose slot is being looked up.
  static var mark: UInt8 { 254 }

  /// The byte in which a property stores its slot. A slot that is too high is looked up each time.
  static func marker(of slot: Int) -> UInt8 { slot < Int(mark) ? UInt8(slot) : unknown }

  private let tables = Mutex<[Table]>([])
  // Read for each new object, so without the reference counting of an `AtomicLazyReference`.
  /// The address of the first table; 0 if there is none.
  private let first = Atomic<UInt>(0)

  func slot(at offset: Int, in type: Any.Type) -> Int? {
    withTable(of: type) { $0.slot(at: offset) } ?? nil
  }

  /// Whether slots of a class are known.
  func knows(_ type: Any.Type) -> Bool { withTable(of: type) { _ in true } ?? false }

  /// Gives a new object the known slots of its class's typed properties.
  ///
  /// - Parameter object: an object of exactly this class, not accessed by anything else.
  func fill(_ object: UnsafeMutableRawPointer, of type: Any.Type) {
    if first.load(ordering: .acquiring) != 0 { withTable(of: type) { $0.fill(object) } }
  }

  /// Removes from an object the slots that ``fill(_:of:)`` has given it.
  ///
  /// - Parameter object: an object of exactly this class, not accessed by anything else.
  func clear(_ object: UnsafeMutableRawPointer, of type: Any.Type) {
    withTable(of: type) { $0.clear(object) }
  }

  func remember(_ slot: Int, at offset: Int, in type: Any.Type) {
    let identifier = ObjectIdentifier(type)
    tables.withLock { tables in
      if let table = tables.first(where: { $0.type == identifier }) {
        return table.add(slot, at: offset)
      }
      let table = Table(identifier)
      table.add(slot, at: offset)
      tables.append(table)
      if tables.count == 1 {
        first.store(
          UInt(bitPattern: Unmanaged.passUnretained(table).toOpaque()), ordering: .releasing)
      }
    }
  }

  private func withTable<Result>(of type: Any.Type, _ body: (Table) -> Result) -> Result? {
    let identifier = ObjectIdentifier(type)
    // Sound: a table exists as long as the cache.
    if let first = UnsafeRawPointer(bitPattern: first.load(ordering: .acquiring)) {
      let table = Unmanaged<Table>.fromOpaque(first)
      if table._withUnsafeGuaranteedRef({ $0.type == identifier }) {
        return table._withUnsafeGuaranteedRef(body)
      }
    }
    return tables.withLock { tables in tables.first { $0.type == identifier } }.map(body)
  }
}
