import QuireStorage

/// Makes the checksums of a store and its log right, whatever they hold: without that, nothing that
/// a fuzzer or a forger makes gets past them.
///
/// From `docs/file-format.md`, not from the engine's code.
package struct FileSealing {
  package let pageSize: Int
  private let seed: UInt64

  /// Repairs the first page of a file, and takes page size and identity from it.
  ///
  /// - Returns: `nil` for a file that is too short to have one.
  package init?(repairing file: inout [UInt8]) {
    guard file.count >= 104 else { return nil }
    file.replaceSubrange(0..<16, with: [0x89] + Array("Quire\r\n\u{1A}\nstore\0".utf8))
    file.replaceSubrange(16..<20, with: [2, 0, 0, 0])
    file.replaceSubrange(40..<96, with: [UInt8](repeating: 0, count: 56))
    var pageSize = Int(UInt32(truncatingIfNeeded: file.number(at: 20, byteCount: 4)))
    if ![512, 1024, 4096].contains(pageSize) {
      pageSize = 512
      file.setNumber(512, at: 20, byteCount: 4)
    }
    file.setNumber(file.hash(0..<96, seed: 0), at: 96, byteCount: 8)
    self.pageSize = pageSize
    seed = file.hash(24..<40, seed: 0)
  }

  /// Seals every page of a store after the first, once the maps say of each page in use what its
  /// commit is: without that, most changes would only be pages of another time.
  package func sealPages(of file: inout [UInt8]) {
    let pageCount = file.count / pageSize
    stampPages(of: &file, pageCount: pageCount)
    for page in stride(from: 1, to: pageCount, by: 1) {
      sealPage(page, at: page * pageSize, in: &file)
    }
  }

  private func stampPages(of file: inout [UInt8], pageCount: Int) {
    let entryCount = (pageSize - 24) / 4
    let childCount = max(4, entryCount / 64)
    let groupCount = entryCount - childCount
    func stamp(_ page: Int) -> UInt64 {
      file.number(at: page * pageSize + 8, byteCount: 8) & 0xFFFF_FFFF | 0x8000_0000
    }
    for page in stride(from: 4, to: pageCount, by: 1) where page % groupCount != 3 {
      let map = page / groupCount * groupCount + 3
      guard map < pageCount else { continue }
      let entry = map * pageSize + 24 + page % groupCount * 4
      if file.number(at: entry, byteCount: 4) != 0 {
        file.setNumber(stamp(page), at: entry, byteCount: 4)
      }
    }
    for group in stride(from: 1, to: (pageCount + groupCount - 4) / groupCount, by: 1) {
      let parent = (group - 1) / childCount * groupCount + 3
      let entry = parent * pageSize + 24 + (groupCount + (group - 1) % childCount) * 4
      file.setNumber(stamp(group * groupCount + 3), at: entry, byteCount: 4)
    }
    guard pageCount > 3 else { return }
    let mapCommit = file.number(at: 3 * pageSize + 8, byteCount: 8)
    for meta in 1...2 {
      file.setNumber(mapCommit, at: meta * pageSize + 64, byteCount: 8)
    }
  }

  package func sealPage(_ number: Int, at offset: Int, in bytes: inout [UInt8]) {
    let seed = seed ^ UInt64(number) &* 0x9E37_79B1_85EB_CA87
    bytes.setNumber(
      bytes.hash(offset + 8..<offset + pageSize, seed: seed), at: offset, byteCount: 8)
  }

  private func logHash(_ bytes: [UInt8], _ range: Range<Int>, epoch: UInt64) -> UInt64 {
    bytes.hash(range, seed: seed ^ (epoch &+ 1) &* 0xC2B2_AE3D_27D4_EB4F)
  }

  /// Whether a log has seals after its records, as since version 2.0.
  private func trailerByteCount(_ log: [UInt8]) -> Int {
    log.number(at: 8, byteCount: 2) == 1 ? 8 : 16
  }

  /// Seals a log's header and, one after the other, its records; their lengths and their chain are
  /// made right as well. The first record follows what the newer meta page names.
  ///
  /// - Parameters:
  ///   - epoch: that of the meta page.
  ///   - chain: what the first record follows.
  package func sealLog(_ log: inout [UInt8], epoch: UInt64, chain: UInt64) {
    guard log.count >= 48 else { return }
    log.replaceSubrange(0..<8, with: [0x89] + Array("QLog\r\n\u{1A}".utf8))
    log.setNumber(UInt64(pageSize), at: 12, byteCount: 4)
    log.setNumber(epoch, at: 32, byteCount: 8)
    sealLogHeader(&log)
    let trailer = trailerByteCount(log)
    var offset = 4096
    var previous = chain
    while offset + 64 + trailer <= log.count,
      Array(log[offset..<offset + 8]) == Array("Qcommit1".utf8)
    {
      let epoch = log.number(at: offset + 8, byteCount: 8)
      let claim = Int(truncatingIfNeeded: log.number(at: offset + 32, byteCount: 8))
      let byteCount = max(64 + trailer, min(claim, log.count - offset)) & ~7
      log.setNumber(previous, at: offset + 24, byteCount: 8)
      log.setNumber(UInt64(byteCount), at: offset + 32, byteCount: 8)
      let check = logHash(log, offset..<offset + 60, epoch: epoch)
      log.setNumber(check, at: offset + 60, byteCount: 4)
      let end = offset + byteCount - trailer
      sealVoucher(at: end - 32, of: &log, epoch: epoch)
      let sum = logHash(log, offset..<end, epoch: epoch)
      log.setNumber(sum, at: end, byteCount: 8)
      previous = sum
      offset += byteCount
    }
  }

  /// What the first record of an epoch names as its predecessor.
  package func logChainStart(epoch: UInt64) -> UInt64 { logHash([], 0..<0, epoch: epoch) }

  package func sealLogHeader(_ log: inout [UInt8]) {
    log.setNumber(logHash(log, 0..<40, epoch: 0), at: 40, byteCount: 8)
    let place = log.number(at: 8, byteCount: 2) == 1 ? 56 : 64
    guard log.count >= place + 8 else { return }
    log.setNumber(logHash(log, 0..<place, epoch: 0), at: place, byteCount: 8)
  }

  private func sealVoucher(at offset: Int, of log: inout [UInt8], epoch: UInt64) {
    guard log[offset..<offset + 8].elementsEqual("Qdurable".utf8) else { return }
    log.setNumber(logHash(log, offset..<offset + 24, epoch: epoch), at: offset + 24)
  }

  /// Seals a file of images: its list, and the pages as those that the list names.
  package func sealImages(_ images: inout [UInt8]) {
    let count = Int(images.number(at: 28, byteCount: 4))
    guard images.count >= 40, count <= (images.count - 40) / 12 else { return }
    let start = (40 + 12 * count + pageSize - 1) / pageSize * pageSize
    for index in 0..<count where start + (index + 1) * pageSize <= images.count {
      let id = Int(images.number(at: 40 + 12 * index, byteCount: 4))
      sealPage(id, at: start + index * pageSize, in: &images)
    }
    images.setNumber(0, at: 32, byteCount: 8)
    let sum = logHash(images, 0..<40 + 12 * count, epoch: images.number(at: 8))
    images.setNumber(sum, at: 32, byteCount: 8)
  }

  /// The epoch of the log, and what its first record names as its predecessor, by the newer meta
  /// page.
  package func log(of file: [UInt8]) -> (epoch: UInt64, chain: UInt64) {
    guard file.count >= 3 * pageSize else { return (0, 0) }
    let metas = (1...2).map { $0 * pageSize }
    let newer = metas.max {
      file.number(at: $0 + 8, byteCount: 8) < file.number(at: $1 + 8, byteCount: 8)
    }
    let start = newer ?? pageSize
    return (
      file.number(at: start + 16, byteCount: 8), file.number(at: start + 48, byteCount: 8)
    )
  }
}

// Numbers as the format has them, little-endian.
extension [UInt8] {
  package func number(at offset: Int, byteCount: Int = 8) -> UInt64 {
    (0..<byteCount).reduce(0) { $0 | UInt64(self[offset + $1]) << UInt64(8 * $1) }
  }

  package mutating func setNumber(_ number: UInt64, at offset: Int, byteCount: Int = 8) {
    for index in 0..<byteCount {
      self[offset + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
    }
  }

  package func hash(_ range: Range<Int>, seed: UInt64) -> UInt64 {
    withUnsafeBytes { XXH3.hash(UnsafeRawBufferPointer(rebasing: $0[range]), seed: seed) }
  }
}
