/// An element for each page, of which only groups of pages take memory that have another one than
/// most: a file may be long and have nothing in it.
struct PageTable<Element> {
  let count: Int
  private let usual: Element
  private var groups: [[Element]]
  private static var groupCount: Int { 1024 }

  init(repeating usual: Element, count: Int) {
    self.count = count
    self.usual = usual
    let groupCount = PageTable.groupCount
    groups = Array(repeating: [], count: (count + groupCount - 1) / groupCount)
  }

  subscript(number: Int) -> Element {
    get {
      let group = groups[number / PageTable.groupCount]
      return group.isEmpty ? usual : group[number % PageTable.groupCount]
    }
    set {
      let index = number / PageTable.groupCount
      if groups[index].isEmpty {
        groups[index] = Array(repeating: usual, count: PageTable.groupCount)
      }
      groups[index][number % PageTable.groupCount] = newValue
    }
  }

  /// The first page at or after `number` whose group has another element than most.
  func firstUnusual(from number: Int) -> Int? {
    guard number < count else { return nil }
    let first = number / PageTable.groupCount
    guard let index = groups[first...].firstIndex(where: { !$0.isEmpty }) else { return nil }
    return index == first ? number : index * PageTable.groupCount
  }
}

extension PageTable: Sendable where Element: Sendable {}
