/// A line in which elements wait: the first to come is the first to go.
struct WaitingLine<Element> {
  private var elements: [Element?] = []
  private var start = 0

  var isEmpty: Bool { start == elements.count }
  var count: Int { elements.count - start }

  mutating func append(_ element: Element) { elements.append(element) }

  /// Adds one that has waited before, in front of all others.
  mutating func prepend(_ element: Element) {
    if start > 0 {
      start -= 1
      elements[start] = element
    } else {
      elements.insert(element, at: 0)
    }
  }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = elements[start]
    elements[start] = nil
    start += 1
    // Amortised: as many are moved as have gone since the last time.
    if start * 2 > elements.count {
      elements.removeFirst(start)
      start = 0
    }
    return element
  }

  /// Removes the first element that fits.
  ///
  /// - Returns: whether there was one.
  /// - Complexity: O(elements).
  mutating func remove(where isWanted: (Element) -> Bool) -> Bool {
    guard let index = elements.firstIndex(where: { $0.map(isWanted) ?? false }) else {
      return false
    }
    elements.remove(at: index)
    return true
  }
}
