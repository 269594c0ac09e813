/// In a predicate an entity is its name: `entity == %@`.
extension EntityDescription: PredicateConvertible {
  public var predicateValue: PredicateValue? { .value(.string(name)) }
}

extension EntityDescription {
  /// Whether this entity or an ancestor of it has the name, or a class of that name in the model.
  ///
  /// The result of `isKindOfClass:` in a predicate.
  package func isKind(named name: String) -> Bool {
    isCalled(name) || (parent?.isKind(named: name) ?? false)
  }

  /// Whether this entity itself has the name or a class of that name, for `isMemberOfClass:`.
  package func isCalled(_ name: String) -> Bool {
    if self.name == name { return true }
    guard let className = managedObjectClassName else { return false }
    // With or without its module.
    return className == name || className.split(separator: ".").last.map(String.init) == name
  }
}

extension KindQuestion {
  /// - Parameter name: of an entity, or of its class as the model calls it.
  package func answer(for entity: EntityDescription, _ name: String) -> Bool {
    switch self {
    case .isKind: entity.isKind(named: name)
    case .isMember: entity.isCalled(name)
    }
  }
}
