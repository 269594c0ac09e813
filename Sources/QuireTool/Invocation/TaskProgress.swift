import Foundation
import Synchronization

/// The progress of a long task: one line on a terminal, from half a second on, which is wiped at
/// the end.
///
/// The task only records how far it is. A thread of its own draws the line, so that time goes on in
/// it also while the task is silent.
package final class TaskProgress: Sendable {
  /// What the numbers of a task count.
  package enum Unit: Sendable {
    case bytes
    case objects
    case entries
    /// Parts of no known size, of which only the share says something.
    case parts
  }

  private struct State {
    var text: ProgressText
    var isDrawn = false
    var isOver = false
  }

  private static let delay: TimeInterval = 0.5
  private static let interval: TimeInterval = 0.1

  private let state: Mutex<State>
  private let start = ContinuousClock.now

  /// - Parameter terminal: that of the standard error; without one, nothing is drawn.
  init(_ title: String, _ unit: Unit, on terminal: Terminal?) {
    state = Mutex(State(text: ProgressText(title: title, unit: unit)))
    guard let terminal, terminal.canRewriteLine else { return }
    Thread.detachNewThread { [self] in
      Thread.sleep(forTimeInterval: Self.delay)
      while draw(columnCount: terminal.columnCount ?? 80) {
        Thread.sleep(forTimeInterval: Self.interval)
      }
    }
  }

  /// Records how far the task is.
  ///
  /// - Parameter title: what it does now, where that has changed.
  /// - Throws: `CancellationError` when the process was asked to end.
  func reach(_ done: Int, of total: Int, _ title: String? = nil) throws {
    record(done, of: total, title)
    try Interruption.check()
  }

  /// Records how far the task is, also where it cannot be ended.
  func record(_ done: Int, of total: Int, _ title: String? = nil) {
    state.withLock {
      if let title { $0.text.title = title }
      $0.text.done = done
      $0.text.total = total
    }
  }

  /// Wipes the line; it is not drawn again.
  func finish() {
    state.withLock {
      $0.isOver = true
      if $0.isDrawn { Self.write("\r\u{1B}[K") }
    }
  }

  /// - Returns: whether the task goes on.
  private func draw(columnCount: Int) -> Bool {
    let elapsed = ContinuousClock.now - start
    return state.withLock {
      if $0.isOver { return false }
      $0.isDrawn = true
      // Not into the last column, after which some terminals begin a new line.
      let line = $0.text.line(after: elapsed).cut(to: max(columnCount - 1, 0))
      Self.write("\r\(line)\u{1B}[K")
      return true
    }
  }

  /// Past the buffered output, which belongs to the thread of the task.
  private static func write(_ text: String) {
    var text = text
    text.withUTF8 { _ = Foundation.write(2, $0.baseAddress, $0.count) }
  }
}

/// What the line of a task says.
package struct ProgressText {
  private static let barWidth = 20

  package var title: String
  package var unit: TaskProgress.Unit
  package var done = 0
  /// 0 when it is not known.
  package var total = 0

  package init(title: String, unit: TaskProgress.Unit) {
    self.title = title
    self.unit = unit
  }

  package func line(after elapsed: Duration) -> String {
    let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    guard total > 0 else { return "\(title)  \(Self.time(seconds))" }
    let share = min(1, Double(done) / Double(total))
    let full = Int(share * Double(Self.barWidth))
    let bar =
      String(repeating: "=", count: full) + String(repeating: " ", count: Self.barWidth - full)
    var line = "\(title)  [\(bar)] \("\(Int(share * 100))".aligned(rightTo: 3))%"
    let rate = Int(Double(done) / max(seconds, 0.001))
    switch unit {
    case .bytes:
      line += "  \(Self.size(done)) of \(Self.size(total)), \(Self.size(rate))/s"
    case .objects: line += "  \(done.grouped) of \(total.counting("object")), \(rate.grouped)/s"
    case .entries:
      line += "  \(done.grouped) of \(total.counting("entry", "entries")), \(rate.grouped)/s"
    case .parts: break
    }
    // The first hundredth says too little about the rest.
    if share >= 0.01, share < 1 {
      line += "  \(Self.time(seconds * (1 - share) / share)) left"
    }
    return line
  }

  private static func size(_ byteCount: Int) -> String {
    if byteCount < 1_000 { return "\(byteCount) bytes" }
    var (value, units) = (Double(byteCount) / 1_000, ["kB", "MB", "GB", "TB"][...])
    while value >= 1_000, units.count > 1 {
      value /= 1_000
      units.removeFirst()
    }
    return String(format: "%.1f ", value) + (units.first ?? "")
  }

  private static func time(_ seconds: Double) -> String {
    let seconds = Int(seconds.rounded(.up))
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3_600 { return "\(seconds / 60) min \(seconds % 60) s" }
    return "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
  }
}
