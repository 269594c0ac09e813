import QuireModel
import QuireStorage

/// A relationship, with its inverse if it has one, whose links are made anew.
struct RelinkedRelationship {
  struct Side {
    /// The entity that declares the relationship, and the concrete entities whose objects have it.
    let entityName: String
    let owners: Set<String>
    let relationship: RelationshipDescription
  }

  /// One link between two objects, each of which may list it.
  struct Link: Hashable {
    let near: Reference
    let far: Reference
    var flipped: Link { Link(near: far, far: near) }
  }

  let near: Side
  let far: Side?
  /// In the order in which an ordered side lists them.
  var links: [Link] = []
  /// The same links in the order in which the far side lists them, where both sides have an order
  /// of their own.
  var farLinks: [Link]?

  /// Whether both sides are one relationship, which leads back to itself.
  var isSelfInverse: Bool {
    far?.entityName == near.entityName && far?.relationship.name == near.relationship.name
  }

  func concerns(_ entity: String, _ relationship: String) -> Bool {
    (near.relationship.name == relationship && near.owners.contains(entity))
      || (far.map { $0.relationship.name == relationship && $0.owners.contains(entity) } ?? false)
  }
}

/// Finds the relationships whose links cannot stay as they are, and the links they get.
///
/// A relationship and its inverse are looked at together, since a link is one fact listed twice.
/// Links stay when both sides had the same shape before, were each other's inverse, and led to
/// nothing that is gone; otherwise they are collected from the side of the old model that knows
/// them. A link survives when the object it leads to is still one that the relationship may lead
/// to: a relationship whose destination became another entity starts empty, one that was narrowed
/// to a subentity keeps what fits.
struct RelationshipMatching {
  private typealias Side = RelinkedRelationship.Side

  /// How a side was stored, for one of its concrete entities.
  private struct OldSide {
    let stored: StoredEntity
    let relationship: RelationshipDescription
  }

  private let oldModel: ManagedObjectModel
  private let model: ManagedObjectModel
  private let drafts: [String: MigrationDraft.EntityDraft]
  private let schema: StoreSchema
  private let snapshot: Snapshot
  private let numbers: [String: UInt16]

  init(
    from oldModel: ManagedObjectModel, to model: ManagedObjectModel,
    _ entities: [MigrationDraft.EntityDraft], _ schema: StoreSchema, _ snapshot: Snapshot
  ) {
    self.oldModel = oldModel
    self.model = model
    self.schema = schema
    self.snapshot = snapshot
    drafts = .init(uniqueKeysWithValues: entities.map { ($0.destination.name, $0) })
    numbers = drafts.mapValues(\.stored.number)
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
    var relinked = RelinkedRelationship(near: near, far: far)
    // The side that knows the links: the only one there was; of two the one that has an order, else
    // one whose objects have a single destination, which is how contradictions are decided.
    let usesFar =
      oldNear.isEmpty
      || (!oldFar.isEmpty && preference(oldFar) > preference(oldNear))
    for old in usesFar ? oldFar : oldNear {
      try forEachLink(of: old) { owner, member in
        relinked.links.append(
          usesFar ? .init(near: member, far: owner) : .init(near: owner, far: member))
      }
    }
    try prune(&relinked)
    if relinked.isSelfInverse {
      pair(&relinked)
    } else if !usesFar, wasInverse, far?.relationship.isOrdered == true,
      oldFar.contains(where: { $0.relationship.isOrdered })
    {
      try orderFarLinks(of: &relinked, oldFar)
    }
    return relinked
  }

  /// A relationship that is its own inverse lists each link at both ends, and a single destination
  /// leads back.
  private func pair(_ relinked: inout RelinkedRelationship) {
    var present = Set(relinked.links)
    if relinked.near.relationship.isToMany {
      for link in relinked.links where present.insert(link.flipped).inserted {
        relinked.links.append(link.flipped)
      }
      return
    }
    present = []
    var taken: Set<Reference> = []
    var links: [RelinkedRelationship.Link] = []
    for link in relinked.links where !present.contains(link) {
      if taken.contains(link.near) || taken.contains(link.far) { continue }
      taken.formUnion([link.near, link.far])
      for link in [link, link.flipped] where present.insert(link).inserted { links.append(link) }
    }
    relinked.links = links
  }

  private func orderFarLinks(of relinked: inout RelinkedRelationship, _ oldFar: [OldSide]) throws {
    var rest = Set(relinked.links)
    var links: [RelinkedRelationship.Link] = []
    for old in oldFar {
      try forEachLink(of: old) { owner, member in
        if let link = rest.remove(.init(near: member, far: owner)) { links.append(link) }
      }
    }
    relinked.farLinks = links + relinked.links.filter(rest.contains)
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
      if !mayDangle, Self.mayDangle(old.relationship, in: oldModel) { return false }
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
  private static func mayDangle(
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
    let mayDangle = Self.mayDangle(side.relationship, in: oldModel)
    for stored in schema.entities where names.contains(stored.name) {
      if try mayDangle || (snapshot.recordTree(stored.rowTree)?.count ?? 0) > 0 {
        numbers.insert(stored.number)
      }
    }
    return numbers
  }

  // MARK: Collecting

  private func forEachLink(
    of side: OldSide, _ body: (_ owner: Reference, _ member: Reference) throws -> Void
  ) throws {
    let number = side.stored.number
    if side.relationship.isToMany {
      guard let link = side.stored.link(named: side.relationship.name),
        let tree = try snapshot.indexTree(link.tree)
      else { return }
      try LinkReader(tree: tree, isOrdered: link.isOrdered).forEach {
        try body(Reference(entity: number, key: $0.owner), $0.member)
      }
    } else {
      guard let field = side.stored.layout.index(of: side.relationship.name),
        let tree = try snapshot.recordTree(side.stored.rowTree)
      else { return }
      let scratch = RowScratch()
      defer { withExtendedLifetime(scratch) {} }
      var cursor = tree.cursor()
      var isInside = try cursor.first()
      while isInside {
        let row = try RowReader(try cursor.valueBytes, layout: side.stored.layout, scratch)
        if let member = row.reference(field) {
          try body(Reference(entity: number, key: try cursor.key), member)
        }
        isInside = try cursor.next()
      }
    }
  }

  /// Leaves only links that the new relationship may have.
  private func prune(_ relinked: inout RelinkedRelationship) throws {
    let far = destinationNumbers(of: relinked.near)
    var near = Set(relinked.near.owners.compactMap { numbers[$0] })
    // The inverse must be allowed to lead back, which it need not be to all owners.
    if let far = relinked.far { near.formIntersection(destinationNumbers(of: far)) }
    let isNearSingle = !relinked.near.relationship.isToMany
    let isFarSingle = relinked.far.map { !$0.relationship.isToMany } ?? false
    let isSelfInverse = relinked.isSelfInverse
    var seenNear: Set<Reference> = []
    var seenFar: Set<Reference> = []
    relinked.links = try relinked.links.filter { link in
      guard near.contains(link.near.entity), far.contains(link.far.entity),
        try exists(link.near), try exists(link.far)
      else { return false }
      // What is paired later is decided then.
      if isSelfInverse { return true }
      if isNearSingle, seenNear.contains(link.near) { return false }
      if isFarSingle, seenFar.contains(link.far) { return false }
      seenNear.insert(link.near)
      seenFar.insert(link.far)
      return true
    }
  }

  private func exists(_ reference: Reference) throws -> Bool {
    guard let stored = schema.entities.first(where: { $0.number == reference.entity }) else {
      return false
    }
    return try snapshot.recordTree(stored.rowTree)?.contains(reference.key) ?? false
  }
}
