/// Which source object became which destination objects, mapping by mapping.
///
/// Of each pair two references are kept, not objects: 32 bytes, whatever the objects hold.
/// Destinations that have no place in the store yet are kept as objects until they have.
struct MigrationAssociations {
  typealias Pair = (source: Reference, destination: Reference)

  private struct Table {
    /// In the order in which they were made.
    var pairs: [Pair] = []
    var bySource = Order()
    var byDestination = Order()
    var unsaved: [(source: Reference, destination: ManagedObject)] = []
  }

  /// The indexes of a table's pairs in the order of one side, made when it is asked for.
  private struct Order {
    var indexes: [UInt32] = []
    /// How many pairs there were when it was made.
    var count = 0
  }

  private var tables: [String: Table] = [:]

  mutating func associate(
    _ source: Reference, with destination: ManagedObject, in mapping: String
  ) {
    if destination.isPersistent {
      tables[mapping, default: Table()].pairs.append((source, destination.reference))
    } else {
      tables[mapping, default: Table()].unsaved.append((source, destination))
    }
  }

  /// Takes the places of destinations that were saved since.
  mutating func settle() {
    for name in tables.keys {
      guard let unsaved = tables[name]?.unsaved, !unsaved.isEmpty else { continue }
      for (source, destination) in unsaved where destination.isPersistent {
        tables[name]?.pairs.append((source, destination.reference))
      }
      tables[name]?.unsaved = unsaved.filter { !$0.destination.isPersistent }
    }
  }

  /// The number of pairs whose destination has its place.
  func count(in mapping: String) -> Int { tables[mapping]?.pairs.count ?? 0 }

  func pair(_ index: Int, in mapping: String) -> Pair? {
    tables[mapping]?.pairs[index]
  }

  func unsavedDestinations(of source: Reference?, in mapping: String) -> [ManagedObject] {
    guard let unsaved = tables[mapping]?.unsaved else { return [] }
    return unsaved.filter { source == nil || $0.source == source }.map(\.destination)
  }

  func unsavedSources(of destination: ManagedObject, in mapping: String) -> [Reference] {
    guard let unsaved = tables[mapping]?.unsaved else { return [] }
    return unsaved.filter { $0.destination === destination }.map(\.source)
  }

  /// In the order in which they were associated.
  mutating func destinations(of source: Reference, in mapping: String) -> [Reference] {
    find(source, in: mapping, \.bySource, { $0.source }).map(\.destination)
  }

  mutating func sources(of destination: Reference, in mapping: String) -> [Reference] {
    find(destination, in: mapping, \.byDestination, { $0.destination }).map(\.source)
  }

  private mutating func find(
    _ reference: Reference, in mapping: String, _ order: WritableKeyPath<Table, Order>,
    _ side: (Pair) -> Reference
  ) -> [Pair] {
    guard let pairs = tables[mapping]?.pairs, !pairs.isEmpty else { return [] }
    if tables[mapping]?[keyPath: order].count != pairs.count {
      // Mostly they were made in this order, and sorting costs one look at each.
      let indexes = (0..<UInt32(pairs.count)).sorted {
        let (left, right) = (side(pairs[Int($0)]), side(pairs[Int($1)]))
        return (left, $0) < (right, $1)
      }
      tables[mapping]?[keyPath: order] = Order(indexes: indexes, count: pairs.count)
    }
    guard let indexes = tables[mapping]?[keyPath: order].indexes else { return [] }
    var (low, high) = (0, indexes.count)
    while low < high {
      let middle = (low + high) / 2
      if side(pairs[Int(indexes[middle])]) < reference {
        low = middle + 1
      } else {
        high = middle
      }
    }
    var found: [Pair] = []
    while low < indexes.count, side(pairs[Int(indexes[low])]) == reference {
      found.append(pairs[Int(indexes[low])])
      low += 1
    }
    return found
  }
}
