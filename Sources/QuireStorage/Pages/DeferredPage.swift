import Synchronization

/// A page of a version that another process has made: what one commit's record changes, and the
/// page that it changes. It is put together when somebody reads it.
///
/// A reader beside a writer has to know of each commit, and reads few of the pages that change. So
/// a record's difference waits with those before it, until the page is read or there are so many of
/// them that the page is shorter.
///
/// `@unchecked Sendable`: `base` and `made` are atomic, `imageSpan` is accessed by whoever has the
/// monitor of the ``StoreFollower``, and the rest is constant.
final class DeferredPage: @unchecked Sendable {
  let id: PageID
  /// The commit of the record.
  let commit: CommitNumber
  private let entry: PageDifference.Entry
  /// Has the bytes of `entry`.
  private let record: PageMemory
  /// What is changed, with a reference: a page, or another deferred one; absent if the file has it,
  /// if all of it is replaced, or when the page is made.
  private let base: Atomic<UInt>
  /// The page, with a reference, when it is made; unreadable if it is not sound.
  private let made = Atomic<UInt>(0)
  /// How many differences wait, this one included.
  private let length: Int
  /// How many bytes these have.
  private let byteCount: Int
  /// See ``PageWord/imageSpan``.
  var imageSpan: UInt64

  private static let lengthLimit = 64

  /// - Parameters:
  ///   - base: whose reference passes over.
  ///   - record: has the bytes of `entry`.
  init(
    _ entry: PageDifference.Entry, of record: PageMemory, _ commit: CommitNumber,
    on base: PageWord, imageSpan: UInt64
  ) {
    id = entry.id
    self.commit = commit
    self.entry = entry
    self.record = record
    self.base = Atomic(base.bits)
    self.imageSpan = imageSpan
    length = 1 + (base.isDeferred ? base.deferredPage.length : 0)
    byteCount = entry.byteCount + (base.isDeferred ? base.deferredPage.byteCount : 0)
  }

  deinit {
    let (base, made) = (base.load(ordering: .relaxed), made.load(ordering: .relaxed))
    if PageWord(bits: base).hasContent { PageWord(bits: base).release() }
    if PageWord(bits: made).hasContent { PageWord(bits: made).release() }
  }

  /// Puts the object into a table: one reference passes to it.
  func intoTable() -> PageWord {
    PageWord(bits: UInt(bitPattern: Unmanaged.passRetained(self).toOpaque()) | 1)
  }

  /// Whether the page takes no more memory than its differences.
  func isLong(pageSize: Int) -> Bool {
    length >= DeferredPage.lengthLimit || byteCount >= 4 * pageSize
  }

  // MARK: Making

  /// The page, if it was made.
  @inline(__always)
  var madePage: Page? {
    let word = PageWord(bits: made.load(ordering: .acquiring))
    return word.isPage ? word.page : nil
  }

  enum Making {
    case page(Page)
    /// The bytes are no page of a tree; why.
    case unsound(String)
    /// The file does not have what the record changes; why.
    case unusable(String)
  }

  /// The page. The caller is inside the reclaimer, and uses it until it leaves.
  ///
  /// - Parameter cache: the pages of the file, for all versions that show this one.
  func make(in cache: PageCache, _ reclaimer: Reclaimer) throws(StorageError) -> Making {
    let present = PageWord(bits: made.load(ordering: .acquiring))
    if present.isPage { return .page(present.page) }
    let geometry = cache.geometry
    let frame = PageFrame(pageSize: geometry.pageSize)
    guard present.isAbsent else { return .unsound("its content was found damaged") }
    if let reason = try fill(frame, from: cache) { return .unusable(reason) }
    guard Page(frame.base).commit == commit else {
      return .unusable("it is of another commit than \(commit)")
    }
    let defect = cache.validation.defect(of: Page(frame.base), at: id, geometry: geometry)
    let word = defect == nil ? frame.intoTable() : .unreadable
    let (isFirst, other) = made.compareExchange(
      expected: 0, desired: word.bits, ordering: .acquiringAndReleasing)
    if !isFirst {
      // Another reader was faster.
      if word.isPage { word.release() }
      let other = PageWord(bits: other)
      return other.isPage ? .page(other.page) : .unsound("its content was found damaged")
    }
    // Others may be at it.
    let base = PageWord(bits: base.exchange(0, ordering: .acquiringAndReleasing))
    if base.hasContent { reclaimer.release(base) }
    if let defect { return .unsound(defect) }
    return .page(word.page)
  }

  /// Writes the page, or what a checkpoint has written beyond it.
  ///
  /// - Returns: why that is not possible.
  private func fill(_ frame: PageFrame, from cache: PageCache) throws(StorageError) -> String? {
    let pageSize = cache.geometry.pageSize
    if !entry.isWhole {
      let base = PageWord(bits: base.load(ordering: .acquiring))
      if base.isPage {
        frame.base.copyMemory(from: base.base, byteCount: pageSize)
      } else if base.isDeferred {
        if let reason = try base.deferredPage.fill(frame, from: cache) { return reason }
      } else if let page = madePage {
        // It was made since.
        frame.base.copyMemory(from: page.base, byteCount: pageSize)
        return nil
      } else if let reason = try read(into: frame, from: cache) {
        return reason
      }
      let found = Page(frame.base).commit
      if found >= commit { return nil }
      guard PageMap.stamp(of: found) == entry.base else {
        return "it is of commit \(found), which is not the one that the log changes"
      }
    }
    entry.apply(to: frame.base, pageSize: pageSize)
    return nil
  }

  /// - Returns: why the file does not have the page.
  private func read(into frame: PageFrame, from cache: PageCache) throws(StorageError) -> String? {
    let pageSize = cache.geometry.pageSize
    let cached = cache.find(id)
    if cached.isPage, cached.page.commit <= commit {
      frame.base.copyMemory(from: cached.base, byteCount: pageSize)
      return nil
    }
    guard let file = cache.file else { throw .closed }
    let buffer = UnsafeMutableRawBufferPointer(start: frame.base, count: pageSize)
    guard try file.read(at: Int(id.rawValue) * pageSize, into: buffer) == pageSize else {
      return "the file ends before what the log changes"
    }
    let page = Page(frame.base)
    guard page.checksum == cache.checksum.ofPage(id, page, pageSize: pageSize) else {
      return "its checksum is wrong"
    }
    return nil
  }
}

extension PageWord {
  /// The page, if it is in memory as a whole; a deferred one that was made keeps it.
  var made: PageWord {
    if isPage { return self }
    return isDeferred ? deferredPage.madePage.map(PageWord.init) ?? .absent : .absent
  }
  /// The deferred page. Only where `isDeferred`.
  var deferredPage: DeferredPage { deferredReference.takeUnretainedValue() }
  // Sound: a table has a reference to what it shows, and the tag is taken off.
  var deferredReference: Unmanaged<DeferredPage> {
    .fromOpaque(UnsafeRawPointer(bitPattern: bits & ~1).unsafelyUnwrapped)
  }
}
