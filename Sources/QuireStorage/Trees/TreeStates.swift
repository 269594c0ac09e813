/// The trees that a transaction knows, in the order of their names' bytes: two strings that Swift
/// calls equal may be different names.
///
/// Not a dictionary: the first one with such keys would cost a process two searches for
/// conformances, which is more than a migration's worth of lookups here.
struct TreeStates {
  /// An object, as a process pays for the first array of another type.
  final class Known {
    let name: [UInt8]
    let state: TreeState

    init(_ name: [UInt8], _ state: TreeState) {
      self.name = name
      self.state = state
    }
  }

  private(set) var all: [Known] = []

  subscript(name: [UInt8]) -> TreeState? {
    get {
      let index = index(of: name)
      return index < all.count && all[index].name == name ? all[index].state : nil
    }
    set {
      let index = index(of: name)
      let isKnown = index < all.count && all[index].name == name
      switch newValue {
      case let state? where isKnown: all[index] = Known(name, state)
      case let state?: all.insert(Known(name, state), at: index)
      case nil: if isKnown { all.remove(at: index) }
      }
    }
  }

  /// Where the name is, or would be.
  private func index(of name: [UInt8]) -> Int {
    var (first, end) = (0, all.count)
    while first < end {
      let middle = (first + end) / 2
      if all[middle].name.lexicographicallyPrecedes(name) {
        first = middle + 1
      } else {
        end = middle
      }
    }
    return first
  }
}
