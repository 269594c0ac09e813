/// The difference between two texts as `diff -u` writes it, for `patch` and `git apply` to read.
package enum UnifiedDiff {
  /// Lines that are the same on each side of a change.
  private static let contextCount = 3

  /// - Parameters:
  ///   - before: the former text; `nil` for a file that is new.
  ///   - after: the new text; `nil` for a file that goes.
  /// - Returns: text that ends with a newline; empty when nothing differs.
  package static func text(path: String, before: [UInt8]?, after: [UInt8]?) -> String {
    let (old, new) = (lines(before ?? []), lines(after ?? []))
    let hunks = hunks(of: changes(from: old, to: new), old.count, new.count)
    if hunks.isEmpty, (before == nil) == (after == nil) { return "" }
    var text = before == nil ? "--- /dev/null\n" : "--- a/\(path)\n"
    text += after == nil ? "+++ /dev/null\n" : "+++ b/\(path)\n"
    for hunk in hunks {
      text += "@@ -\(position(hunk.old)) +\(position(hunk.new)) @@\n"
      var line = hunk.old.lowerBound
      for change in hunk.changes {
        for line in line..<change.old.lowerBound { text += written(" ", old[line]) }
        for line in change.old { text += written("-", old[line]) }
        for line in change.new { text += written("+", new[line]) }
        line = change.old.upperBound
      }
      for line in line..<hunk.old.upperBound { text += written(" ", old[line]) }
    }
    return text
  }

  /// From lines of a file to its lines after a change, all from 1. A line that was removed gives
  /// the line that is where it was.
  static func lines(_ numbers: [Int], from before: [UInt8], to after: [UInt8]) -> [Int] {
    let (old, new) = (lines(before), lines(after))
    let changes = changes(from: old, to: new)
    return numbers.map { number in
      guard let last = changes.last(where: { $0.old.lowerBound < number }) else { return number }
      if last.old.contains(number - 1) {
        let distance = min(number - 1 - last.old.lowerBound, max(0, last.new.count - 1))
        return min(last.new.lowerBound + distance + 1, max(1, new.count))
      }
      return number - last.old.upperBound + last.new.upperBound
    }
  }

  private struct Change {
    var old: Range<Int>
    var new: Range<Int>
  }

  private struct Hunk {
    var old: Range<Int>
    var new: Range<Int>
    var changes: [Change]
  }

  /// Lines with their newlines.
  private static func lines(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines: [ArraySlice<UInt8>] = []
    var start = 0
    for (offset, byte) in bytes.enumerated() where byte == 0x0A {
      lines.append(bytes[start...offset])
      start = offset + 1
    }
    if start < bytes.count { lines.append(bytes[start...]) }
    return lines
  }

  /// Pairs lines that occur once on each side and keep their order, and compares what is between.
  private static func changes(
    from old: [ArraySlice<UInt8>], to new: [ArraySlice<UInt8>]
  ) -> [Change] {
    var changes: [Change] = []
    var work = [(old: old.indices, new: new.indices)]
    while let (oldPart, newPart) = work.popLast() {
      var (first, other) = (oldPart.lowerBound, newPart.lowerBound)
      var (end, otherEnd) = (oldPart.upperBound, newPart.upperBound)
      while first < end, other < otherEnd, old[first] == new[other] {
        (first, other) = (first + 1, other + 1)
      }
      while first < end, other < otherEnd, old[end - 1] == new[otherEnd - 1] {
        (end, otherEnd) = (end - 1, otherEnd - 1)
      }
      if first == end, other == otherEnd { continue }
      let pairs = anchors(old[first..<end], new[other..<otherEnd])
      if pairs.isEmpty {
        changes.append(Change(old: first..<end, new: other..<otherEnd))
        continue
      }
      // The stack gives the parts in reverse.
      var bounds = (end, otherEnd)
      for pair in pairs.reversed() {
        work.append((pair.0 + 1..<bounds.0, pair.1 + 1..<bounds.1))
        bounds = pair
      }
      work.append((first..<bounds.0, other..<bounds.1))
    }
    return changes.sorted {
      ($0.old.lowerBound, $0.new.lowerBound) < ($1.old.lowerBound, $1.new.lowerBound)
    }
  }

  /// Lines that are on each side once, in an order that both sides have: a longest such list.
  private static func anchors(
    _ old: ArraySlice<ArraySlice<UInt8>>, _ new: ArraySlice<ArraySlice<UInt8>>
  ) -> [(Int, Int)] {
    var indexes: [ArraySlice<UInt8>: (old: [Int], new: [Int])] = [:]
    for index in old.indices { indexes[old[index], default: ([], [])].old.append(index) }
    for index in new.indices { indexes[new[index], default: ([], [])].new.append(index) }
    let pairs = indexes.values.filter { $0.old.count == 1 && $0.new.count == 1 }
      .map { ($0.old[0], $0.new[0]) }.sorted { $0.0 < $1.0 }
    // Patience sorting: the last pair of the best list of each length, and each pair's predecessor.
    var tails: [Int] = []
    var previous = Array(repeating: -1, count: pairs.count)
    for (index, pair) in pairs.enumerated() {
      var (low, high) = (0, tails.count)
      while low < high {
        let middle = (low + high) / 2
        if pairs[tails[middle]].1 < pair.1 { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? tails[low - 1] : -1
      if low < tails.count { tails[low] = index } else { tails.append(index) }
    }
    var (chain, index): ([(Int, Int)], Int) = ([], tails.last ?? -1)
    while index >= 0 {
      chain.append(pairs[index])
      index = previous[index]
    }
    return chain.reversed()
  }

  private static func hunks(of changes: [Change], _ oldCount: Int, _ newCount: Int) -> [Hunk] {
    var hunks: [Hunk] = []
    for change in changes {
      let before = min(contextCount, change.old.lowerBound)
      let after = min(contextCount, oldCount - change.old.upperBound)
      let old = change.old.lowerBound - before..<change.old.upperBound + after
      let new = change.new.lowerBound - before..<change.new.upperBound + after
      if let last = hunks.last, old.lowerBound <= last.old.upperBound {
        hunks[hunks.count - 1] = Hunk(
          old: last.old.lowerBound..<old.upperBound, new: last.new.lowerBound..<new.upperBound,
          changes: last.changes + [change])
      } else {
        hunks.append(Hunk(old: old, new: new, changes: [change]))
      }
    }
    return hunks
  }

  /// `12,5`; a side without lines names the line before.
  private static func position(_ lines: Range<Int>) -> String {
    lines.isEmpty ? "\(lines.lowerBound),0" : "\(lines.lowerBound + 1),\(lines.count)"
  }

  private static func written(_ sign: String, _ line: ArraySlice<UInt8>) -> String {
    let text = sign + String(decoding: line, as: UTF8.self)
    return line.last == 0x0A ? text : "\(text)\n\\ No newline at end of file\n"
  }
}
