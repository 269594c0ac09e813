/// The seeds that a random suite takes.
package enum Seeds {
  /// The seeds from 1 to an amount, unless others were asked for: `QUIRE_SEED=17` for one,
  /// `QUIRE_SEEDS=300` for so many from 1 on, `QUIRE_SEEDS=301-900` for those from one to another.
  package static func upTo(_ count: UInt64) -> ClosedRange<UInt64> {
    wanted ?? 1...count
  }

  /// The seeds that were asked for; `nil` if none were.
  package static var wanted: ClosedRange<UInt64>? {
    if let text = environmentValue("QUIRE_SEED") {
      guard let seed = UInt64(text) else { fatalError("QUIRE_SEED is a number, not “\(text)”") }
      return seed...seed
    }
    guard let text = environmentValue("QUIRE_SEEDS") else { return nil }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    let bounds = parts.compactMap { UInt64($0) }
    guard bounds.count == parts.count, let last = bounds.last, bounds.count <= 2,
      let first = bounds.count == 1 ? 1 : bounds.first, first <= last
    else {
      fatalError("QUIRE_SEEDS is a number above 0, or a range such as 301-900, not “\(text)”")
    }
    return first...last
  }
}
