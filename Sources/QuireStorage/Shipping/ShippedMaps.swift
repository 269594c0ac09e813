/// The page maps of a store, as the last shipped commit leaves them: by their stamps it is known
/// what a commit has changed around the log, and what differs when the log cannot tell.
///
/// Memory: four bytes for each page of the store.
struct ShippedMaps {
  let geometry: PageGeometry
  private var maps: [PageID: PageMemory] = [:]

  init(_ geometry: PageGeometry) { self.geometry = geometry }

  /// Reads the maps of a closed store.
  ///
  /// - Throws: ``StorageError/shipmentDamaged(path:reason:)`` if one of them is damaged, or not the
  ///   one that was written last; what is wrong with the first one alone its commit shows.
  init(
    of file: any File, path: String, _ geometry: PageGeometry, _ sums: Checksum, pageCount: UInt32
  ) throws(StorageError) {
    self.geometry = geometry
    for group in 0..<UInt32(geometry.mapCount(forPages: pageCount)) {
      let (id, memory) = (
        geometry.mapPage(ofGroup: group), PageMemory(byteCount: geometry.pageSize)
      )
      try memory.withBytes { bytes throws(StorageError) in
        try file.readFully(at: Int(id.rawValue) * geometry.pageSize, into: bytes, path: path)
      }
      maps[id] = memory
      let page = Page(memory.base)
      guard page.checksum == sums.ofPage(id, page, pageSize: geometry.pageSize),
        stamp(of: id) == PageMap.stamp(of: page.commit)
      else { throw .shipmentDamaged(path: path, reason: "its page map \(id) is damaged") }
    }
  }

  /// The stamp of a page; 0 if it is free, or not there.
  func stamp(of id: PageID) -> UInt32 {
    if id == .firstMap {
      return maps[id].map { PageMap.stamp(of: Page($0.base).commit) } ?? 0
    }
    guard let (map, index) = geometry.stampLocation(of: id), let memory = maps[map] else {
      return 0
    }
    return PageMap.entry(index, in: Page(memory.base))
  }

  /// The stamps of all pages.
  func stamps(pageCount: UInt32) -> [UInt32] {
    (0..<pageCount).map { $0 < PageID.firstMap.rawValue ? 0 : stamp(of: PageID($0)) }
  }

  /// The page checksum of the first map.
  func checksum(_ sums: Checksum) -> UInt64 {
    guard let memory = maps[.firstMap] else { return 0 }
    return sums.ofPage(.firstMap, Page(memory.base), pageSize: geometry.pageSize)
  }

  /// Puts in a map as it is in a page.
  mutating func set(_ id: PageID, to page: Page) {
    let memory = PageMemory(byteCount: geometry.pageSize)
    memory.base.copyMemory(from: page.base, byteCount: geometry.pageSize)
    maps[id] = memory
  }

  /// Applies the entry of a map.
  ///
  /// - Returns: whether it could be: the map is the one that it builds on.
  mutating func apply(_ entry: PageDifference.Entry) -> Bool {
    let old = maps[entry.id]
    guard entry.isWhole || old.map({ PageMap.stamp(of: Page($0.base).commit) }) == entry.base
    else { return false }
    // Of its own: the former state may be gone back to.
    let memory = PageMemory(byteCount: geometry.pageSize)
    if let old { memory.base.copyMemory(from: old.base, byteCount: geometry.pageSize) }
    entry.apply(to: memory.base, pageSize: geometry.pageSize)
    maps[entry.id] = memory
    return true
  }

  /// The pages, other than maps, that a map speaks of otherwise than before, with what it says of
  /// them.
  func changes(of map: PageID, since former: ShippedMaps) -> [(page: PageID, stamp: UInt32)] {
    guard let memory = maps[map] else { return [] }
    let (new, old) = (Page(memory.base), former.maps[map].map { Page($0.base) })
    defer { withExtendedLifetime((memory, former)) {} }
    var changes: [(PageID, UInt32)] = []
    for index in 0..<Int(geometry.groupPageCount) {
      let stamp = PageMap.entry(index, in: new)
      guard stamp != old.map({ PageMap.entry(index, in: $0) }) ?? 0 else { continue }
      let id = geometry.page(at: index, ofMap: map)
      guard id > .firstMap, !geometry.isMap(id) else { continue }
      changes.append((id, stamp))
    }
    return changes
  }
}
