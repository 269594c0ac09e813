/// The layout that follows from the page size, and from the bytes at the end of each page that
/// belong to a cipher.
struct PageGeometry: Hashable, Sendable {
  let pageSize: Int
  /// Where the content of a page ends.
  let contentEnd: Int

  /// - Parameter tailByteCount: at most ``tailLimit``.
  init(pageSize: Int, tailByteCount: Int = 0) {
    self.pageSize = pageSize
    contentEnd = pageSize - tailByteCount
  }

  /// More than any cipher needs, and little enough for four entries in each page.
  static let tailLimit = 64

  static func isLegal(pageSize: Int) -> Bool {
    pageSize >= 512 && pageSize <= 32_768 && pageSize & (pageSize - 1) == 0
  }

  /// The bytes of a page after its header, before its tail.
  var capacity: Int { contentEnd - PageHeader.byteCount }
  /// The longest index key: four entries fit in an inner node, whatever its keys.
  var keyLimit: Int { capacity / 4 - 32 }
  /// The longest value kept in its leaf; longer ones go to a run of overflow pages.
  var inlineValueLimit: Int { capacity / 4 }

  /// The entries of a page map.
  var mapEntryCount: Int { capacity / PageMap.entryByteCount }
  /// The entries among them that speak for other maps.
  var mapChildCount: UInt32 { UInt32(max(4, mapEntryCount / 64)) }
  /// The pages one map speaks for, itself included: those of its group.
  var groupPageCount: UInt32 { UInt32(mapEntryCount) - mapChildCount }
  /// The map that speaks for `id`.
  func mapPage(for id: PageID) -> PageID {
    mapPage(ofGroup: id.rawValue / groupPageCount)
  }
  /// The number of maps of a store with so many pages.
  func mapCount(forPages pageCount: UInt32) -> Int {
    (Int(pageCount) + Int(groupPageCount) - 1) / Int(groupPageCount)
  }
  func mapPage(ofGroup group: UInt32) -> PageID {
    PageID(group * groupPageCount + PageID.firstMap.rawValue)
  }
  func isMap(_ id: PageID) -> Bool {
    id.rawValue % groupPageCount == PageID.firstMap.rawValue
  }
  /// The index of a page's stamp in the map of its group.
  func mapIndex(of id: PageID) -> Int { Int(id.rawValue % groupPageCount) }
  /// The location of a map's stamp in another map; `nil` for the first one.
  func stampLocation(ofMap id: PageID) -> (map: PageID, index: Int)? {
    let group = id.rawValue / groupPageCount
    guard group > 0 else { return nil }
    return (
      mapPage(ofGroup: (group - 1) / mapChildCount),
      Int(groupPageCount + (group - 1) % mapChildCount)
    )
  }
  /// The page whose stamp is at that index of a map.
  func page(at index: Int, ofMap map: PageID) -> PageID {
    let group = map.rawValue / groupPageCount
    guard index >= Int(groupPageCount) else {
      return PageID(group * groupPageCount + UInt32(index))
    }
    return mapPage(ofGroup: group * mapChildCount + UInt32(index) - groupPageCount + 1)
  }
  /// The location of a page's stamp; `nil` for the first map.
  func stampLocation(of id: PageID) -> (map: PageID, index: Int)? {
    isMap(id) ? stampLocation(ofMap: id) : (mapPage(for: id), mapIndex(of: id))
  }

  /// The page after `id` in an overflow run: maps stay where they are and are stepped over.
  func runSuccessor(of id: PageID) -> PageID {
    let next = PageID(id.rawValue &+ 1)
    return isMap(next) ? PageID(next.rawValue &+ 1) : next
  }
}

extension PageStoreOptions {
  /// The layout of a store that is created.
  var geometry: PageGeometry { PageGeometry(pageSize: pageSize, tailByteCount: tailByteCount) }
}
