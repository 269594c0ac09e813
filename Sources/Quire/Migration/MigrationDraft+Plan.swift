import QuireModel
import QuireStorage

extension MigrationDraft {
  /// The plan of the draft: its effects and their cost.
  ///
  /// - Complexity: reads at most some hundred pages of each large tree; otherwise O(links that are
  ///   rebuilt).
  func plan(
    from source: String, to destination: String, for snapshot: Snapshot
  ) throws -> MigrationPlan {
    let blocked = Set(obstacles.map(\.sourceEntityName))
    var steps = try entities.map { draft in
      try step(
        for: draft, isBlocked: draft.old.map { blocked.contains($0.name) } ?? false, snapshot)
    }
    for entity in removed {
      let isBlocked = blocked.contains(entity.stored.name)
      let bytes = try Self.byteCount(isTouched: true) {
        try snapshot.recordTree(entity.stored.rowTree)?.extent()
      }
      steps.append(
        MigrationPlan.EntityStep(
          name: entity.stored.name, sourceName: entity.stored.name,
          action: isBlocked ? .blocked : .removed, objectCount: entity.objectCount,
          byteCount: bytes,
          estimatedMilliseconds: isBlocked ? 0 : MigrationEstimate.dropping(bytes: bytes),
          addedProperties: [], removedProperties: [], renamedProperties: []))
    }
    return MigrationPlan(
      sourceVersion: source, destinationVersion: destination,
      entities: steps.sorted { $0.name < $1.name },
      relationships: relinked.filter { $0.counts.total > 0 || $0.counts.dropped.count > 0 }
        .map {
          MigrationPlan.RelationshipStep(
            entityName: $0.near.entityName, name: $0.near.relationship.name,
            linkCount: $0.counts.total, droppedLinkCount: $0.counts.dropped.count,
            droppedLinks: droppedLinks(of: $0))
        },
      indexes: try (indexSteps(snapshot) + fetchIndexSteps(snapshot)).sorted {
        ($0.entityName, $0.name) < ($1.entityName, $1.name)
      },
      numbers: numberSteps, obstacles: obstacles,
      possibleRenamings: possibleRenamings)
  }

  private func droppedLinks(of relinked: RelinkedRelationship) -> [MigrationPlan.DroppedLink] {
    // By the new names; removed entities keep their old ones.
    var names: [UInt16: String] = [:]
    for entity in oldSchema.entities { names[entity.number] = entity.name }
    for draft in entities { names[draft.stored.number] = draft.stored.name }
    return relinked.counts.dropped.first.map { link in
      let side =
        link.isOfOtherSide != relinked.readsFar ? relinked.far ?? relinked.near : relinked.near
      return MigrationPlan.DroppedLink(
        entityName: names[link.owner.entity] ?? "", key: link.owner.key,
        relationshipName: side.relationship.name,
        destinationEntityName: names[link.member.entity] ?? "", destinationKey: link.member.key,
        reason: link.reason)
    }
  }

  private func step(
    for draft: EntityDraft, isBlocked: Bool, _ snapshot: Snapshot
  ) throws -> MigrationPlan.EntityStep {
    let properties = PropertyNames(draft.change)
    let action: MigrationPlan.Action =
      isBlocked
      ? .blocked
      : draft.change.source == nil
        ? .added : draft.isRewritten ? .rewritten : draft.isDeferred ? .deferred : .kept
    var bytes = try draft.old.map { old in
      try Self.byteCount(isTouched: action == .rewritten) {
        try snapshot.recordTree(old.rowTree)?.extent(sampleCount: sampleCount)
      }
    }
    var objectCount = draft.objectCount
    if action == .deferred, let unfinished = draft.stored.unfinished {
      bytes = bytes.map { unfinished.share(of: $0, objectCount: objectCount) }
      objectCount = min(objectCount, unfinished.count)
    }
    return MigrationPlan.EntityStep(
      name: draft.destination.name, sourceName: draft.change.source?.name, action: action,
      objectCount: objectCount, byteCount: bytes ?? 0,
      estimatedMilliseconds: action == .rewritten
        ? MigrationEstimate.rewriting(rows: draft.objectCount, bytes: bytes ?? 0) : 0,
      addedProperties: properties.added, removedProperties: properties.removed,
      renamedProperties: properties.renamed)
  }

  /// The number of nodes that are read on each level of a tree of rows to estimate its size. If
  /// rows are not rewritten, nothing else depends on the size, so that one is enough.
  private var sampleCount: Int { defers ? 1 : TreeExtent.sampleCount }

  /// The approximate number of bytes in the file that were written, after the draft was executed.
  func writtenByteCount(in transaction: WriteTransaction) throws -> Int {
    var byteCount = 0
    for draft in entities {
      if draft.isRewritten {
        byteCount += try transaction.recordTree(draft.stored.rowTree)?.extent().byteCount ?? 0
      }
      for link in draft.stored.links where !isOld(link) {
        byteCount += try transaction.indexTree(link.tree)?.extent().byteCount ?? 0
      }
    }
    for index in indexChanges.added {
      byteCount += try transaction.indexTree(index.tree)?.extent().byteCount ?? 0
    }
    return byteCount
  }

  private func isOld(_ link: StoredEntity.Link) -> Bool {
    oldSchema.entities.contains { $0.links.contains { $0.number == link.number } }
  }

  // MARK: Indexes

  private func indexSteps(_ snapshot: Snapshot) throws -> [MigrationPlan.IndexStep] {
    var steps: [MigrationPlan.IndexStep] = []
    /// Links that are dropped because others replace them.
    var replaced: [StoredEntity.Link] = []
    for draft in entities {
      for link in draft.stored.links {
        let sourceName = draft.change.sourceRelationship(of: link.relationship)?.name
        let old = sourceName.flatMap { draft.old?.link(named: $0) }
        if let old, old.number == link.number {
          steps.append(
            try step(.kept, draft.destination.name, link.relationship, sourceName, old, snapshot))
          continue
        }
        if let old, droppedLinks.contains(old) { replaced.append(old) }
        let count = linkCount(of: link.relationship, draft)
        let keyByteCount = LinkKey.byteCount(isOrdered: link.isOrdered)
        steps.append(
          MigrationPlan.IndexStep(
            kind: .relationship, entityName: draft.destination.name, name: link.relationship,
            sourceName: sourceName, action: old != nil || count > 0 ? .rebuilt : .added,
            entryCount: count, byteCount: Self.wholePages(of: count * keyByteCount),
            estimatedMilliseconds: MigrationEstimate.rebuilding(entries: count)))
      }
    }
    for entity in oldSchema.entities {
      for link in entity.links where droppedLinks.contains(link) {
        guard !replaced.contains(link) else { continue }
        steps.append(
          try step(.removed, entity.name, link.relationship, link.relationship, link, snapshot))
      }
    }
    return steps
  }

  private func step(
    _ action: MigrationPlan.IndexStep.Action, _ entity: String, _ name: String,
    _ sourceName: String?, _ link: StoredEntity.Link, _ snapshot: Snapshot
  ) throws -> MigrationPlan.IndexStep {
    let tree = try snapshot.indexTree(link.tree)
    let bytes =
      defers && action == .kept
      ? Self.wholePages(of: (tree?.count ?? 0) * LinkKey.byteCount(isOrdered: link.isOrdered))
      : try Self.byteCount(isTouched: action != .kept) { try tree?.extent() }
    return MigrationPlan.IndexStep(
      kind: .relationship, entityName: entity, name: name, sourceName: sourceName, action: action,
      entryCount: tree?.count ?? 0, byteCount: bytes,
      estimatedMilliseconds: action == .removed ? MigrationEstimate.dropping(bytes: bytes) : 0)
  }

  /// The number of links that a rebuilt relationship has at the objects of one entity.
  private func linkCount(of relationship: String, _ draft: EntityDraft) -> Int {
    let name = draft.destination.name
    guard let relinked = relinked.first(where: { $0.concerns(name, relationship) }) else {
      return 0
    }
    let number = draft.stored.number
    let isNear =
      relinked.near.relationship.name == relationship && relinked.near.owners.contains(name)
    return isNear ? relinked.counts.near(number) : relinked.counts.far(number)
  }

  /// The size of a tree. Damage in a tree that is not touched is no obstacle: its size is then 0.
  static func byteCount(
    isTouched: Bool, _ extent: () throws -> TreeExtent?
  ) throws -> Int {
    do {
      return try extent()?.byteCount ?? 0
    } catch StorageError.damaged where !isTouched {
      return 0
    }
  }

  /// The size of keys in a tree that does not exist yet, in whole pages.
  static func wholePages(of byteCount: Int) -> Int { (byteCount + 4095) & ~4095 }
}

/// The changes of an entity's properties, by name: attributes first.
struct PropertyNames {
  private(set) var added: [String] = []
  private(set) var removed: [String] = []
  private(set) var renamed: [MigrationPlan.PropertyRenaming] = []

  init(_ change: EntityChange?) {
    // All properties of a kept entity are kept, with their names.
    guard let change, change.kind != .kept else { return }
    let (attributes, relationships) = (change.attributes, change.relationships)
    // By index, as changes are large: a loop over them would copy each.
    for index in attributes.indices where !attributes[index].isKept {
      record(attributes[index].source?.name, attributes[index].destination?.name)
    }
    for index in relationships.indices where !relationships[index].isKept {
      record(relationships[index].source?.name, relationships[index].destination?.name)
    }
  }

  private mutating func record(_ from: String?, _ to: String?) {
    switch (from, to) {
    case (nil, let to?): added.append(to)
    case (let from?, nil): removed.append(from)
    case (let from?, let to?):
      if from != to { renamed.append(MigrationPlan.PropertyRenaming(from: from, to: to)) }
    case (nil, nil): break
    }
  }
}
