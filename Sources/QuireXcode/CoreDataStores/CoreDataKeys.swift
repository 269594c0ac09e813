import QuireModel

/// The keys of one hierarchy of entities, ascending, each with its entity.
struct CoreDataKeys {
  private(set) var keys: [Int64] = []
  private var entities: [UInt32] = []

  /// - Precondition: `key` is greater than all before.
  mutating func append(_ key: Int64, entity: Int) {
    keys.append(key)
    entities.append(UInt32(entity))
  }

  /// The position of the entity of a key among the model's entities; `nil` when there is no such
  /// key.
  func entity(of key: Int64) -> Int? { keys.position(of: key).map { Int(entities[$0]) } }
}

/// The links of one relationship, seen from its source: for each key the keys it refers to, in
/// order.
struct CoreDataLinks {
  private var sources: [Int64] = []
  /// The index of the first target of each source; one more than there are sources.
  private var starts: [Int] = [0]
  private var targets: [Int64] = []

  var count: Int { targets.count }

  /// - Parameter links: with the position of the target among those of its source; targets in the
  ///   same position, or without one, are ordered by key, those without one after the others.
  init(_ links: [(source: Int64, target: Int64, position: Int64?)] = []) {
    let sorted = links.sorted {
      if $0.source != $1.source { return $0.source < $1.source }
      let (left, right) = ($0.position ?? .max, $1.position ?? .max)
      return left != right ? left < right : $0.target < $1.target
    }
    for link in sorted {
      if sources.last != link.source {
        sources.append(link.source)
        starts.append(targets.count)
      }
      targets.append(link.target)
      starts[starts.count - 1] = targets.count
    }
  }

  subscript(source: Int64) -> ArraySlice<Int64> {
    guard let position = sources.position(of: source) else { return [] }
    return targets[starts[position]..<starts[position + 1]]
  }
}

extension [Int64] {
  /// The position of a number in ascending ones.
  fileprivate func position(of number: Int64) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low] == number ? low : nil
  }
}
