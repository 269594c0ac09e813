import QuireModel
import QuireStorage

/// Builds the trees of a store of objects from what is left of a damaged one, and makes its objects
/// consistent.
final class SalvageRepair {
  let salvage: TreeSalvage
  let writer: StoreWriter
  private let schema: StoreSchema
  private(set) var report: SalvageReport
  /// The trees of rows and links that have not all of their entries, by name.
  private var incomplete: Set<String> = []
  /// The keys of objects that something has told of, by entity.
  private var mentions: [UInt16: Set<Int64>] = [:]
  private var lostCounts: [UInt16: Int] = [:]
  /// The number of links that each tree had, by its name, where the catalog says it.
  private var linkCounts: [String: Int] = [:]
  /// The number of wrong links that were removed from each tree.
  var removedLinkCounts: [String: Int] = [:]
  private var orderedMembership = OrderedMembership()
  let progress: SalvageProgress

  private var storages: [EntityStorage] { writer.entities.byIndex.compactMap { $0 } }

  init(
    _ salvage: TreeSalvage, _ writer: StoreWriter, _ schema: StoreSchema, _ report: SalvageReport,
    _ progress: SalvageProgress
  ) {
    self.progress = progress
    self.salvage = salvage
    self.writer = writer
    self.schema = schema
    self.report = report
  }

  func run() throws {
    for storage in storages { try buildRows(of: storage) }
    try buildLinks()
    try buildOthers()
    for storage in storages { try repairRows(of: storage) }
    for storage in storages {
      for link in storage.stored.links { try repairLinks(link, of: storage) }
    }
    try removeValuesWithoutOwner()
    if !report.brokenLinks.isEmpty || report.restoredLinkCount > 0 {
      // Those that depend on other objects; a moment cannot be repeated.
      try DerivedValues.writeAll(writer) { _, derivation in !derivation.isOwn }
    }
    try countObjects()
    try countLinks()
    try writer.writeKeys()
    reportRemains()
  }

  // MARK: Trees as they were

  private func build(
    _ name: String, lost: (TreeSalvage.Key) -> Void = { _ in }
  ) throws -> PageStore.SalvageReport.Tree? {
    guard let tree = salvage.tree(named: name) else { return nil }
    let built = try writer.transaction.build(
      tree, of: salvage, lost: lost, visited: progress.advance)
    if built.entryCount != built.expectedEntryCount { incomplete.insert(name) }
    return built
  }

  private func buildRows(of storage: EntityStorage) throws {
    let number = storage.stored.number
    guard
      let built = try build(
        storage.stored.rowTree,
        lost: { key in
          if case .number(let key) = key { mention(key, of: number) }
        })
    else { return }
    if let expected = built.expectedEntryCount {
      lostCounts[number] = max(0, expected - built.entryCount)
    }
    var unreadable: [Int64] = []
    try forEachRow(of: storage) { key, row in
      if row == nil { unreadable.append(key) }
    }
    if !unreadable.isEmpty {
      for key in unreadable { mention(key, of: number) }
      lostCounts[number, default: 0] += unreadable.count
      incomplete.insert(storage.stored.rowTree)
      try writer.removeRows(at: unreadable, in: storage)
    }
  }

  private func buildLinks() throws {
    for storage in storages {
      for link in storage.stored.links {
        linkCounts[link.tree] = try build(link.tree)?.expectedEntryCount
      }
    }
    try recordKeysInIndexes()
  }

  /// Indexes are built anew, and know the keys of rows that are lost.
  private func recordKeysInIndexes() throws {
    let lossy = Set(
      storages.filter {
        incomplete.contains($0.stored.rowTree) || salvage.tree(named: $0.stored.rowTree) == nil
      }.map(\.stored.number))
    guard !lossy.isEmpty else { return }
    for tree in salvage.trees where tree.name.hasPrefix("indexes/") {
      try salvage.visit(tree) { key, _ in
        try progress.advance()
        guard case .bytes(let bytes) = key, bytes.count >= 8 else { return }
        let reference = Reference(rawValue: bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
        // Most are there: they need no memory.
        if lossy.contains(reference.entity), Reference.keys.contains(reference.key),
          try !writer.contains(reference)
        {
          mention(reference)
        }
      }
    }
  }

  /// The values outside of rows, and the counters of keys. A history cannot go on: whoever follows
  /// it would not learn what is lost.
  private func buildOthers() throws {
    _ = try build(ExternalValue.tree)
    if schema.history != nil {
      _ = try writer.transaction.createRecordTree(StoreSchema.historyTree)
      report.notes.append(
        "the history of changes begins anew: tokens of the former one have expired")
    }
    if let keys = salvage.tree(named: StoreSchema.keysTree) {
      var counters: [(UInt16, Int64)] = []
      salvage.visit(keys) { key, value in
        guard case .number(let space) = key, let space = UInt16(exactly: space), value?.count == 8,
          let last = value?.withUnsafeBytes({ $0.loadUnaligned(as: Int64.self) }),
          (0...Reference.maximumKey).contains(Int64(littleEndian: last))
        else { return }
        counters.append((space, Int64(littleEndian: last)))
      }
      for (space, last) in counters { try writer.recordKey(last, in: space) }
    }
  }

  func mention(_ reference: Reference) {
    guard writer.entities.storage(of: reference) != nil else { return }
    mention(reference.key, of: reference.entity)
  }

  private func mention(_ key: Int64, of entity: UInt16) {
    // No object ever had another key: a file made to do harm may.
    if Reference.keys.contains(key) { mentions[entity, default: []].insert(key) }
  }

  // MARK: Rows

  /// Visits the rows of an entity; one that cannot be read is `nil`. The rows must not be changed
  /// meanwhile.
  private func forEachRow(
    of storage: EntityStorage, _ body: (Int64, RowReader?) throws -> Void
  ) throws {
    guard let tree = try writer.transaction.recordTree(storage.stored.rowTree) else { return }
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      try progress.advance()
      let key = try cursor.key
      let bytes = try cursor.valueBytes
      let row = try? RowReader(bytes, layout: storage.layout, scratch)
      let isReadable = row.map { self.isReadable($0, of: storage) } ?? false
      try body(key, isReadable && Reference.keys.contains(key) ? row : nil)
      isInside = try cursor.next()
    }
  }

  private func isReadable(_ row: RowReader, of storage: EntityStorage) -> Bool {
    storage.layout.fields.indices.allSatisfy { field in
      storage.layout.fields[field].kind == .reference || row.external(field) != nil
        || row.isNil(field) || (try? row.value(field)) != nil
    }
  }

  /// Clears references to lost objects and values that are lost, and adds the links that belong to
  /// references.
  private func repairRows(of storage: EntityStorage) throws {
    var repairs: [(key: Int64, fields: [Int])] = []
    var links: [(StoredEntity.Link, owner: Int64, Reference)] = []
    try forEachRow(of: storage) { key, row in
      guard let row else { return }
      let source = Reference(entity: storage.stored.number, key: key)
      var fields: [Int] = []
      for (field, description) in storage.layout.fields.enumerated() {
        if description.kind == .reference {
          guard let target = row.reference(field) else { continue }
          if try !isRight(target, storage, field, from: source) {
            fields.append(field)
          } else if let link = try missingLink(to: target, from: source, storage, field) {
            links.append((link, target.key, source))
          }
        } else if let value = row.external(field),
          try writer.data(of: value)?.count != value.byteCount
        {
          fields.append(field)
          report.lostValues.append(
            .init(entity: storage.stored.name, key: key, attribute: description.name))
        }
      }
      if !fields.isEmpty { repairs.append((key, fields)) }
    }
    for (key, fields) in repairs { try clear(fields, of: key, in: storage) }
    for (link, owner, member) in links { try restore(link, from: owner, to: member) }
  }

  /// Whether a reference is to an object that is there and refers back; if not, records why.
  private func isRight(
    _ target: Reference, _ storage: EntityStorage, _ field: Int, from source: Reference
  ) throws -> Bool {
    let name = storage.layout.fields[field].name
    guard let relationship = storage.binding.entity.relationship(named: name),
      let other = writer.entities.storage(of: target),
      other.binding.entity.isKind(ofEntityNamed: relationship.destination)
    else { return false }
    guard try writer.contains(target) else {
      recordBroken(source, name, target)
      return false
    }
    // One-to-one: of two objects that refer to a third, the one that it refers to is right.
    guard let inverse = relationship.inverse, let back = other.layout.index(of: inverse) else {
      return true
    }
    return try writer.withRow(target) { $0.reference(back) == source } ?? false
  }

  func recordBroken(_ source: Reference, _ relationship: String, _ target: Reference) {
    mention(target)
    guard let from = writer.entities.storage(of: source),
      let to = writer.entities.storage(of: target)
    else { return }
    report.brokenLinks.append(
      .init(
        entity: from.stored.name, key: source.key, relationship: relationship,
        destination: to.stored.name, destinationKey: target.key))
  }

  /// The tree of links in which the destination should list the object, and does not.
  private func missingLink(
    to target: Reference, from source: Reference, _ storage: EntityStorage, _ field: Int
  ) throws -> StoredEntity.Link? {
    let slot = storage.slotByField[field]
    guard slot >= 0, let link = writer.ownersLink(of: slot, of: storage.binding, target),
      isDamaged(link)
    else { return nil }
    return try has(link, target.key, source) ? nil : link
  }

  /// Whether links may be missing in a tree. Without checksums, one may also be another.
  func isDamaged(_ link: StoredEntity.Link) -> Bool {
    !salvage.isIdentityKnown || incomplete.contains(link.tree)
      || salvage.tree(named: link.tree) == nil
  }

  func has(_ link: StoredEntity.Link, _ owner: Int64, _ member: Reference) throws -> Bool {
    guard let tree = try writer.transaction.indexTree(link.tree) else { return false }
    if !link.isOrdered {
      return try tree.contains(LinkKey(owner: owner, member: member).bytes(isOrdered: false))
    }
    let reader = LinkReader(tree: tree, isOrdered: true)
    return try orderedMembership.contains(member, of: owner, link, in: reader)
  }

  func restore(_ link: StoredEntity.Link, from owner: Int64, to member: Reference) throws {
    orderedMembership.removeAll()
    try writer.addLink(link, from: owner, to: member)
    report.restoredLinkCount += 1
  }

  private func clear(_ fields: [Int], of key: Int64, in storage: EntityStorage) throws {
    let reference = Reference(entity: storage.stored.number, key: key)
    let row = RowWriter(storage.layout)
    _ = try writer.withRow(reference) { former in
      try row.write(version: former.version) { field in
        fields.contains(field) || former.isNil(field) ? nil : .copy(of: field, in: former)
      }
    }
    try writer.putRow(row, at: reference, in: storage)
  }

  // MARK: The rest

  private func removeValuesWithoutOwner() throws {
    guard let values = try writer.transaction.recordTree(ExternalValue.tree) else { return }
    var owned: Set<Int64> = []
    for storage in storages where storage.canHaveExternal {
      try forEachRow(of: storage) { _, row in
        guard let row, row.hasExternal else { return }
        owned.formUnion(row.externalValues.map(\.number))
      }
    }
    var others: [Int64] = []
    var cursor = values.cursor()
    var isInside = try cursor.first()
    while isInside {
      let number = try cursor.key
      if !owned.contains(number) { others.append(number) }
      if Reference.keys.contains(number) {
        try writer.recordKey(number, in: ExternalValue.keySpace)
      }
      isInside = try cursor.next()
    }
    withExtendedLifetime(cursor) {}
    for number in others { try writer.external.remove(ExternalValue(number: number, byteCount: 0)) }
  }

  private func countObjects() throws {
    for storage in storages.sorted(by: { $0.stored.name < $1.stored.name }) {
      let number = storage.stored.number
      var entity = SalvageReport.Entity(name: storage.stored.name)
      var known = mentions[number] ?? []
      let last = max(
        try writer.transaction.recordTree(storage.stored.rowTree)?.lastKey ?? 0, known.max() ?? 0)
      if last > 0 { try writer.recordKey(last, in: storage.stored.keySpace) }
      try forEachRow(of: storage) { key, _ in
        entity.keptCount += 1
        known.remove(key)
      }
      entity.lostKeys = known.sorted()
      entity.lostCount = max(lostCounts[number] ?? 0, known.count)
      if entity.keptCount + entity.lostCount > 0 { report.entities.append(entity) }
    }
  }

  /// What is missing in a tree of links that neither came back nor was removed is lost.
  private func countLinks() throws {
    for storage in storages {
      for link in storage.stored.links {
        guard let expected = linkCounts[link.tree] else { continue }
        let found = try writer.transaction.indexTree(link.tree)?.count ?? 0
        let count = expected - found - (removedLinkCounts[link.tree] ?? 0)
        if count > 0 {
          report.lostLinks.append(
            .init(entity: storage.stored.name, relationship: link.relationship, count: count))
        }
      }
    }
  }

  private func reportRemains() {
    let count = salvage.fragments.filter { $0.kind == .record }.reduce(0) { $0 + $1.leafCount }
    if count > 0 {
      report.notes.append("\(count) pages of rows could not be told to belong to an entity")
    }
  }
}
