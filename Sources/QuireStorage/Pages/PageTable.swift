/// Where each page of one version of the store is in memory.
///
/// Two levels of copy-on-write arrays: copying a table shares everything, and the first change to a
/// page after a copy copies that page's chunk and the list of chunks, nothing else. So a commit
/// costs what it touches, a snapshot costs one reference, and a replaced page lives exactly as long
/// as some table still shows it.
///
/// A slot is empty when its page is free, or when it was found damaged at opening.
struct PageTable: Sendable {
  struct Slot: Sendable {
    var page: Page?
    var owner: PageMemory?
  }

  // A chunk is copied, with a retain per slot, by the first change to it in a transaction; the list
  // of chunks by the first change of all. 64 keeps both small from 100 KB to some 100 MB of store.
  static let chunkShift: UInt32 = 6
  static let chunkCount = 1 << Int(chunkShift)

  private var chunks: ContiguousArray<ContiguousArray<Slot>> = []

  /// The page, or `nil` when its slot is empty or was never set.
  @inline(__always)
  subscript(id: PageID) -> Page? {
    let chunk = Int(id.rawValue >> PageTable.chunkShift)
    guard chunk < chunks.count else { return nil }
    let slot = Int(id.rawValue) & (PageTable.chunkCount - 1)
    guard slot < chunks[chunk].count else { return nil }
    return chunks[chunk][slot].page
  }

  /// The page with the memory that keeps it.
  func slot(_ id: PageID) -> Slot {
    let chunk = Int(id.rawValue >> PageTable.chunkShift)
    let slot = Int(id.rawValue) & (PageTable.chunkCount - 1)
    guard chunk < chunks.count, slot < chunks[chunk].count else { return Slot() }
    return chunks[chunk][slot]
  }

  /// Shows `page` at `id`; the chunks grow to what is used, so that small stores stay small.
  mutating func set(_ id: PageID, to page: Page, owner: PageMemory) {
    let chunk = Int(id.rawValue >> PageTable.chunkShift)
    let slot = Int(id.rawValue) & (PageTable.chunkCount - 1)
    while chunks.count <= chunk { chunks.append([]) }
    while chunks[chunk].count <= slot { chunks[chunk].append(Slot()) }
    chunks[chunk][slot] = Slot(page: page, owner: owner)
  }

  /// Empties the slot.
  mutating func clear(_ id: PageID) {
    let chunk = Int(id.rawValue >> PageTable.chunkShift)
    let slot = Int(id.rawValue) & (PageTable.chunkCount - 1)
    guard chunk < chunks.count, slot < chunks[chunk].count else { return }
    chunks[chunk][slot] = Slot()
  }
}
