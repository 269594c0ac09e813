/// The links that a save removes and adds to give an object the members of an ordered relationship
/// in their order.
///
/// A position says which of two links comes first, and nothing else. So the links of members that
/// stay in their order are left as they are: as many as can be (the longest ascending subsequence,
/// by Fredman's method, "On computing the length of longest increasing subsequences", 1975). Others
/// get positions between those. Where there is no room for them, all between the first and the last
/// that changes get new ones; and where that does not help, the links behind are numbered anew with
/// room for many to come.
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

  /// The distance between positions that are numbered anew, if there is room for it.
  private static var distance: UInt64 { 1 << 32 }

  /// - Parameters:
  ///   - present: the links that there are, in their order.
  ///   - members: the members that there are to be, in their order.
  ///   - isNew: whether positions are to be numbers from 0 on, written in their order, so that the
  ///     same objects make the same bytes however they were linked.
  /// - Complexity: O(*n*) where members are added at one place or removed, otherwise
  ///   O(*n* log *n*).
  package init(from present: [Link], to members: [Member], isNew: Bool = false) {
    (self.present, self.members) = (present, members)
    if isNew {
      removed = present
      added = members.enumerated().map { Link(position: UInt64($0), member: $1) }
      return
    }
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
    let kept = kept(start..<presentEnd, start..<membersEnd)
    if fit(kept, start..<presentEnd, start..<membersEnd) { return }
    // Two that change places have no room between others, but each other's.
    if fit([], start..<presentEnd, start..<membersEnd) { return }
    numberAnew(from: start)
  }

  private struct Pair {
    /// The place of a link among those present.
    let link: Int
    /// The place of its member among those wanted.
    let member: Int
  }

  /// The links that keep their order, as many as there can be.
  private func kept(_ links: Range<Int>, _ wanted: Range<Int>) -> [Pair] {
    if links.isEmpty || wanted.isEmpty { return [] }
    let places = Dictionary(
      links.map { (present[$0].member, $0) }, uniquingKeysWith: { first, _ in first })
    // For each length, the pair that ends a subsequence of it with the lowest link; and for each
    // pair the one before it.
    var ends: [Int] = []
    var pairs: [(pair: Pair, previous: Int?)] = []
    for place in wanted {
      guard let link = places[members[place]] else { continue }
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if pairs[ends[middle]].pair.link < link { low = middle + 1 } else { high = middle }
      }
      pairs.append((Pair(link: link, member: place), low > 0 ? ends[low - 1] : nil))
      if low < ends.count { ends[low] = pairs.count - 1 } else { ends.append(pairs.count - 1) }
    }
    var kept: [Pair] = []
    var next = ends.last
    while let place = next {
      kept.append(pairs[place].pair)
      next = pairs[place].previous
    }
    return kept.reversed()
  }

  /// Puts the other members between the links that are kept.
  ///
  /// - Returns: whether there is room for them.
  private mutating func fit(_ kept: [Pair], _ links: Range<Int>, _ wanted: Range<Int>) -> Bool {
    var added: [Link] = []
    var lower = links.lowerBound > 0 ? present[links.lowerBound - 1].position : nil
    var place = wanted.lowerBound
    for next in 0...kept.count {
      let pair = next < kept.count ? kept[next] : nil
      let end = pair?.member ?? wanted.upperBound
      let link = pair?.link ?? links.upperBound
      let upper = link < present.count ? present[link].position : nil
      guard let positions = Self.positions(of: end - place, between: lower, and: upper) else {
        return false
      }
      for position in positions {
        added.append(Link(position: position, member: members[place]))
        place += 1
      }
      (lower, place) = (upper, end + 1)
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

  /// Replaces all links from a place on.
  private mutating func numberAnew(from start: Int) {
    let lower = start > 0 ? present[start - 1].position : 0
    let room = lower < .max - 1 ? .max - 1 - lower : 0
    let distance = min(Self.distance, room / UInt64(members.count - start + 1))
    if distance == 0 { return numberAnew(from: 0) }
    removed = Array(present[start...])
    added = members.indices.dropFirst(start).map { place in
      Link(position: lower + UInt64(place - start + 1) * distance, member: members[place])
    }
  }
}
