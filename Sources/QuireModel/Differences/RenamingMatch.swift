/// Finds out which thing of one version became which of the next.
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
/// same names, so between them only names count, whatever the identifiers say; nor does anything
/// else count where nobody gives an identifier.
struct RenamingMatch {
  struct Thing {
    var name: String
    var givenIdentifier: String?
    var identifier: String { givenIdentifier ?? name }
  }

  // Places, or `none`: arrays of optionals would be two more types for the runtime to make.
  private var sources: [Int]
  private var destinations: [Int]
  private static let none = -1

  /// Matches nothing.
  init() { (sources, destinations) = ([], []) }

  /// The place of a destination's source, both in the order given.
  func source(ofDestination place: Int) -> Int? {
    sources.indices.contains(place) && sources[place] != Self.none ? sources[place] : nil
  }

  /// The place of a source's destination, both in the order given.
  func destination(ofSource place: Int) -> Int? {
    destinations.indices.contains(place) && destinations[place] != Self.none
      ? destinations[place] : nil
  }

  init(_ sources: [Thing], _ destinations: [Thing], byNameOnly: Bool) {
    self.sources = Array(repeating: Self.none, count: destinations.count)
    self.destinations = Array(repeating: Self.none, count: sources.count)
    func isPlain(_ thing: Thing) -> Bool { thing.givenIdentifier == nil }
    guard byNameOnly || sources.allSatisfy(isPlain) && destinations.allSatisfy(isPlain) else {
      matchByIdentifier(sources, destinations)
      return
    }
    // Mostly both sides have the same order, but for what was added or removed.
    var next = 0
    for (place, destination) in destinations.enumerated() {
      if next >= sources.count || sources[next].name != destination.name {
        guard let source = sources.firstIndex(where: { $0.name == destination.name }) else {
          continue
        }
        next = source
      }
      note(next, place)
      next += 1
    }
  }

  private mutating func note(_ source: Int, _ destination: Int) {
    guard self.destination(ofSource: source) == nil else { return }
    sources[destination] = source
    destinations[source] = destination
  }

  private mutating func matchByIdentifier(_ sources: [Thing], _ destinations: [Thing]) {
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
    func match(where isMatch: (_ source: Thing, _ destination: Thing) -> Bool) {
      for destination in destinationOrder where source(ofDestination: destination) == nil {
        let source = sourceOrder.first {
          self.destination(ofSource: $0) == nil && isMatch(sources[$0], destinations[destination])
        }
        if let source { note(source, destination) }
      }
    }
    match { source, destination in
      source.identifier == destination.identifier && source.name == destination.name
        && (source.givenIdentifier ?? destination.givenIdentifier) != nil
    }
    match { source, destination in
      source.identifier == destination.givenIdentifier && !sourceNames.contains(destination.name)
    }
    match { $0.identifier == $1.identifier && $0.name == $1.name }
    match { $0.identifier == $1.identifier }
    match { source, destination in
      source.name == destination.givenIdentifier && !sourceNames.contains(destination.name)
    }
    match { $0.name == $1.name }
  }
}

// By places, since descriptions are large: a loop over them would copy each.
extension RenamingMatch {
  init(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) {
    func things(_ model: ManagedObjectModel) -> [Thing] {
      model.entities.map {
        Thing(name: $0.name, givenIdentifier: $0.declaration.renamingIdentifier)
      }
    }
    self.init(things(source), things(destination), byNameOnly: source == destination)
  }

  /// Of an entity's attributes, or of a composite's elements.
  init(
    attributes source: [AttributeDescription], _ destination: [AttributeDescription],
    byNameOnly: Bool
  ) {
    func things(_ attributes: [AttributeDescription]) -> [Thing] {
      attributes.indices.map {
        Thing(name: attributes[$0].name, givenIdentifier: attributes[$0].renamingIdentifier)
      }
    }
    self.init(things(source), things(destination), byNameOnly: byNameOnly)
  }

  init(relationshipsOf source: EntityDescription, _ destination: EntityDescription) {
    func things(_ relationships: [RelationshipDescription]) -> [Thing] {
      relationships.indices.map {
        Thing(name: relationships[$0].name, givenIdentifier: relationships[$0].renamingIdentifier)
      }
    }
    self.init(
      things(source.relationships), things(destination.relationships),
      byNameOnly: source == destination)
  }
}
