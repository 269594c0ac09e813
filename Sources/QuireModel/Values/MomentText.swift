#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Moments as texts by ISO 8601: `2024-01-31T12:00:00Z`, with a fraction of any length after the
/// seconds.
package enum MomentText {
  private static let format = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
  /// The years 1 to 9999 in seconds since 2001, with Foundation's calendar, which is the Julian one
  /// before 1582.
  private static let years = -63_114_076_800.0..<252_423_993_600

  /// The shortest text that names a moment exactly, in UTC; `nil` if its year has not four digits,
  /// or if there is no such text.
  package static func text(of date: Date) -> String? {
    let seconds = date.timeIntervalSinceReferenceDate
    guard years.contains(seconds) else { return nil }
    let whole = seconds.rounded(.down)
    let text = Date(timeIntervalSinceReferenceDate: whole).formatted(format)
    if seconds == whole { return seconds == 0 && seconds.sign == .minus ? nil : text }
    var scale = 1.0
    for count in 1...12 {
      scale *= 10
      let digits = "\(Int64(((seconds - whole) * scale).rounded()))"
      if digits.utf8.count > count { continue }
      let fraction = String(repeating: "0", count: count - digits.utf8.count) + digits
      if let part = Double("0." + fraction), whole + part == seconds {
        return "\(text.dropLast()).\(fraction)Z"
      }
    }
    return nil
  }

  /// The moment that a text names: in UTC or with an offset, or a day: its midnight in UTC.
  ///
  /// - Returns: `nil` for another text, and for a day that is in no calendar.
  package static func date(of text: String) -> Date? {
    if text.utf8.count == 10 { return date(of: "\(text)T00:00:00Z") }
    var (whole, part) = (text, 0.0)
    if let point = text.firstIndex(of: ".") {
      let rest = text[text.index(after: point)...]
      let digits = rest.prefix { ("0"..."9").contains($0) }
      guard let fraction = Double("0.\(digits)"), !digits.isEmpty else { return nil }
      part = fraction
      whole = "\(text[..<point])\(rest.dropFirst(digits.count))"
    }
    // Foundation takes the 30th of February for the second of March, and passes over a rest.
    let head = "\(whole.prefix(19))Z"
    guard let local = try? format.parse(head), local.formatted(format) == head,
      let date = whole == head ? local : moment(withOffset: whole)
    else { return nil }
    return Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate + part)
  }

  private static func moment(withOffset text: String) -> Date? {
    guard text.wholeMatch(of: /.{19}[+-][0-9]{2}:?[0-9]{2}/) != nil else { return nil }
    return try? format.parse(text)
  }
}
