import Foundation
import Quire
import QuireModel

/// One key of an order. Foundation has a class of this name too; see ``NSPredicate``.
///
/// A function that compares values orders objects in memory; a fetch refuses it, as one in an
/// SQLite store does.
///
/// A descriptor does not change, and may be kept in a global, as with Foundation's: a comparator is
/// to be callable from any thread.
open class NSSortDescriptor: NSObject, @unchecked Sendable {
  /// A way to compare texts, in place of a selector of Objective-C:
  /// `#selector(NSString.localizedStandardCompare(_:))` becomes `.localizedStandardCompare`.
  public struct TextComparison: Hashable, Sendable {
    let options: FetchComparisonOptions
    /// Texts as they are; numbers and dates by their value.
    public static let compare = TextComparison(options: [])
    /// Texts without regard to case.
    public static let caseInsensitiveCompare = TextComparison(options: .caseInsensitive)
    /// Texts as they are. No locale has a say in an order.
    public static let localizedCompare = TextComparison(options: [])
    /// Texts without regard to case.
    public static let localizedCaseInsensitiveCompare = TextComparison(options: .caseInsensitive)
    /// Texts as a person would order them: `file2` before `file10`.
    public static let localizedStandardCompare = TextComparison(
      options: [.natural, .caseInsensitive, .diacriticInsensitive])
  }

  /// The key path of the values that are compared; `nil` for the objects themselves.
  public let key: String?
  /// Whether small values come first.
  public let ascending: Bool
  private let comparison: TextComparison
  private let comparator: Comparator?

  private init(
    _ key: String?, _ ascending: Bool, _ comparison: TextComparison, _ comparator: Comparator?
  ) {
    self.key = key
    self.ascending = ascending
    self.comparison = comparison
    self.comparator = comparator
  }

  /// An order of Quire's.
  convenience init(_ descriptor: FetchSortDescriptor) {
    self.init(
      descriptor.key, descriptor.ascending, TextComparison(options: descriptor.options), nil)
  }

  /// An order by the values at a key path.
  public convenience init(key: String?, ascending: Bool) {
    self.init(key, ascending, .compare, nil)
  }

  /// An order by the texts at a key path.
  public convenience init(key: String?, ascending: Bool, selector comparison: TextComparison?) {
    self.init(key, ascending, comparison ?? .compare, nil)
  }

  /// An order that a function decides.
  public convenience init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
    self.init(key, ascending, .compare, comparator)
  }

  /// An order by a property.
  public convenience init<Object: ManagedObject, Value>(
    keyPath: KeyPath<Object, Value>, ascending: Bool
  ) {
    self.init(key: FetchSortDescriptor(keyPath).key, ascending: ascending)
  }

  /// Quire's form of the descriptor.
  ///
  /// - Throws: error 134091 for one that has a function.
  public func fetchSortDescriptor() throws -> FetchSortDescriptor {
    guard comparator == nil, let key else {
      throw PersistenceError(
        .persistentStoreUnsupportedRequestType,
        "an order that a function decides is for objects in memory, not for a fetch")
    }
    return FetchSortDescriptor(key: key, ascending: ascending, options: comparison.options)
  }

  /// The order of two objects.
  open func compare(_ first: Any, to second: Any) -> ComparisonResult {
    let order: ComparisonResult
    if let comparator {
      order = comparator(value(of: first), value(of: second))
      guard !ascending else { return order }
      return ComparisonResult(rawValue: -order.rawValue) ?? .orderedSame
    }
    // Programs override this, so that it does not know where it was called.
    return raising("NSSortDescriptor.compare(_:to:) by \(key ?? "SELF")") {
      let descriptor = FetchSortDescriptor(
        key: "value", ascending: ascending, options: comparison.options)
      let order = descriptor.compare(
        try predicateArgument(value(of: first))?.predicateValue,
        try predicateArgument(value(of: second))?.predicateValue)
      return order < 0 ? .orderedAscending : order > 0 ? .orderedDescending : .orderedSame
    }
  }

  private func value(of object: Any) -> Any {
    guard let key else { return object }
    let value = NSExpression(forKeyPath: key).expressionValue(with: object, context: nil)
    return value ?? NSNull()
  }

  /// The same order backwards.
  open var reversedSortDescriptor: NSSortDescriptor {
    NSSortDescriptor(key, !ascending, comparison, comparator)
  }

  /// Whether the other object is the same descriptor.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSSortDescriptor else { return false }
    return self === other
      || key == other.key && ascending == other.ascending && comparison == other.comparison
        && comparator == nil && other.comparator == nil
  }

  /// Equal descriptors have equal hashes.
  open override var hash: Int { (key ?? "").hashValue }
}

// MARK: - Collections

private func ordered(_ objects: [Any], _ descriptors: [NSSortDescriptor]) -> [Any] {
  objects.sorted { first, second in
    for descriptor in descriptors {
      let order = descriptor.compare(first, to: second)
      if order != .orderedSame { return order == .orderedAscending }
    }
    return false
  }
}

extension NSArray {
  /// The members for which a predicate holds.
  public func filtered(using predicate: NSPredicate) -> [Any] {
    filter { predicate.evaluate(with: $0) }
  }

  /// The members in an order.
  public func sortedArray(using descriptors: [NSSortDescriptor]) -> [Any] {
    ordered(map { $0 }, descriptors)
  }
}

extension NSSet {
  /// The members for which a predicate holds.
  public func filtered(using predicate: NSPredicate) -> Set<AnyHashable> {
    Set(allObjects.filter { predicate.evaluate(with: $0) }.compactMap { $0 as? AnyHashable })
  }

  /// The members in an order.
  public func sortedArray(using descriptors: [NSSortDescriptor]) -> [Any] {
    ordered(allObjects, descriptors)
  }
}

extension NSOrderedSet {
  /// The members for which a predicate holds, in their order.
  public func filtered(using predicate: NSPredicate) -> NSOrderedSet {
    NSOrderedSet(array: array.filter { predicate.evaluate(with: $0) })
  }

  /// The members in an order.
  public func sortedArray(using descriptors: [NSSortDescriptor]) -> [Any] {
    ordered(array, descriptors)
  }
}
