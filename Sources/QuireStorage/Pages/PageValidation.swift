/// The checks of a page before its offsets and counts are trusted.
///
/// They are made once, when a page is read from the disk: a page can have a right checksum and
/// wrong content, if a faulty program wrote it. Afterwards the trees use its numbers unchecked.
///
/// Pages have a common part. The content of nodes is known only to trees; so their check is passed
/// in when a store is opened. It costs an indirect call for each page that is read.
struct PageValidation: Sendable {
  /// Returns why the offsets and lengths of a node cannot be trusted, or `nil` if they can. Called
  /// only for pages of a node's type.
  let nodeDefect: @Sendable (_ node: Page, PageType, PageGeometry) -> String?

  /// The error in the page's own content, or `nil`. References to other pages are checked where
  /// they are followed.
  func defect(of page: Page, at id: PageID, geometry: PageGeometry) -> String? {
    guard let type = PageType(rawValue: page.typeByte) else {
      return "there is no page type \(page.typeByte)"
    }
    guard geometry.isMap(id) == (type == .map) else {
      return "page type \(page.typeByte) cannot be here"
    }
    let isInner = type == .recordInner || type == .indexInner
    guard isInner == (page.level > 0) else {
      return "page type \(page.typeByte) cannot be at level \(page.level)"
    }
    switch type {
    case .map:
      return PageMap.entry(geometry.mapIndex(of: id), in: page) != 0
        ? nil : "it marks itself as free"
    case .recordLeaf, .recordInner, .indexLeaf, .indexInner:
      return nodeDefect(page, type, geometry)
    case .overflow:
      return page.count <= geometry.capacity ? nil : "it is said to hold \(page.count) bytes"
    }
  }
}
