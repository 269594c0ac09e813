import Synchronization

/// What a frame knows about its page besides the bytes.
struct PageFrameHeader {
  /// The log span in which the page was logged whole, so that the log alone can bring it back; 0
  /// when it was not. See ``LogWriter``.
  var imageSpan: UInt64 = 0
  /// Whether the page was used since the cache last looked; see ``PageCache``.
  var wasUsed: UInt64 = 0
}

/// The memory of one page: a counted object with the page's bytes right behind its header.
///
/// Tables of pages hold the address of the bytes as a plain number and count by hand: one reference
/// for each owner (a version, the cache). Whoever wants to keep a page longer retains the frame as
/// any other object.
///
/// The bytes are written by one thread before the frame is published, and constant afterwards; the
/// header's `imageSpan` likewise, `wasUsed` is touched atomically only.
final class PageFrame: ManagedBuffer<PageFrameHeader, UInt8> {
  /// From the object to the page's bytes: the object's own two words, then the header.
  @inline(__always) static var bytesOffset: Int { 32 }
  /// From the page's bytes back to the fields of the header.
  @inline(__always) static var imageSpanDistance: Int { 16 }
  @inline(__always) private static var wasUsedDistance: Int { 8 }

  /// A frame with arbitrary content.
  static func make(pageSize: Int) -> PageFrame {
    let frame = unsafeDowncast(
      PageFrame.create(minimumCapacity: pageSize) { _ in PageFrameHeader() }, to: PageFrame.self)
    assert(frame.withUnsafeMutablePointerToElements { UnsafeRawPointer($0) } == frame.base)
    return frame
  }

  /// The page's bytes; valid for as long as somebody owns the frame.
  @inline(__always) var base: UnsafeMutableRawPointer {
    Unmanaged.passUnretained(self).toOpaque() + PageFrame.bytesOffset
  }

  /// Puts the frame into a table: one reference passes to it.
  @inline(__always) func intoTable() -> PageWord {
    PageWord(
      bits: UInt(bitPattern: Unmanaged.passRetained(self).toOpaque() + PageFrame.bytesOffset))
  }

  /// Notes a use, for the cache's choice of what to give up.
  @inline(__always)
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

/// What a table says about a page, in one word, so that it can be read and replaced atomically.
struct PageWord: Equatable {
  var bits: UInt

  @inline(__always) init(bits: UInt) { self.bits = bits }
  @inline(__always) init(_ page: Page) { bits = UInt(bitPattern: page.base) }

  /// The table says nothing: the page is as the file has it.
  static var absent: PageWord { PageWord(bits: 0) }
  /// The page is free, or its content cannot be trusted.
  static var unreadable: PageWord { PageWord(bits: 1) }

  @inline(__always) var isPage: Bool { bits > 1 }
  /// The page's bytes. Only where `isPage`.
  @inline(__always) var base: UnsafeRawPointer {
    UnsafeRawPointer(bitPattern: bits).unsafelyUnwrapped
  }
  @inline(__always) var page: Page { Page(base) }
  @inline(__always) private var unmanaged: Unmanaged<PageFrame> {
    Unmanaged.fromOpaque(base - PageFrame.bytesOffset)
  }
  /// The page's frame, retained.
  @inline(__always) var frame: PageFrame { unmanaged.takeUnretainedValue() }
  /// ``PageFrameHeader/imageSpan`` of the page's frame.
  @inline(__always) var imageSpan: UInt64 {
    get { (base - PageFrame.imageSpanDistance).load(as: UInt64.self) }
    nonmutating set {
      UnsafeMutableRawPointer(mutating: base - PageFrame.imageSpanDistance)
        .storeBytes(of: newValue, as: UInt64.self)
    }
  }
  /// Adds a reference, for another table.
  func retain() { _ = unmanaged.retain() }
  /// Gives a table's reference back.
  func release() { unmanaged.release() }
}

extension Page {
  /// The frame that the page lies in, retained. Every page that a ``PageSpace`` shows has one.
  @inline(__always) var frame: PageFrame {
    Unmanaged<PageFrame>.fromOpaque(base - PageFrame.bytesOffset).takeUnretainedValue()
  }
}
