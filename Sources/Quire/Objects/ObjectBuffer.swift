/// A growing buffer of objects, which can be moved into an array of their class without retaining
/// each.
struct ObjectBuffer {
  /// Memory of an array under construction, lent to a buffer.
  struct Room {
    // Sound: ``array(of:_:)`` keeps the memory until the buffer is empty.
    fileprivate let elements: UnsafeMutablePointer<ManagedObject>
    fileprivate let capacity: Int
  }

  private final class Memory {
    // Sound: the first `count` of `capacity` elements are initialised, and only this object uses
    // them.
    @exclusivity(unchecked) var elements: UnsafeMutablePointer<ManagedObject>
    @exclusivity(unchecked) var capacity: Int
    @exclusivity(unchecked) var count = 0
    var isLent: Bool

    init(capacity: Int) {
      elements = .allocate(capacity: capacity)
      self.capacity = capacity
      isLent = false
    }

    init(_ room: Room) {
      (elements, capacity, isLent) = (room.elements, room.capacity, true)
    }

    deinit {
      elements.deinitialize(count: count)
      if !isLent { elements.deallocate() }
    }

    func grow(to capacity: Int) {
      let larger = UnsafeMutablePointer<ManagedObject>.allocate(capacity: capacity)
      larger.moveInitialize(from: elements, count: count)
      if !isLent { elements.deallocate() }
      elements = larger
      isLent = false
      self.capacity = capacity
    }

    func copy() -> Memory {
      let copy = Memory(capacity: capacity)
      copy.elements.initialize(from: elements, count: count)
      copy.count = count
      return copy
    }
  }

  private var memory: Memory

  /// - Parameter room: memory for the objects, used as long as they fit.
  init(_ room: Room? = nil) { memory = room.map(Memory.init) ?? Memory(capacity: 8) }

  var count: Int { memory.count }
  /// The object that was appended last.
  var last: ManagedObject? { count == 0 ? nil : memory.elements[count - 1] }

  /// Reserves memory for a total number of objects. As the number is not verified, no more is
  /// reserved than for ``IdentityMap/believedCount``.
  mutating func reserve(_ count: Int) {
    makeUnique()
    let count = min(count, IdentityMap.believedCount)
    if count > memory.capacity { memory.grow(to: count) }
  }

  mutating func append(_ object: consuming ManagedObject) {
    makeUnique()
    if memory.count == memory.capacity { memory.grow(to: 2 * memory.capacity + 8) }
    (memory.elements + memory.count).initialize(to: object)
    memory.count += 1
  }

  private mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&memory) { memory = memory.copy() }
  }

  /// Moves the objects into an array of their class; the buffer is empty afterwards.
  ///
  /// Each of them must be an `Object`, as was checked when it was found.
  mutating func take<Object: ManagedObject>(as type: Object.Type) -> [Object] {
    makeUnique()
    let memory = memory
    // All empty arrays share one object. The initialiser would write its count once more, which
    // changes nothing but is a data race.
    if memory.count == 0 { return [] }
    return [Object](unsafeUninitializedCapacity: memory.count) { elements, count in
      count = memory.count
      // Sound: references to objects have one layout, whatever their class.
      guard let room = UnsafeMutableRawPointer(elements.baseAddress) else { return }
      room.moveInitializeMemory(as: ManagedObject.self, from: memory.elements, count: count)
      memory.count = 0
    }
  }

  /// The objects that `find` finds, each of which must be an `Object`, in an array that is
  /// allocated for the expected number: their references are written once.
  static func array<Object: ManagedObject>(
    of expectedCount: Int, _ find: (Room?) throws -> ObjectBuffer
  ) rethrows -> [Object] {
    var others: [Object]?
    let objects = try [Object](unsafeUninitializedCapacity: expectedCount) { elements, count in
      let start = UnsafeMutableRawPointer(elements.baseAddress)
      // Sound: as in `take(as:)`; a buffer that is dropped deinitialises its elements.
      let room = start.map {
        Room(
          elements: $0.assumingMemoryBound(to: ManagedObject.self), capacity: elements.count)
      }
      var buffer = try find(room)
      buffer.makeUnique()
      if buffer.memory.isLent {
        count = buffer.memory.count
        buffer.memory.count = 0
      } else {
        others = buffer.take(as: Object.self)
      }
    }
    return others ?? objects
  }
}
