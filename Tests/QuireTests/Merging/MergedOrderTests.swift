import Quire
import QuireSimulation
import Testing

/// The order of members that two contexts have changed, against its definition taken word by word.
@Suite struct MergedOrderTests {
  /// One member after the other goes where it belongs.
  private func defined(_ present: [Int], _ wanted: [Int], _ stored: [Int]) -> [Int] {
    var order = wanted.filter(present.contains)
    for member in present where !wanted.contains(member) {
      guard let position = stored.firstIndex(of: -member) else {
        order.append(member)
        continue
      }
      let former = stored[..<position].last { place in order.contains { -$0 == place } }
      let index = former.flatMap { order.firstIndex(of: -$0) }.map { $0 + 1 } ?? 0
      order.insert(member, at: index)
    }
    return order
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `members stand as the list says, and others behind those that they follow`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let all = Array(1...12).shuffled(using: &generator)
      func some(_ list: [Int]) -> [Int] {
        list.shuffled(using: &generator).filter { _ in generator.below(3) > 0 }
      }
      let (present, wanted) = (some(all), some(all))
      let stored = some(all).map { -$0 }
      let order = MergedOrder.order(of: present, as: wanted, { -$0 }, stored)
      #expect(order == defined(present, wanted, stored), "\(present) as \(wanted), \(stored)")
      #expect(order.sorted() == present.sorted())
    }
  }

  @Test func `members added by others come after the members that they followed`() {
    let order = MergedOrder.order(of: [1, 2, 3, 7, 8, 9], as: [3, 1, 2], { $0 }, [7, 1, 8, 2, 3])
    #expect(order == [7, 3, 1, 8, 2, 9])
  }
}
