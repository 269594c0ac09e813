import Synchronization

/// The bytes of a simulated file, in shared chunks.
///
/// Copying costs a reference and writing copies the chunks it touches, so that thousands of images
/// of one disk share what is the same in them. A chunk remembers its hash, which makes it cheap to
/// tell two images apart.
package struct FileContent: Sendable {
  fileprivate static let chunkByteCount = 4096
  private static let zeros = Chunk.zeros()

  package private(set) var byteCount = 0
  // Bytes beyond the end are zero, so that a file that grows shows zeros there.
  private var chunks: ContiguousArray<Chunk> = []

  package init() {}

  package init(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { write($0, at: 0) }
  }

  package mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
    if offset + bytes.count > byteCount { setByteCount(offset + bytes.count) }
    var done = 0
    while done < bytes.count {
      let index = (offset + done) / FileContent.chunkByteCount
      let start = (offset + done) % FileContent.chunkByteCount
      let count = min(bytes.count - done, FileContent.chunkByteCount - start)
      let position = done
      chunks[index] = chunks[index].changed { chunk in
        (chunk + start).copyMemory(from: source + position, byteCount: count)
      }
      done += count
    }
  }

  /// Cuts the file off, or fills it up with zeros.
  package mutating func setByteCount(_ new: Int) {
    let count = (new + FileContent.chunkByteCount - 1) / FileContent.chunkByteCount
    if new < byteCount {
      chunks.removeLast(chunks.count - count)
      let rest = new % FileContent.chunkByteCount
      if rest > 0 {
        chunks[count - 1] = chunks[count - 1].changed { chunk in
          (chunk + rest).initializeMemory(
            as: UInt8.self, repeating: 0, count: FileContent.chunkByteCount - rest)
        }
      }
    } else {
      while chunks.count < count { chunks.append(FileContent.zeros) }
    }
    byteCount = new
  }

  /// - Returns: the number of bytes that there were to copy.
  package func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let total = max(0, min(buffer.count, byteCount - offset))
    guard total > 0, let target = buffer.baseAddress else { return 0 }
    var done = 0
    while done < total {
      let start = (offset + done) % FileContent.chunkByteCount
      let count = min(total - done, FileContent.chunkByteCount - start)
      let source = chunks[(offset + done) / FileContent.chunkByteCount].base + start
      (target + done).copyMemory(from: source, byteCount: count)
      done += count
    }
    return total
  }

  package var bytes: [UInt8] { bytes(0..<byteCount) }

  /// The bytes of a range, as far as the file goes.
  package func bytes(_ range: Range<Int>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      count = read(at: range.lowerBound, into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(byteCount)
    for chunk in chunks { hasher.combine(chunk.digest) }
  }
}

/// Bytes that never change once they are made.
///
/// `@unchecked Sendable`: `base` is written by the initializer alone.
private final class Chunk: @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  /// 0 while it was not asked for.
  private let known = Atomic(0)

  /// - Parameter fill: initializes all bytes.
  private init(_ fill: (UnsafeMutableRawPointer) -> Void) {
    base = .allocate(byteCount: FileContent.chunkByteCount, alignment: 16)
    fill(base)
  }

  static func zeros() -> Chunk {
    Chunk {
      $0.initializeMemory(as: UInt8.self, repeating: 0, count: FileContent.chunkByteCount)
    }
  }

  deinit { base.deallocate() }

  func changed(_ change: (UnsafeMutableRawPointer) -> Void) -> Chunk {
    Chunk { new in
      new.copyMemory(from: base, byteCount: FileContent.chunkByteCount)
      change(new)
    }
  }

  var digest: Int {
    let old = known.load(ordering: .relaxed)
    if old != 0 { return old }
    var hasher = Hasher()
    hasher.combine(
      bytes: UnsafeRawBufferPointer(start: base, count: FileContent.chunkByteCount))
    let new = hasher.finalize()
    known.store(new, ordering: .relaxed)
    return new
  }
}
