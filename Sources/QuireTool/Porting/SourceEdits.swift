/// Changes of a file: bytes that others replace, and whole lines that go.
struct SourceEdits {
  struct Edit {
    var range: Range<Int>
    var replacement: String
  }

  private(set) var edits: [Edit] = []
  /// Numbers of lines that go, from 1.
  private(set) var removedLines: Set<Int> = []

  var isEmpty: Bool { edits.isEmpty && removedLines.isEmpty }

  mutating func replace(_ range: Range<Int>, with replacement: String) {
    edits.append(Edit(range: range, replacement: replacement))
  }

  mutating func insert(_ text: String, at offset: Int) { replace(offset..<offset, with: text) }

  /// Removes bytes, and what other edits did to them.
  mutating func remove(_ range: Range<Int>) {
    edits.removeAll {
      range.lowerBound <= $0.range.lowerBound && $0.range.upperBound <= range.upperBound
    }
    replace(range, with: "")
  }

  mutating func remove(lines: ClosedRange<Int>) { removedLines.formUnion(lines) }

  /// The edits in a range in their order, insertions before what is replaced after them. Of edits
  /// that overlap, the first that begins is taken.
  private func sorted(in range: Range<Int>) -> [Edit] {
    var taken: [Edit] = []
    let inside = edits.enumerated().filter {
      range.lowerBound <= $1.range.lowerBound && $1.range.upperBound <= range.upperBound
    }.sorted {
      ($0.element.range.lowerBound, $0.element.range.upperBound, $0.offset)
        < ($1.element.range.lowerBound, $1.element.range.upperBound, $1.offset)
    }.map(\.element)
    for edit in inside where edit.range.lowerBound >= taken.last?.range.upperBound ?? 0 {
      taken.append(edit)
    }
    return taken
  }

  /// The text of a range after the edits in it, but for lines that go.
  func text(of range: Range<Int>, in source: SwiftSource) -> String {
    var bytes: [UInt8] = []
    var offset = range.lowerBound
    for edit in sorted(in: range) {
      bytes += source.bytes[offset..<edit.range.lowerBound]
      bytes += edit.replacement.utf8
      offset = edit.range.upperBound
    }
    bytes += source.bytes[offset..<range.upperBound]
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The file after all changes.
  func applied(to source: SwiftSource) -> [UInt8] {
    var all = self
    for run in runs(in: source) {
      let start = source.range(ofLine: run.lowerBound).lowerBound
      let end = source.range(ofLine: run.upperBound).upperBound
      // Edits within lines that go, go with them; what is inserted at their beginning stays.
      all.edits.removeAll { edit in
        let isInsertion = edit.range == start..<start
        return !isInsertion && start <= edit.range.lowerBound
          && (edit.range.upperBound < end || (edit.range.upperBound == end && !edit.range.isEmpty)
            || end == source.bytes.count)
      }
      all.edits.insert(Edit(range: start..<end, replacement: ""), at: 0)
    }
    return Array(all.text(of: 0..<source.bytes.count, in: source).utf8)
  }

  /// Lines that go, in runs, with those blank lines that would stand beside another blank line, at
  /// the beginning of a body or at its end.
  private func runs(in source: SwiftSource) -> [ClosedRange<Int>] {
    var runs: [ClosedRange<Int>] = []
    for line in removedLines.sorted() {
      if let last = runs.last,
        (last.upperBound + 1..<line).allSatisfy({ source.isBlank(line: $0) })
      {
        runs[runs.count - 1] = last.lowerBound...line
      } else {
        runs.append(line...line)
      }
    }
    let count = source.lineStarts.count
    return runs.map { run in
      var (first, last) = (run.lowerBound, run.upperBound)
      let before = first > 1 ? lastByte(ofLine: first - 1, source) : nil
      let opensBody = before == UInt8(ascii: "{")
      if first == 1 || opensBody || source.isBlank(line: first - 1) {
        while last < count, source.isBlank(line: last + 1) { last += 1 }
      }
      let closesBody = last >= count || firstByte(ofLine: last + 1, source) == UInt8(ascii: "}")
      if closesBody {
        while first > 1, source.isBlank(line: first - 1) { first -= 1 }
      }
      return first...last
    }
  }

  private func firstByte(ofLine line: Int, _ source: SwiftSource) -> UInt8? {
    source.bytes[source.range(ofLine: line)].first { $0 != 0x20 && $0 != 0x09 }
  }

  private func lastByte(ofLine line: Int, _ source: SwiftSource) -> UInt8? {
    source.bytes[source.range(ofLine: line)].last { $0 > 0x20 }
  }
}
