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
      let place = place(of: name)
      return place < all.count && all[place].name == name ? all[place].state : nil
    }
    set {
      let place = place(of: name)
      let isKnown = place < all.count && all[place].name == name
      switch newValue {
      case let state? where isKnown: all[place] = Known(name, state)
      case let state?: all.insert(Known(name, state), at: place)
      case nil: if isKnown { all.remove(at: place) }
      }
    }
  }

  /// Where the name is, or would be.
  private func place(of name: [UInt8]) -> Int {
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
