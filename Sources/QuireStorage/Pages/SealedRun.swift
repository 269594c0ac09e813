/// Pages on their way to a file, copied and given their checksums.
struct SealedRun {
  private let memory: PageMemory
  private let pageSize: Int
  private let checksum: Checksum
  private(set) var count = 0

  /// Written together, this many at most.
  private static let pageCount = 256

  init(pageSize: Int, _ checksum: Checksum) {
    memory = PageMemory(byteCount: SealedRun.pageCount * pageSize)
    self.pageSize = pageSize
    self.checksum = checksum
  }

  var isFull: Bool { count == SealedRun.pageCount }

  mutating func add(_ page: Page, at id: PageID) {
    let copy = MutablePage(memory.base + count * pageSize)
    copy.base.copyMemory(from: page.base, byteCount: pageSize)
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
