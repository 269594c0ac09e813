import QuireModel

/// A relationship, with its inverse if it has one, whose links are made anew.
///
/// A class, since loops over millions of links ask it, and copies of a value would be most of what
/// they do.
final class RelinkedRelationship {
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
  /// The other side of the old model, where it may have links that the one that is read has not.
  let otherSources: [OldSide]
  /// Where the far side's order is read, if it has one of its own.
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

  /// Whether both sides are one relationship, which leads back to itself.
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

/// How many links a relationship gets, and how many of them begin and end at objects of an entity.
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

/// The links of the old model that a relationship does not get, though both objects are there: how
/// many, and the first of them.
struct DroppedLinks {
  struct Link {
    let owner: Reference
    let member: Reference
    let reason: MigrationPlan.DroppedLink.Reason
    /// Whether it is of the side that the relationship's links are not read from.
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
