#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The name of a section, and the positions of its elements.
struct ListSection: Hashable, Sendable {
  let name: String
  var range: Range<Int>
}

/// The elements of a result in the order of a request, with their sections.
struct SectionedList<Element> {
  typealias Section = ListSection

  var elements: ChunkedList<Element> = []
  /// Adjacent sections; each element is in one of them.
  var sections: [Section] = []

  /// - Parameter index: the position of an element.
  func section(of index: Int) -> Int {
    var (low, high) = (0, sections.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if index < sections[middle].range.upperBound { high = middle } else { low = middle + 1 }
    }
    return low
  }

  func indexPath(of index: Int) -> IndexPath {
    let section = section(of: index)
    return IndexPath(indexes: [section, index - sections[section].range.lowerBound])
  }
}

extension SectionedList: Sendable where Element: Sendable {}
extension SectionedList: Equatable where Element: Equatable {}
extension SectionedList: Hashable where Element: Hashable {}

extension SectionedList<ManagedObject> {
  /// The object at a position, in the class of the request that has found it.
  func result<Result: ManagedObject>(at index: Int) -> Result {
    // Sound: what a fetch finds is checked to be of its class.
    unsafeDowncast(elements[index], to: Result.self)
  }
}
