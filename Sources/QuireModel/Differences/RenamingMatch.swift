/// Matches the things of one version with those of the next.
///
/// Things are matched by *renaming identifier*, which is the name unless it is given. Core Data
/// keeps identifiers along a chain of versions: `Collection`, then `Album` with the identifier
/// `Collection`, then `Album` with the same identifier again, so that any version can be matched
/// with any other. Identifiers may be ambiguous, because a new thing may take a name that was given
/// up. So certain matches go before less certain ones:
///
/// 1. Same identifier and same name, where one side gives the identifier: nothing was renamed now.
/// 2. An identifier that the destination gives, where its name is new: it was renamed.
/// 3. Same identifier and same name, given by neither side.
/// 4. Any same identifier: two things that exchanged their names, for instance.
/// 5. An identifier that the destination gives, and a source of that name: people write the last
///    name where Core Data wants the first.
/// 6. Same name.
///
/// Each thing is matched once at most. Versions with the same hash store the same things under the
/// same names, so between them only names count, whatever the identifiers say; the same holds where
/// no identifier is given.
///
/// A class, and made from the things themselves, as a process pays some 4 µs for the first array of
/// each type that is not a class: the first migration after a start makes a good deal of them.
final class RenamingMatch {
  // Indexes, or `none`: arrays of optionals would be two more types for the runtime to make.
  private var sources: [Int]
  private var destinations: [Int]
  private static let none = -1

  /// Matches nothing.
  init() { (sources, destinations) = ([], []) }

  /// The position of a destination's source, both in the order given.
  func source(ofDestination index: Int) -> Int? {
    sources.indices.contains(index) && sources[index] != Self.none ? sources[index] : nil
  }

  /// The position of a source's destination, both in the order given.
  func destination(ofSource index: Int) -> Int? {
    destinations.indices.contains(index) && destinations[index] != Self.none
      ? destinations[index] : nil
  }

  init<Thing: Renamable>(_ sources: [Thing], _ destinations: [Thing], byNameOnly: Bool) {
    self.sources = Array(repeating: Self.none, count: destinations.count)
    self.destinations = Array(repeating: Self.none, count: sources.count)
    guard byNameOnly || !sources.givesIdentifiers && !destinations.givesIdentifiers else {
      matchByIdentifier(sources, destinations)
      return
    }
    // Mostly both sides have the same order, except for added and removed things. The loop goes
    // over indexes, because descriptions are large and a loop over them would copy each.
    var next = 0
    var indexes: [String: Int]?
    for index in destinations.indices {
      let name = destinations[index].name
      if next >= sources.count || sources[next].name != name {
        let known =
          indexes
          ?? Dictionary(sources.indices.map { (sources[$0].name, $0) }) { first, _ in first }
        indexes = known
        guard let source = known[name] else { continue }
        next = source
      }
      note(next, index)
      next += 1
    }
  }

  private func note(_ source: Int, _ destination: Int) {
    guard self.destination(ofSource: source) == nil else { return }
    sources[destination] = source
    destinations[source] = destination
  }

  private func matchByIdentifier<Thing: Renamable>(_ sources: [Thing], _ destinations: [Thing]) {
    // In a fixed order, so that the answer does not depend on that of the declarations. Of two
    // sources with one identifier the one that gives it is further down the chain and goes first.
    let sourceOrder = sources.indices.sorted {
      (sources[$0].givenIdentifier == nil ? 1 : 0, sources[$0].name)
        < (sources[$1].givenIdentifier == nil ? 1 : 0, sources[$1].name)
    }
    let destinationOrder = destinations.indices.sorted {
      destinations[$0].name < destinations[$1].name
    }
    let sourceNames = Set(sources.map(\.name))
    // Sources are looked up by what has to be equal in any case, so that no destination asks all.
    func match(
      _ sourceKey: (Thing) -> String, _ destinationKey: (Thing) -> String?,
      where isMatch: (_ source: Thing, _ destination: Thing) -> Bool = { _, _ in true }
    ) {
      var candidates: [String: ArraySlice<Int>] = [:]
      for source in sourceOrder where self.destination(ofSource: source) == nil {
        candidates[sourceKey(sources[source]), default: []].append(source)
      }
      for destination in destinationOrder where source(ofDestination: destination) == nil {
        guard let key = destinationKey(destinations[destination]), let list = candidates[key],
          let index = list.firstIndex(where: { isMatch(sources[$0], destinations[destination]) })
        else { continue }
        note(list[index], destination)
        if index == list.startIndex {
          candidates[key] = list.dropFirst()
        } else {
          candidates[key]?.remove(at: index)
        }
      }
    }
    func newlyNamed(_ destination: Thing) -> String? {
      sourceNames.contains(destination.name) ? nil : destination.givenIdentifier
    }
    match(\.name, \.name) { source, destination in
      source.identifier == destination.identifier
        && (source.givenIdentifier ?? destination.givenIdentifier) != nil
    }
    match(\.identifier, newlyNamed)
    match(\.name, \.name) { $0.identifier == $1.identifier }
    match(\.identifier, \.identifier)
    match(\.name, newlyNamed)
    match(\.name, \.name)
  }
}

/// A thing that can have a renaming identifier.
protocol Renamable {
  var name: String { get }
  /// `nil` when the name is the identifier.
  var givenIdentifier: String? { get }
}

extension Renamable {
  fileprivate var identifier: String { givenIdentifier ?? name }
}

extension Array where Element: Renamable {
  fileprivate var givesIdentifiers: Bool { indices.contains { self[$0].givenIdentifier != nil } }
}

extension EntityDescription: Renamable {
  var givenIdentifier: String? { declaration.renamingIdentifier }
}

extension AttributeDescription: Renamable {
  var givenIdentifier: String? { renamingIdentifier }
}

extension RelationshipDescription: Renamable {
  var givenIdentifier: String? { renamingIdentifier }
}
