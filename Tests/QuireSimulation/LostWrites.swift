/// What a store's file may be when the disk has acknowledged writes and lost them, in any number:
/// some pages are as the file had them at an earlier time.
///
/// That is what a disk without its cache does when power fails: not one write is missing but many
/// at once, pages and page maps together, while the meta page that was written last has arrived.
package struct LostWrites {
  private let pageSize: Int
  /// The file at successive times, the newest last.
  private let times: [[UInt8]]

  package init(_ times: [[UInt8]], pageSize: Int) {
    self.times = times
    self.pageSize = pageSize
  }

  private var newest: [UInt8] { times.last ?? [] }

  private func page(_ number: Int, at time: [UInt8]) -> ArraySlice<UInt8>? {
    let end = (number + 1) * pageSize
    return end <= time.count ? time[number * pageSize..<end] : nil
  }

  /// The pages that were another at an earlier time; identity and meta pages left out.
  package var changedPages: [Int] {
    (3..<max(3, newest.count / pageSize)).filter { number in
      let now = page(number, at: newest)
      return times.dropLast().contains { page(number, at: $0).map { $0 != now } ?? false }
    }
  }

  /// The newest file, but with these pages as they were at an earlier time drawn for each, or not
  /// at all there, which reads as zeros.
  package func image(
    losing pages: some Sequence<Int>, using generator: inout SeededGenerator
  ) -> [UInt8] {
    var image = newest
    for number in pages {
      let old = times[generator.below(times.count - 1)]
      let range = number * pageSize..<(number + 1) * pageSize
      image.replaceSubrange(
        range, with: page(number, at: old) ?? [UInt8](repeating: 0, count: pageSize)[...])
    }
    return image
  }

  /// Some of the pages that changed: a few, half of them, nearly all, or a run of neighbours.
  package func drawPages(using generator: inout SeededGenerator) -> [Int] {
    let changed = changedPages
    guard !changed.isEmpty else { return [] }
    switch generator.below(4) {
    case 0:
      let start = generator.below(changed.count)
      return Array(changed[start...].prefix(1 + generator.below(changed.count)))
    case 1: return changed.filter { _ in generator.below(16) != 0 }
    case 2: return changed.filter { _ in generator.below(2) == 0 }
    default: return changed.filter { _ in generator.below(12) == 0 }
    }
  }
}
