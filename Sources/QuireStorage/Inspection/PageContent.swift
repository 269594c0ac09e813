/// A summary of a page in one line.
package struct PageSummary: Sendable {
  package let id: PageID
  /// “record leaf”, “meta A”, “free”: a text for display.
  package let type: String
  package let level: Int
  package let commit: CommitNumber
  /// The stamp in the maps; 0 if the page is free, `nil` if that is unknown.
  package let stamp: UInt32?
  package let tree: String?
  package let entryCount: Int?
  package let freeByteCount: Int?
  /// Whether the log has it, and the file an older one.
  package let isFromLog: Bool
  package let defect: String?
}

/// The complete description of one page.
package struct PageContent {
  package enum Key: Sendable {
    /// The first entry of an inner node has none.
    case none
    case number(Int64)
    case bytes([UInt8])
  }

  package enum Value: Sendable {
    /// As much of it as is shown, and its length.
    case inline([UInt8])
    /// In a run of overflow pages.
    case long(byteCount: UInt64, first: PageID)
    case child(PageID)
  }

  package struct Entry: Sendable {
    package let key: Key
    package let value: Value
    /// The offset of the value or reference in the page.
    package let offset: Int
    package let byteCount: Int
  }

  package let summary: PageSummary
  package let bytes: [UInt8]
  /// The checksum that the bytes should have, if they should have one.
  package let expectedChecksum: UInt64?
  /// Of tree nodes that can be decoded.
  package internal(set) var entries: [Entry] = []
  /// The meanings of bytes; they are in order and need not cover all bytes.
  package internal(set) var parts: [BytePart] = []
}

/// Keys of both layouts, as values.
protocol InspectedKey {
  var inspected: PageContent.Key { get }
}

extension Int64: InspectedKey {
  var inspected: PageContent.Key { .number(self) }
}

extension UnsafeRawBufferPointer: InspectedKey {
  var inspected: PageContent.Key { .bytes(Array(self)) }
}

extension PageContent.Key {
  /// The key of an index tree; `nil` for another.
  package var bytes: [UInt8]? {
    guard case .bytes(let bytes) = self else { return nil }
    return bytes
  }

  var byteCount: Int {
    switch self {
    case .none: 0
    case .number: 8
    case .bytes(let bytes): bytes.count
    }
  }

  /// The key as text that is safe to print.
  package var text: String {
    switch self {
    case .none: "no bound"
    case .number(let number): "\(number)"
    case .bytes(let bytes): ByteText.readable(bytes, limit: 40)
    }
  }
}

extension PageContent.Value {
  package var text: String {
    switch self {
    case .inline(let bytes): "\(bytes.count) bytes"
    case .long(let byteCount, let first): "\(byteCount) bytes from page \(first)"
    case .child(let id): "page \(id)"
    }
  }
}

extension StoreAnatomy {
  /// The number of pages that can be shown.
  package var shownPageCount: Int { Int(image.pageCountInReach) }

  package func summary(of number: Int) throws(StorageError) -> PageSummary {
    summary(of: try image.load(PageID(UInt32(number))))
  }

  private func summary(of loaded: StoreImage.Loaded) -> PageSummary {
    let (id, page) = (loaded.id, loaded.page)
    defer { withExtendedLifetime(loaded.memory) {} }
    let number = Int(id.rawValue)
    if id < .firstMap {
      return PageSummary(
        id: id, type: id == .identity ? "identity" : id == .metaA ? "meta A" : "meta B", level: 0,
        commit: id == .identity ? .creation : metas[number - 1].lastCommit, stamp: nil, tree: nil,
        entryCount: nil, freeByteCount: nil, isFromLog: false, defect: headDefect(id))
    }
    let stamp = stamp(of: id)
    let tree = number < owners.count && owners[number] >= 0 ? trees[Int(owners[number])].name : nil
    guard stamp != 0 || tree != nil else {
      return PageSummary(
        id: id, type: "free", level: 0, commit: page.commit, stamp: 0, tree: nil, entryCount: nil,
        freeByteCount: nil, isFromLog: loaded.isFromLog, defect: nil)
    }
    let type = PageType(rawValue: page.typeByte)
    let isNode = type?.isNode ?? false
    return PageSummary(
      id: id, type: type?.text ?? "type \(page.typeByte)", level: page.level, commit: page.commit,
      stamp: stamp, tree: tree,
      entryCount: isNode || type == .overflow ? page.count : nil,
      freeByteCount: isNode
        ? page.freeBytes : type == .overflow ? max(0, image.geometry.capacity - page.count) : nil,
      isFromLog: loaded.isFromLog, defect: image.defect(of: loaded, stamp: stamp))
  }

  private func headDefect(_ id: PageID) -> String? {
    guard id != .identity else { return findings.first { $0.page == .identity }?.message }
    return metas[Int(id.rawValue) - 1].isWhole ? nil : "its checksum is wrong"
  }

  /// The stamp of a page in the maps.
  private func stamp(of id: PageID) -> UInt32? {
    guard image.geometry.isMap(id) else { return stamps[Int(id.rawValue)] }
    return maps.first { $0.id == id }?.stamp
  }

  /// - Parameter number: of a page within ``shownPageCount``.
  package func content(of number: Int) throws(StorageError) -> PageContent {
    let loaded = try image.load(PageID(UInt32(number)))
    let (id, page) = (loaded.id, loaded.page)
    defer { withExtendedLifetime(loaded.memory) {} }
    let isChecked = id != .identity && !loaded.isFromLog
    var content = PageContent(
      summary: summary(of: loaded), bytes: [UInt8](loaded.memory.bytes),
      expectedChecksum: isChecked
        ? image.checksum.ofPage(id, page, pageSize: pageSize) : nil)
    switch id {
    case .identity: content.parts = IdentityPage.parts(of: image.version)
    case .metaA, .metaB: content.parts = MetaPage.parts(of: image.version)
    default: addParts(of: page, id, to: &content)
    }
    return content
  }

  private func addParts(of page: Page, _ id: PageID, to content: inout PageContent) {
    content.parts = PageHeader.parts(isFromLog: content.summary.isFromLog, of: page)
    let geometry = image.geometry
    switch PageType(rawValue: page.typeByte) {
    case .map: content.parts += PageMap.parts(geometry, of: id, in: page)
    case .overflow:
      content.parts.append(
        BytePart(24, min(page.count, geometry.capacity), "the value, or a part of it"))
    case .recordLeaf, .recordInner:
      guard RecordLayout.defect(of: page, geometry: geometry) == nil else { return }
      content.entries = entries(of: page, RecordLayout.self)
      guard page.count > 0 else { return }
      let end = page.cellStart - RecordLayout.contiguousFreeBytes(of: page)
      content.parts.append(
        BytePart(24, end - 24, page.level == 0 ? "keys, offsets of the values" : "keys, children"))
      if page.level == 0 { content.parts += content.entries.cellParts { _, entry in entry.offset } }
    case .indexLeaf, .indexInner:
      guard IndexLayout.defect(of: page, geometry: geometry) == nil else { return }
      content.entries = entries(of: page, IndexLayout.self)
      guard page.count > 0 else { return }
      content.parts += IndexLayout.parts(of: page)
      content.parts += content.entries.cellParts { slot, _ in
        IndexLayout.cell(at: slot, in: page).start - page.base
      }
    case nil: break
    }
  }

  private func entries<Layout: NodeLayout>(
    of node: Page, _: Layout.Type
  ) -> [PageContent.Entry] where Layout.Key: InspectedKey {
    let room = PageMemory(byteCount: pageSize / 4)
    defer { withExtendedLifetime(room) {} }
    return (0..<node.count).compactMap { slot in
      let payload = Layout.payload(at: slot, in: node)
      guard let start = payload.baseAddress else { return nil }
      let value: PageContent.Value
      if node.level > 0 {
        value = .child(Layout.child(at: slot, in: node))
      } else if let overflow = ValuePayload.overflow(of: payload) {
        value = .long(byteCount: overflow.byteCount, first: overflow.first)
      } else {
        value = .inline(ValuePayload.inlineValue(of: payload).map { Array($0) } ?? [])
      }
      let isBound = node.level == 0 || slot > 0
      return PageContent.Entry(
        key: isBound ? Layout.key(at: slot, in: node, room: room.base).inspected : .none,
        value: value, offset: start - node.base, byteCount: payload.count)
    }
  }
}

extension [PageContent.Entry] {
  /// The cells of a node in the order of the page.
  ///
  /// - Parameter start: where the cell of an entry begins.
  func cellParts(_ start: (Int, PageContent.Entry) -> Int) -> [BytePart] {
    enumerated().map { slot, entry in
      let from = start(slot, entry)
      return BytePart(
        from, entry.offset + entry.byteCount - from,
        "entry \(slot): \(entry.key.text), \(entry.value.text)")
    }.sorted { $0.offset < $1.offset }
  }
}

extension PageType {
  fileprivate var isNode: Bool {
    switch self {
    case .recordLeaf, .recordInner, .indexLeaf, .indexInner: true
    case .map, .overflow: false
    }
  }

  var text: String {
    switch self {
    case .map: "map"
    case .recordLeaf: "record leaf"
    case .recordInner: "record inner"
    case .indexLeaf: "index leaf"
    case .indexInner: "index inner"
    case .overflow: "overflow"
    }
  }
}
