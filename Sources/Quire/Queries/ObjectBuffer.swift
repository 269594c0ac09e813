/// Objects in a row, which pass into an array of their class without being counted once more.
struct ObjectBuffer {
  private final class Memory {
    // Sound: the first `count` of `capacity` elements are initialised, and nobody else has them.
    var elements: UnsafeMutablePointer<ManagedObject>
    @exclusivity(unchecked) var capacity: Int
    @exclusivity(unchecked) var count = 0

    init(capacity: Int) {
      elements = .allocate(capacity: capacity)
      self.capacity = capacity
    }

    deinit {
      elements.deinitialize(count: count)
      elements.deallocate()
    }

    func grow(to capacity: Int) {
      let larger = UnsafeMutablePointer<ManagedObject>.allocate(capacity: capacity)
      larger.moveInitialize(from: elements, count: count)
      elements.deallocate()
      elements = larger
      self.capacity = capacity
    }

    func copy() -> Memory {
      let copy = Memory(capacity: capacity)
      copy.elements.initialize(from: elements, count: count)
      copy.count = count
      return copy
    }
  }

  private var memory = Memory(capacity: 8)

  var count: Int { memory.count }

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
    if memory.count == memory.capacity { memory.grow(to: 2 * memory.capacity) }
    (memory.elements + memory.count).initialize(to: object)
    memory.count += 1
  }

  /// Takes over the one reference that the caller has counted.
  @inline(__always)
  mutating func append(retained object: Unmanaged<ManagedObject>) {
    append(object.takeRetainedValue())
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
    return [Object](unsafeUninitializedCapacity: memory.count) { elements, count in
      count = memory.count
      // Sound: a reference to an object is the same whatever its class is called.
      guard let room = UnsafeMutableRawPointer(elements.baseAddress) else { return }
      room.moveInitializeMemory(as: ManagedObject.self, from: memory.elements, count: count)
      memory.count = 0
    }
  }
}
