/// The bytes of a row that is not stored in a page.
final class EncodedRow {
  private let memory: UnsafeMutableRawBufferPointer
  /// Whether an incremental store has the values of the row.
  let isSaved: Bool

  init(_ bytes: UnsafeRawBufferPointer, isSaved: Bool = false) {
    self.isSaved = isSaved
    memory = .allocate(byteCount: bytes.count, alignment: 16)
    memory.copyMemory(from: bytes)
  }

  deinit { memory.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }
}
