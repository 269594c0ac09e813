/// The bytes of a row that no store of this make has.
final class EncodedRow {
  private let memory: UnsafeMutableRawBufferPointer
  /// Whether a store of another make has what the row says.
  let isSaved: Bool

  init(_ bytes: UnsafeRawBufferPointer, isSaved: Bool = false) {
    self.isSaved = isSaved
    memory = .allocate(byteCount: bytes.count, alignment: 16)
    memory.copyMemory(from: bytes)
  }

  deinit { memory.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }
}
