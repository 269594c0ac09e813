import QuireModel
import QuireStorage

/// Finds the relationships whose links cannot stay as they are, and where the links they get are
/// read.
///
/// A relationship and its inverse are looked at together, since a link is one fact listed twice.
/// Links stay when both sides had the same shape before, were each other's inverse, and led to
/// nothing that is gone; otherwise they are collected from the side of the old model that knows
/// them. A link survives when the object it leads to is still one that the relationship may lead
/// to: a relationship whose destination became another entity starts empty, one that was narrowed
/// to a subentity keeps what fits.
struct RelationshipMatching {
  private typealias Side = RelinkedRelationship.Side
  private typealias OldSide = RelinkedRelationship.OldSide

  private let oldModel: ManagedObjectModel
  /// The model that the store carries: the old one, with the delete rules by which its objects were
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
    // One that is not stored has no links to keep true to.
    guard let (entity, inverse) = model.inverse(of: relationship), !inverse.isTransient else {
      return nil
    }
    var declaring = entity
    while let parent = declaring.parent, parent.relationship(named: inverse.name) != nil {
      declaring = parent
    }
    return side(declaring, inverse)
  }

  // MARK: Deciding

  private func relink(_ near: Side, _ far: Side?) throws -> RelinkedRelationship? {
    let oldNear = oldSides(near)
    let oldFar = far.map(oldSides) ?? []
    if oldNear.isEmpty && oldFar.isEmpty { return nil }
    let wasInverse = areInverse(oldNear, oldFar)
    if try isSame(near, oldNear), try far == nil || (isSame(far, oldFar) && wasInverse) {
      return nil
    }
    // The side that knows the links: the only one there was; of two the one that has an order, else
    // one whose objects have a single destination, which is how contradictions are decided.
    let readsFar =
      oldNear.isEmpty
      || (!oldFar.isEmpty && preference(oldFar) > preference(oldNear))
    // The inverse must be allowed to lead back, which it need not be to all owners.
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

  /// Whether a side led to objects that stay and are not among the owners of the other: those whose
  /// entity has lost its end of the relationship.
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

  /// Whether all owners had the relationship in the same shape, leading to nothing that it may not
  /// lead to now.
  private func isSame(_ side: Side?, _ old: [OldSide]) throws -> Bool {
    guard let side else { return true }
    let owners = side.owners.filter { drafts[$0]?.old != nil }
    guard old.count == owners.count else { return false }
    let allowed = destinationNumbers(of: side)
    let mayDangle = Self.mayDangle(side.relationship, in: model)
    for old in old {
      // What leads to nothing is found by nobody only for as long as it may.
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

  /// Whether a destination may be deleted without the relationship being told.
  static func mayDangle(
    _ relationship: RelationshipDescription, in model: ManagedObjectModel
  ) -> Bool {
    guard let inverse = model.inverse(of: relationship)?.relationship else { return true }
    return inverse.deleteRule == .noAction || inverse.isTransient
  }

  /// The numbers of the entities that the old relationship could lead to and that had objects, or
  /// once had some that nobody told it were deleted.
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
