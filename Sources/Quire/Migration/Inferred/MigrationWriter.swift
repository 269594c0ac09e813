import QuireModel
import QuireStorage

/// Carries a draft out: rows and links from a snapshot of the old state to trees of the new one.
struct MigrationWriter {
  /// Enough for the nodes above the leaves, and the leaves that are read ahead.
  static let cacheByteLimit = 4 << 20

  private let draft: MigrationDraft
  private let snapshot: Snapshot
  private let transaction: WriteTransaction
  private let writer: StoreWriter
  private let schema: StoreSchema
  private let progress: StepProgress
  /// The rows and links to write.
  private let total: Int
  private var done = 0

  init(
    _ draft: MigrationDraft, _ snapshot: Snapshot, _ transaction: WriteTransaction,
    versionName: String?, _ progress: StepProgress
  ) throws {
    self.draft = draft
    self.snapshot = snapshot
    self.transaction = transaction
    self.progress = progress
    total =
      draft.entities.reduce(0) { $0 + ($1.isRewritten ? $1.objectCount : 0) }
      + draft.relinked.reduce(0) { $0 + $1.links.count }
    var schema = draft.newSchema
    schema.versionName = versionName
    self.schema = schema
    // The identity is not needed where no object ID is made.
    let entities = try StoreEntities(
      ModelBinding(draft.model), schema: schema,
      identity: StoreIdentity(high: 0, low: 0))
    writer = StoreWriter(transaction, entities)
  }

  mutating func write() throws {
    for link in draft.droppedLinks { try dropTree(link.tree) }
    for entity in draft.removed { try dropTree(entity.stored.rowTree) }
    let destinations = draft.relinked.map(Destinations.init)
    for entity in draft.entities where entity.isRewritten {
      try rewriteRows(of: entity, destinations)
    }
    for relinked in draft.relinked { try writeLinks(of: relinked) }
    try writeKeyCounters()
    try schema.write(to: transaction, model: draft.model)
  }

  /// Tells how far it is, and looks whether to go on.
  private mutating func advance(by count: Int, _ phase: String) throws {
    done += count
    // What comes before and after takes some time, too.
    try progress.reach(0.05 + 0.9 * Double(done) / Double(max(1, total)), phase)
  }

  private func dropTree(_ name: String) throws {
    guard try snapshot.treeNames().contains(where: { $0.name == name }) else { return }
    try transaction.dropTree(name)
  }

  // MARK: Rows

  /// What a relinked to-one relationship leads to, from either side.
  private struct Destinations: Sendable {
    let relinked: RelinkedRelationship
    var ofNear: [Reference: Reference] = [:]
    var ofFar: [Reference: Reference] = [:]

    init(_ relinked: RelinkedRelationship) {
      self.relinked = relinked
      let isNearSingle = !relinked.near.relationship.isToMany
      let isFarSingle = relinked.far.map { !$0.relationship.isToMany } ?? false
      for link in relinked.links {
        if isNearSingle { ofNear[link.near] = link.far }
        if isFarSingle { ofFar[link.far] = link.near }
      }
    }

    func destination(of reference: Reference, _ entity: String, _ name: String) -> Reference? {
      // A relationship that is its own inverse has both sides in one field.
      if relinked.near.relationship.name == name, relinked.near.owners.contains(entity),
        let destination = ofNear[reference]
      {
        return destination
      }
      guard let far = relinked.far, far.relationship.name == name, far.owners.contains(entity)
      else { return nil }
      return ofFar[reference]
    }
  }

  /// Builds a new tree beside the old one, which it then replaces: the old one is only read, and
  /// memory and log stay small, whatever the number of rows.
  private mutating func rewriteRows(
    of entity: MigrationDraft.EntityDraft, _ destinations: [Destinations]
  ) throws {
    guard let old = entity.old else { return }
    let name = entity.destination.name
    var links: [@Sendable (Reference) -> Reference?] = []
    let sources = zip(entity.fields, entity.stored.layout.fields).map { source, field in
      guard case .link(let index) = source else { return source }
      let destinations = destinations[index]
      links.append { destinations.destination(of: $0, name, field.name) }
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

  private mutating func writeLinks(of relinked: RelinkedRelationship) throws {
    let phase = "linking \(relinked.near.entityName).\(relinked.near.relationship.name)"
    try advance(by: 0, phase)
    if relinked.near.relationship.isToMany {
      try writeLinks(of: relinked.near, relinked.links.map { ($0.near, $0.far) })
    }
    // One that leads back to itself has listed both ends of each link already.
    if let far = relinked.far, far.relationship.isToMany, !relinked.isSelfInverse {
      try writeLinks(of: far, (relinked.farLinks ?? relinked.links).map { ($0.far, $0.near) })
    }
    try advance(by: relinked.links.count, phase)
  }

  private func writeLinks(
    of side: RelinkedRelationship.Side, _ links: [(owner: Reference, member: Reference)]
  ) throws {
    var members: [Reference: [Reference]] = [:]
    for link in links { members[link.owner, default: []].append(link.member) }
    for (index, owner) in members.keys.sorted().enumerated() {
      if index % 1_024 == 1_023 { try progress.check() }
      guard let storage = writer.entities.storage(of: owner),
        let link = storage.stored.link(named: side.relationship.name), let list = members[owner]
      else { continue }
      try writer.setLinks(link, from: owner.key, to: list)
    }
  }

  // MARK: Keys

  /// Where entities now share a counter, it must be above all keys that any of them has given.
  private func writeKeyCounters() throws {
    for entity in draft.entities {
      guard let old = entity.old, old.keySpace != entity.stored.keySpace else { continue }
      try writer.noteKey(try writer.lastKey(in: old.keySpace), in: entity.stored.keySpace)
    }
    try writer.writeKeys()
  }
}
