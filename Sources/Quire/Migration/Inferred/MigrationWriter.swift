import QuireModel
import QuireStorage

/// Executes a draft: writes rows and links from a snapshot of the old state to trees of the new
/// one.
final class MigrationWriter {
  /// Enough for the nodes above the leaves, and for the leaves that are read ahead.
  static let cacheByteLimit = 4 << 20

  private let draft: MigrationDraft
  private let snapshot: Snapshot
  private let transaction: WriteTransaction
  /// The schema that is written.
  private(set) var schema: StoreSchema
  private let identity: StoreIdentity
  private let progress: StepProgress
  /// The number of rows and links to write.
  private let total: Int
  private var done = 0

  init(
    _ draft: MigrationDraft, _ snapshot: Snapshot, _ transaction: WriteTransaction,
    versionName: String?, identity: StoreIdentity, _ progress: StepProgress
  ) throws {
    self.draft = draft
    self.identity = identity
    self.snapshot = snapshot
    self.transaction = transaction
    self.progress = progress
    total =
      draft.entities.reduce(0) { $0 + ($1.isRewritten ? $1.objectCount : 0) }
      + draft.relinked.reduce(0) { $0 + $1.counts.total }
      + draft.indexChanges.added.reduce(0) { $0 + draft.rowCount(of: $1) }
    var schema = draft.newSchema
    schema.versionName = versionName
    self.schema = schema
  }

  func write() throws {
    let hasExternalData = try draft.removeExternalData(snapshot, transaction)
    for link in draft.droppedLinks { try dropTree(link.tree) }
    for entity in draft.removed { try dropTree(entity.stored.rowTree) }
    let destinations = try writeLinks()
    // Links were sorted by entity number.
    let rewritten = draft.entities.filter(\.isRewritten)
    for entity in rewritten.sorted(by: { $0.stored.number < $1.stored.number }) {
      try rewriteRows(of: entity, destinations)
    }
    for destination in destinations { try destination.end() }
    try writeIndexes()
    try writeKeyCounters()
    schema.hasExternalData = hasExternalData
    try schema.write(to: transaction, model: draft.model)
    try draft.writeDerivedValues(transaction, schema, identity: identity)
  }

  /// Reports progress, and checks for cancellation.
  private func advance(by count: Int, _ phase: String) throws {
    done += count
    // Some of the range is for the work before and after.
    try progress.reach(0.05 + 0.9 * Double(done) / Double(max(1, total)), phase)
  }

  private func dropTree(_ name: String) throws {
    guard try snapshot.treeNames().contains(where: { $0.name == name }) else { return }
    try transaction.dropTree(name)
  }

  // MARK: Rows

  /// Builds a new tree, which then replaces the old one. The old one is only read, and memory and
  /// log stay small for any number of rows.
  private func rewriteRows(
    of entity: MigrationDraft.EntityDraft, _ destinations: [LinkDestinations]
  ) throws {
    guard let old = entity.old else { return }
    let name = entity.destination.name
    var links: [SortedLinks] = []
    let sources = zip(entity.fields, entity.stored.layout.fields).map { source, field in
      guard case .link(let index) = source else { return source }
      guard let list = destinations[index].links(of: name, field.name) else { return .absent }
      links.append(list)
      return .link(links.count - 1)
    }
    let rewriting = RowRewriting(
      snapshot: snapshot, stored: old,
      transformation: try RowTransformation(from: old.layout, to: entity.stored.layout, sources),
      links: links)
    let newTree = entity.stored.rowTree + "/new"
    let phase = "rewriting \(name)"
    try advance(by: 0, phase)
    let tree = try transaction.buildRecordTree(newTree) { builder in
      try rewriting.forEach(rowCount: entity.objectCount) { batch in
        try batch.forEach { row, key in try builder.append(row, for: key) }
        try advance(by: batch.count, phase)
      }
    }
    guard tree.count == entity.objectCount else {
      throw PersistenceError(
        .migration,
        "\(name) has \(tree.count) objects after its migration, and had \(entity.objectCount)")
    }
    try transaction.dropTree(old.rowTree)
    try transaction.renameTree(newTree, to: entity.stored.rowTree)
  }

  // MARK: Links

  /// Builds the trees of relinked relationships.
  ///
  /// - Returns: the destinations for rows, for each relinked relationship.
  private func writeLinks() throws -> [LinkDestinations] {
    guard !draft.relinked.isEmpty else { return [] }
    let entities = draft.entities.map(\.stored)
    let gathering = LinkGathering(
      draft.oldSchema, snapshot, remaining: Set(entities.map(\.number)))
    var writer = LinkWriter(transaction, gathering, entities)
    return try draft.relinked.map { relinked in
      let phase = "linking \(relinked.near.entityName).\(relinked.near.relationship.name)"
      try advance(by: 0, phase)
      return try writer.write(relinked) { try self.advance(by: $0, phase) }
    }
  }

  // MARK: Indexes

  /// Builds the trees of new and changed indexes from the present rows.
  private func writeIndexes() throws {
    if draft.indexChanges.isEmpty { return }
    let entities = try StoreEntities(
      ModelBinding(draft.model), schema: schema, identity: StoreIdentity(high: 0, low: 0))
    for index in draft.indexChanges.dropped { try dropTree(index.tree) }
    for index in draft.indexChanges.added {
      let phase = "indexing \(index.title)"
      try advance(by: 0, phase)
      let building = IndexBuilding(
        transaction: transaction, entities: entities,
        advance: { try self.advance(by: $0, phase) })
      try building.build(index)
    }
  }

  // MARK: Keys

  /// Sets a common counter above all keys that any of its entities has used.
  private func writeKeyCounters() throws {
    var counters = KeyCounters(transaction)
    for entity in draft.entities {
      guard let old = entity.old, old.keySpace != entity.stored.keySpace else { continue }
      try counters.record(try counters.last(in: old.keySpace), in: entity.stored.keySpace)
    }
    try counters.write()
  }
}
