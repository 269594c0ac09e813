import Synchronization

/// Remembers the slots of an entity's typed properties by where they lie in an object, so that
/// names are looked for once, and not once for each object.
///
/// The first object of a class to be asked for a property finds its slot; every object that is made
/// later has it from its beginning. Two classes may have other properties at the same place: each
/// has a table of its own. Mostly an entity has one class, whose table is read without a lock.
final class SlotCache: Sendable {
  /// The slots of one class, by the property's offset in an object.
  private final class Table: Sendable {
    private struct Property {
      var offset: Int16
      var slot: Int16
    }

    /// More typed properties than this are looked for in each object; and so are those that seem to
    /// lie outside of one.
    private static let capacity = 512
    private static let offsets = 0..<1 << 14

    let type: ObjectIdentifier
    // Sound: a property is written under the cache's lock, behind the count, which says so to
    // others when it is there. From then on it is read alone, and goes with the table.
    nonisolated(unsafe) private let properties: UnsafeMutablePointer<Property>
    private let count = Atomic(0)

    init(_ type: ObjectIdentifier) {
      self.type = type
      properties = .allocate(capacity: Table.capacity)
    }

    deinit { properties.deallocate() }

    func slot(at offset: Int) -> Int? {
      for index in 0..<count.load(ordering: .acquiring) where properties[index].offset == offset {
        return Int(properties[index].slot)
      }
      return nil
    }

    @inline(__always)
    func fill(_ object: UnsafeMutableRawPointer) {
      for index in 0..<count.load(ordering: .acquiring) {
        let property = properties[index]
        object.storeBytes(
          of: SlotCache.note(of: Int(property.slot)), toByteOffset: Int(property.offset),
          as: UInt8.self)
      }
    }

    /// To be called under the cache's lock.
    func add(_ slot: Int, at offset: Int) {
      let count = self.count.load(ordering: .relaxed)
      guard count < Table.capacity, Table.offsets.contains(offset), self.slot(at: offset) == nil,
        let slot = Int16(exactly: slot)
      else { return }
      (properties + count).initialize(to: Property(offset: Int16(offset), slot: slot))
      self.count.store(count + 1, ordering: .releasing)
    }
  }

  /// What a property notes that does not know its slot, or has one that it cannot note.
  static var unknown: UInt8 { 255 }
  /// What only the property notes that is looked for.
  static var mark: UInt8 { 254 }

  /// What a property notes of its slot. One that is too high is looked for each time.
  @inline(__always)
  static func note(of slot: Int) -> UInt8 { slot < Int(mark) ? UInt8(slot) : unknown }

  private let tables = Mutex<[Table]>([])
  // Read for every object that is made, so without the reference counting of a lazy reference.
  /// The address of the first of the tables; 0 while there is none.
  private let first = Atomic<UInt>(0)

  func slot(at offset: Int, in type: Any.Type) -> Int? {
    withTable(of: type) { $0.slot(at: offset) } ?? nil
  }

  /// Whether anything is known of a class.
  func knows(_ type: Any.Type) -> Bool { withTable(of: type) { _ in true } ?? false }

  /// Gives a new object the slots of all typed properties that were asked for in any object of its
  /// class before.
  ///
  /// - Parameter object: of exactly this class, with nobody else looking at it.
  @inline(__always)
  func fill(_ object: UnsafeMutableRawPointer, of type: Any.Type) {
    if first.load(ordering: .acquiring) != 0 { withTable(of: type) { $0.fill(object) } }
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

  @inline(__always)
  private func withTable<Result>(of type: Any.Type, _ body: (Table) -> Result) -> Result? {
    let identifier = ObjectIdentifier(type)
    // Sound: a table stays as long as the cache.
    if let first = UnsafeRawPointer(bitPattern: first.load(ordering: .acquiring)) {
      let table = Unmanaged<Table>.fromOpaque(first)
      if table._withUnsafeGuaranteedRef({ $0.type == identifier }) {
        return table._withUnsafeGuaranteedRef(body)
      }
    }
    return tables.withLock { tables in tables.first { $0.type == identifier } }.map(body)
  }
}
