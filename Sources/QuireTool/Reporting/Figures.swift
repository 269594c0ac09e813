import Foundation

// Numbers and columns as people read them.

extension Int {
  /// The number with commas between thousands, in every locale.
  var grouped: String {
    var digits = String(magnitude)
    var groups: [String] = []
    while digits.count > 3 {
      groups.insert(String(digits.suffix(3)), at: 0)
      digits.removeLast(3)
    }
    groups.insert(digits, at: 0)
    return (self < 0 ? "-" : "") + groups.joined(separator: ",")
  }

  /// The number and what it counts: “1 object”, “2,000 objects”.
  func counting(_ noun: String, _ plural: String? = nil) -> String {
    "\(grouped) \(self == 1 ? noun : plural ?? noun + "s")"
  }
}

extension Duration {
  /// Milliseconds, to the microsecond.
  var milliseconds: Double {
    let (seconds, attoseconds) = components
    return (Double(seconds) * 1e6 + Double(attoseconds) / 1e12).rounded() / 1e3
  }

  /// Milliseconds with one decimal, as in “12.3 ms”.
  var milliText: String { String(format: "%.1f ms", milliseconds) }
}

extension String {
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: Swift.max(0, width - columnCount))
  }

  func aligned(rightTo width: Int) -> String {
    String(repeating: " ", count: Swift.max(0, width - columnCount)) + self
  }
}

/// Labels and values in two columns.
struct Table {
  private var rows: [(label: String, value: String)] = []

  mutating func add(_ label: String, _ value: String) { rows.append((label, value)) }

  /// Values start in one column.
  var text: String {
    let width = rows.map(\.label.columnCount).max() ?? 0
    return rows.map { "\($0.label.padded(to: width))  \($0.value)" }.joined(separator: "\n")
  }

  /// Counts by name, indented: names start in one column, digits end in one.
  static func counts(_ counts: [(name: String, count: Int)]) -> String {
    let texts = counts.map { ($0.name, $0.count.grouped) }
    let (width, digits) = (texts.map(\.0.columnCount).max() ?? 0, texts.map(\.1.count).max() ?? 0)
    return texts.map { "  \($0.padded(to: width))  \($1.aligned(rightTo: digits))" }
      .joined(separator: "\n")
  }
}
