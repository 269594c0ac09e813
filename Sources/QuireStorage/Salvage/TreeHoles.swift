/// The place of a lost page in a tree.
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
    let byPlace = Dictionary(grouping: holes) { Place(kind: $0.kind, level: $0.level ?? .max) }
    groups = byPlace.map { Group(place: $0.key, $0.value) }.sorted {
      $0.place.level < $1.place.level
    }
  }

  /// The holes in which a fragment fits best: those at the lowest level.
  ///
  /// A hole in a fragment is part of a hole in a tree, with narrower bounds.
  ///
  /// - Parameter limit: how many are enough.
  /// - Complexity: O(log *n*) for each hole found, and for each level.
  package func best(for fragment: TreeFragment, limit: Int = .max) -> [TreeHole] {
    for group in groups
    where group.place.kind == fragment.kind && group.place.level > fragment.level {
      let found = group.holes(around: fragment, limit: limit)
      if !found.isEmpty { return found }
    }
    return []
  }

  private struct Place: Hashable {
    let kind: TreeKind
    let level: Int
  }

  /// The holes of one kind and level, ordered by their lower bounds, and the highest upper bounds
  /// of their halves, quarters and so on.
  private struct Group {
    let place: Place
    private let holes: [TreeHole]
    /// A heap of indexes into `holes`: the node `i` stands for the holes of the nodes `2 i` and
    /// `2 i + 1`, and has the one with the highest upper bound. The leaves begin at `leafCount`.
    private let highest: [Int]
    private let leafCount: Int

    init(place: Place, _ unordered: [TreeHole]) {
      self.place = place
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

    func holes(around fragment: TreeFragment, limit: Int) -> [TreeHole] {
      var (start, end) = (0, holes.count)
      while start < end {
        let middle = (start + end) / 2
        if PageContent.Key.isAscending(fragment.first, holes[middle].lower) {
          end = middle
        } else {
          start = middle + 1
        }
      }
      var found: [TreeHole] = []
      collect(1, from: 0, leafCount, before: end, fragment, limit, &found)
      return found
    }

    /// Collects those of a node's holes that begin before `end` in the order, and take the
    /// fragment.
    private func collect(
      _ node: Int, from start: Int, _ count: Int, before end: Int, _ fragment: TreeFragment,
      _ limit: Int, _ found: inout [TreeHole]
    ) {
      guard start < end, found.count < limit, highest[node] >= 0 else { return }
      let highest = holes[highest[node]]
      if let upper = highest.upper, !PageContent.Key.isAscending(fragment.last, upper) { return }
      guard count > 1 else {
        if highest.takes(fragment), highest.page != fragment.root { found.append(highest) }
        return
      }
      let half = count / 2
      collect(2 * node, from: start, half, before: end, fragment, limit, &found)
      collect(2 * node + 1, from: start + half, half, before: end, fragment, limit, &found)
    }
  }
}
