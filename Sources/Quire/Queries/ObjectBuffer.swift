/// Objects in a row, which pass into an array of their class without being counted once more.
struct ObjectBuffer {
  /// Memory of an array that is being made, lent to a buffer.
  struct Room {
    // Sound: the array's maker has the memory until the buffer is empty, see ``array(of:_:)``.
    fileprivate let elements: UnsafeMutablePointer<ManagedObject>
    fileprivate let capacity: Int
  }

  private final class Memory {
    // Sound: the first `count` of `capacity` elements are initialised, and nobody else has them.
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

  /// - Parameter room: where the objects go, for as long as there are no more.
  init(_ room: Room? = nil) { memory = room.map(Memory.init) ?? Memory(capacity: 8) }

  var count: Int { memory.count }
  /// The one that was appended last.
  var last: ManagedObject? { count == 0 ? nil : memory.elements[count - 1] }

  /// Makes room for so many objects altogether, or for as many of them as are certain to be needed
  /// before the number is believed.
  mutating func reserve(_ count: Int) {
    makeUnique()
    let count = min(count, ObjectRegister.believedCount)
    if count > memory.capacity { memory.grow(to: count) }
  }

  @inline(__always)
  mutating func append(_ object: consuming ManagedObject) {
    makeUnique()
    if memory.count == memory.capacity { memory.grow(to: 2 * memory.capacity + 8) }
    (memory.elements + memory.count).initialize(to: object)
    memory.count += 1
  }

  @inline(__always)
  private mutating func makeUnique() {
    if !isKnownUniquelyReferenced(&memory) { memory = memory.copy() }
  }

  /// The objects as elements of their class; the buffer is empty then.
  ///
  /// Each of them must be an `Object`, as was checked when it was found.
  mutating func take<Object: ManagedObject>(as type: Object.Type) -> [Object] {
    makeUnique()
    let memory = memory
    // All empty arrays are one, into which its count would be written once more: no harm, but a
    // race all the same.
    if memory.count == 0 { return [] }
    return [Object](unsafeUninitializedCapacity: memory.count) { elements, count in
      count = memory.count
      // Sound: a reference to an object is the same whatever its class is called.
      guard let room = UnsafeMutableRawPointer(elements.baseAddress) else { return }
      room.moveInitializeMemory(as: ManagedObject.self, from: memory.elements, count: count)
      memory.count = 0
    }
  }

  /// The objects that `find` finds, each of which is an `Object`, in an array that is made for as
  /// many as are expected: so their references are written once.
  static func array<Object: ManagedObject>(
    of expectedCount: Int, _ find: (Room?) throws -> ObjectBuffer
  ) rethrows -> [Object] {
    var others: [Object]?
    let objects = try [Object](unsafeUninitializedCapacity: expectedCount) { elements, count in
      let start = UnsafeMutableRawPointer(elements.baseAddress)
      // Sound: as above; a buffer that is dropped leaves nothing behind.
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
