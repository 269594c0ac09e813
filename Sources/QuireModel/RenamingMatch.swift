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
/// same names, so between them only names count, whatever the identifiers say.
struct RenamingMatch {
  struct Thing {
    var name: String
    var givenIdentifier: String?
    var identifier: String { givenIdentifier ?? name }
  }

  private let sources: [Thing]
  private let destinations: [Thing]
  private let sourceNames: Set<String>
  private(set) var sourceByDestination: [String: String] = [:]
  private(set) var destinationBySource: [String: String] = [:]

  init(_ sources: [Thing], _ destinations: [Thing], byNameOnly: Bool) {
    // In a fixed order, so that the answer does not depend on that of the declarations. Of two
    // sources with one identifier the one that gives it is further down the chain and goes first.
    self.sources = sources.sorted {
      ($0.givenIdentifier == nil ? 1 : 0, $0.name) < ($1.givenIdentifier == nil ? 1 : 0, $1.name)
    }
    self.destinations = destinations.sorted { $0.name < $1.name }
    sourceNames = Set(sources.map(\.name))
    if !byNameOnly { matchByIdentifier() }
    match { $0.name == $1.name }
  }

  private mutating func matchByIdentifier() {
    match { source, destination in
      source.identifier == destination.identifier && source.name == destination.name
        && (source.givenIdentifier ?? destination.givenIdentifier) != nil
    }
    match { [sourceNames] source, destination in
      source.identifier == destination.givenIdentifier && !sourceNames.contains(destination.name)
    }
    match { $0.identifier == $1.identifier && $0.name == $1.name }
    match { $0.identifier == $1.identifier }
    match { [sourceNames] source, destination in
      source.name == destination.givenIdentifier && !sourceNames.contains(destination.name)
    }
  }

  private mutating func match(where isMatch: (Thing, Thing) -> Bool) {
    for destination in destinations where sourceByDestination[destination.name] == nil {
      let source = sources.first {
        destinationBySource[$0.name] == nil && isMatch($0, destination)
      }
      guard let source else { continue }
      sourceByDestination[destination.name] = source.name
      destinationBySource[source.name] = destination.name
    }
  }
}

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
      attributes.map { Thing(name: $0.name, givenIdentifier: $0.renamingIdentifier) }
    }
    self.init(things(source), things(destination), byNameOnly: byNameOnly)
  }

  init(relationshipsOf source: EntityDescription, _ destination: EntityDescription) {
    func things(_ entity: EntityDescription) -> [Thing] {
      entity.relationships.map { Thing(name: $0.name, givenIdentifier: $0.renamingIdentifier) }
    }
    self.init(things(source), things(destination), byNameOnly: source == destination)
  }
}
