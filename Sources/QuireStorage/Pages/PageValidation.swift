/// What a page must satisfy before anything trusts the offsets and counts in it.
///
/// Done once, when a page comes from disk: a page can have a right checksum and wrong content, if a
/// faulty program wrote it. Afterwards the trees use its numbers without looking.
///
/// Pages know what all pages have in common. What is in a node, only trees know; so whoever opens a
/// store brings that along. It costs an indirect call for each page that is read.
struct PageValidation: Sendable {
  /// Why the offsets and lengths of a node cannot be trusted, or `nil` when they can. Asked only of
  /// pages of a node's type.
  let nodeDefect: @Sendable (_ node: Page, PageType, PageGeometry) -> String?

  /// What is wrong with the page's own content, or `nil`. References to other pages are checked
  /// where they are followed.
  func defect(of page: Page, at id: PageID, geometry: PageGeometry) -> String? {
    guard let type = PageType(rawValue: page.typeByte) else {
      return "there is no page type \(page.typeByte)"
    }
    guard geometry.isMap(id) == (type == .map) else {
      return "page type \(page.typeByte) has no place here"
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
