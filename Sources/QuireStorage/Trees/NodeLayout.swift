/// The kind of a tree, as written in the catalog. On disk: add cases, never renumber.
public enum TreeKind: UInt8, Sendable {
  /// Keys are `Int64`, in numerical order.
  case record = 1
  /// Keys are byte strings, ordered as `memcmp` orders them; a prefix comes before what it begins.
  case index = 2
}

/// The node format of a kind of tree; the algorithms of trees use only keys, slots and payloads.
///
/// Every node is a sorted list of entries, each a key and a payload. In a leaf the payload is a
/// value (``ValuePayload``), in an inner node the four-byte number of a child page, and the key is
/// then a lower bound of what lies under that child. The first entry of an inner node has no lower
/// bound: its key is never compared, and is stored as ``lowestKey``.
///
/// A layout also decides what fits: the storage of an entry may depend on its neighbours, so that
/// only the layout knows the size of a node after a change.
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

  // MARK: Reading

  /// The room that a key is put together in, in bytes; none where keys are numbers.
  static func keyRoomByteCount(pageSize: Int) -> Int
  /// The key at `slot`. Bytes are put together in `room`, which has ``NodeScratch/keyRoom`` bytes.
  static func key(at slot: Int, in node: Page, room: UnsafeMutableRawPointer) -> Key
  /// The payload at `slot`, borrowed from the page.
  static func payload(at slot: Int, in node: Page) -> UnsafeRawBufferPointer
  /// The first slot of a leaf whose key is not below `key`, the count when there is none; and
  /// whether it has that very key.
  static func find(_ key: Key, in leaf: Page) -> (slot: Int, isFound: Bool)
  /// The first slot at or after `start` whose key is not below `key`, the count when there is none;
  /// and whether it has that very key.
  static func search(_ key: Key, from start: Int, in node: Page) -> (slot: Int, isFound: Bool)
  /// The slot of an inner node under which `key` belongs.
  static func childSlot(for key: Key, in node: Page) -> Int
  /// Whether `bound` goes to `slot` of an inner node, between two keys that are there or after the
  /// last.
  static func isSlot(_ slot: Int, of bound: Key, in node: Page) -> Bool
  static func isAscending(_ left: Key, _ right: Key) -> Bool
  /// The number of bytes of the entry at `slot` in its node.
  static func byteCount(at slot: Int, in node: Page) -> Int
  /// The approximate number of bytes of a new entry in a node: it may change those of other
  /// entries.
  static func byteCount(of key: Key, _ payload: UnsafeRawBufferPointer, in node: Page) -> Int

  // MARK: Changing

  /// A copy of the key in `room`, which has ``NodeScratch/keyRoom`` bytes.
  static func copy(_ key: Key, to room: UnsafeMutableRawPointer) -> Key
  /// Inserts an entry, rearranging the node when that makes the room.
  ///
  /// The bytes given must not lie in the node, nor in `scratch` but for its key and its payload. An
  /// inner node's first entry has ``lowestKey``.
  ///
  /// - Returns: `false`, with nothing changed, when the node has to be split first. An empty node
  ///   takes any entry.
  static func insert(
    _ key: Key, _ payload: UnsafeRawBufferPointer, at slot: Int, in node: MutablePage,
    _ scratch: NodeScratch
  ) -> Bool
  /// Distributes the entries of a node without room for another one, and that entry, over the node
  /// and the empty `right`.
  ///
  /// - Parameter isAppend: further entries are expected after the new, last one; existing ones are
  ///   not moved.
  /// - Returns: the lower bound of `right` for their parent, in ``NodeScratch/key`` if it is bytes:
  ///   above every key left and not above any right. Of inner nodes it is the first key of `right`,
  ///   which is not stored there.
  static func split(
    _ node: MutablePage, to right: MutablePage, inserting key: Key,
    _ payload: UnsafeRawBufferPointer, at slot: Int, isAppend: Bool, _ scratch: NodeScratch
  ) -> Key
  static func remove(at slot: Int, in node: MutablePage)
  /// Removes entries of a leaf, whose slots ascend.
  static func remove(_ slots: UnsafePointer<UInt16>, _ count: Int, in node: MutablePage)
  /// Replaces the key of an inner node's first entry by ``lowestKey``.
  static func clearFirstKey(in node: MutablePage)
  /// Whether the entries of `right` can be added to its left neighbour.
  ///
  /// - Parameter bound: the lower bound of `right` in their parent, which takes the place of the
  ///   key that the first entry of an inner node does not have.
  static func canMerge(
    _ right: Page, bound: Key, into left: Page, _ scratch: NodeScratch
  ) -> Bool
  /// Adds the entries of `right` to its left neighbour, which can take them.
  static func merge(
    _ right: Page, bound: Key, into left: MutablePage, _ scratch: NodeScratch)
  /// The shortest key above `left` and not above `right`: bytes of `right`.
  static func separator(between left: Key, and right: Key) -> Key
}

extension NodeLayout {
  /// The child at `slot` of an inner node.
  static func child(at slot: Int, in node: Page) -> PageID {
    // The payload of an inner node always has four bytes.
    PageID(payload(at: slot, in: node).baseAddress.unsafelyUnwrapped.u32(at: 0))
  }

  static func type(ofLevel level: Int) -> PageType { level == 0 ? leafType : innerType }

  /// Adds an entry after all others: what a tree is built with from sorted entries.
  ///
  /// For nodes that are only ever appended to, each holds as much as it can: there is nothing left
  /// to do when a node is full. (An index node's prefix is at each moment the longest that its
  /// first and last key share, see `IndexLayout+Changes.swift`; it shortens a few times while the
  /// node has few entries.) In an inner node the first entry is given ``lowestKey``.
  ///
  /// - Returns: `false`, with nothing changed, when the node is full. Its right neighbour then
  ///   begins with this entry; its bound is the ``separator(between:and:)`` the last key here and
  ///   this one if the nodes are leaves, else the key of this entry.
  static func append(
    _ key: Key, _ payload: UnsafeRawBufferPointer, to node: MutablePage, _ scratch: NodeScratch
  ) -> Bool {
    insert(key, payload, at: node.page.count, in: node, scratch)
  }
}

/// Memory for changes of nodes: for a node that is put aside while its page is filled again, and
/// for the current entry, as its bytes may be in the page that is about to change.
struct NodeScratch {
  /// One page.
  let node: UnsafeMutableRawPointer
  /// The current key: the one to be inserted or removed, or the next bound to be inserted.
  let key: UnsafeMutableRawPointer
  let geometry: PageGeometry

  /// - Parameters:
  ///   - node: one page of room.
  ///   - entry: one page of room, for three keys and a payload.
  init(node: UnsafeMutableRawPointer, entry: UnsafeMutableRawPointer, _ geometry: PageGeometry) {
    self.node = node
    key = entry
    self.geometry = geometry
  }

  /// A quarter of a page: more than ``PageGeometry/keyLimit``, as keys are put together in words,
  /// and just enough for a payload.
  var keyRoom: Int { geometry.pageSize / 4 }
  /// Room for the first of the keys that the layout itself puts together.
  var firstKey: UnsafeMutableRawPointer { key + keyRoom }
  /// Room for the second.
  var secondKey: UnsafeMutableRawPointer { key + 2 * keyRoom }
  /// The current payload.
  var payload: UnsafeMutableRawPointer { key + 3 * keyRoom }

  /// Saves a copy of a node.
  func putAside(_ node: MutablePage) -> Page {
    self.node.copyMemory(from: node.base, byteCount: geometry.pageSize)
    return Page(UnsafeRawPointer(self.node))
  }
}

extension PageEditor {
  /// The room for changes to nodes. One change at a time uses it.
  var treeScratch: NodeScratch {
    NodeScratch(node: nodeScratch(), entry: keyScratch(), space.geometry)
  }
}
