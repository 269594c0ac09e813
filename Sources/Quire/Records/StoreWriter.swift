import QuireModel
import QuireStorage

/// Writes rows and links in one transaction, making trees when their first entry comes.
final class StoreWriter {
  let transaction: WriteTransaction
  let entities: StoreEntities
  // Private, and no call leads back here while they change.
  /// By the entity's number, as far as they were asked for.
  @exclusivity(unchecked) private var rowTrees: [MutableRecordTree?] = []
  @exclusivity(unchecked) private var linkTrees: [UInt16: MutableIndexTree] = [:]
  @exclusivity(unchecked) private var keys: KeyCounters
  /// What keeps indexes up, once it was asked for; there is none where the store has no index.
  @exclusivity(unchecked) private var upkeep: IndexUpkeep??

  /// Whether links may wait. What depends on them is then worked out in the end.
  var defersLinks: Bool { deferred != nil }

  /// Values that are kept outside of rows.
  let external: ExternalDataWriter

  /// Where links wait that need not be in their trees yet.
  private let deferred: DeferredLinks?

  init(
    _ transaction: WriteTransaction, _ entities: StoreEntities,
    deferring deferred: DeferredLinks? = nil
  ) {
    self.transaction = transaction
    self.entities = entities
    keys = KeyCounters(transaction)
    self.deferred = deferred
    external = ExternalDataWriter(transaction)
  }

  // MARK: Rows

  /// Writes the row of an object, in the place of the one that it had.
  ///
  /// With ``removeRow(at:in:)`` the only way in which a save or an import changes rows: what a
  /// store keeps of rows besides follows from here.
  ///
  /// - Returns: whether there was one.
  @discardableResult
  func putRow(_ row: RowWriter, at reference: Reference, in storage: EntityStorage) throws -> Bool {
    try removeExternal(at: reference, in: storage, keeping: row.externalValues)
    let rows = try rows(of: storage.stored)
    if let upkeep = try indexUpkeep() {
      return try row.withBytes { try upkeep.put($0, at: reference, storage, in: rows) }
    }
    return try row.withBytes { try rows.put($0, for: reference.key) }
  }

  /// Removes the row of an object, if there is one.
  func removeRow(at reference: Reference, in storage: EntityStorage) throws {
    try removeExternal(at: reference, in: storage)
    let rows = try rows(of: storage.stored)
    if let upkeep = try indexUpkeep() {
      return try upkeep.remove(at: reference, storage, in: rows)
    }
    _ = try rows.remove(reference.key)
  }

  /// Whether two objects have values that a constraint wants to be unique, among those that were
  /// written.
  func hasDuplicates() throws -> Bool {
    guard case .some(let upkeep?) = upkeep else { return false }
    return try upkeep.hasDuplicates(entities)
  }

  private func indexUpkeep() throws -> IndexUpkeep? {
    if let upkeep { return upkeep }
    let upkeep = try IndexUpkeep(transaction, entities)
    self.upkeep = .some(upkeep)
    return upkeep
  }

  private func rows(of stored: StoredEntity) throws -> MutableRecordTree {
    if let tree = openRows(stored.number) { return tree }
    let tree =
      try transaction.mutableRecordTree(stored.rowTree)
      ?? transaction.createRecordTree(stored.rowTree)
    note(tree, stored.number)
    return tree
  }

  private func openRows(_ number: UInt16) -> MutableRecordTree? {
    Int(number) < rowTrees.count ? rowTrees[Int(number)] : nil
  }

  private func note(_ tree: MutableRecordTree, _ number: UInt16) {
    if rowTrees.count <= Int(number) {
      rowTrees += Array(repeating: nil, count: Int(number) + 1 - rowTrees.count)
    }
    rowTrees[Int(number)] = tree
  }

  /// Whether the row exists; makes no tree.
  func contains(_ reference: Reference) throws -> Bool {
    guard let storage = entities.storage(of: reference),
      let tree = try existingRows(of: storage.stored)
    else { return false }
    return try tree.contains(reference.key)
  }

  /// Calls `body` with the row as the transaction has it; the reader is valid within the call.
  ///
  /// - Returns: `nil` when there is no such row.
  func withRow<R>(_ reference: Reference, _ body: (RowReader) throws -> R) throws -> R? {
    guard let storage = entities.storage(of: reference),
      let tree = try existingRows(of: storage.stored)
    else { return nil }
    return try tree.withValue(for: reference.key) { bytes in
      if RowReader.isCurrent(bytes, storage.layout) {
        return try body(try RowReader(current: bytes, storage.layout))
      }
      let scratch = RowScratch()
      defer { withExtendedLifetime(scratch) {} }
      return try body(try RowReader(bytes, layout: storage.layout, scratch))
    }
  }

  /// The keys of some rows of an entity, in order.
  func keys(of storage: EntityStorage, from first: Int64, limit: Int) throws -> [Int64] {
    guard let tree = try existingRows(of: storage.stored) else { return [] }
    var keys: [Int64] = []
    var cursor = tree.cursor()
    var isInside = try cursor.seek(to: first)
    while isInside, keys.count < limit {
      keys.append(try cursor.key)
      isInside = try cursor.next()
    }
    withExtendedLifetime(cursor) {}
    return keys
  }

  private func existingRows(of stored: StoredEntity) throws -> MutableRecordTree? {
    if let tree = openRows(stored.number) { return tree }
    guard let tree = try transaction.mutableRecordTree(stored.rowTree) else { return nil }
    note(tree, stored.number)
    return tree
  }

  // MARK: Keys

  /// A key that no object of the key space ever had.
  func takeKey(in space: UInt16) throws -> Int64 { try keys.take(in: space) }

  /// Makes sure that `key` is never given to another object.
  func noteKey(_ key: Int64, in space: UInt16) throws { try keys.note(key, in: space) }

  func lastKey(in space: UInt16) throws -> Int64 { try keys.last(in: space) }

  /// Writes the key counters that changed; to be called before the transaction commits.
  func writeKeys() throws {
    try external.finish()
    try keys.write()
  }

  // MARK: Links

  func links(_ link: StoredEntity.Link) throws -> MutableIndexTree {
    if let tree = linkTrees[link.number] { return tree }
    let tree =
      try transaction.mutableIndexTree(link.tree) ?? transaction.createIndexTree(link.tree)
    linkTrees[link.number] = tree
    return tree
  }

  private func existingLinks(_ link: StoredEntity.Link) throws -> MutableIndexTree? {
    if let deferred, deferred.contains(link) { try settle(link, deferred) }
    if let tree = linkTrees[link.number] { return tree }
    guard let tree = try transaction.mutableIndexTree(link.tree) else { return nil }
    linkTrees[link.number] = tree
    return tree
  }

  func addLink(_ link: StoredEntity.Link, from owner: Int64, to member: Reference) throws {
    if let deferred, !link.isOrdered { return deferred.add(link, from: owner, to: member) }
    var key = LinkKey(owner: owner, member: member)
    if link.isOrdered { key.position = try nextPosition(link, of: owner) }
    let tree = try links(link)
    try key.withBytes(isOrdered: link.isOrdered) { key in
      _ = try tree.put(UnsafeRawBufferPointer(start: nil, count: 0), for: key)
    }
  }

  /// Puts all links that wait where they belong.
  func settleLinks() throws {
    guard let deferred else { return }
    for link in deferred.links { try settle(link, deferred) }
  }

  private func settle(_ link: StoredEntity.Link, _ deferred: DeferredLinks) throws {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    if let tree = try linkTrees[link.number] ?? transaction.mutableIndexTree(link.tree) {
      linkTrees[link.number] = tree
      try deferred.take(link) { try tree.put(nothing, for: $0) }
    } else {
      linkTrees[link.number] = try transaction.buildIndexTree(link.tree) { builder in
        try deferred.take(link) { try builder.append(nothing, for: $0) }
      }
    }
  }

  /// The position behind all links of an owner.
  private func nextPosition(_ link: StoredEntity.Link, of owner: Int64) throws -> UInt64 {
    guard let tree = try existingLinks(link) else { return 0 }
    var cursor = tree.cursor()
    let bound = LinkKey(owner: owner, position: .max, member: Reference(rawValue: .max))
    guard try cursor.seek(atOrBefore: bound.bytes(isOrdered: true)) else { return 0 }
    // The key lives no longer than the cursor that lends it.
    let last = LinkKey(try cursor.key, isOrdered: true)
    withExtendedLifetime(cursor) {}
    guard let last, last.owner == owner else { return 0 }
    return last.position + 1
  }

  func removeLink(_ link: StoredEntity.Link, from owner: Int64, to member: Reference) throws {
    guard let tree = try existingLinks(link) else { return }
    if link.isOrdered {
      for key in try linkKeys(link, of: owner) where key.member == member {
        _ = try tree.remove(key.bytes(isOrdered: true))
      }
    } else {
      _ = try tree.remove(LinkKey(owner: owner, member: member).bytes(isOrdered: false))
    }
  }

  /// Replaces all links of an owner.
  func setLinks(_ link: StoredEntity.Link, from owner: Int64, to members: [Reference]) throws {
    try removeLinks(link, of: owner)
    for (position, member) in members.enumerated() {
      let key = LinkKey(
        owner: owner, position: link.isOrdered ? UInt64(position) : 0, member: member)
      try links(link).put([], for: key.bytes(isOrdered: link.isOrdered))
    }
  }

  func removeLinks(_ link: StoredEntity.Link, of owner: Int64) throws {
    guard let tree = try existingLinks(link) else { return }
    for key in try linkKeys(link, of: owner) {
      _ = try tree.remove(key.bytes(isOrdered: link.isOrdered))
    }
  }

  func linkKeys(_ link: StoredEntity.Link, of owner: Int64) throws -> [LinkKey] {
    guard try existingLinks(link) != nil, let tree = try transaction.indexTree(link.tree) else {
      return []
    }
    var keys: [LinkKey] = []
    try LinkReader(tree: tree, isOrdered: link.isOrdered).forEach(of: owner) { keys.append($0) }
    return keys
  }
}
