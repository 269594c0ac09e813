import QuireModel
import QuireStorage

/// Reads the links of a relinked relationship from the old state of a store.
///
/// A link is kept if both objects exist, and the relationship may connect them. An end with a
/// single destination keeps the first.
///
/// It uses at most one bit of memory for each object, whatever the number of links.
final class LinkGathering {
  private let schema: StoreSchema
  private let snapshot: Snapshot
  /// The entities that are kept. Links to objects of others are dropped.
  private let remaining: Set<UInt16>
  /// The links that are dropped, while links are counted.
  private var dropped: DroppedLinks?
  /// By the entity's number; entities without rows have no tree.
  private var rowTrees: [UInt16: RecordTree?] = [:]
  /// The last one used, as consecutive links mostly have the same entity.
  private var lastRows: (entity: UInt16, tree: RecordTree?)?

  init(_ schema: StoreSchema, _ snapshot: Snapshot, remaining: Set<UInt16>) {
    self.schema = schema
    self.snapshot = snapshot
    self.remaining = remaining
  }

  /// Calls `body` with each link once, in the order of the side from which links are read.
  ///
  /// A relationship that is its own inverse may list a link at both ends, and then it counts once
  /// for each, or at one end only, and then its counterpart is to be added. If it is to-one, `body`
  /// is called with both.
  func forEachLink(
    of relinked: RelinkedRelationship,
    _ body: (_ near: Reference, _ far: Reference) throws -> Void
  ) throws {
    if relinked.isSelfInverse && !relinked.near.relationship.isToMany {
      return try forEachPair(of: relinked, body)
    }
    // Other cases are resolved when links are paired.
    let isNearSingle = !relinked.near.relationship.isToMany
    let isFarSingle =
      !relinked.isSelfInverse && relinked.far.map { !$0.relationship.isToMany } ?? false
    var nears = ReferenceSet()
    var fars = ReferenceSet()
    try forEachCandidate(of: relinked) { near, far in
      if isNearSingle, nears.contains(near) { return drop(near, far, of: relinked) }
      if isFarSingle, !fars.insert(far) { return drop(near, far, of: relinked) }
      if isNearSingle { nears.insert(near) }
      try body(near, far)
    }
  }

  /// The links of a to-one relationship that is its own inverse: each object has one counterpart,
  /// which refers back to it.
  private func forEachPair(
    of relinked: RelinkedRelationship,
    _ body: (_ near: Reference, _ far: Reference) throws -> Void
  ) throws {
    var taken = ReferenceSet()
    try forEachCandidate(of: relinked) { near, far in
      if taken.contains(near) || taken.contains(far) {
        return try dropUnlessPaired(near, far, of: relinked)
      }
      taken.insert(near)
      try body(near, far)
      if taken.insert(far) { try body(far, near) }
    }
  }

  private func forEachCandidate(
    of relinked: RelinkedRelationship,
    _ body: (_ near: Reference, _ far: Reference) throws -> Void
  ) throws {
    let (owners, members) =
      relinked.readsFar
      ? (relinked.farEntities, relinked.nearEntities)
      : (relinked.nearEntities, relinked.farEntities)
    let readsFar = relinked.readsFar
    var last: (owner: Reference, exists: Bool)?
    for source in relinked.sources {
      guard owners.contains(source.stored.number) else {
        try dropUnsuitable(source, of: relinked)
        continue
      }
      try forEachLink(of: source) { owner, member in
        guard members.contains(member.entity) else {
          return try dropUnsuitable(owner, member, of: relinked)
        }
        if last?.owner != owner { last = (owner, try exists(owner)) }
        guard last?.exists == true, try exists(member) else { return }
        if readsFar { try body(member, owner) } else { try body(owner, member) }
      }
    }
  }

  /// All links on a side of the old model, in its order.
  func forEachLink(
    of side: RelinkedRelationship.OldSide,
    _ body: (_ owner: Reference, _ member: Reference) throws -> Void
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

  private func exists(_ reference: Reference) throws -> Bool {
    try rows(of: reference.entity)?.contains(reference.key) ?? false
  }

  private func rows(of entity: UInt16) throws -> RecordTree? {
    if let lastRows, lastRows.entity == entity { return lastRows.tree }
    let tree = try openRows(of: entity)
    lastRows = (entity, tree)
    return tree
  }

  private func openRows(of entity: UInt16) throws -> RecordTree? {
    if let known = rowTrees[entity] { return known }
    let stored = schema.entities.first { $0.number == entity }
    let tree = try stored.flatMap { try snapshot.recordTree($0.rowTree) }
    rowTrees[entity] = .some(tree)
    return tree
  }

  // MARK: Counting

  /// The numbers of links that the relationship keeps, with those that it drops.
  func counts(of relinked: RelinkedRelationship) throws -> LinkCounts {
    var counts = LinkCounts()
    dropped = DroppedLinks()
    defer { dropped = nil }
    let isPaired = relinked.isSelfInverse && relinked.near.relationship.isToMany
    try forEachLink(of: relinked) { near, far in
      counts.count(near: near, far: far)
      if isPaired, near != far, try !lists(far, near, in: relinked.sources) {
        counts.count(near: far, far: near)
      }
    }
    try dropOneSided(of: relinked)
    counts.dropped = dropped ?? DroppedLinks()
    return counts
  }

  /// Records a dropped link, whose end has another one already.
  private func drop(_ near: Reference, _ far: Reference, of relinked: RelinkedRelationship) {
    let (owner, member) = relinked.readsFar ? (far, near) : (near, far)
    dropped?.add(owner, member, .exclusive)
  }

  /// The same for a pair, which both ends may list.
  private func dropUnlessPaired(
    _ near: Reference, _ far: Reference, of relinked: RelinkedRelationship
  ) throws {
    guard dropped != nil else { return }
    let (owner, member) = relinked.readsFar ? (far, near) : (near, far)
    if try !wasMet(member, owner, of: relinked) { dropped?.add(owner, member, .exclusive) }
  }

  /// Whether a link of a relationship that is its own inverse was processed at its other end.
  private func wasMet(
    _ member: Reference, _ owner: Reference, of relinked: RelinkedRelationship
  ) throws -> Bool {
    guard relinked.isSelfInverse else { return false }
    func rank(_ reference: Reference) -> (Int, Int64) {
      let source = relinked.sources.firstIndex { $0.stored.number == reference.entity }
      return (source ?? .max, reference.key)
    }
    return try rank(member) < rank(owner) && lists(member, owner, in: relinked.sources)
  }

  /// Records the links of objects that the inverse may not have as destinations.
  private func dropUnsuitable(
    _ source: RelinkedRelationship.OldSide, of relinked: RelinkedRelationship
  ) throws {
    guard dropped != nil else { return }
    try forEachLink(of: source) { try dropUnsuitable($0, $1, of: relinked) }
  }

  private func dropUnsuitable(
    _ owner: Reference, _ member: Reference, of relinked: RelinkedRelationship
  ) throws {
    guard dropped != nil, remaining.contains(member.entity), try exists(owner),
      try exists(member), try !wasMet(member, owner, of: relinked)
    else { return }
    dropped?.add(owner, member, .unsuitable)
  }

  /// Records the links of the side that is not read, if the other one does not list them.
  private func dropOneSided(of relinked: RelinkedRelationship) throws {
    let (owners, members) =
      relinked.readsFar
      ? (relinked.nearEntities, relinked.farEntities)
      : (relinked.farEntities, relinked.nearEntities)
    for source in relinked.otherSources {
      try forEachLink(of: source) { owner, member in
        guard remaining.contains(member.entity), try exists(owner), try exists(member),
          try !lists(member, owner, in: relinked.sources)
        else { return }
        let isSuitable = owners.contains(owner.entity) && members.contains(member.entity)
        dropped?.add(owner, member, isSuitable ? .oneSided : .unsuitable, isOfOtherSide: true)
      }
    }
  }

  /// Whether an object of the old model lists another as a destination.
  private func lists(
    _ owner: Reference, _ member: Reference, in sides: [RelinkedRelationship.OldSide]
  ) throws -> Bool {
    guard let side = sides.first(where: { $0.stored.number == owner.entity }) else { return false }
    if side.relationship.isToMany {
      guard let link = side.stored.link(named: side.relationship.name),
        let tree = try snapshot.indexTree(link.tree)
      else { return false }
      if !link.isOrdered {
        return try tree.contains(
          LinkKey(owner: owner.key, member: member).bytes(isOrdered: false))
      }
      return try LinkReader(tree: tree, isOrdered: true).members(of: owner.key).contains(member)
    }
    guard let field = side.stored.layout.index(of: side.relationship.name),
      let value = try rows(of: owner.entity)?.value(for: owner.key)
    else { return false }
    return try Row(value, layout: side.stored.layout).withReader { $0.reference(field) } == member
  }
}
