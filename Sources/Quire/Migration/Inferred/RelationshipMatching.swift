import QuireModel
import QuireStorage

/// Finds the relationships whose links change in a migration, and the side of the old model from
/// which their links are read.
///
/// A relationship and its inverse are handled together, as they list the same links. Links are kept
/// if both sides had the same shape, were each other's inverse, and had no destinations that are
/// removed; otherwise they are read from one side of the old model. A link survives if its
/// destination is still one that the relationship may have: a relationship to another entity starts
/// empty, one that was narrowed to a subentity keeps the links that fit.
struct RelationshipMatching {
  private typealias Side = RelinkedRelationship.Side
  private typealias OldSide = RelinkedRelationship.OldSide

  private let oldModel: ManagedObjectModel
  /// The model in the store: the old one, with the delete rules under which its objects were
  /// deleted.
  private let storedModel: ManagedObjectModel
  private let model: ManagedObjectModel
  private let drafts: [String: MigrationDraft.EntityDraft]
  private let schema: StoreSchema
  private let snapshot: Snapshot
  private let numbers: [String: UInt16]
  private let gathering: LinkGathering

  init(
    from oldModel: ManagedObjectModel, to model: ManagedObjectModel,
    storedAs storedModel: ManagedObjectModel, _ entities: [MigrationDraft.EntityDraft],
    _ schema: StoreSchema, _ snapshot: Snapshot
  ) {
    self.oldModel = oldModel
    self.storedModel = storedModel
    self.model = model
    self.schema = schema
    self.snapshot = snapshot
    drafts = .init(uniqueKeysWithValues: entities.map { ($0.destination.name, $0) })
    numbers = drafts.mapValues(\.stored.number)
    gathering = LinkGathering(schema, snapshot, remaining: Set(numbers.values))
  }

  func relinked() throws -> [RelinkedRelationship] {
    var result: [RelinkedRelationship] = []
    for entity in model.entities {
      for relationship in entity.declaration.relationships where !relationship.isTransient {
        let near = side(entity, relationship)
        let far = inverse(of: relationship)
        // Each pair once: from the side whose name comes first.
        if let far, (far.entityName, far.relationship.name) < (near.entityName, relationship.name) {
          continue
        }
        if let relinked = try relink(near, far) { result.append(relinked) }
      }
    }
    return result
  }

  private func side(_ entity: EntityDescription, _ relationship: RelationshipDescription) -> Side {
    let family = model.family(of: entity).filter { !$0.isAbstract }.map(\.name)
    return Side(entityName: entity.name, owners: Set(family), relationship: relationship)
  }

  /// The other side, at the entity that declares it.
  private func inverse(of relationship: RelationshipDescription) -> Side? {
    // A transient inverse has no links.
    guard let (entity, inverse) = model.inverse(of: relationship), !inverse.isTransient else {
      return nil
    }
    var declaring = entity
    while let parent = declaring.parent, parent.relationship(named: inverse.name) != nil {
      declaring = parent
    }
    return side(declaring, inverse)
  }

  // MARK: Decisions

  private func relink(_ near: Side, _ far: Side?) throws -> RelinkedRelationship? {
    let oldNear = oldSides(near)
    let oldFar = far.map(oldSides) ?? []
    if oldNear.isEmpty && oldFar.isEmpty { return nil }
    let wasInverse = areInverse(oldNear, oldFar)
    if try isSame(near, oldNear), try far == nil || (isSame(far, oldFar) && wasInverse) {
      return nil
    }
    // The side to read: the only one that existed; otherwise the ordered one, or else one whose
    // objects have a single destination, which resolves contradictions.
    let readsFar =
      oldNear.isEmpty
      || (!oldFar.isEmpty && preference(oldFar) > preference(oldNear))
    // The owners must be allowed as destinations of the inverse, which not all may be.
    var nearEntities = Set(near.owners.compactMap { numbers[$0] })
    if let far { nearEntities.formIntersection(destinationNumbers(of: far)) }
    let isSelfInverse = far.map { RelinkedRelationship.isSelfInverse(near, $0) } ?? false
    let farHasOrder =
      !readsFar && wasInverse && far?.relationship.isOrdered == true && !isSelfInverse
      && oldFar.contains { $0.relationship.isOrdered }
    let (read, other) = readsFar ? (oldFar, oldNear) : (oldNear, oldFar)
    let mayKnowMore = try !isSelfInverse && (!wasInverse || leadsBeyond(other, read))
    let relinked = RelinkedRelationship(
      near: near, far: far, sources: read, readsFar: readsFar,
      otherSources: mayKnowMore ? other : [], farOrder: farHasOrder ? oldFar : [],
      nearEntities: nearEntities,
      farEntities: destinationNumbers(of: near))
    try relinked.count(gathering)
    return relinked
  }

  /// Whether a side had destinations that are kept and are not owners of the other side: objects of
  /// an entity that lost its end of the relationship.
  private func leadsBeyond(_ sides: [OldSide], _ owners: [OldSide]) throws -> Bool {
    let known = Set(owners.map(\.stored.number))
    let remaining = Set(numbers.values)
    return try sides.contains {
      try !oldDestinationNumbers(of: $0).intersection(remaining).isSubset(of: known)
    }
  }

  private func preference(_ sides: [OldSide]) -> Int {
    if sides.contains(where: { $0.relationship.isOrdered }) { return 2 }
    return sides.contains { !$0.relationship.isToMany } ? 1 : 0
  }

  private func oldSides(_ side: Side) -> [OldSide] {
    side.owners.sorted().compactMap { owner in
      guard let draft = drafts[owner], let old = draft.old,
        let relationship = draft.change.sourceRelationship(of: side.relationship.name),
        !relationship.isTransient
      else { return nil }
      return OldSide(stored: old, relationship: relationship)
    }
  }

  private func areInverse(_ near: [OldSide], _ far: [OldSide]) -> Bool {
    for left in near {
      for right in far
      where left.relationship.inverse != right.relationship.name
        || right.relationship.inverse != left.relationship.name
      {
        return false
      }
    }
    return true
  }

  /// Whether all owners had the relationship in the same shape, without destinations that are no
  /// longer allowed.
  private func isSame(_ side: Side?, _ old: [OldSide]) throws -> Bool {
    guard let side else { return true }
    let owners = side.owners.filter { drafts[$0]?.old != nil }
    guard old.count == owners.count else { return false }
    let allowed = destinationNumbers(of: side)
    let mayDangle = Self.mayDangle(side.relationship, in: model)
    for old in old {
      // Dangling references may remain only if they are still allowed.
      if !mayDangle, Self.mayDangle(old.relationship, in: storedModel) { return false }
      guard old.relationship.isToMany == side.relationship.isToMany,
        old.relationship.isOrdered == side.relationship.isOrdered,
        try oldDestinationNumbers(of: old).isSubset(of: allowed)
      else { return false }
    }
    return true
  }

  private func destinationNumbers(of side: Side) -> Set<UInt16> {
    guard let entity = model.entity(named: side.relationship.destination) else { return [] }
    return Set(model.family(of: entity).compactMap { numbers[$0.name] })
  }

  /// Whether the deletion of a destination may leave a dangling reference.
  static func mayDangle(
    _ relationship: RelationshipDescription, in model: ManagedObjectModel
  ) -> Bool {
    guard let inverse = model.inverse(of: relationship)?.relationship else { return true }
    return inverse.deleteRule.leavesOtherEnds || inverse.isTransient
  }

  /// The numbers of the possible destination entities of the old relationship that have objects, or
  /// may have had some whose deletion left dangling references.
  private func oldDestinationNumbers(of side: OldSide) throws -> Set<UInt16> {
    guard let entity = oldModel.entity(named: side.relationship.destination) else { return [] }
    let names = Set(oldModel.family(of: entity).map(\.name))
    var numbers: Set<UInt16> = []
    let mayDangle = Self.mayDangle(side.relationship, in: storedModel)
    for stored in schema.entities where names.contains(stored.name) {
      if try mayDangle || (snapshot.recordTree(stored.rowTree)?.count ?? 0) > 0 {
        numbers.insert(stored.number)
      }
    }
    return numbers
  }
}
