/// The kind of a tree, as written in the catalog. On disk: add cases, never renumber.
public enum TreeKind: UInt8, Sendable {
  /// Keys are `Int64`, in numerical order.
  case record = 1
  /// Keys are byte strings, ordered as `memcmp` orders them; a prefix comes before what it begins.
  case index = 2
}

/// How a kind of tree lays out its nodes; the algorithms above it know keys, slots and payloads
/// only.
///
/// Every node is a sorted list of entries, each a key and a payload. In a leaf the payload is a
/// value (``ValuePayload``), in an inner node the four-byte number of a child page, and the key is
/// then a lower bound of what lies under that child. The first entry of an inner node has no lower
/// bound: its key is never compared, and is stored as ``lowestKey``.
///
/// The functions trust the page: its offsets were validated when it came from disk. Generic code
/// over a layout is specialised within the module.
protocol NodeLayout {
  /// `Int64`, or borrowed bytes.
  associatedtype Key

  static var kind: TreeKind { get }
  static var leafType: PageType { get }
  static var innerType: PageType { get }
  static var lowestKey: Key { get }

  /// The key at `slot`; bytes are borrowed from the page.
  static func key(at slot: Int, in node: Page) -> Key
  /// The payload at `slot`, borrowed from the page.
  static func payload(at slot: Int, in node: Page) -> UnsafeRawBufferPointer
  /// The first slot at or after `start` whose key is not below `key`; the count when there is none.
  static func lowerBound(of key: Key, from start: Int, in node: Page) -> Int
  /// The first slot at or after `start` whose key is above `key`; the count when there is none.
  static func upperBound(of key: Key, from start: Int, in node: Page) -> Int
  static func areEqual(_ left: Key, _ right: Key) -> Bool
  static func isAscending(_ left: Key, _ right: Key) -> Bool

  /// What an entry takes of a node's free bytes.
  static func byteCount(of key: Key, payloadByteCount: Int, level: Int) -> Int
  /// What the entry at `slot` takes.
  static func byteCount(at slot: Int, in node: Page) -> Int
  /// The free bytes that lie in one piece, where the next entry goes.
  static func contiguousFreeBytes(of node: Page) -> Int
  /// Inserts an entry for which ``contiguousFreeBytes(of:)`` suffices.
  static func insert(
    _ key: Key, _ payload: UnsafeRawBufferPointer, at slot: Int, in node: MutablePage)
  static func remove(at slot: Int, in node: MutablePage)
  /// Replaces the key of an inner node's first entry by ``lowestKey``.
  static func clearFirstKey(in node: MutablePage)
  /// The shortest key above `left` and not above `right`.
  static func separator(between left: Key, and right: Key) -> Key
  /// A copy of the key in `room`, which holds a page.
  static func copy(_ key: Key, to room: UnsafeMutableRawPointer) -> Key
  /// Why the offsets and lengths of a node from disk cannot be trusted, or `nil` when they can.
  static func defect(of node: Page, geometry: PageGeometry) -> String?
}

extension NodeLayout {
  /// The child at `slot` of an inner node.
  @inline(__always)
  static func child(at slot: Int, in node: Page) -> PageID {
    // The payload of an inner node always has four bytes.
    PageID(payload(at: slot, in: node).baseAddress.unsafelyUnwrapped.u32(at: 0))
  }

  /// The slot of an inner node under which `key` belongs.
  @inline(__always)
  static func childSlot(for key: Key, in node: Page) -> Int {
    upperBound(of: key, from: 1, in: node) - 1
  }
}
