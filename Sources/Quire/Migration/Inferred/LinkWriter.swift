import QuireModel
import QuireStorage

/// Builds the link trees of relinked relationships, and finds the destinations of to-one
/// relationships for the rows.
///
/// Links come in the order of one side and are needed in the order of each, so they are sorted;
/// trees are then built from the first entry to the last.
struct LinkWriter {
  private typealias Side = RelinkedRelationship.Side

  private let transaction: WriteTransaction
  private let gathering: LinkGathering
  /// The entities of the new model, by number.
  private let entities: [UInt16: StoredEntity]
  private var sorterCount = 0

  init(
    _ transaction: WriteTransaction, _ gathering: LinkGathering, _ entities: [StoredEntity]
  ) {
    self.transaction = transaction
    self.gathering = gathering
    self.entities = .init(uniqueKeysWithValues: entities.map { ($0.number, $0) })
  }

  /// Writes the links of to-many sides.
  ///
  /// - Parameter advance: called with the number of links read.
  /// - Returns: the links of to-one sides, for their rows.
  mutating func write(
    _ relinked: RelinkedRelationship, advance: (Int) throws -> Void
  ) throws -> LinkDestinations {
    let isPaired = relinked.isSelfInverse && relinked.near.relationship.isToMany
    let near = makeSorter(for: relinked.near, keepsOrder: isPaired)
    // A relationship that is its own inverse has both ends on one side.
    let farSide = relinked.isSelfInverse ? nil : relinked.far
    let far = farSide.map { makeSorter(for: $0, keepsOrder: !relinked.farOrder.isEmpty) }
    var count: UInt64 = 0
    try gathering.forEachLink(of: relinked) { nearEnd, farEnd in
      try near.add(ListedLink(owner: nearEnd, member: farEnd, position: count))
      try far?.add(ListedLink(owner: farEnd, member: nearEnd, position: count))
      if isPaired {
        // After the links that the other end lists itself.
        try near.add(
          ListedLink(owner: farEnd, member: nearEnd, position: LinkWriter.afterAll | count))
      }
      count += 1
      if count % 1_024 == 0 { try advance(1_024) }
    }
    try advance(Int(count % 1_024))
    var destinations = LinkDestinations(relinked)
    destinations.ofNear = try finish(
      relinked.near, isPaired && relinked.near.relationship.isOrdered ? paired(near) : near)
    if let farSide, let far {
      destinations.ofFar = try finish(
        farSide, relinked.farOrder.isEmpty ? far : ordered(far, by: relinked.farOrder))
    }
    return destinations
  }

  /// The bit that makes a position greater than all positions without it.
  private static let afterAll: UInt64 = 1 << 63

  private mutating func makeSorter(for side: Side, keepsOrder: Bool = false) -> LinkSorter {
    // Links are first sorted by member if they must be matched with an existing order, or paired.
    let isByPosition = side.relationship.isOrdered && !keepsOrder
    return makeSorter(by: isByPosition ? .position : .member)
  }

  private mutating func makeSorter(by order: LinkSorter.Order) -> LinkSorter {
    sorterCount += 1
    return LinkSorter(transaction, "migration/links/\(sorterCount)", by: order)
  }

  /// Links by position, each once.
  private mutating func paired(_ listed: LinkSorter) throws -> LinkSorter {
    let links = try listed.sorted()
    let result = makeSorter(by: .position)
    var last: ListedLink?
    while let link = try links.next() {
      if let last, last.owner == link.owner, last.member == link.member { continue }
      try result.add(link)
      last = link
    }
    return result
  }

  /// Links by their former positions, followed by those that are new.
  private mutating func ordered(
    _ listed: LinkSorter, by sides: [RelinkedRelationship.OldSide]
  ) throws -> LinkSorter {
    let sorter = makeSorter(by: .member)
    var count: UInt64 = 0
    for side in sides {
      try gathering.forEachLink(of: side) { owner, member in
        try sorter.add(ListedLink(owner: owner, member: member, position: count))
        count += 1
      }
    }
    let known = try sorter.sorted()
    let links = try listed.sorted()
    let result = makeSorter(by: .position)
    while var link = try links.next() {
      while let other = known.first, (other.owner, other.member) < (link.owner, link.member) {
        _ = try known.next()
      }
      if let other = known.first, other.owner == link.owner, other.member == link.member {
        link.position = other.position
      } else {
        link.position |= LinkWriter.afterAll
      }
      try result.add(link)
    }
    while try known.next() != nil {}
    return result
  }

  private func finish(_ side: Side, _ sorter: LinkSorter) throws -> SortedLinks? {
    let links = try sorter.sorted()
    guard side.relationship.isToMany else { return links }
    while let entity = links.first?.owner.entity {
      let link = entities[entity]?.link(named: side.relationship.name)
      guard let link else {
        throw PersistenceError(
          .migration, "links of \(side.entityName).\(side.relationship.name) belong to no entity")
      }
      try buildTree(of: link, entity, links)
    }
    return nil
  }

  private func buildTree(
    of link: StoredEntity.Link, _ entity: UInt16, _ links: SortedLinks
  ) throws {
    try transaction.buildIndexTree(link.tree) { builder in
      var last: ListedLink?
      var position: UInt64 = 0
      while let next = links.first, next.owner.entity == entity {
        _ = try links.next()
        if let last, last.owner == next.owner {
          // A link that both ends list is one link.
          if last.member == next.member { continue }
          position += 1
        } else {
          position = 0
        }
        last = next
        let key = LinkKey(
          owner: next.owner.key, position: link.isOrdered ? position : 0, member: next.member)
        try key.withBytes(isOrdered: link.isOrdered) {
          try builder.append(UnsafeRawBufferPointer(start: nil, count: 0), for: $0)
        }
      }
    }
  }
}

/// The destinations of relinked to-one relationships, from either side.
struct LinkDestinations {
  let relinked: RelinkedRelationship
  var ofNear: SortedLinks?
  var ofFar: SortedLinks?

  init(_ relinked: RelinkedRelationship) { self.relinked = relinked }

  /// The links of an entity's relationship. A relationship that is its own inverse has both sides
  /// in one field.
  func links(of entity: String, _ name: String) -> SortedLinks? {
    if relinked.near.relationship.name == name, relinked.near.owners.contains(entity) {
      return ofNear
    }
    return ofFar
  }

  /// Releases the links when the rows are written.
  func end() throws {
    try ofNear?.end()
    try ofFar?.end()
  }
}
