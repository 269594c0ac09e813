/// The process that has a store open, as far as it is known.
///
/// It is stored beside the store in a small text file that is valid only while the lock is held, so
/// that an old one after a crash does no harm.
public struct LockOwner: Hashable, Sendable {
  /// The process; 0 when unknown.
  public var processID: Int32
  /// The name of the program; empty when unknown.
  public var processName: String
  /// The machine; empty when unknown.
  public var host: String
  /// When it opened the store, in seconds since 1970 (UTC); 0 when unknown.
  public var since: Int64

  /// - Parameter since: when it opened the store, in seconds since 1970 (UTC); 0 when unknown.
  public init(processID: Int32, processName: String, host: String, since: Int64) {
    self.processID = processID
    self.processName = processName
    self.host = host
    self.since = since
  }

  /// A lock is held, but its owner left no readable note.
  public static let unknown = LockOwner(processID: 0, processName: "", host: "", since: 0)

  /// The lock is shared by processes that only read; they leave no note.
  public static let readers = LockOwner(
    processID: 0, processName: "readers", host: "", since: 0)

  /// The note's text: one line per field.
  var note: String { "\(processID)\n\(processName)\n\(host)\n\(since)\n" }

  /// Reads a note; fields that are missing or nonsense become unknown.
  init(note: String) {
    let lines = note.split(separator: "\n", omittingEmptySubsequences: false)
    func line(_ index: Int) -> Substring { index < lines.count ? lines[index] : "" }
    self.init(
      processID: Int32(line(0)) ?? 0, processName: String(line(1)), host: String(line(2)),
      since: Int64(line(3)) ?? 0)
  }
}

extension LockOwner: CustomStringConvertible {
  public var description: String {
    if self == .readers { return "a process that reads it" }
    guard processID != 0 else { return "an unknown process" }
    var text = "process \(processID)"
    if !processName.isEmpty { text += " (\(processName))" }
    if !host.isEmpty { text += " on \(host)" }
    if since != 0 { text += " since \(LockOwner.utcText(since))" }
    return text
  }

  /// Formats seconds since 1970 as `2025-01-31 12:00:00 UTC` by the civil-from-days algorithm.
  static func utcText(_ seconds: Int64) -> String {
    var days = seconds / 86_400
    var rest = seconds % 86_400
    if rest < 0 {
      rest += 86_400
      days -= 1
    }
    // Years are counted from March, so that the leap day is the last day of a year.
    let shifted = days &+ 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
    return "\(year)-\(two(month))-\(two(day)) "
      + "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60)) UTC"
  }
}
