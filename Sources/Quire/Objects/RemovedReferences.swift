import QuireStorage

/// The members that a relationship has lost, in no order, each once.
///
/// Few are compared one after the other, which costs less than hashing them; many are in a table.
struct RemovedReferences: Sequence, ExpressibleByArrayLiteral {
  private static let comparedCount = 16

  private var few: [Reference] = []
  /// All of them, when they are more than a few; otherwise empty.
  private var many: Set<Reference> = []

  init() {}

  init(arrayLiteral elements: Reference...) { self.init(elements) }

  init(_ references: some Sequence<Reference>) {
    for reference in references { insert(reference) }
  }

  var isEmpty: Bool { few.isEmpty && many.isEmpty }

  var count: Int { few.count + many.count }

  /// - Complexity: O(1).
  func contains(_ reference: Reference) -> Bool {
    many.isEmpty ? few.contains(reference) : many.contains(reference)
  }

  mutating func insert(_ reference: Reference) {
    if !many.isEmpty {
      many.insert(reference)
    } else if !few.contains(reference) {
      few.append(reference)
      if few.count > Self.comparedCount { (few, many) = ([], Set(few)) }
    }
  }

  /// - Returns: whether it was there.
  @discardableResult
  mutating func remove(_ reference: Reference) -> Bool {
    if !many.isEmpty { return many.remove(reference) != nil }
    guard let index = few.firstIndex(of: reference) else { return false }
    few.swapAt(index, few.count - 1)
    few.removeLast()
    return true
  }

  mutating func formIntersection(_ others: Set<Reference>) {
    self = RemovedReferences(lazy.filter(others.contains))
  }

  func makeIterator() -> AnyIterator<Reference> {
    if many.isEmpty {
      var few = few.makeIterator()
      return AnyIterator { few.next() }
    }
    var many = many.makeIterator()
    return AnyIterator { many.next() }
  }
}
