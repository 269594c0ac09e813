/// A part of the sources that the port does not change, with what to do about it.
package struct PortFinding: Hashable, Sendable {
  /// From the folder on.
  package var file: String
  /// From 1, in order; none when the whole file is meant.
  package var lines: [Int]
  /// The code that is there.
  package var what: String
  package var remedy: String

  package var text: String {
    guard let first = lines.first else { return "\(file): \(what): \(remedy)" }
    var text = "\(file):\(first): \(what)"
    if lines.count > 1 {
      text +=
        " (also \(lines.count == 2 ? "line" : "lines") "
        + lines.dropFirst().map(String.init).joined(separator: ", ") + ")"
    }
    return "\(text): \(remedy)"
  }

  /// One finding for all lines of a file where the same is to be done, in the order of the files.
  static func merged(_ findings: [PortFinding]) -> [PortFinding] {
    struct Key: Hashable {
      var file: String
      var what: String
      var remedy: String
    }
    var lines: [Key: Set<Int>] = [:]
    for finding in findings {
      lines[Key(file: finding.file, what: finding.what, remedy: finding.remedy), default: []]
        .formUnion(finding.lines)
    }
    return lines.map {
      PortFinding(file: $0.file, lines: $1.sorted(), what: $0.what, remedy: $0.remedy)
    }.sorted {
      ($0.file, $0.lines.first ?? 0, $0.what, $0.remedy)
        < ($1.file, $1.lines.first ?? 0, $1.what, $1.remedy)
    }
  }
}
