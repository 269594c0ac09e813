import QuireModel

/// The rows that a context has read from an incremental store since it last refreshed its view: the
/// part of a ``StoreView`` that trees have in other stores.
///
/// Belongs to one context, as the view does. What is asked for once is not asked for again; a
/// context that wants to see what others have saved takes new ones.
final class IncrementalRows: RowsInFront {
  private struct MembersKey: Hashable {
    let owner: Reference
    let link: UInt16
  }

  /// The largest number of rows kept here. Objects in use keep their rows themselves.
  private static let limit = 100_000
  /// The number of rows that are read at a time when many are visited.
  static let batchCount = 256

  let source: IncrementalSource
  /// `nil` for rows that do not exist.
  private var rows: [Reference: Row?] = [:]
  private var members: [MembersKey: [Reference]] = [:]

  init(_ source: IncrementalSource) { self.source = source }

  // MARK: Rows

  override func row(_ reference: Reference) throws -> Row? {
    if let row = rows[reference] { return row }
    guard source.entities.storage(of: reference) != nil else { return nil }
    try read([reference])
    return rows[reference] ?? nil
  }

  /// The row, if it was read already.
  func known(_ reference: Reference) -> Row? { rows[reference] ?? nil }

  /// Reads the rows that were not read yet, in one call of the store.
  func read(_ references: some Sequence<Reference>) throws {
    let wanted = Set(
      references.filter { rows[$0] == nil && source.entities.storage(of: $0) != nil })
    if wanted.isEmpty { return }
    let found = try source.rows(at: wanted.sorted())
    makeRoom(wanted.count)
    for reference in wanted { rows[reference] = .some(found[reference]) }
  }

  /// Adds a row that came with another answer; `nil` for a row that was removed.
  func record(_ row: Row?, at reference: Reference) {
    makeRoom(1)
    rows[reference] = .some(row)
  }

  /// Discards the row, so that it is read again when needed.
  func forget(_ reference: Reference) { rows[reference] = nil }

  func forgetMembers() { members = [:] }

  private func makeRoom(_ count: Int) {
    if rows.count + count > Self.limit { rows = [:] }
  }

  // MARK: Members

  /// The destinations of a to-many slot of an object.
  override func members(of owner: Reference, _ link: StoredEntity.Link) throws -> [Reference] {
    let key = MembersKey(owner: owner, link: link.number)
    if let known = members[key] { return known }
    guard let binding = source.entities.storage(of: owner)?.binding,
      let slot = binding.slot(named: link.relationship)
    else { return [] }
    let found = try askForMembers(of: owner, binding, slot)
    if members.count >= Self.limit { members = [:] }
    members[key] = found
    return found
  }

  private func askForMembers(
    of owner: Reference, _ binding: EntityBinding, _ slot: Int
  ) throws -> [Reference] {
    let relationship = binding.relationship(slot)
    let key = try source.key(of: owner)
    let answer = try source.asking(to: "read \(relationship.name) of \(key)") {
      try $0.newValue(forRelationship: relationship, forObjectWith: key)
    }
    if let answer {
      let found = try answer.map { try source.destination($0, of: relationship, key) }
      guard Set(found).count == found.count else {
        throw source.contradiction("answered with a member of \(relationship.name) of \(key) twice")
      }
      return found
    }
    guard binding.traits[slot].isForeignKeyOfOthers, let inverse = relationship.inverse else {
      throw source.contradiction(
        "does not say who the members of \(relationship.name) of \(key) are, and only those of a "
          + "relationship without order whose inverse is to-one can be found without it")
    }
    return try objects(leadingTo: owner, by: inverse, of: relationship.destination)
  }

  /// Finds members through the inverse relationship.
  private func objects(
    leadingTo owner: Reference, by inverse: String, of destination: String
  ) throws -> [Reference] {
    guard let target = source.entities.storage(of: owner) else { return [] }
    let family = source.entities.byIndex.compactMap { $0 }.filter { storage in
      var level: EntityDescription? = storage.binding.entity
      while let entity = level, entity.name != destination { level = entity.parent }
      return level != nil
    }
    let identity = OpaqueIdentity(
      ManagedObjectID(
        entity: target.binding.entity, store: source.entities.identity, key: owner.key))
    let request = IncrementalStoreFetch(
      entityNames: family.map(\.binding.entity.name),
      predicate: .comparison(.keyPath([inverse]), .equal, .constant(.object(identity))),
      sortDescriptors: [], limit: 0)
    let answer = try fetch(request)
    if answer.handled.contains(.predicate) { return answer.references }
    return try filtered(answer.references) { reference, row in
      guard let storage = source.entities.storage(of: reference),
        let slot = storage.binding.slot(named: inverse), storage.fieldBySlot[slot] >= 0
      else { return false }
      return row.reference(storage.fieldBySlot[slot]) == owner
    }
  }

  private func filtered(
    _ references: [Reference], _ isIncluded: (Reference, Row) throws -> Bool
  ) throws -> [Reference] {
    var found: [Reference] = []
    var rest = references[...]
    while !rest.isEmpty {
      let batch = rest.prefix(Self.batchCount)
      rest = rest.dropFirst(batch.count)
      try read(batch)
      for reference in batch {
        if let row = try row(reference), try isIncluded(reference, row) { found.append(reference) }
      }
    }
    return found
  }
}

extension StoreView {
  // Sound: nothing else is there instead of trees.
  /// What has the rows instead of trees, in a store of another make.
  var incremental: IncrementalRows? {
    incrementalRows.map { unsafeDowncast($0, to: IncrementalRows.self) }
  }
}

// MARK: - Fetches

extension IncrementalRows {
  /// The store's answer to a fetch.
  struct Answer {
    var references: [Reference]
    let handled: IncrementalStoreAnswer.Parts
  }

  /// Asks the store. Rows in the answer are kept, unless they were read before.
  func fetch(_ request: IncrementalStoreFetch) throws -> Answer {
    let answer = try source.asking(
      to: "fetch \(request.entityNames.joined(separator: ", "))"
    ) { try $0.execute(request) }
    if answer.handled.contains(.limit), request.limit > 0 {
      let isFiltered = request.predicate == nil || answer.handled.contains(.predicate)
      let isSorted = request.sortDescriptors.isEmpty || answer.handled.contains(.order)
      guard isFiltered, isSorted else {
        throw source.contradiction(
          "cut its answer to a fetch before it was filtered and sorted: what it left out may have "
            + "been what was asked for")
      }
    }
    let names = Set(request.entityNames)
    var references: [Reference] = []
    references.reserveCapacity(answer.rows.count)
    for row in answer.rows {
      let key = row.key
      guard names.contains(key.entityName) else {
        throw source.contradiction("was not asked for \(key.entityName), and answered with \(key)")
      }
      let reference = try source.reference(of: key)
      references.append(reference)
      if case .node(let node) = row, rows[reference] == nil {
        record(try source.row(of: node).row, at: reference)
      }
    }
    guard Set(references).count == references.count else {
      throw source.contradiction("answered with an object twice")
    }
    // The order of requests without sort keys, and of rows with equal ones.
    var handled = answer.handled
    // Parts that the request does not have cannot have been handled.
    if request.predicate == nil { handled.remove(.predicate) }
    if request.sortDescriptors.isEmpty { handled.remove(.order) }
    if !handled.contains(.order) { references.sort() }
    return Answer(references: references, handled: handled)
  }

  /// - Returns: `nil` if the store does not count.
  func count(_ request: IncrementalStoreFetch) throws -> Int? {
    let count = try source.asking(to: "count \(request.entityNames.joined(separator: ", "))") {
      try $0.count(request)
    }
    if let count, count < 0 { throw source.contradiction("counted \(count) objects") }
    return count
  }
}
