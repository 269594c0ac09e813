import Synchronization

/// Formats that were read lately, each with a mark where an argument goes: a format that is used
/// again is not read again, whatever its arguments.
///
/// What a format means can depend on its arguments: `a[%@]` is a member of a list by a number, and
/// an element of a composite by a name. So a format is remembered for arguments of certain kinds,
/// and only if reading it with marks and putting the arguments in their place gave what reading it
/// with the arguments did.
package enum PredicateFormatMemory {
  private final class Entry: Sendable {
    let kinds: [ArgumentKind]
    /// The arguments that are key paths, which the predicate has in it.
    let keyPaths: [(index: Int, text: String)]
    let marked: FetchPredicate

    init(
      _ kinds: [ArgumentKind], _ keyPaths: [(index: Int, text: String)], _ marked: FetchPredicate
    ) {
      self.kinds = kinds
      self.keyPaths = keyPaths
      self.marked = marked
    }

    func fits(_ arguments: some FormatArguments) -> Bool {
      guard kinds.count == arguments.count else { return false }
      for index in kinds.indices where ArgumentKind(arguments[index]) != kinds[index] {
        return false
      }
      return keyPaths.allSatisfy { arguments[$0.index] == .value(.string($0.text)) }
    }
  }

  private struct Formats {
    /// For each format its entries for arguments of several kinds; none for one that was read once.
    var entries: [String: [Entry]] = [:]
  }

  private static let capacity = 128
  /// The number of bytes of the longest format that is remembered.
  private static let longest = 1_024
  private static let formats = Mutex(Formats())

  /// The predicate of a format.
  ///
  /// - Returns: `nil` when the format was not read lately with arguments of these kinds.
  package static func predicate(
    _ format: String, _ arguments: some FormatArguments
  ) -> FetchPredicate? {
    let entry = formats.withLock { $0.entries[format]?.first { $0.fits(arguments) } }
    return entry?.marked.replacingMarks(by: arguments)
  }

  /// Remembers a format with its arguments, when it is read for the second time: formats that are
  /// put together for one use stay what they cost.
  ///
  /// - Parameter predicate: what it was read as.
  static func record(
    _ format: String, _ arguments: [PredicateValue?], _ predicate: FetchPredicate
  ) {
    if format.utf8.count > longest { return }
    let wasRead = formats.withLock { formats in
      if formats.entries[format] != nil { return true }
      // Formats that are in use come back soon.
      if formats.entries.count >= capacity { formats = Formats() }
      formats.entries[format] = []
      return false
    }
    guard wasRead, let entry = entry(format, arguments, predicate) else { return }
    formats.withLock { formats in
      let known = formats.entries[format] ?? []
      // A key path as an argument may be another each time.
      if known.count < 8, !known.contains(where: { $0.fits(arguments) }) {
        formats.entries[format] = known + [entry]
      }
    }
  }

  /// Whether an argument is a text that is too long to be kept as a key path.
  private static func hasLongText(_ arguments: [PredicateValue?]) -> Bool {
    arguments.contains { argument in
      if case .value(.string(let text))? = argument { text.utf8.count > longest } else { false }
    }
  }

  private static func entry(
    _ format: String, _ arguments: [PredicateValue?], _ predicate: FetchPredicate
  ) -> Entry? {
    guard arguments.count <= ArgumentMark.limit, !hasLongText(arguments),
      var parser = try? PredicateFormatParser(format, arguments)
    else { return nil }
    parser.marksArguments = true
    guard let marked = try? parser.parse(), marked.replacingMarks(by: arguments) == predicate else {
      return nil
    }
    let keyPaths = parser.keyPathArguments.compactMap { index -> (Int, String)? in
      guard case .value(.string(let text))? = arguments[index] else { return nil }
      return (index, text)
    }
    return Entry(arguments.map(ArgumentKind.init), keyPaths, marked)
  }
}

/// The arguments of a format: an array, or a single one without an array around it.
package protocol FormatArguments: RandomAccessCollection
where Element == PredicateValue?, Index == Int {}

extension [PredicateValue?]: FormatArguments {}
extension CollectionOfOne: FormatArguments where Element == PredicateValue? {}

/// Kinds of arguments between which the meaning of a format can differ.
private enum ArgumentKind: UInt8 {
  case none, object, collection
  case boolean, integer, double, float, decimal, string, date, binary, uuid, uri, transformed
  case objectID, composite

  init(_ argument: PredicateValue?) {
    self =
      switch argument {
      case nil: .none
      case .object: .object
      case .collection: .collection
      case .value(let value):
        switch value {
        case .boolean: .boolean
        case .integer: .integer
        case .double: .double
        case .float: .float
        case .decimal: .decimal
        case .string: .string
        case .date: .date
        case .binary: .binary
        case .uuid: .uuid
        case .uri: .uri
        case .transformed: .transformed
        case .objectID: .objectID
        case .composite: .composite
        }
      }
  }
}

/// The variables that mark arguments. No name of a format looks like theirs, but for one in
/// quotation marks, which makes the predicates differ that ``PredicateFormatMemory`` compares.
enum ArgumentMark {
  static let limit = 10

  static func variable(_ index: Int) -> FetchExpression { .variable("\u{1}\(index)") }

  /// The number of the argument that a variable marks; `nil` for other variables.
  static func index(_ name: String) -> Int? {
    let bytes = name.utf8
    guard bytes.count == 2, bytes.first == 1, let digit = bytes.last else { return nil }
    return Int(digit &- UInt8(ascii: "0"))
  }
}

extension FetchPredicate {
  fileprivate func replacingMarks(by arguments: some FormatArguments) -> FetchPredicate {
    switch self {
    case .constant: return self
    case .comparison(var comparison):
      comparison.left = comparison.left.replacingMarks(by: arguments)
      comparison.right = comparison.right.replacingMarks(by: arguments)
      return .comparison(comparison)
    case .and(let parts): return .and(parts.map { $0.replacingMarks(by: arguments) })
    case .or(let parts): return .or(parts.map { $0.replacingMarks(by: arguments) })
    case .not(let part): return .not(part.replacingMarks(by: arguments))
    }
  }
}

extension FetchExpression {
  fileprivate func replacingMarks(by arguments: some FormatArguments) -> FetchExpression {
    switch self {
    // In most cases one of these.
    case .keyPath, .constant, .evaluatedObject: return self
    case .variable(let name):
      guard let index = ArgumentMark.index(name), index < arguments.count else { return self }
      return FetchExpression(value: arguments[index])
    default:
      return replacingLeaves { leaf, _ in
        switch leaf {
        case .variable: leaf.replacingMarks(by: arguments)
        case .path(.variable(let name), let path):
          ArgumentMark.index(name).flatMap { $0 < arguments.count ? $0 : nil }
            .map { .path(FetchExpression(value: arguments[$0]), path) }
        default: nil
        }
      }
    }
  }
}
