/// The number of a page: its position in the file, in pages from the start.
public struct PageID: RawRepresentable, Hashable, Comparable, Sendable {
  public var rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  init(_ rawValue: UInt32) { self.rawValue = rawValue }

  public static func < (left: PageID, right: PageID) -> Bool { left.rawValue < right.rawValue }

  // On disk: these five never move.
  static let identity = PageID(0)
  static let metaA = PageID(1)
  static let metaB = PageID(2)
  static let firstMap = PageID(3)
  static let catalogRoot = PageID(4)
  /// The first page that trees may use; an empty store has exactly the pages before it.
  static let firstFree = PageID(5)
}

extension PageID: CustomStringConvertible {
  public var description: String { String(rawValue) }
}

/// The number of a commit: 0 is the store as created, every commit that changed something adds one.
public struct CommitNumber: RawRepresentable, Hashable, Comparable, Sendable {
  public var rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  public static func < (left: CommitNumber, right: CommitNumber) -> Bool {
    left.rawValue < right.rawValue
  }

  static let creation = CommitNumber(rawValue: 0)

  var next: CommitNumber { CommitNumber(rawValue: rawValue &+ 1) }
}

extension CommitNumber: CustomStringConvertible {
  public var description: String { String(rawValue) }
}
