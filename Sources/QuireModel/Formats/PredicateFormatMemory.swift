import Synchronization

/// Formats that were read lately and compare one key path with one argument, which is what most
/// requests of a program are written as: such a format is read once, and not for each request.
enum PredicateFormatMemory {
  private struct Entry {
    let format: String
    let comparison: FetchPredicate.Comparison
  }

  private struct Entries {
    var list: [Entry] = []
    /// The one that goes for the next.
    var oldest = 0
  }

  private static let capacity = 16
  private static let entries = Mutex(Entries())

  /// - Returns: `nil` when the format is another, or was not read lately.
  static func predicate(_ format: String, _ argument: AttributeValue) -> FetchPredicate? {
    let comparison = entries.withLock { entries in
      entries.list.first { $0.format == format }?.comparison
    }
    guard var comparison else { return nil }
    comparison.right = .constant(.value(argument))
    return .comparison(comparison)
  }

  /// Notes what a format with one argument was read as, if another argument makes no difference
  /// but for itself: one that ends with it, right after the sign of a comparison.
  static func note(_ format: String, _ predicate: FetchPredicate) {
    guard case .comparison(var comparison) = predicate, comparison.modifier == .direct,
      case .keyPath = comparison.left, case .constant(.value) = comparison.right,
      endsWithArgument(format.utf8)
    else { return }
    comparison.right = .constant(nil)
    let entry = Entry(format: format, comparison: comparison)
    entries.withLock { entries in
      if entries.list.contains(where: { $0.format == format }) { return }
      if entries.list.count < capacity { return entries.list.append(entry) }
      entries.list[entries.oldest] = entry
      entries.oldest = (entries.oldest + 1) % capacity
    }
  }

  private static func endsWithArgument(_ format: String.UTF8View) -> Bool {
    guard format.suffix(2).elementsEqual("%@".utf8) else { return false }
    let rest = format.dropLast(2)
    guard let sign = rest.last(where: { $0 != UInt8(ascii: " ") }) else { return false }
    // The only percent sign, so that it belongs to the argument and not to a text.
    return "=<>".utf8.contains(sign) && !rest.contains(UInt8(ascii: "%"))
  }
}
