/// A list in chunks of some hundred elements, which its copies share as long as they are equal.
///
/// A list of 100,000 objects that differs from another in one of them is made by copying one chunk
/// and the list of chunks: some hundred references are retained in place of 100,000.
struct ChunkedList<Element>: RandomAccessCollection {
  /// The number of elements in a chunk of a new list.
  private static var usualCount: Int { 512 }
  /// Beyond it a chunk is divided.
  private static var largestCount: Int { 1_024 }

  /// None is empty.
  private(set) var chunks: [[Element]] = []
  /// The position of the first element of each chunk.
  private var starts: [Int] = []
  private(set) var count = 0

  init(_ elements: [Element]) {
    count = elements.count
    starts = Array(stride(from: 0, to: count, by: Self.usualCount))
    chunks = starts.map { Array(elements[$0..<Swift.min($0 + Self.usualCount, count)]) }
  }

  var startIndex: Int { 0 }
  var endIndex: Int { count }

  /// - Complexity: O(log *n*).
  subscript(index: Int) -> Element {
    let chunk = chunk(of: index)
    return chunks[chunk][index - starts[chunk]]
  }

  /// The number of the chunk that has an element, or the last one for the end of the list.
  private func chunk(of index: Int) -> Int {
    var (low, high) = (0, starts.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if starts[middle] <= index { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// - Complexity: O(*c* + elements of a chunk), with *c* chunks; so is ``insert(_:at:)``.
  mutating func remove(at index: Int) {
    let chunk = chunk(of: index)
    chunks[chunk].remove(at: index - starts[chunk])
    count -= 1
    if chunks[chunk].isEmpty {
      chunks.remove(at: chunk)
      starts.remove(at: chunk)
      for later in chunk..<starts.count { starts[later] -= 1 }
    } else {
      for later in chunk + 1..<starts.count { starts[later] -= 1 }
    }
  }

  mutating func insert(_ element: Element, at index: Int) {
    count += 1
    guard !chunks.isEmpty else {
      (chunks, starts) = ([[element]], [0])
      return
    }
    let chunk = chunk(of: index)
    chunks[chunk].insert(element, at: index - starts[chunk])
    for later in chunk + 1..<starts.count { starts[later] += 1 }
    let newCount = chunks[chunk].count
    guard newCount > Self.largestCount else { return }
    let half = Array(chunks[chunk][(newCount / 2)...])
    chunks[chunk].removeLast(half.count)
    chunks.insert(half, at: chunk + 1)
    starts.insert(starts[chunk] + newCount - half.count, at: chunk + 1)
  }

  func makeIterator() -> FlattenSequence<[[Element]]>.Iterator { chunks.joined().makeIterator() }
}

extension ChunkedList: ExpressibleByArrayLiteral {
  init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension ChunkedList: Sendable where Element: Sendable {}

extension ChunkedList: Equatable where Element: Equatable {
  static func == (left: Self, right: Self) -> Bool {
    // Arrays that share their memory are found equal at once.
    left.count == right.count && (left.chunks == right.chunks || left.elementsEqual(right))
  }
}

extension ChunkedList: Hashable where Element: Hashable {
  func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for element in self { hasher.combine(element) }
  }
}

extension ChunkedList where Element: AnyObject {
  /// The positions of those of the objects that are in the list, by their identities.
  ///
  /// - Parameter objects: few: every element is compared.
  /// - Complexity: O(*n*), some 50 µs for 100,000 elements and one object.
  func positions(of objects: Set<ObjectIdentifier>) -> [ObjectIdentifier: Int] {
    var positions: [ObjectIdentifier: Int] = [:]
    let single = objects.count == 1 ? objects.first : nil
    for (chunk, start) in zip(chunks, starts) {
      for (offset, element) in chunk.enumerated() {
        let identity = ObjectIdentifier(element)
        if single.map({ $0 == identity }) ?? objects.contains(identity) {
          positions[identity] = start + offset
          if positions.count == objects.count { return positions }
        }
      }
    }
    return positions
  }
}
