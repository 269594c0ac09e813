import QuireStorage

/// A link as listed at one of its ends.
struct ListedLink: Equatable {
  var owner: Reference
  var member: Reference
  /// The position among the owner's links, or among all links; only the order matters.
  var position: UInt64
}

/// The number of links that are sorted in memory at a time. Tests set a small one.
package enum LinkMemory {
  /// Three megabytes.
  @TaskLocal package static var linkCount = 1 << 17
}

/// Sorts any number of links in limited memory: full runs are put into temporary trees of the
/// transaction, and merged at the end.
///
/// Knuth, *The Art of Computer Programming* 3, 5.4: external sorting by replacement of memory loads
/// and a many-way merge.
final class LinkSorter {
  enum Order {
    /// By owner, then by destination.
    case member
    /// By owner, then by position.
    case position
  }

  private let transaction: WriteTransaction
  /// The prefix of the names of run trees; no other tree has it.
  private let name: String
  private let order: Order
  private let runCount: Int
  private var links: [ListedLink] = []
  private var runs: [LinkRun] = []

  init(_ transaction: WriteTransaction, _ name: String, by order: Order) {
    self.transaction = transaction
    self.name = name
    self.order = order
    runCount = LinkMemory.linkCount
  }

  func add(_ link: ListedLink) throws {
    links.append(link)
    if links.count >= runCount { try spill() }
  }

  /// The links in order. No link may be added afterwards.
  func sorted() throws -> SortedLinks {
    sort()
    defer { links = [] }
    return try SortedLinks(links, runs, order)
  }

  private func sort() {
    switch order {
    case .member: links.sort(by: LinkSorter.isBeforeByMember)
    case .position: links.sort(by: LinkSorter.isBeforeByPosition)
    }
  }

  private func spill() throws {
    sort()
    runs.append(try LinkRun(links, in: transaction, "\(name)/\(runs.count)"))
    links.removeAll(keepingCapacity: true)
  }

  static func isBeforeByMember(_ left: ListedLink, _ right: ListedLink) -> Bool {
    if left.owner != right.owner { return left.owner < right.owner }
    if left.member != right.member { return left.member < right.member }
    return left.position < right.position
  }

  static func isBeforeByPosition(_ left: ListedLink, _ right: ListedLink) -> Bool {
    if left.owner != right.owner { return left.owner < right.owner }
    if left.position != right.position { return left.position < right.position }
    return left.member < right.member
  }
}

/// Sorted links in a tree, several in each entry.
private final class LinkRun {
  private static let linksPerEntry = 32

  private let transaction: WriteTransaction
  private let name: String
  private var entryCount: Int64 = 0
  private var nextEntry: Int64 = 0

  init(_ links: [ListedLink], in transaction: WriteTransaction, _ name: String) throws {
    self.transaction = transaction
    self.name = name
    try transaction.buildRecordTree(name) { builder in
      try links.withUnsafeBytes { bytes in
        let entrySize = LinkRun.linksPerEntry * MemoryLayout<ListedLink>.stride
        for start in stride(from: 0, to: bytes.count, by: entrySize) {
          let end = min(start + entrySize, bytes.count)
          try builder.append(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), for: entryCount)
          entryCount += 1
        }
      }
    }
  }

  /// The next links; empty at the end, when the tree was dropped.
  func next() throws -> [ListedLink] {
    guard nextEntry < entryCount else {
      try drop()
      return []
    }
    defer { nextEntry += 1 }
    let links = try transaction.recordTree(name)?.withValue(for: nextEntry) { bytes in
      (0..<bytes.count / MemoryLayout<ListedLink>.stride).map {
        bytes.loadUnaligned(
          fromByteOffset: $0 * MemoryLayout<ListedLink>.stride, as: ListedLink.self)
      }
    }
    guard let links, !links.isEmpty else {
      throw PersistenceError(.migration, "links that were put aside in \(name) are gone")
    }
    return links
  }

  /// Drops the tree, if it still exists.
  func drop() throws {
    if entryCount > 0 { try transaction.dropTree(name) }
    entryCount = 0
  }
}

/// Sorted links, each of which is returned once. ``end()`` must be called unless all are read, so
/// that no temporary tree remains.
///
/// `@unchecked Sendable`: a rewriting with links stays on one thread (`RowRewriting`).
final class SortedLinks: @unchecked Sendable {
  private struct Source {
    var links: [ListedLink]
    var index = 0
    var run: LinkRun?
  }

  private let isBefore: (ListedLink, ListedLink) -> Bool
  /// A heap by the next links of the sources.
  private var sources: [Source]

  fileprivate init(_ rest: [ListedLink], _ runs: [LinkRun], _ order: LinkSorter.Order) throws {
    switch order {
    case .member: isBefore = LinkSorter.isBeforeByMember
    case .position: isBefore = LinkSorter.isBeforeByPosition
    }
    sources = rest.isEmpty ? [] : [Source(links: rest)]
    // No run is empty.
    for run in runs { sources.append(Source(links: try run.next(), run: run)) }
    for index in (0..<sources.count / 2).reversed() { sink(index) }
  }

  /// The next link, without removing it.
  var first: ListedLink? {
    guard let source = sources.first else { return nil }
    return source.links[source.index]
  }

  func next() throws -> ListedLink? {
    guard let link = first else { return nil }
    sources[0].index += 1
    if sources[0].index == sources[0].links.count {
      sources[0].links = try sources[0].run?.next() ?? []
      sources[0].index = 0
      if sources[0].links.isEmpty {
        sources.swapAt(0, sources.count - 1)
        sources.removeLast()
      }
    }
    sink(0)
    return link
  }

  /// Moves a source down the heap to its position.
  private func sink(_ start: Int) {
    var parent = start
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < sources.count {
        if isBefore(head(child), head(least)) { least = child }
      }
      if least == parent { return }
      sources.swapAt(parent, least)
      parent = least
    }
  }

  private func head(_ index: Int) -> ListedLink { sources[index].links[sources[index].index] }

  /// Drops the temporary trees of the remaining links.
  func end() throws {
    for source in sources { try source.run?.drop() }
    sources = []
  }

  /// The destination of an owner with a single one. Owners must be given in order.
  func destination(of owner: Reference) throws -> Reference? {
    while let link = first, link.owner < owner { _ = try next() }
    guard let link = first, link.owner == owner else { return nil }
    return link.member
  }
}
