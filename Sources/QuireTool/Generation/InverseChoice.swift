import QuireModel

/// Which relationship of a pair names the other, and which of those without an inverse have to say
/// that they have none.
struct InverseChoice {
  /// A relationship and the entity that declares it.
  struct Key: Hashable {
    var entity: String
    var name: String
  }

  private var sayers: Set<Key> = []
  private var loners: Set<Key> = []

  init(_ model: ManagedObjectModel) {
    var open: [(key: Key, destination: String)] = []
    for entity in model.entities {
      for relationship in entity.declaration.relationships {
        let key = Key(entity: entity.name, name: relationship.name)
        guard let inverse = model.inverse(of: relationship) else {
          open.append((key, relationship.destination))
          continue
        }
        let other = Key(
          entity: Self.owner(of: inverse.relationship, inverse.entity),
          name: inverse.relationship.name)
        if other == key {
          sayers.insert(key)
        } else if !sayers.contains(other) {
          // The side of many comes first, as a list says whose members it has.
          let isChosen = relationship.isToMany || !inverse.relationship.isToMany
          sayers.insert(isChosen ? key : other)
        }
      }
    }
    for (index, one) in open.enumerated() {
      for other in open[(index + 1)...]
      where one.destination == other.key.entity && other.destination == one.key.entity {
        loners.formUnion([one.key, other.key])
      }
    }
  }

  /// Whether the relationship names its inverse, which the other side then need not do.
  func namesInverse(_ key: Key) -> Bool { sayers.contains(key) }

  /// Whether the relationship has to say that it has no inverse, as another one refers back to its
  /// entity.
  func deniesInverse(_ key: Key) -> Bool { loners.contains(key) }

  /// The name of the entity that declares a relationship which another has or inherits.
  static func owner(of relationship: RelationshipDescription, _ entity: EntityDescription) -> String
  {
    var level: EntityDescription? = entity
    while let owner = level {
      if owner.declaration.relationships.contains(where: { $0.name == relationship.name }) {
        return owner.name
      }
      level = owner.parent
    }
    return entity.name
  }
}
