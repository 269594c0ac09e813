/// The highest numbers that a store can have (`docs/file-format.md`, Limits): whatever is read from
/// a file is compared with these before it is counted with. On disk: for ever.
enum StoreLimits {
  /// Room is left above, so that the number of a page and those of a few after it can be added.
  static let pageCount: UInt32 = .max - 8

  /// The limit of sequences of meta pages, epochs and commits, which counting never reaches.
  private static let number: UInt64 = 1 << 62
  /// The limit below which a writer continues counting, so that the numbers it writes are readable.
  private static let writableNumber: UInt64 = 1 << 61

  /// Whether a store can have so many pages, and of them so many free ones.
  static func allows(pageCount: UInt32, freePageCount: UInt32) -> Bool {
    pageCount >= PageID.firstFree.rawValue && pageCount <= StoreLimits.pageCount
      && freePageCount < pageCount
  }

  /// Whether sequences, epochs and commits can be these.
  static func allows(_ numbers: UInt64...) -> Bool { numbers.allSatisfy { $0 < number } }

  /// Whether a writer can go on from these.
  static func allowsWriting(after numbers: UInt64...) -> Bool {
    numbers.allSatisfy { $0 < writableNumber }
  }
}
