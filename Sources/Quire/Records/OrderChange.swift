/// The links that a save removes and adds to give an object the members of an ordered relationship
/// in their order.
///
/// A position says which of two links comes first, and nothing else. So the links of members that
/// stay in their order are left as they are: as many as can be (the longest ascending subsequence,
/// by Fredman's method, "On computing the length of longest increasing subsequences", 1975). Others
/// get positions between those. Where there is no room for them, the links around get new positions
/// as well: of a stretch that is made twice as long until there is room for many more to come.
package struct OrderChange<Member: Hashable> {
  package struct Link {
    package let position: UInt64
    package let member: Member

    package init(position: UInt64, member: Member) {
      (self.position, self.member) = (position, member)
    }
  }

  /// To be removed first.
  package private(set) var removed: [Link] = []
  package private(set) var added: [Link] = []

  private let present: [Link]
  private let members: [Member]
  /// Those of the links around, where only a stretch of an order is changed.
  private let lower: UInt64?, upper: UInt64?

  /// The distance between positions that are made anew, if there is room for it.
  private static var usualDistance: UInt64 { 1 << 32 }
  /// The distance that there must be room for, if links are to get new positions that might stay.
  private static var leastDistance: UInt64 { 1 << 16 }

  /// - Parameters:
  ///   - present: the links that there are, in their order.
  ///   - members: the members that there are to be, in their order.
  ///   - isNew: whether positions are to be numbers from 0 on, written in their order, so that the
  ///     same objects make the same bytes however they were linked.
  /// - Complexity: O(*n*) where members are added at one position or removed, otherwise
  ///   O(*n* log *n*).
  package init(from present: [Link], to members: [Member], isNew: Bool = false) {
    (self.present, self.members, lower, upper) = (present, members, nil, nil)
    if isNew {
      removed = present
      added = members.enumerated().map { Link(position: UInt64($0), member: $1) }
      return
    }
    let (links, wanted) = differing()
    if fit(kept(links, wanted), links, wanted) { return }
    // Two that change positions have no room between others, but each other's.
    if spread(links, wanted, atLeast: 1) { return }
    var margin = 1
    while true {
      let before = min(margin, links.lowerBound)
      let after = min(margin, present.count - links.upperBound)
      let stretch = links.lowerBound - before..<links.upperBound + after
      let isAll = stretch == present.indices
      if spread(
        stretch, wanted.lowerBound - before..<wanted.upperBound + after,
        atLeast: isAll ? 1 : Self.leastDistance) || isAll
      {
        return
      }
      margin *= 2
    }
  }

  /// A change of a stretch of an order.
  ///
  /// - Parameters:
  ///   - present: the links of the stretch.
  ///   - members: the members that there are to be in the stretch.
  ///   - lower: the position of the link before the stretch, if there is one.
  ///   - upper: the position of the link after it, if there is one.
  /// - Returns: `nil` if there is no room for it between these two.
  package init?(
    from present: [Link], to members: [Member], after lower: UInt64?, before upper: UInt64?
  ) {
    (self.present, self.members, self.lower, self.upper) = (present, members, lower, upper)
    let (links, wanted) = differing()
    if fit(kept(links, wanted), links, wanted) || spread(links, wanted, atLeast: 1)
      || spread(present.indices, members.indices, atLeast: 1)
    {
      return
    }
    return nil
  }

  /// What is left of both without what they have in common at either end.
  private func differing() -> (links: Range<Int>, wanted: Range<Int>) {
    var start = 0
    var (presentEnd, membersEnd) = (present.count, members.count)
    while start < presentEnd, start < membersEnd, present[start].member == members[start] {
      start += 1
    }
    while presentEnd > start, membersEnd > start,
      present[presentEnd - 1].member == members[membersEnd - 1]
    {
      (presentEnd, membersEnd) = (presentEnd - 1, membersEnd - 1)
    }
    return (start..<presentEnd, start..<membersEnd)
  }

  /// The positions of the links before and after some.
  private func bounds(of links: Range<Int>) -> (lower: UInt64?, upper: UInt64?) {
    (
      links.lowerBound > 0 ? present[links.lowerBound - 1].position : lower,
      links.upperBound < present.count ? present[links.upperBound].position : upper
    )
  }

  private struct Pair {
    /// The index of a link among those present.
    let link: Int
    /// The index of its member among those wanted.
    let member: Int
  }

  /// The links that keep their order, as many as there can be.
  private func kept(_ links: Range<Int>, _ wanted: Range<Int>) -> [Pair] {
    if links.isEmpty || wanted.isEmpty { return [] }
    let linkIndices = Dictionary(
      links.map { (present[$0].member, $0) }, uniquingKeysWith: { first, _ in first })
    // For each length, the pair that ends a subsequence of it with the lowest link; and for each
    // pair the one before it.
    var ends: [Int] = []
    var pairs: [(pair: Pair, previous: Int?)] = []
    for index in wanted {
      guard let link = linkIndices[members[index]] else { continue }
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if pairs[ends[middle]].pair.link < link { low = middle + 1 } else { high = middle }
      }
      pairs.append((Pair(link: link, member: index), low > 0 ? ends[low - 1] : nil))
      if low < ends.count { ends[low] = pairs.count - 1 } else { ends.append(pairs.count - 1) }
    }
    var kept: [Pair] = []
    var next = ends.last
    while let index = next {
      kept.append(pairs[index].pair)
      next = pairs[index].previous
    }
    return kept.reversed()
  }

  /// Puts the other members between the links that are kept.
  ///
  /// - Returns: whether there is room for them.
  private mutating func fit(_ kept: [Pair], _ links: Range<Int>, _ wanted: Range<Int>) -> Bool {
    var added: [Link] = []
    var lower = bounds(of: links).lower
    var index = wanted.lowerBound
    for next in 0...kept.count {
      let pair = next < kept.count ? kept[next] : nil
      let end = pair?.member ?? wanted.upperBound
      let link = pair?.link ?? links.upperBound
      let upper = link < present.count ? present[link].position : self.upper
      guard let positions = Self.positions(of: end - index, between: lower, and: upper) else {
        return false
      }
      for position in positions {
        added.append(Link(position: position, member: members[index]))
        index += 1
      }
      (lower, index) = (upper, end + 1)
    }
    let isKept = Set(kept.map(\.link))
    removed = links.lazy.filter { !isKept.contains($0) }.map { present[$0] }
    self.added = added
    return true
  }

  /// Positions in ascending order, of which the last possible one is none.
  ///
  /// - Returns: `nil` if there are not as many.
  private static func positions(
    of count: Int, between lower: UInt64?, and upper: UInt64?
  ) -> [UInt64]? {
    let wanted = UInt64(count)
    if wanted == 0 { return [] }
    switch (lower, upper) {
    case (nil, nil): return Array(0..<wanted)
    case (let lower?, nil):
      guard lower < .max - 1, .max - 1 - lower >= wanted else { return nil }
      return (1...wanted).map { lower + $0 }
    case (nil, let upper?):
      guard upper >= wanted else { return nil }
      return (1...wanted).reversed().map { upper - $0 }
    case (let lower?, let upper?):
      guard upper > lower, upper - lower > wanted else { return nil }
      let distance = (upper - lower) / (wanted + 1)
      return (1...wanted).map { lower + $0 * distance }
    }
  }

  /// Gives all members of a stretch new positions, as far apart as there is room.
  ///
  /// - Parameter least: the distance that they must have.
  /// - Returns: whether there is room for that.
  private mutating func spread(
    _ links: Range<Int>, _ wanted: Range<Int>, atLeast least: UInt64
  ) -> Bool {
    let (lower, upper) = bounds(of: links)
    let (low, high) = (lower ?? 0, upper ?? .max - 1)
    guard high > low else { return false }
    let room = (high - low) / (UInt64(wanted.count) + 1)
    if room < least { return false }
    // Beyond the first link and the last there is room enough for later.
    let distance = lower != nil && upper != nil ? room : min(room, Self.usualDistance)
    let start = lower == nil && upper != nil ? high - (UInt64(wanted.count) + 1) * distance : low
    removed = Array(present[links])
    added = wanted.map { index in
      Link(
        position: start + UInt64(index - wanted.lowerBound + 1) * distance, member: members[index])
    }
    return true
  }
}
