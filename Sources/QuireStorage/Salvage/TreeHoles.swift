/// The position of a lost page in a tree.
package struct TreeHole {
  package let page: PageID
  package let kind: TreeKind
  /// The level of the lost node; `nil` of a lost root.
  package let level: Int?
  /// The keys below the lost node are not below this one, and below the other.
  package let lower: PageContent.Key
  package let upper: PageContent.Key?
  /// The tree; `nil` if the hole is in a fragment.
  package private(set) var tree: Int?

  package init(
    page: PageID, kind: TreeKind, level: Int?, lower: PageContent.Key, upper: PageContent.Key?
  ) {
    self.page = page
    self.kind = kind
    self.level = level
    self.lower = lower
    self.upper = upper
  }

  func of(tree: Int) -> TreeHole {
    var hole = self
    hole.tree = tree
    return hole
  }

  /// Whether a fragment can have been below the lost node.
  package func takes(_ fragment: TreeFragment) -> Bool {
    fragment.kind == kind && level.map { fragment.level < $0 } ?? true
      && !PageContent.Key.isAscending(fragment.first, lower)
      && upper.map { PageContent.Key.isAscending(fragment.last, $0) } ?? true
  }
}

/// The holes of all trees, in an order in which those that take a fragment are found without
/// looking at all of them: a damaged file may have as many of both as it has pages.
package struct TreeHoles {
  /// By kind, then by level; lost roots, of which no level is known, come last.
  private let groups: [Group]

  package init(_ holes: [TreeHole]) {
    let byTreeLevel = Dictionary(grouping: holes) {
      TreeLevel(kind: $0.kind, level: $0.level ?? .max)
    }
    groups = byTreeLevel.map { Group(treeLevel: $0.key, $0.value) }.sorted {
      $0.treeLevel.level < $1.treeLevel.level
    }
  }

  /// The holes in which a fragment fits best: those at the lowest level.
  ///
  /// A hole in a fragment is part of a hole in a tree, with narrower bounds.
  ///
  /// - Parameter limit: how many are enough.
  /// - Complexity: O(log *n*) for each hole found, and for each level.
  package func best(for fragment: TreeFragment, limit: Int = .max) -> [TreeHole] {
    search(for: fragment, limit: limit).found
  }

  /// Finds what ``best(for:limit:)`` returns, and counts what was looked at.
  package func search(for fragment: TreeFragment, limit: Int) -> Search {
    var search = Search(fragment: fragment, limit: limit)
    for group in groups
    where group.treeLevel.kind == fragment.kind && group.treeLevel.level > fragment.level {
      group.find(&search)
      if !search.found.isEmpty { break }
    }
    return search
  }

  package struct Search {
    fileprivate let fragment: TreeFragment
    fileprivate let limit: Int
    package fileprivate(set) var found: [TreeHole] = []
    /// The number of holes whose bounds were compared.
    package fileprivate(set) var comparedCount = 0

    fileprivate init(fragment: TreeFragment, limit: Int) {
      self.fragment = fragment
      self.limit = limit
    }
  }

  private struct TreeLevel: Hashable {
    let kind: TreeKind
    let level: Int
  }

  /// The holes of one kind and level, ordered by their lower bounds, and the highest upper bounds
  /// of their halves, quarters and so on.
  private struct Group {
    let treeLevel: TreeLevel
    private let holes: [TreeHole]
    /// A heap of indexes into `holes`: the node `i` represents the holes of the nodes `2 i` and
    /// `2 i + 1`, and has the one with the highest upper bound. The leaves begin at `leafCount`.
    private let highest: [Int]
    private let leafCount: Int

    init(treeLevel: TreeLevel, _ unordered: [TreeHole]) {
      self.treeLevel = treeLevel
      let holes = unordered.sorted { PageContent.Key.isAscending($0.lower, $1.lower) }
      var leafCount = 1
      while leafCount < holes.count { leafCount *= 2 }
      var highest = Array(repeating: -1, count: 2 * leafCount)
      for index in holes.indices { highest[leafCount + index] = index }
      for node in stride(from: leafCount - 1, to: 0, by: -1) {
        let (left, right) = (highest[2 * node], highest[2 * node + 1])
        let isLeftHigher = right < 0 || Group.isHigher(holes[left].upper, holes[right].upper)
        highest[node] = isLeftHigher ? left : right
      }
      (self.holes, self.highest, self.leafCount) = (holes, highest, leafCount)
    }

    /// No upper bound is above all others.
    private static func isHigher(_ left: PageContent.Key?, _ right: PageContent.Key?) -> Bool {
      guard let left else { return true }
      guard let right else { return false }
      return PageContent.Key.isAscending(right, left)
    }

    func find(_ search: inout Search) {
      var (start, end) = (0, holes.count)
      while start < end {
        let middle = (start + end) / 2
        search.comparedCount += 1
        if PageContent.Key.isAscending(search.fragment.first, holes[middle].lower) {
          end = middle
        } else {
          start = middle + 1
        }
      }
      collect(1, from: 0, leafCount, before: end, &search)
    }

    /// Collects those of a node's holes that begin before `end` in the order, and take the
    /// fragment.
    private func collect(
      _ node: Int, from start: Int, _ count: Int, before end: Int, _ search: inout Search
    ) {
      guard start < end, search.found.count < search.limit, highest[node] >= 0 else { return }
      let highest = holes[highest[node]]
      search.comparedCount += 1
      if let upper = highest.upper, !PageContent.Key.isAscending(search.fragment.last, upper) {
        return
      }
      guard count > 1 else {
        if highest.takes(search.fragment), highest.page != search.fragment.root {
          search.found.append(highest)
        }
        return
      }
      let half = count / 2
      collect(2 * node, from: start, half, before: end, &search)
      collect(2 * node + 1, from: start + half, half, before: end, &search)
    }
  }
}
