/// Pages on their way to a file, copied and given their checksums.
struct SealedRun {
  private let memory: PageMemory
  private let pageSize: Int
  private let checksum: Checksum
  /// What each page must be; `nil` where nothing is known.
  private(set) var proof: CheckpointProof?
  private(set) var count = 0

  /// Written together, this many at most.
  private static let pageCount = 256

  init(pageSize: Int, _ checksum: Checksum, proof: CheckpointProof? = nil) {
    memory = PageMemory(byteCount: SealedRun.pageCount * pageSize)
    self.pageSize = pageSize
    self.checksum = checksum
    self.proof = proof
  }

  var isFull: Bool { count == SealedRun.pageCount }

  /// - Throws: ``StorageError/damaged(page:reason:)`` if that is not the page which belongs there.
  mutating func add(_ page: Page, at id: PageID) throws(StorageError) {
    let copy = MutablePage(memory.base + count * pageSize)
    copy.base.copyMemory(from: page.base, byteCount: pageSize)
    // The copy, as that is what goes to the file.
    try proof?.add(copy.page, at: id)
    copy.checksum = checksum.ofPage(id, copy.page, pageSize: pageSize)
    count += 1
  }

  /// Writes what was added, and begins anew.
  mutating func write(to file: any File, at offset: Int) throws(StorageError) {
    guard count > 0 else { return }
    try file.write(memory, byteCount: count * pageSize, at: offset)
    count = 0
  }
}
