import Quire
import QuireSimulation
import Testing

/// What a save writes of an ordered relationship: as few links as there can be.
@Suite struct OrderChangeTests {
  private typealias Link = OrderChange<Int>.Link

  /// The members after a change, and the number of links that it writes.
  private func apply(_ members: [Int], to links: inout [Link]) throws -> Int {
    let change = OrderChange(from: links, to: members)
    var left = Dictionary(grouping: links, by: \.member)
    for link in change.removed {
      let place = try #require(
        left[link.member]?.firstIndex { $0.position == link.position }, "a link is not there")
      left[link.member]?.remove(at: place)
    }
    links = (left.values.flatMap { $0 } + change.added).sorted {
      ($0.position, $0.member) < ($1.position, $1.member)
    }
    #expect(links.map(\.member) == members)
    #expect(links.allSatisfy { $0.position < .max })
    return change.removed.count + change.added.count
  }

  @Test(arguments: Array(UInt64(1)...Amount.of(debug: 20, release: 200, exhaustive: 20_000)))
  func `any order becomes any other`(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var links: [Link] = []
    // Positions as other writers may have left them: close together, far apart, at the end.
    var position: UInt64 = [0, 1, 5, 1 << 40, .max - 40][generator.below(5)]
    for member in 0..<generator.below(12) {
      links.append(Link(position: position, member: member))
      position += UInt64([0, 1, 1, 2, 3][generator.below(5)])
    }
    for _ in 0..<40 {
      var members = links.map(\.member)
      switch generator.below(4) {
      case 0: members.shuffle(using: &generator)
      case 1: members.removeAll { _ in generator.below(3) == 0 }
      case 2:
        for new in 0..<generator.below(5) {
          let place = generator.below(members.count + 1)
          if !members.contains(100 + new) { members.insert(100 + new, at: place) }
        }
      default:
        if let last = members.popLast() { members.insert(last, at: 0) }
      }
      _ = try apply(members, to: &links)
    }
  }

  @Test func `members that keep their positions in an order are not written again`() throws {
    var links: [Link] = []
    let count = 1_000
    var members = Array(0..<count)
    #expect(try apply(members, to: &links) == count)
    #expect(links.map(\.position) == (0..<UInt64(count)).map { $0 })
    #expect(try apply(members, to: &links) == 0)
    members.append(contentsOf: [2_000, 2_001])
    #expect(try apply(members, to: &links) == 2)
    members.removeAll { $0 % 10 == 3 }
    #expect(try apply(members, to: &links) == 100)
    // Two that change places have each other's.
    members.swapAt(700, 701)
    #expect(try apply(members, to: &links) <= 4)
    members.swapAt(700, 701)
    _ = try apply(members, to: &links)
    // Into the gap of a member that is gone.
    members.insert(3, at: 3)
    #expect(try apply(members, to: &links) == 1)
    // One that is moved is removed and added.
    let moved = members.remove(at: 500)
    members.insert(moved, at: 3)
    _ = try apply(members, to: &links)
    members.append(members.remove(at: 3))
    #expect(try apply(members, to: &links) == 2)
  }

  @Test func `there is room for many at the front once there had to be made some`() throws {
    var links: [Link] = []
    var members = Array(0..<1_000)
    _ = try apply(members, to: &links)
    members.insert(5_000, at: 0)
    #expect(try apply(members, to: &links) > 1_000)
    var written = 0
    for new in 5_001..<5_100 {
      members.insert(new, at: 0)
      written += try apply(members, to: &links)
    }
    #expect(written == 99)
    // In the middle, at one place, there is room for some thirty.
    written = 0
    for new in 6_000..<6_030 {
      members.insert(new, at: 500)
      written += try apply(members, to: &links)
    }
    #expect(written == 30)
    // Then those around it make room.
    for new in 7_000..<7_200 {
      members.insert(new, at: 500)
      written += try apply(members, to: &links)
    }
    #expect(written < 700)
  }

  @Test(arguments: Array(UInt64(1)...Amount.of(debug: 20, release: 200, exhaustive: 20_000)))
  func `a stretch of an order becomes any other, or has no room`(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var position: UInt64 = [0, 1, 5, 1 << 40, .max - 60][generator.below(5)]
    let all = (0..<12).map { member in
      position += UInt64([1, 1, 2, 3, 1 << 20][position < 1 << 41 ? generator.below(5) : 0])
      return Link(position: position, member: member)
    }
    let start = generator.below(all.count + 1)
    let stretch = start..<start + generator.below(all.count - start + 1)
    var members = all[stretch].map(\.member)
    members.removeAll { _ in generator.below(4) == 0 }
    if generator.below(2) == 0 { members.shuffle(using: &generator) }
    for new in 100..<100 + generator.below(4) {
      members.insert(new, at: generator.below(members.count + 1))
    }
    let change = OrderChange(
      from: Array(all[stretch]), to: members,
      after: start > 0 ? all[start - 1].position : nil,
      before: stretch.upperBound < all.count ? all[stretch.upperBound].position : nil)
    guard let change else {
      // There are fewer positions between the links around than it has members.
      let low = start > 0 ? all[start - 1].position : 0
      let high = stretch.upperBound < all.count ? all[stretch.upperBound].position : .max - 1
      #expect(high - low <= members.count)
      return
    }
    let removed = Set(change.removed.map(\.position))
    #expect(removed.isSubset(of: all[stretch].map(\.position)))
    let links = (all.filter { !removed.contains($0.position) } + change.added)
      .sorted { $0.position < $1.position }
    #expect(
      links.map(\.member)
        == all[..<start].map(\.member) + members + all[stretch.upperBound...].map(\.member))
    #expect(Set(links.map(\.position)).count == links.count)
    #expect(links.allSatisfy { $0.position < .max })
  }
}
