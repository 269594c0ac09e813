/// A walk over the page maps and all trees, page by page, which continues after damage.
struct TreeSurvey {
  private let image: StoreImage
  private let geometry: PageGeometry
  private(set) var maps: [StoreAnatomy.Map] = []
  private(set) var trees: [TreeAnatomy] = []
  private(set) var findings: [StoreAnatomy.Finding] = []
  /// The tree of each page, as an index of ``trees``; -1 for none.
  private(set) var owners: PageTable<Int32>
  /// The stamps of pages in the maps; `nil` where they cannot be read.
  private(set) var stamps: PageTable<UInt32?>
  /// The stamps of maps, by group.
  private var mapStamps: [UInt32?]
  /// Pages that were found damaged already.
  private var damaged: Set<PageID> = []
  private let end: UInt32
  private let progress: (_ done: Int, _ total: Int) -> Void
  private var reachedCount = 0
  /// As many pages as trees are said to have.
  private let usedCount: Int

  /// - Parameter progress: is called from time to time with the number of pages read, and of those
  ///   in use.
  init(_ image: StoreImage, progress: @escaping (_ done: Int, _ total: Int) -> Void = { _, _ in }) {
    self.image = image
    self.progress = progress
    geometry = image.geometry
    end = image.pageCountInReach
    usedCount = max(0, Int(end) - Int(image.freePageCount ?? 0))
    owners = PageTable(repeating: -1, count: Int(end))
    stamps = PageTable(repeating: nil, count: Int(end))
    mapStamps = Array(repeating: nil, count: Int(end / image.geometry.groupPageCount) + 1)
  }

  mutating func run() {
    if end < image.pageCount {
      add("the store is said to have \(image.pageCount) pages, and ends after \(end)")
    }
    surveyMaps()
    surveyTrees()
    surveyRest()
  }

  private mutating func add(_ message: String, page: PageID? = nil, tree: Int? = nil) {
    findings.addWithinLimit(
      StoreAnatomy.Finding(page: page, tree: tree.map { trees[$0].name }, message: message))
  }

  /// A page with its defect, which is reported once.
  private mutating func load(
    _ id: PageID, stamp: UInt32?, tree: Int? = nil
  ) -> (loaded: StoreImage.Loaded, defect: String?)? {
    do throws(StorageError) {
      let loaded = try image.load(id)
      let defect = image.defect(of: loaded, stamp: stamp)
      if let defect, damaged.insert(id).inserted { add(defect, page: id, tree: tree) }
      return (loaded, defect)
    } catch {
      if damaged.insert(id).inserted { add("it cannot be read: \(error)", page: id, tree: tree) }
      return nil
    }
  }

  // MARK: Maps

  /// In the order of the file, so that a map has given the stamps of those below it.
  private mutating func surveyMaps() {
    for group in 0..<UInt32(mapStamps.count) {
      let id = geometry.mapPage(ofGroup: group)
      guard id.rawValue < end else { return }
      let stamp = mapStamps[Int(group)]
      guard let (loaded, defect) = load(id, stamp: stamp) else { continue }
      let first = group * geometry.groupPageCount
      let pages = first..<first + min(end - first, geometry.groupPageCount)
      let entries = pages.map { PageMap.entry(Int($0 - first), in: loaded.page) }
      var childCount = 0
      for child in 0..<geometry.mapChildCount {
        let entry = PageMap.entry(Int(geometry.groupPageCount + child), in: loaded.page)
        let childGroup = group * geometry.mapChildCount + child + 1
        if entry != 0 { childCount += 1 }
        if defect == nil, childGroup < mapStamps.count { mapStamps[Int(childGroup)] = entry }
      }
      if defect == nil {
        for (number, entry) in zip(pages, entries) { stamps[Int(number)] = entry }
      }
      maps.append(
        StoreAnatomy.Map(
          id: id, group: Int(group), commit: loaded.page.commit,
          stamp: group == 0 ? image.mapCommit.map { PageMap.stamp(of: $0) } : stamp,
          pageCount: pages.count, usedPageCount: entries.count { $0 != 0 }, childCount: childCount,
          defect: defect))
      withExtendedLifetime(loaded.memory) {}
    }
  }

  // MARK: Trees

  private mutating func surveyTrees() {
    trees.append(
      TreeAnatomy(
        name: "(catalog)", kind: .index, root: .catalogRoot, cataloguedCount: nil,
        hasLongValues: false))
    var entries: [TreeAnatomy] = []
    var nonsense: [(PageID, String)] = []
    visitRoot(IndexLayout.self, of: 0) { key, payload, id in
      let name = String(decoding: key.bytes ?? [], as: UTF8.self)
      guard let value = ValuePayload.inlineValue(of: payload),
        value.count == Catalog.entryByteCount, let kind = TreeKind(rawValue: value[0]),
        let start = value.baseAddress
      else {
        nonsense.append((id, "the entry of tree \(name) makes no sense"))
        return
      }
      entries.append(
        TreeAnatomy(
          name: name, kind: kind, root: PageID(start.u32(at: 4)),
          cataloguedCount: Int(truncatingIfNeeded: start.u64(at: 8)),
          hasLongValues: value[1] & 1 != 0))
    }
    for (id, message) in nonsense { add(message, page: id) }
    for entry in entries {
      let index = trees.count
      trees.append(entry)
      switch entry.kind {
      case .record: visitRoot(RecordLayout.self, of: index) { _, _, _ in }
      case .index: visitRoot(IndexLayout.self, of: index) { _, _, _ in }
      }
      let tree = trees[index]
      if let count = tree.cataloguedCount, count != tree.entryCount {
        add("it has \(tree.entryCount) entries, the catalog says \(count)", tree: index)
      }
      if tree.longValueCount > 0, !tree.hasLongValues {
        add("it has long values, the catalog says it has none", tree: index)
      }
    }
  }

  private typealias Visit = (PageContent.Key, UnsafeRawBufferPointer, PageID) -> Void

  private mutating func visitRoot<Layout: NodeLayout>(
    _: Layout.Type, of tree: Int, _ visit: Visit
  ) where Layout.Key: InspectedKey {
    let root = trees[tree].root
    guard reach(root, of: tree),
      let (loaded, defect) = load(root, stamp: stamp(of: root), tree: tree), defect == nil
    else { return }
    let page = loaded.page
    guard isNode(page, Layout.self), page.level <= Tree<Layout>.depthLimit else {
      add(
        "it is no root of \(Layout.kind == .record ? "a record" : "an index") tree", page: root,
        tree: tree)
      return
    }
    trees[tree].levels = Array(repeating: TreeAnatomy.Level(), count: page.level + 1)
    visitNode(loaded, Layout.self, of: tree, visit)
  }

  private func isNode<Layout: NodeLayout>(_ page: Page, _: Layout.Type) -> Bool {
    page.typeByte == Layout.type(ofLevel: page.level).rawValue
  }

  private mutating func visitNode<Layout: NodeLayout>(
    _ loaded: StoreImage.Loaded, _: Layout.Type, of tree: Int, _ visit: Visit
  ) where Layout.Key: InspectedKey {
    defer { withExtendedLifetime(loaded.memory) {} }
    let node = loaded.page
    trees[tree].levels[node.level].pageCount += 1
    trees[tree].levels[node.level].entryCount += node.count
    trees[tree].levels[node.level].freeByteCount += node.freeBytes
    let room = PageMemory(byteCount: geometry.pageSize / 4)
    defer { withExtendedLifetime(room) {} }
    for slot in 0..<node.count {
      let payload = Layout.payload(at: slot, in: node)
      if node.level > 0 {
        visitChild(
          Layout.child(at: slot, in: node), of: loaded.id, at: node.level, Layout.self, of: tree,
          visit)
      } else {
        let key = Layout.key(at: slot, in: node, room: room.base).inspected
        trees[tree].keyByteCount += key.byteCount
        if let value = ValuePayload.inlineValue(of: payload) {
          trees[tree].valueByteCount += value.count
        } else if let overflow = ValuePayload.overflow(of: payload) {
          visitRun(overflow, in: loaded.id, of: tree)
        }
        visit(key, payload, loaded.id)
      }
    }
  }

  private mutating func visitChild<Layout: NodeLayout>(
    _ id: PageID, of parent: PageID, at level: Int, _: Layout.Type, of tree: Int, _ visit: Visit
  ) where Layout.Key: InspectedKey {
    guard reach(id, of: tree), let (loaded, defect) = load(id, stamp: stamp(of: id), tree: tree),
      defect == nil
    else { return }
    guard isNode(loaded.page, Layout.self), loaded.page.level == level - 1 else {
      add(
        "type \(loaded.page.typeByte) at level \(loaded.page.level) cannot be below page "
          + "\(parent)", page: id, tree: tree)
      return
    }
    if loaded.page.count == 0 {
      add("a node that is not the root is empty", page: id, tree: tree)
    }
    visitNode(loaded, Layout.self, of: tree, visit)
  }

  private mutating func visitRun(
    _ overflow: ValuePayload.Overflow, in leaf: PageID, of tree: Int
  ) {
    let capacity = UInt64(geometry.capacity)
    trees[tree].longValueCount += 1
    // In pages, so that no number from the disk is too large to count with.
    guard overflow.byteCount > 0, overflow.byteCount / capacity < UInt64(end),
      overflow.first >= .firstFree, overflow.first.rawValue < end
    else {
      add(
        "a value of \(overflow.byteCount) bytes is said to begin at page \(overflow.first)",
        page: leaf, tree: tree)
      return
    }
    trees[tree].valueByteCount += Int(overflow.byteCount)
    trees[tree].overflowByteCount += Int(overflow.byteCount)
    var rest = Int(overflow.byteCount)
    var id = overflow.first
    while rest > 0 {
      guard reach(id, of: tree) else { return }
      trees[tree].overflowPageCount += 1
      let part = min(rest, geometry.capacity)
      if let (loaded, defect) = load(id, stamp: stamp(of: id), tree: tree), defect == nil,
        loaded.page.typeByte != PageType.overflow.rawValue || loaded.page.count != part
      {
        add("it is not the overflow page that page \(leaf) refers to", page: id, tree: tree)
      }
      rest -= part
      id = geometry.runSuccessor(of: id)
    }
  }

  private func stamp(of id: PageID) -> UInt32? { stamps[Int(id.rawValue)] }

  /// Notes a page as the tree's.
  ///
  /// - Returns: `false` if it cannot be followed.
  private mutating func reach(_ id: PageID, of tree: Int) -> Bool {
    guard id >= .catalogRoot, id.rawValue < end, !geometry.isMap(id) else {
      add("it is referred to, and there is no such page for trees", page: id, tree: tree)
      return false
    }
    guard owners[Int(id.rawValue)] < 0 else {
      let other = trees[Int(owners[Int(id.rawValue)])].name
      add("there are two references to it, the other in tree \(other)", page: id, tree: tree)
      return false
    }
    owners[Int(id.rawValue)] = Int32(tree)
    reachedCount += 1
    if reachedCount.isMultiple(of: 256) { progress(reachedCount, usedCount) }
    return true
  }

  // MARK: The rest

  /// Pages that no tree has: free, or damaged somewhere on the way to them.
  private mutating func surveyRest() {
    var free = 0
    var isCounted = true
    var next = Int(PageID.firstFree.rawValue)
    while next < Int(end) {
      // Pages whose map cannot be read may be in use or free.
      guard let known = stamps.firstUnusual(from: next) else {
        isCounted = false
        break
      }
      if known > next { isCounted = false }
      next = known + 1
      let number = UInt32(known)
      let id = PageID(number)
      guard !geometry.isMap(id) else { continue }
      guard let stamp = stamp(of: id) else {
        isCounted = false
        continue
      }
      if stamp == 0 {
        free += 1
      } else if owners[Int(number)] < 0 {
        _ = load(id, stamp: stamp)
        if damaged.isEmpty { add("it is marked as used, but nothing refers to it", page: id) }
      }
    }
    if isCounted, let said = image.freePageCount, free != Int(said) {
      add("\(free) pages are free, \(said) were counted")
    }
  }
}
