/// The bytes of a row that no store has.
final class EncodedRow {
  private let memory: UnsafeMutableRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) {
    memory = .allocate(byteCount: bytes.count, alignment: 16)
    memory.copyMemory(from: bytes)
  }

  deinit { memory.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }
}
