import Foundation
import QuireModel

/// Moments as people write them: `2024-05-01`, `2024-05-01 12:30`, `2024-05-01T12:30:00.5+02:00`.
///
/// The year comes first. Without a time it is the day's midnight, and without a zone it is in UTC,
/// as moments are printed.
enum DateText {
  /// The moment that a text names; `nil` where it names none for sure.
  static func date(of text: String) -> Date? {
    let pattern =
      #/([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[Tt ]\ *([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?(\ *(?:[Zz]|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?)?/#
    guard let match = text.wholeMatch(of: pattern)?.output else { return MomentText.date(of: text) }
    func padded(_ digits: Substring) -> String { digits.count == 1 ? "0\(digits)" : "\(digits)" }
    let day = "\(match.1)-\(padded(match.2))-\(padded(match.3))"
    guard let hour = match.4, let minute = match.5 else { return MomentText.date(of: day) }
    // Foundation takes 24:00 and 12:75 for moments of the next day and hour.
    guard (Int(hour) ?? 99) < 24, (Int(minute) ?? 99) < 60 else { return nil }
    return MomentText.date(
      of: "\(day)T\(padded(hour)):\(minute):\(match.6 ?? "00")\(zone(match.7 ?? "Z"))")
  }

  /// `Z`, or an offset with hours and minutes.
  private static func zone(_ text: Substring) -> String {
    let zone = text.drop { $0 == " " }
    guard zone.first == "+" || zone.first == "-" else { return "Z" }
    return zone.count == 3 ? "\(zone):00" : "\(zone)"
  }

  /// Why a text is no moment, and how to write one.
  static func mistake(in text: String) -> String {
    let advice =
      "write the year first, as 2024-05-31 or 2024-05-31 12:30, in UTC or with +02:00 after it"
    if text.contains(#/^[0-9]{4}-/#) {
      return "“\(text.cut(to: 40))” is in no calendar or on no clock: \(advice)"
    }
    if text.contains(#/[0-9]{1,2}[.\/-][0-9]{1,2}[.\/-][0-9]{2,4}/#) {
      return "“\(text.cut(to: 40))” may be more than one day: \(advice)"
    }
    return "“\(text.cut(to: 40))” is no date: \(advice)"
  }

  /// A format whose dates with a time stand in quotation marks, as these cannot be read otherwise,
  /// and the offsets of the quotation marks.
  static func quotingMoments(in format: String) -> (format: String, offsets: [Int]) {
    let moment =
      #/[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[T\ ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:\ ?(?:Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)(?![A-Za-z0-9]))?/#
    var (result, offsets, rest) = ("", [Int](), format[...])
    var quote: Character?
    while let next = rest.first {
      if quote == nil, next.isNumber, result.last?.isLetter != true, result.last?.isNumber != true,
        let match = rest.prefixMatch(of: moment)
      {
        offsets.append(result.count)
        result += "\"\(match.output)\""
        offsets.append(result.count - 1)
        rest = rest[match.range.upperBound...]
        continue
      }
      rest.removeFirst()
      result.append(next)
      if next == "\\", quote != nil, let escaped = rest.popFirst() {
        result.append(escaped)
      } else if next == quote {
        quote = nil
      } else if quote == nil, next == "\"" || next == "'" {
        quote = next
      }
    }
    return (result, offsets)
  }
}
