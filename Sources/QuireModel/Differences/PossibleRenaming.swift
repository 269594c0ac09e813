/// Something that goes from a model while something of its kind comes: perhaps it was only given
/// another name, and nobody has said so. Its values would be dropped.
///
/// Whoever has renamed it says so in the model, by ``remedy``; whoever has not need do nothing.
public struct PossibleRenaming: Hashable, Sendable, Codable {
  /// The entity that has the property, in the new model; for an entity that goes its own name.
  public let entityName: String
  /// The name of that entity in the old model.
  public let sourceEntityName: String
  /// The property that goes; `nil` if the entity does.
  public let propertyName: String?
  /// The names of what comes, and might be it: of properties of the same entity with the same type,
  /// or of entities with most of the same properties.
  public let candidates: [String]

  /// What goes, as `Person.nickname` or `Nickname`, by the names of the old model.
  public var name: String { propertyName.map { "\(sourceEntityName).\($0)" } ?? sourceEntityName }

  /// What to write in the model if it is the first of the candidates.
  public var remedy: String {
    let new = candidates.first ?? ""
    guard let propertyName else {
      return "Entity(\"\(new)\", renamedFrom: \"\(sourceEntityName)\")"
    }
    return "@Managed(renamedFrom: \"\(propertyName)\") var \(new)"
  }

  // The keys that `quire migrate --json` prints and documents. Never change them.
  private enum CodingKeys: String, CodingKey {
    case entityName = "entity"
    case sourceEntityName = "sourceEntity"
    case propertyName = "property"
    case candidates
  }
}

extension PossibleRenaming: CustomStringConvertible {
  public var description: String {
    "\(words): if it was renamed, write \(remedy), or the renaming ID in Xcode"
  }

  /// What goes and what comes, without advice.
  package var words: String {
    "\(name) goes, and \(candidates.joined(separator: ", ")) "
      + (candidates.count == 1 ? "comes" : "come")
  }
}

extension ModelDifference {
  /// What goes while something of its kind comes, by entity and name.
  public var possibleRenamings: [PossibleRenaming] {
    entities.flatMap(PossibleRenaming.properties(in:)) + PossibleRenaming.entities(in: entities)
  }
}

extension PossibleRenaming {
  fileprivate static func properties(in change: EntityChange) -> [PossibleRenaming] {
    guard change.kind == .changed, let source = change.source,
      let destination = change.destination, !source.isAbstract
    else { return [] }
    func renaming(_ name: String, _ candidates: [String]) -> PossibleRenaming? {
      candidates.isEmpty
        ? nil
        : PossibleRenaming(
          entityName: destination.name, sourceEntityName: source.name, propertyName: name,
          candidates: candidates)
    }
    let gone = change.attributes.filter { $0.destination == nil }.compactMap(\.source)
    let new = change.attributes.filter { $0.source == nil }.compactMap(\.destination)
    let attributes = gone.filter(\.hasOwnValues).compactMap { gone in
      renaming(gone.name, new.filter { $0.hasOwnValues && $0.mayBe(gone) }.map(\.name))
    }
    let goneLinks = change.relationships.filter { $0.destination == nil }.compactMap(\.source)
    let newLinks = change.relationships.filter { $0.source == nil }.compactMap(\.destination)
    let relationships = goneLinks.filter { !$0.isTransient }.compactMap { gone in
      renaming(
        gone.name,
        newLinks.filter {
          !$0.isTransient && $0.destination == gone.destination && $0.isToMany == gone.isToMany
        }.map(\.name))
    }
    return attributes + relationships
  }

  fileprivate static func entities(in changes: [EntityChange]) -> [PossibleRenaming] {
    let new = changes.filter { $0.kind == .added }.compactMap(\.destination)
      .filter { !$0.isAbstract }
    return changes.filter { $0.kind == .removed }.compactMap(\.source).compactMap { gone in
      let properties = gone.signature
      guard !gone.isAbstract, !properties.isEmpty else { return nil }
      let candidates = new.filter { entity in
        let common = properties.intersection(entity.signature).count
        return 2 * common > properties.count
      }
      if candidates.isEmpty { return nil }
      return PossibleRenaming(
        entityName: gone.name, sourceEntityName: gone.name, propertyName: nil,
        candidates: candidates.map(\.name))
    }
  }
}

extension AttributeDescription {
  /// Whether the store keeps values that are not worked out of others.
  fileprivate var hasOwnValues: Bool { !isTransient && derivationExpression == nil }

  fileprivate func mayBe(_ other: AttributeDescription) -> Bool {
    type == other.type && elements.map(\.name) == other.elements.map(\.name)
  }
}

extension EntityDescription {
  /// Names and kinds of the properties.
  fileprivate var signature: Set<String> {
    Set(
      attributes.filter(\.hasOwnValues).map { "\($0.name) \($0.type)" }
        + relationships.map { "\($0.name) \($0.isToMany)" })
  }
}
