#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The parts of a date in UTC, as Foundation's Gregorian calendar has them, by which texts are read
/// and written (``MomentText``): before 15 October 1582 it is the Julian one.
///
/// The days are found by Howard Hinnant's `civil_from_days` ("chrono-Compatible Low-Level Date
/// Algorithms", 2013), in integers: a calendar of Foundation's takes many times as long, and a
/// condition is asked of each row. `LockOwner` has the same for a text, on a floor without dates.
struct CivilDate {
  /// The year before 1 is 0, and -1 before that.
  let year: Int64
  /// 1 to 12.
  let month: Int64
  /// 1 to 31.
  let day: Int64
  /// 1 for Sunday to 7 for Saturday.
  let weekday: Int64
  let hour: Int64
  let minute: Int64
  let second: Int64

  /// The seconds from 1970 to the reference date of `Date`.
  private static let referenceDate: Int64 = 978_307_200
  /// 15 October 1582 in days since 1970: the day after 4 October.
  private static let firstGregorianDay: Int64 = -141_427

  /// - Returns: `nil` for a date that is no number, or so far away that its seconds are not exact.
  init?(_ date: Date) {
    let seconds = date.timeIntervalSinceReferenceDate.rounded(.down)
    guard abs(seconds) < 9e15 else { return nil }
    let time = Int64(seconds) + Self.referenceDate
    let (days, rest) = Self.floored(time, by: 86_400)
    // Years are counted from March, so that the leap day is the last day of a year.
    let marchYear: Int64
    let dayOfYear: Int64
    if days >= Self.firstGregorianDay {
      let (era, dayOfEra) = Self.floored(days + 719_468, by: 146_097)
      let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
      dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
      marchYear = yearOfEra + era * 400
    } else {
      // Each fourth year has a leap day; 1 March of the year 0 was two days earlier.
      let (era, dayOfEra) = Self.floored(days + 719_470, by: 1461)
      let yearOfEra = (dayOfEra - dayOfEra / 1460) / 365
      dayOfYear = dayOfEra - 365 * yearOfEra
      marchYear = yearOfEra + era * 4
    }
    let marchMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    year = marchYear + (month <= 2 ? 1 : 0)
    // 1970 began on a Thursday.
    weekday = Self.floored(days + 4, by: 7).rest + 1
    (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
  }

  private static func floored(_ number: Int64, by size: Int64) -> (whole: Int64, rest: Int64) {
    let (whole, rest) = number.quotientAndRemainder(dividingBy: size)
    return rest < 0 ? (whole - 1, rest + size) : (whole, rest)
  }
}
