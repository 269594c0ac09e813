import QuireModel

/// A relationship, with its inverse if it has one, whose links are rebuilt.
///
/// A class, as loops over millions of links use it, and copying a struct would take most of their
/// time.
final class RelinkedRelationship {
  struct Side {
    /// The entity that declares the relationship, and the concrete entities whose objects have it.
    let entityName: String
    let owners: Set<String>
    let relationship: RelationshipDescription
  }

  /// A side of the old model, for one of its concrete entities.
  struct OldSide {
    let stored: StoredEntity
    let relationship: RelationshipDescription
  }

  let near: Side
  let far: Side?
  /// The side of the old model from which links are read.
  let sources: [OldSide]
  /// Whether that is the far side, whose owners are then the far ends of links.
  let readsFar: Bool
  /// The other side of the old model, if it may have links that the side that is read does not
  /// have.
  let otherSources: [OldSide]
  /// The far side's old order, if it had one.
  let farOrder: [OldSide]
  /// The numbers of the entities whose objects may be at either end.
  let nearEntities: Set<UInt16>
  let farEntities: Set<UInt16>
  private(set) var counts = LinkCounts()

  init(
    near: Side, far: Side?, sources: [OldSide], readsFar: Bool, otherSources: [OldSide],
    farOrder: [OldSide], nearEntities: Set<UInt16>, farEntities: Set<UInt16>
  ) {
    self.near = near
    self.far = far
    self.sources = sources
    self.readsFar = readsFar
    self.otherSources = otherSources
    self.farOrder = farOrder
    self.nearEntities = nearEntities
    self.farEntities = farEntities
  }

  func count(_ gathering: LinkGathering) throws { counts = try gathering.counts(of: self) }

  /// Whether the relationship is its own inverse.
  var isSelfInverse: Bool {
    far.map { RelinkedRelationship.isSelfInverse(near, $0) } ?? false
  }

  static func isSelfInverse(_ near: Side, _ far: Side) -> Bool {
    far.entityName == near.entityName && far.relationship.name == near.relationship.name
  }

  func concerns(_ entity: String, _ relationship: String) -> Bool {
    (near.relationship.name == relationship && near.owners.contains(entity))
      || (far.map { $0.relationship.name == relationship && $0.owners.contains(entity) } ?? false)
  }
}

/// The number of links of a relationship, and the numbers of links from and to objects of each
/// entity.
struct LinkCounts {
  private(set) var total = 0
  var dropped = DroppedLinks()
  /// By the entity's number.
  private var nears: [Int] = []
  private var fars: [Int] = []

  mutating func count(near: Reference, far: Reference) {
    total += 1
    LinkCounts.count(near.entity, in: &nears)
    LinkCounts.count(far.entity, in: &fars)
  }

  private static func count(_ entity: UInt16, in counts: inout [Int]) {
    if counts.count <= Int(entity) {
      counts += repeatElement(0, count: Int(entity) + 1 - counts.count)
    }
    counts[Int(entity)] += 1
  }

  func near(_ entity: UInt16) -> Int { Int(entity) < nears.count ? nears[Int(entity)] : 0 }

  func far(_ entity: UInt16) -> Int { Int(entity) < fars.count ? fars[Int(entity)] : 0 }
}

/// The number of links of the old model that a relationship drops, although both objects exist, and
/// the first of them.
struct DroppedLinks {
  struct Link {
    let owner: Reference
    let member: Reference
    let reason: MigrationPlan.DroppedLink.Reason
    /// Whether the link is of the side from which links are not read.
    let isOfOtherSide: Bool
  }

  private(set) var count = 0
  private(set) var first: [Link] = []

  mutating func add(
    _ owner: Reference, _ member: Reference, _ reason: MigrationPlan.DroppedLink.Reason,
    isOfOtherSide: Bool = false
  ) {
    count += 1
    guard first.count < MigrationPlan.DroppedLink.limit else { return }
    first.append(
      Link(owner: owner, member: member, reason: reason, isOfOtherSide: isOfOtherSide))
  }
}
