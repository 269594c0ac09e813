import QuireStorage

/// Makes the checksums of a store and its log right, whatever they hold: without that, nothing a
/// fuzzer makes gets past them.
///
/// From `docs/file-format.md`, not from the engine's code.
struct FileSealing {
  let pageSize: Int
  private let seed: UInt64

  /// Repairs the first page of a file, and takes page size and identity from it.
  ///
  /// - Returns: `nil` for a file that is too short to have one.
  init?(repairing file: inout [UInt8]) {
    guard file.count >= 48 else { return nil }
    file.replaceSubrange(0..<16, with: [0x89] + Array("Quire\r\n\u{1A}\nstore\0".utf8))
    file.replaceSubrange(16..<20, with: [1, 0, 0, 0])
    var pageSize = Int(UInt32(truncatingIfNeeded: file.number(at: 20, byteCount: 4)))
    if ![512, 1024, 4096].contains(pageSize) {
      pageSize = 512
      file.setNumber(512, at: 20, byteCount: 4)
    }
    file.setNumber(file.hash(0..<40, seed: 0), at: 40, byteCount: 8)
    self.pageSize = pageSize
    seed = file.hash(24..<40, seed: 0)
  }

  /// A store that claims more pages than it has is opened in time proportional to the claim: with
  /// four thousand million, in minutes. Known; until it is otherwise, claims end here.
  private static let pageCountLimit: UInt64 = 1 << 14

  private func limitPageCount(at offset: Int, in bytes: inout [UInt8]) {
    let claim = bytes.number(at: offset, byteCount: 4)
    bytes.setNumber(min(claim, FileSealing.pageCountLimit), at: offset, byteCount: 4)
  }

  /// Seals every page of a store after the first.
  func sealPages(of file: inout [UInt8]) {
    for meta in 1...2 where (meta + 1) * pageSize <= file.count {
      limitPageCount(at: meta * pageSize + 32, in: &file)
      // The highest sequence and epoch trap in the next checkpoint. Known, as above.
      for offset in [8, 16] {
        let number = file.number(at: meta * pageSize + offset, byteCount: 8)
        file.setNumber(min(number, .max - 64), at: meta * pageSize + offset, byteCount: 8)
      }
    }
    for page in 1..<max(1, file.count / pageSize) { sealPage(page, at: page * pageSize, in: &file) }
  }

  func sealPage(_ number: Int, at offset: Int, in bytes: inout [UInt8]) {
    let seed = seed ^ UInt64(number) &* 0x9E37_79B1_85EB_CA87
    bytes.setNumber(
      bytes.hash(offset + 8..<offset + pageSize, seed: seed), at: offset, byteCount: 8)
  }

  private func logHash(_ bytes: [UInt8], _ range: Range<Int>, epoch: UInt64) -> UInt64 {
    bytes.hash(range, seed: seed ^ (epoch &+ 1) &* 0xC2B2_AE3D_27D4_EB4F)
  }

  /// Seals a log's header and, one after the other, its records with the pages in them; their
  /// lengths and their chain are made right as well.
  func sealLog(_ log: inout [UInt8]) {
    guard log.count >= 40 else { return }
    log.replaceSubrange(0..<8, with: [0x89] + Array("QLog\r\n\u{1A}".utf8))
    log.setNumber(UInt64(pageSize), at: 12, byteCount: 4)
    log.setNumber(logHash(log, 0..<32, epoch: 0), at: 32, byteCount: 8)
    var offset = 4096
    var previous: UInt64?
    while offset + 64 <= log.count, Array(log[offset..<offset + 8]) == Array("Qcommit1".utf8) {
      let epoch = log.number(at: offset + 8, byteCount: 8)
      let room = (log.count - offset - 64) / (8 + pageSize)
      let images = min(Int(log.number(at: offset + 48, byteCount: 4)), room)
      let byteCount = 64 + images * (8 + pageSize)
      log.setNumber(previous ?? logHash([], 0..<0, epoch: epoch), at: offset + 24, byteCount: 8)
      log.setNumber(UInt64(byteCount), at: offset + 32, byteCount: 8)
      log.setNumber(UInt64(images), at: offset + 48, byteCount: 4)
      limitPageCount(at: offset + 52, in: &log)
      for image in 0..<images {
        let start = offset + 56 + image * (8 + pageSize)
        sealPage(Int(log.number(at: start, byteCount: 4)), at: start + 8, in: &log)
      }
      let sum = logHash(log, offset..<offset + byteCount - 8, epoch: epoch)
      log.setNumber(sum, at: offset + byteCount - 8, byteCount: 8)
      previous = sum
      offset += byteCount
    }
  }
}

extension [UInt8] {
  func number(at offset: Int, byteCount: Int) -> UInt64 {
    (0..<byteCount).reduce(0) { $0 | UInt64(self[offset + $1]) << UInt64(8 * $1) }
  }

  mutating func setNumber(_ value: UInt64, at offset: Int, byteCount: Int) {
    for index in 0..<byteCount {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
    }
  }

  func hash(_ range: Range<Int>, seed: UInt64) -> UInt64 {
    withUnsafeBytes { XXH3.hash(UnsafeRawBufferPointer(rebasing: $0[range]), seed: seed) }
  }
}
