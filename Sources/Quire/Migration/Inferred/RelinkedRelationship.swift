import QuireModel

/// A relationship, with its inverse if it has one, whose links are made anew.
struct RelinkedRelationship {
  struct Side {
    /// The entity that declares the relationship, and the concrete entities whose objects have it.
    let entityName: String
    let owners: Set<String>
    let relationship: RelationshipDescription
  }

  /// How a side was stored, for one of its concrete entities.
  struct OldSide {
    let stored: StoredEntity
    let relationship: RelationshipDescription
  }

  let near: Side
  let far: Side?
  /// Where the links are read: the side of the old model that knows them.
  let sources: [OldSide]
  /// Whether that is the far side, whose owners are then the links' far ends.
  let readsFar: Bool
  /// Where the far side's order is read, if it has one of its own.
  var farOrder: [OldSide] = []
  /// The numbers of the entities whose objects may be at either end.
  let nearEntities: Set<UInt16>
  let farEntities: Set<UInt16>
  var counts = LinkCounts()

  /// Whether both sides are one relationship, which leads back to itself.
  var isSelfInverse: Bool {
    far?.entityName == near.entityName && far?.relationship.name == near.relationship.name
  }

  func concerns(_ entity: String, _ relationship: String) -> Bool {
    (near.relationship.name == relationship && near.owners.contains(entity))
      || (far.map { $0.relationship.name == relationship && $0.owners.contains(entity) } ?? false)
  }
}

/// How many links a relationship gets, and how many of them begin and end at objects of an entity.
struct LinkCounts {
  private(set) var total = 0
  private(set) var byNear: [UInt16: Int] = [:]
  private(set) var byFar: [UInt16: Int] = [:]

  mutating func count(near: Reference, far: Reference) {
    total += 1
    byNear[near.entity, default: 0] += 1
    byFar[far.entity, default: 0] += 1
  }
}
