#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Date {
  /// The moment as Foundation prints it, and in seconds since 2001 where it has no words for it.
  /// For what is not a number, its description would end the process.
  package var words: String {
    let seconds = timeIntervalSinceReferenceDate
    // Some thousand years to either side.
    guard abs(seconds) < 250_000_000_000 else { return "\(seconds) s since 2001" }
    return description
  }
}

/// The text of any value for a message, whatever dates are in it.
package func valueText(_ value: Any?) -> String {
  switch value {
  case nil: return "nil"
  case let date as Date: return date.words
  case let list as [Any]: return "[\(list.map { valueText($0) }.joined(separator: ", "))]"
  case let values as [String: Any]:
    let entries = values.sorted { $0.key < $1.key }.map { "\($0.key): \(valueText($0.value))" }
    return "[\(entries.joined(separator: ", "))]"
  case let value?: return "\(value)"
  }
}
