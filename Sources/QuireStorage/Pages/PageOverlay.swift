import Synchronization

/// The pages of one version that differ from the file, or are not in it yet: two levels of arrays,
/// of which versions share equal parts.
///
/// A version has a directory of its own; chunks are shared until a transaction changes one, which
/// copies it. So the cost of a commit depends on the pages it touches, and a snapshot is free.
/// Counting references manually would cost more than copying: instead a replaced chunk or page is
/// owned by the version that still shows it (``VersionRegistry``).
///
/// Words of a published overlay change in one way only: a checkpoint that is about to overwrite a
/// page in the file puts the old content where the word was absent. So all words are atomic, and a
/// reader that finds the file's page too new looks here again.
struct PageOverlay {
  static let chunkShift: UInt32 = 8
  static let chunkCount = 1 << Int(chunkShift)

  /// The addresses of chunks, 0 where there is none.
  private let directory: UnsafeMutablePointer<Atomic<UInt>>
  /// The chunks there is room for.
  let capacity: Int

  /// A chunk: the commit that made it, then a word for each page.
  struct Chunk {
    let words: UnsafeMutablePointer<Atomic<UInt>>

    init(words: UnsafeMutablePointer<Atomic<UInt>>) { self.words = words }

    /// An empty one.
    init(commit: CommitNumber) {
      words = PageOverlay.zeroWords(PageOverlay.chunkCount + 1)
      words[0].store(UInt(commit.rawValue), ordering: .relaxed)
    }

    /// A copy with another commit.
    init(copying other: Chunk, commit: CommitNumber) {
      words = .allocate(capacity: PageOverlay.chunkCount + 1)
      words.initialize(to: Atomic(UInt(commit.rawValue)))
      for index in 1...PageOverlay.chunkCount {
        (words + index).initialize(to: Atomic(other.words[index].load(ordering: .relaxed)))
      }
    }

    var commit: CommitNumber {
      CommitNumber(rawValue: UInt64(words[0].load(ordering: .relaxed)))
    }

    subscript(slot: Int) -> PageWord {
      get { PageWord(bits: words[slot &+ 1].load(ordering: .acquiring)) }
      nonmutating set { words[slot &+ 1].store(newValue.bits, ordering: .releasing) }
    }

    func deallocate() { words.deallocate() }
  }

  /// - Parameter pageCount: the pages to have room for.
  init(pageCount: UInt32) {
    capacity = (Int(pageCount) + PageOverlay.chunkCount - 1) >> Int(PageOverlay.chunkShift)
    directory = PageOverlay.zeroWords(capacity)
  }

  /// An `Atomic` of zero is a word of zero bits.
  private static func zeroWords(_ count: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    let words = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: max(count, 1))
    UnsafeMutableRawPointer(words)
      .initializeMemory(as: UInt.self, repeating: 0, count: max(count, 1))
    return words
  }

  /// The same chunks in a directory of its own, with room for more.
  ///
  /// - Parameters:
  ///   - pageCount: the number of pages to have room for.
  ///   - capacity: the minimum number of chunks to have room for.
  init(copying other: PageOverlay, pageCount: UInt32, capacity: Int = 0) {
    self.capacity = max(
      capacity, other.capacity,
      (Int(pageCount) + PageOverlay.chunkCount - 1) >> Int(PageOverlay.chunkShift))
    directory = PageOverlay.zeroWords(self.capacity)
    for index in 0..<other.capacity {
      directory[index].store(other.directory[index].load(ordering: .acquiring), ordering: .relaxed)
    }
  }

  func chunk(_ index: Int) -> Chunk? {
    guard index < capacity else { return nil }
    let address = directory[index].load(ordering: .acquiring)
    guard let words = UnsafeMutableRawPointer(bitPattern: address) else { return nil }
    return Chunk(words: words.assumingMemoryBound(to: Atomic<UInt>.self))
  }

  func setChunk(_ index: Int, to chunk: Chunk?) {
    assert(index < capacity)
    directory[index].store(
      chunk.map { UInt(bitPattern: UnsafeRawPointer($0.words)) } ?? 0, ordering: .releasing)
  }

  subscript(id: PageID) -> PageWord {
    guard let chunk = chunk(Int(id.rawValue >> PageOverlay.chunkShift)) else { return .absent }
    return chunk[PageOverlay.slot(of: id)]
  }

  static func slot(of id: PageID) -> Int {
    Int(id.rawValue) & (chunkCount - 1)
  }
  static func id(chunk: Int, slot: Int) -> PageID {
    PageID(UInt32(truncatingIfNeeded: chunk << Int(chunkShift) | slot))
  }

  /// Every page the overlay says something about, in the order of the file.
  func forEach(_ body: (PageID, PageWord) -> Void) {
    for index in 0..<capacity {
      guard let chunk = chunk(index) else { continue }
      for slot in 0..<PageOverlay.chunkCount {
        let word = chunk[slot]
        if !word.isAbsent { body(PageOverlay.id(chunk: index, slot: slot), word) }
      }
    }
  }

  /// Frees the directory; chunks and pages are the business of ``VersionRegistry``.
  func deallocate() { directory.deallocate() }
}
