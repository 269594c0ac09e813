import Synchronization

/// The lines that the code of a guide has printed; its suite has a method `print` that adds to it.
final class Printout: Sendable {
  private let lines = Mutex<[String]>([])

  func add(_ items: [Any]) {
    let line = items.map { "\($0)" }.joined(separator: " ")
    lines.withLock { $0.append(line) }
  }

  /// What was printed since this was last asked for.
  func take() -> String {
    lines.withLock { lines in
      defer { lines = [] }
      return lines.joined(separator: "\n")
    }
  }
}
