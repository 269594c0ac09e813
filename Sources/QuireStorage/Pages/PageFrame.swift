import Synchronization

/// The memory of one page: a reference-counted object that owns a slot of ``FrameMemory``.
///
/// Tables of pages have the address of the bytes as a plain number and count manually: one
/// reference for each owner (a version, the cache). To keep a page longer, the frame is retained
/// like any other object.
///
/// In the slot, right before the page's bytes, are facts about the page:
///
/// - 8 bytes before: the address of the frame object.
/// - 16 bytes before: the log span in which the page was logged whole, so that the log alone can
///   bring it back; 0 when it was not. See ``LogWriter``.
/// - 24 bytes before: whether the page was used since the cache last looked; see ``PageCache``.
/// - 32 bytes before: the index among the cache's pages, while it is one of them.
///
/// The bytes are written by one thread before the frame is published, and constant afterwards; so
/// is the log span. The use is accessed only atomically, the index only with the cache's mutex.
///
/// `@unchecked Sendable`: the object itself is constant.
final class PageFrame: @unchecked Sendable {
  /// The bytes before the page in its slot, so that the page begins within a cache line with it.
  static var headerByteCount: Int { 32 }
  fileprivate static var ownerDistance: Int { 8 }
  fileprivate static var imageSpanDistance: Int { 16 }
  private static var wasUsedDistance: Int { 24 }
  fileprivate static var ringIndexDistance: Int { 32 }

  /// The page's bytes; valid as long as the frame has an owner.
  let base: UnsafeMutableRawPointer
  // Sound: the slab exists as long as a slot of it is used; not counting saves two shared writes
  // for each frame.
  private unowned(unsafe) let slab: FrameMemory.Slab

  /// A frame with arbitrary content.
  init(pageSize: Int) {
    let slot: UnsafeMutableRawPointer
    (slot, slab) = FrameMemory.of(pageSize: pageSize).take()
    base = slot + PageFrame.headerByteCount
    slot.initializeMemory(as: UInt64.self, repeating: 0, count: PageFrame.headerByteCount / 8)
    (base - PageFrame.ownerDistance).storeBytes(
      of: Unmanaged.passUnretained(self).toOpaque(), as: UnsafeMutableRawPointer.self)
  }

  deinit { slab.memory.give(base - PageFrame.headerByteCount, of: slab) }

  /// The frame of a page; everything that a table shows has one.
  fileprivate static func owner(of base: UnsafeRawPointer) -> Unmanaged<PageFrame> {
    Unmanaged.fromOpaque((base - ownerDistance).load(as: UnsafeRawPointer.self))
  }

  /// Puts the frame into a table: one reference passes to it.
  func intoTable() -> PageWord {
    _ = Unmanaged.passRetained(self)
    return PageWord(bits: UInt(bitPattern: base))
  }

  /// Notes a use, for the cache's choice of what to give up.
  static func noteUse(of base: UnsafeRawPointer) {
    let flag = UnsafeMutableRawPointer(mutating: base - wasUsedDistance)
      .assumingMemoryBound(to: Atomic<UInt64>.self)
    // Reading first keeps the line shared among cores while the flag is set already.
    if flag.pointee.load(ordering: .relaxed) == 0 { flag.pointee.store(1, ordering: .relaxed) }
  }

  /// Clears the note.
  ///
  /// - Returns: whether it was set.
  static func takeUse(of base: UnsafeRawPointer) -> Bool {
    let flag = UnsafeMutableRawPointer(mutating: base - wasUsedDistance)
      .assumingMemoryBound(to: Atomic<UInt64>.self)
    return flag.pointee.exchange(0, ordering: .relaxed) != 0
  }
}

/// The entry of a table for a page, in one word that can be read and replaced atomically.
///
/// Deliberately not `Equatable`: memory that was freed is used again, so an address does not
/// identify a page. Its commit does (``showsSame(as:)``).
struct PageWord {
  var bits: UInt

  init(bits: UInt) { self.bits = bits }
  init(_ page: Page) { bits = UInt(bitPattern: page.base) }

  /// The table has no entry: the page is as in the file.
  static var absent: PageWord { PageWord(bits: 0) }
  /// The page is free, or its content cannot be trusted.
  static var unreadable: PageWord { PageWord(bits: 1) }

  var isAbsent: Bool { bits == 0 }
  /// Addresses are even.
  var isPage: Bool { bits & 1 == 0 && bits != 0 }
  /// Whether the page is made when somebody reads it.
  var isDeferred: Bool { bits & 1 != 0 && bits != 1 }
  /// Whether it is known what the page is.
  var hasContent: Bool { bits > 1 }
  /// The page's bytes. Only where `isPage`.
  var base: UnsafeRawPointer {
    UnsafeRawPointer(bitPattern: bits).unsafelyUnwrapped
  }
  var page: Page { Page(base) }
  /// The commit that gave the page its content. Only where `hasContent`.
  var commit: CommitNumber { isPage ? page.commit : deferredPage.commit }
  /// Whether two tables say the same of a page: the content that one commit gave it, or that the
  /// table has none. Both tables must keep their pages.
  func showsSame(as other: PageWord) -> Bool {
    guard hasContent, other.hasContent else { return bits == other.bits }
    return commit == other.commit
  }
  /// What owns the content, as an object.
  fileprivate var owner: Unmanaged<AnyObject> {
    .fromOpaque(
      isPage ? PageFrame.owner(of: base).toOpaque() : deferredReference.toOpaque())
  }
  /// The log span in which the page was logged whole; see ``PageFrame``.
  var imageSpan: UInt64 {
    get { (base - PageFrame.imageSpanDistance).load(as: UInt64.self) }
    nonmutating set {
      UnsafeMutableRawPointer(mutating: base - PageFrame.imageSpanDistance)
        .storeBytes(of: newValue, as: UInt64.self)
    }
  }
  /// The index among the cache's pages; see ``PageFrame``. Only with the cache's mutex.
  var ringIndex: Int {
    get { (base - PageFrame.ringIndexDistance).load(as: Int.self) }
    nonmutating set {
      UnsafeMutableRawPointer(mutating: base - PageFrame.ringIndexDistance)
        .storeBytes(of: newValue, as: Int.self)
    }
  }
  /// Adds a reference, for another table.
  func retain() { _ = owner.retain() }
  /// Releases a table's reference.
  func release() { owner.release() }
}

extension Page {
  /// The frame that the page lies in, retained. Every page that a ``PageSpace`` shows has one.
  var frame: PageFrame { PageFrame.owner(of: base).takeUnretainedValue() }
  /// The frame, not retained.
  var frameReference: Unmanaged<PageFrame> { PageFrame.owner(of: base) }
}

extension Reclaimer {
  /// Releases a table's reference to a page when no operation can be using it any more.
  func release(_ word: PageWord) {
    release(word.owner)
  }
}
