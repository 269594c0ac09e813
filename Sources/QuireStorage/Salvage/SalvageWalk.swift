/// A walk through a tree of a damaged store, in the order of its keys.
///
/// A page that is lost is passed over; where fragments have been placed in the hole, they are
/// visited in its stead. Each page is visited once, so that nodes that share their children, or
/// values that share their pages, as in a file made to do harm, take no longer than others.
final class SalvageWalk {
  private let image: StoreImage
  private let stamps: PageTable<UInt32?>
  private let placed: [PageID: [TreeFragment]]
  private var visited: Set<PageID> = []

  init(_ salvage: TreeSalvage) {
    image = salvage.image
    stamps = salvage.stamps
    placed = salvage.placed
  }

  init(_ image: StoreImage, _ stamps: PageTable<UInt32?>) {
    self.image = image
    self.stamps = stamps
    placed = [:]
  }

  typealias Key = PageContent.Key

  /// The location of a node: its page, what it must be, and the bounds of its keys.
  private struct Location {
    var page: PageID
    var level: Int?
    var lower = Key.none
    var upper: Key?
  }

  // MARK: Entries

  func visit<Failure>(
    _ tree: TreeSalvage.Tree, _ body: (Key, [UInt8]?) throws(Failure) -> Void
  ) throws(Failure) {
    try visit(Location(page: tree.root), tree.kind, body)
  }

  func visit<Failure>(
    _ fragment: TreeFragment, _ body: (Key, [UInt8]?) throws(Failure) -> Void
  ) throws(Failure) {
    try visit(Location(page: fragment.root, level: fragment.level), fragment.kind, body)
  }

  /// Keys ascend: what does not fit in, as a page of an earlier time may not, is left out.
  private func visit<Failure>(
    _ location: Location, _ kind: TreeKind, _ body: (Key, [UInt8]?) throws(Failure) -> Void
  ) throws(Failure) {
    var last = Key.none
    visited = []
    func ascending(_ key: Key, _ value: [UInt8]?) throws(Failure) {
      guard Key.isAscending(last, key) else { return }
      last = key
      try body(key, value)
    }
    switch kind {
    case .record: try entries(RecordLayout.self, location, ascending)
    case .index: try entries(IndexLayout.self, location, ascending)
    }
  }

  private func entries<Layout: NodeLayout, Failure>(
    _: Layout.Type, _ location: Location, _ body: (Key, [UInt8]?) throws(Failure) -> Void
  ) throws(Failure) where Layout.Key: InspectedKey {
    guard let loaded = node(location, Layout.self) else {
      for fragment in placed[location.page] ?? [] {
        try entries(
          Layout.self,
          Location(
            page: fragment.root, level: fragment.level, lower: location.lower, upper: location.upper
          ),
          body)
      }
      return
    }
    defer { withExtendedLifetime(loaded.memory) {} }
    guard loaded.page.level == 0 else {
      for child in children(of: loaded.page, location, Layout.self)
      where visited.insert(child.page).inserted {
        try entries(Layout.self, child, body)
      }
      return
    }
    let room = PageMemory(byteCount: image.geometry.pageSize / 4)
    defer { withExtendedLifetime(room) {} }
    for slot in 0..<loaded.page.count {
      let key = Layout.key(at: slot, in: loaded.page, room: room.base).inspected
      try body(key, value(Layout.payload(at: slot, in: loaded.page)))
    }
  }

  // MARK: Holes

  func findHoles(in tree: TreeSalvage.Tree, _ body: (TreeHole) -> Void) {
    holes(Location(page: tree.root), tree.kind, body)
  }

  func findHoles(in fragment: TreeFragment, _ body: (TreeHole) -> Void) {
    holes(Location(page: fragment.root, level: fragment.level), fragment.kind, body)
  }

  private func holes(_ location: Location, _ kind: TreeKind, _ body: (TreeHole) -> Void) {
    visited = []
    switch kind {
    case .record: holes(RecordLayout.self, location, body)
    case .index: holes(IndexLayout.self, location, body)
    }
  }

  private func holes<Layout: NodeLayout>(
    _: Layout.Type, _ location: Location, _ body: (TreeHole) -> Void
  ) where Layout.Key: InspectedKey {
    guard let loaded = node(location, Layout.self) else {
      body(
        TreeHole(
          page: location.page, kind: Layout.kind, level: location.level, lower: location.lower,
          upper: location.upper))
      return
    }
    defer { withExtendedLifetime(loaded.memory) {} }
    guard loaded.page.level > 0 else { return }
    for child in children(of: loaded.page, location, Layout.self)
    where visited.insert(child.page).inserted {
      holes(Layout.self, child, body)
    }
  }

  // MARK: Ends

  /// The level of a node, the first and the last key of the leaves below it, and their number;
  /// `nil` if no entry can be read.
  func ends(
    of root: PageID, _ kind: TreeKind
  ) -> (level: Int, first: Key, last: Key, leafCount: Int)? {
    switch kind {
    case .record: ends(RecordLayout.self, root)
    case .index: ends(IndexLayout.self, root)
    }
  }

  private func ends<Layout: NodeLayout>(
    _: Layout.Type, _ root: PageID
  ) -> (level: Int, first: Key, last: Key, leafCount: Int)? where Layout.Key: InspectedKey {
    guard let loaded = node(Location(page: root), Layout.self) else { return nil }
    var (first, last, leafCount) = (Key?.none, Key.none, 0)
    visited = []
    leaves(Layout.self, Location(page: root)) { leaf in
      leafCount += 1
      let room = PageMemory(byteCount: image.geometry.pageSize / 4)
      defer { withExtendedLifetime(room) {} }
      guard leaf.count > 0 else { return }
      if first == nil { first = Layout.key(at: 0, in: leaf, room: room.base).inspected }
      last = Layout.key(at: leaf.count - 1, in: leaf, room: room.base).inspected
    }
    return first.map { (loaded.page.level, $0, last, leafCount) }
  }

  private func leaves<Layout: NodeLayout>(
    _: Layout.Type, _ location: Location, _ body: (Page) -> Void
  ) where Layout.Key: InspectedKey {
    guard let loaded = node(location, Layout.self) else { return }
    defer { withExtendedLifetime(loaded.memory) {} }
    guard loaded.page.level > 0 else {
      body(loaded.page)
      return
    }
    for child in children(of: loaded.page, location, Layout.self)
    where visited.insert(child.page).inserted {
      leaves(Layout.self, child, body)
    }
  }

  // MARK: Pages

  /// The page at a location; `nil` if it is lost, or is no node of the tree.
  private func node<Layout: NodeLayout>(
    _ location: Location, _: Layout.Type
  ) -> StoreImage.Loaded? {
    let id = location.page
    guard id >= .catalogRoot, Int(id.rawValue) < stamps.count, !image.geometry.isMap(id),
      let loaded = try? image.load(id),
      image.defect(of: loaded, stamp: stamps[Int(id.rawValue)]) == nil,
      loaded.page.typeByte == Layout.type(ofLevel: loaded.page.level).rawValue,
      location.level.map({ $0 == loaded.page.level })
        ?? (loaded.page.level <= Tree<Layout>.depthLimit)
    else { return nil }
    return loaded
  }

  private func children<Layout: NodeLayout>(
    of node: Page, _ location: Location, _: Layout.Type
  ) -> [Location] where Layout.Key: InspectedKey {
    let room = PageMemory(byteCount: image.geometry.pageSize / 4)
    defer { withExtendedLifetime(room) {} }
    var children: [Location] = []
    for slot in 0..<node.count {
      let lower =
        slot == 0 ? location.lower : Layout.key(at: slot, in: node, room: room.base).inspected
      if slot > 0 { children[slot - 1].upper = lower }
      children.append(
        Location(
          page: Layout.child(at: slot, in: node), level: node.level - 1, lower: lower,
          upper: location.upper))
    }
    return children
  }

  /// The value of a leaf's entry; `nil` if it lies in pages of its own, and one of them is lost.
  private func value(_ payload: UnsafeRawBufferPointer) -> [UInt8]? {
    if let value = ValuePayload.inlineValue(of: payload) { return Array(value) }
    guard let overflow = ValuePayload.overflow(of: payload) else { return nil }
    let capacity = image.geometry.capacity
    guard overflow.byteCount > 0, overflow.byteCount / UInt64(capacity) < UInt64(stamps.count)
    else {
      return nil
    }
    var rest = Int(overflow.byteCount)
    var bytes: [UInt8] = []
    var id = overflow.first
    while rest > 0 {
      let part = min(rest, capacity)
      guard id >= .firstFree, Int(id.rawValue) < stamps.count, visited.insert(id).inserted,
        let loaded = try? image.load(id),
        image.defect(of: loaded, stamp: stamps[Int(id.rawValue)]) == nil,
        loaded.page.typeByte == PageType.overflow.rawValue, loaded.page.count == part
      else { return nil }
      bytes += UnsafeRawBufferPointer(
        start: loaded.page.base + PageHeader.byteCount, count: part)
      withExtendedLifetime(loaded.memory) {}
      rest -= part
      id = image.geometry.runSuccessor(of: id)
    }
    return bytes
  }
}
