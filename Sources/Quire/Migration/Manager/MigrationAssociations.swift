/// The associations of source and destination objects, by mapping.
///
/// A pair is stored as two references, not objects: 16 bytes, regardless of the objects, and 4 more
/// for each side whose order is not that of the pairs. Unsaved destinations are kept as objects
/// until they have a reference.
struct MigrationAssociations {
  typealias Pair = (source: Reference, destination: Reference)

  fileprivate struct Table {
    /// In the order in which they were made.
    var pairs: [Pair] = []
    var bySource = Order()
    var byDestination = Order()
    var unsaved: [(source: Reference, destination: ManagedObject)] = []
  }

  /// The indices of a table's pairs in the order of one side, sorted on demand.
  fileprivate struct Order {
    /// Empty if the pairs are in this order themselves, as they mostly are.
    var indexes: [UInt32] = []
    /// The number of pairs when it was sorted.
    var count = 0
    /// The position of the last look-up: the next one is mostly after it.
    var last = 0

    subscript(position: Int) -> Int { indexes.isEmpty ? position : Int(indexes[position]) }
  }

  fileprivate enum Side {
    case source, destination

    func reference(of pair: Pair) -> Reference {
      switch self {
      case .source: pair.source
      case .destination: pair.destination
      }
    }
  }

  /// In the order of their mappings' first association.
  private var tables: [Table] = []
  private var names: [String] = []
  private var lastTable = 0

  /// A linear search, as mappings are few, after a test of the last one used.
  private mutating func table(of mapping: String) -> Int? {
    if lastTable < names.count, names[lastTable] == mapping { return lastTable }
    guard let index = names.firstIndex(of: mapping) else { return nil }
    lastTable = index
    return index
  }

  mutating func associate(
    _ source: Reference, with destination: ManagedObject, in mapping: String
  ) {
    let index = table(of: mapping) ?? addTable(mapping)
    if destination.isPersistent {
      tables[index].pairs.append((source, destination.reference))
    } else {
      tables[index].unsaved.append((source, destination))
    }
  }

  private mutating func addTable(_ mapping: String) -> Int {
    names.append(mapping)
    tables.append(Table())
    return tables.count - 1
  }

  /// Replaces destinations that were saved since with their references.
  mutating func finish() {
    for index in tables.indices where !tables[index].unsaved.isEmpty {
      let unsaved = tables[index].unsaved
      tables[index].unsaved = unsaved.filter { !$0.destination.isPersistent }
      for (source, destination) in unsaved where destination.isPersistent {
        tables[index].pairs.append((source, destination.reference))
      }
    }
  }

  /// The number of pairs whose destination has a reference.
  mutating func count(in mapping: String) -> Int {
    table(of: mapping).map { tables[$0].pairs.count } ?? 0
  }

  mutating func pair(_ index: Int, in mapping: String) -> Pair? {
    table(of: mapping).map { tables[$0].pairs[index] }
  }

  mutating func unsavedDestinations(of source: Reference?, in mapping: String) -> [ManagedObject] {
    guard let index = table(of: mapping), !tables[index].unsaved.isEmpty else { return [] }
    return tables[index].unsaved.filter { source == nil || $0.source == source }.map(\.destination)
  }

  mutating func unsavedSources(of destination: ManagedObject, in mapping: String) -> [Reference] {
    guard let index = table(of: mapping) else { return [] }
    return tables[index].unsaved.filter { $0.destination === destination }.map(\.source)
  }

  /// In the order in which they were associated.
  mutating func destinations(of source: Reference, in mapping: String) -> [Reference] {
    guard let table = table(of: mapping) else { return [] }
    return MigrationAssociations.find(
      source, .source, in: tables[table].pairs, &tables[table].bySource
    ).map(\.destination)
  }

  mutating func sources(of destination: Reference, in mapping: String) -> [Reference] {
    guard let table = table(of: mapping) else { return [] }
    return MigrationAssociations.find(
      destination, .destination, in: tables[table].pairs, &tables[table].byDestination
    ).map(\.source)
  }

  private static func find(
    _ reference: Reference, _ side: Side, in pairs: [Pair], _ order: inout Order
  ) -> [Pair] {
    if order.count != pairs.count { order = Order(of: pairs, by: side) }
    func key(at position: Int) -> Reference { side.reference(of: pairs[order[position]]) }

    var low = order.last + 1
    if low >= pairs.count || key(at: low) != reference || key(at: low - 1) == reference {
      var high = pairs.count
      low = 0
      while low < high {
        let middle = (low + high) / 2
        if key(at: middle) < reference { low = middle + 1 } else { high = middle }
      }
    }
    var found: [Pair] = []
    while low < pairs.count, key(at: low) == reference {
      found.append(pairs[order[low]])
      order.last = low
      low += 1
    }
    return found
  }
}

extension MigrationAssociations.Order {
  fileprivate init(of pairs: [MigrationAssociations.Pair], by side: MigrationAssociations.Side) {
    count = pairs.count
    let isSorted = pairs.indices.dropFirst().allSatisfy {
      side.reference(of: pairs[$0 - 1]) <= side.reference(of: pairs[$0])
    }
    if isSorted { return }
    indexes = (0..<UInt32(pairs.count)).sorted {
      let (left, right) = (side.reference(of: pairs[Int($0)]), side.reference(of: pairs[Int($1)]))
      return (left, $0) < (right, $1)
    }
  }
}
