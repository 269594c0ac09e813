extension Tree {
  /// The leaf where `key` belongs.
  @inline(__always)
  func leaf(for key: Layout.Key) throws(StorageError) -> (PageID, Page) {
    var id = state.root
    var node = try rootNode()
    while node.level > 0 {
      (id, node) = try childNode(at: Layout.childSlot(for: key, in: node), of: node)
    }
    return (id, node)
  }

  /// The value of `key`, or `nil`.
  func value(for key: Layout.Key) throws(StorageError) -> StoredValue? {
    try state.checkUsable()
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    let (id, leaf) = try leaf(for: key)
    let (slot, isFound) = Layout.find(key, in: leaf)
    guard isFound else { return nil }
    return try storedValue(at: slot, of: id, leaf)
  }

  /// The result of `body` for the value of `key`, which is valid within the call; `nil` if there is
  /// none.
  ///
  /// Nothing is counted or copied: memory that is released meanwhile is kept until `body` has
  /// ended.
  @inline(__always)
  func withValue<R>(
    for key: Layout.Key, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R? {
    try state.checkUsable()
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    let (id, leaf) = try leaf(for: key)
    let (slot, isFound) = Layout.find(key, in: leaf)
    guard isFound else { return nil }
    let payload = Layout.payload(at: slot, in: leaf)
    if let value = ValuePayload.inlineValue(of: payload) { return try body(value) }
    let memory = try overflowValue(of: payload, in: id)
    return try withExtendedLifetime(memory) { try body(memory.bytes) }
  }

  /// The same with the object that keeps the bytes, which `body` may retain.
  ///
  /// - Returns: whether there is a value.
  @inline(__always)
  func withKeepableValue(
    for key: Layout.Key, _ body: (UnsafeRawBufferPointer, Unmanaged<AnyObject>) throws -> Void
  ) throws -> Bool {
    try state.checkUsable()
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    let (id, leaf) = try leaf(for: key)
    let (slot, isFound) = Layout.find(key, in: leaf)
    guard isFound else { return false }
    let payload = Layout.payload(at: slot, in: leaf)
    if let value = ValuePayload.inlineValue(of: payload), !space.isPrivate(leaf),
      !space.pagesShouldNotBeKept
    {
      try body(value, .fromOpaque(leaf.frameReference.toOpaque()))
    } else {
      let value = try storedValue(at: slot, of: id, leaf)
      try withExtendedLifetime(value.owner) {
        try body(value.bytes, .passUnretained(value.owner))
      }
    }
    return true
  }

  func contains(_ key: Layout.Key) throws(StorageError) -> Bool {
    try state.checkUsable()
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    let (_, leaf) = try leaf(for: key)
    return Layout.find(key, in: leaf).isFound
  }

  /// The value at `slot` of a leaf, with what keeps it alive.
  func storedValue(at slot: Int, of id: PageID, _ leaf: Page) throws(StorageError) -> StoredValue {
    let payload = Layout.payload(at: slot, in: leaf)
    guard let value = ValuePayload.inlineValue(of: payload) else {
      let memory = try overflowValue(of: payload, in: id)
      return StoredValue(bytes: memory.bytes, owner: memory)
    }
    // A page that this transaction may still change cannot be handed out, nor should one be kept
    // that the cache may want to give up; the bytes can be copied.
    guard !space.isPrivate(leaf), !space.pagesShouldNotBeKept else {
      return StoredValue(copying: value)
    }
    return StoredValue(bytes: value, owner: leaf.frame)
  }

  /// Puts a value from its overflow run together.
  func overflowValue(
    of payload: UnsafeRawBufferPointer, in leaf: PageID
  ) throws(StorageError) -> PageMemory {
    guard let overflow = ValuePayload.overflow(of: payload) else {
      return PageMemory(byteCount: 0)
    }
    let ticket = try space.enter()
    defer { space.leave(ticket) }
    let run = try OverflowRun(overflow, referredToBy: leaf, in: space)
    return try run.assembled(in: space)
  }

  /// Checks that the keys of two leaves that follow each other go on ascending. Each node alone was
  /// found to be in order; this is about several. Without it a walk would go on for ever in a
  /// damaged file, in which nodes can have the same children.
  @inline(never)
  func checkOrder(of left: Page, _ right: Page, at id: PageID) throws(StorageError) {
    let roomByteCount = Layout.keyRoomByteCount(pageSize: space.pageSize)
    let isInOrder = withUnsafeTemporaryAllocation(
      byteCount: max(16, 2 * roomByteCount), alignment: 8
    ) { rooms in
      guard left.count > 0, right.count > 0, let room = rooms.baseAddress else { return false }
      return Layout.isAscending(
        Layout.key(at: left.count - 1, in: left, room: room),
        Layout.key(at: 0, in: right, room: room + roomByteCount))
    }
    guard isInOrder else {
      throw .damaged(
        page: id, reason: "it is empty, or its keys do not follow those of the leaf beside it")
    }
  }
}

/// A value as it is stored, with the object that keeps its bytes.
public struct StoredValue {
  /// The value's bytes: valid and unchanged for as long as `owner` is retained, whatever happens to
  /// the snapshot, the transaction or the store.
  public let bytes: UnsafeRawBufferPointer
  /// Keeps `bytes`: the memory of the page they lie in, or of a value put together from several.
  public let owner: AnyObject

  init(bytes: UnsafeRawBufferPointer, owner: AnyObject) {
    self.bytes = bytes
    self.owner = owner
  }

  /// A value in memory of its own.
  package init(copying bytes: UnsafeRawBufferPointer) {
    let memory = PageMemory(byteCount: bytes.count)
    memory.mutableBytes.copyMemory(from: bytes)
    self.init(bytes: memory.bytes, owner: memory)
  }

  /// A copy of the bytes.
  public var array: [UInt8] {
    withExtendedLifetime(owner) { [UInt8](bytes) }
  }
}
