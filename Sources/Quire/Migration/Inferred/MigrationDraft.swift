import QuireModel
import QuireStorage

/// The decisions of a migration before it writes: the source of each field of each new row, and the
/// links of each relationship.
final class MigrationDraft {
  /// The source of a field of a new row; a link has the index of its relinked relationship.
  typealias FieldSource = RowTransformation.Source

  final class EntityDraft {
    let destination: EntityDescription
    let change: EntityChange
    /// The entity in the old store; `nil` when it is added.
    let old: StoredEntity?
    /// The entity in the new store; at first without links, key space and final layout.
    fileprivate(set) var stored: StoredEntity
    var fields: [FieldSource] = []
    var isRewritten = false
    /// Whether rows remain in older layouts than the entity's new one.
    var isDeferred: Bool { stored.unfinished != nil }
    let objectCount: Int

    init(
      _ destination: EntityDescription, _ change: EntityChange, _ old: StoredEntity?,
      _ stored: StoredEntity, objectCount: Int
    ) {
      self.destination = destination
      self.change = change
      self.old = old
      self.stored = stored
      self.objectCount = objectCount
    }
  }

  let model: ManagedObjectModel
  /// Whether rows remain in their old layout where that is possible.
  let defers: Bool
  let oldSchema: StoreSchema
  private(set) var newSchema: StoreSchema
  private(set) var entities: [EntityDraft] = []
  let removed: [(stored: StoredEntity, objectCount: Int)]
  /// Of what there are objects.
  let possibleRenamings: [PossibleRenaming]
  /// The relationships whose links change.
  private(set) var relinked: [RelinkedRelationship] = []
  /// The link trees of the old store that the new one does not use.
  private(set) var droppedLinks: [StoredEntity.Link] = []
  /// The indexes to drop and to build.
  private(set) var indexChanges = StoreSchema.IndexChanges()
  /// The obstacles. If there are any, the rest of the draft is for display only.
  private(set) var obstacles: [MigrationPlan.Obstacle] = []

  /// - Parameter storedModel: the model in the store.
  init(
    _ difference: ModelDifference, _ model: ManagedObjectModel,
    storedAs storedModel: ManagedObjectModel,
    _ schema: StoreSchema, _ snapshot: Snapshot, defers: Bool = false
  ) throws {
    self.model = model
    self.defers = defers
    oldSchema = schema
    newSchema = schema
    newSchema.entities = []
    for entity in model.entities where !entity.isAbstract {
      guard let change = difference.change(toDestination: entity.name) else { continue }
      let old = change.source.flatMap { $0.isAbstract ? nil : schema.entity(named: $0.name) }
      let number: UInt16
      if let old { number = old.number } else { number = try newSchema.takeEntityNumber() }
      let stored = StoredEntity(
        number: number, name: entity.name, keySpace: old?.keySpace ?? number,
        layout: RowLayout(for: entity, number: old?.layout.nextNumber ?? 1), links: [])
      let objectCount = try old.flatMap { try snapshot.recordTree($0.rowTree)?.count } ?? 0
      entities.append(EntityDraft(entity, change, old, stored, objectCount: objectCount))
    }
    let kept = entities
    removed = try schema.entities.filter { entity in
      !kept.contains { $0.stored.number == entity.number }
    }.map { ($0, try snapshot.recordTree($0.rowTree)?.count ?? 0) }
    let populated = Set(
      entities.filter { $0.objectCount > 0 }.compactMap { $0.change.source?.name }
        + removed.filter { $0.objectCount > 0 }.map(\.stored.name))
    possibleRenamings =
      populated.isEmpty
      ? [] : difference.possibleRenamings.filter { populated.contains($0.sourceEntityName) }
    obstacles = try obstacles(in: difference, snapshot)
    joinKeySpaces()
    func matching() -> RelationshipMatching {
      RelationshipMatching(
        from: difference.source, to: model, storedAs: storedModel, kept, schema, snapshot)
    }
    // If links are kept, not even a matching is made, as the first use of its types costs a process
    // time.
    if difference.mayRelink || storedModel.hasUntoldDeletions {
      relinked = try matching().relinked()
    } else {
      assert((try? matching().relinked().isEmpty) ?? true, "links have to be made anew")
    }
    try assignLinks()
    try assignFields()
    newSchema.entities = entities.map(\.stored)
    var schema = newSchema
    indexChanges = try schema.takeIndexes(of: model) { keptIndex(for: $0, except: $1) }
    newSchema = schema
  }

  /// Gives entities that now have a common root one key counter.
  private func joinKeySpaces() {
    // By the index of the root in the model; 0 for none, as numbers of entities begin at 1.
    var spaces = Array(repeating: UInt16(0), count: model.entities.count)
    let roots = entities.map { model.index(ofEntity: $0.destination.root.name) ?? 0 }
    for (draft, root) in zip(entities, roots) {
      // A pattern, as `!= nil` would need a comparison of the wrapped type.
      guard case .some = draft.old else { continue }
      let space = draft.stored.keySpace
      spaces[root] = spaces[root] == 0 ? space : min(spaces[root], space)
    }
    for (draft, root) in zip(entities, roots) {
      if spaces[root] == 0 { spaces[root] = draft.stored.keySpace }
      let stored = draft.stored
      guard stored.keySpace != spaces[root] else { continue }
      draft.stored = StoredEntity(
        number: stored.number, name: stored.name, keySpace: spaces[root], layout: stored.layout,
        links: [])
    }
  }

  // MARK: Links

  private func assignLinks() throws {
    for draft in entities {
      var links: [StoredEntity.Link] = []
      for relationship in StoredEntity.storedLinks(of: draft.destination) {
        let isRelinked = relinked.contains {
          $0.concerns(draft.destination.name, relationship.name)
        }
        if !isRelinked, let name = draft.change.sourceRelationship(of: relationship.name)?.name,
          let old = draft.old?.link(named: name)
        {
          var link = old
          link.relationship = relationship.name
          links.append(link)
        } else {
          links.append(try newSchema.takeLink(for: relationship))
        }
      }
      let stored = draft.stored
      draft.stored = StoredEntity(
        number: stored.number, name: stored.name, keySpace: stored.keySpace,
        layout: stored.layout, links: links)
    }
    droppedLinks = oldSchema.entities.flatMap(\.links).filter { link in
      !entities.contains { $0.stored.links.contains { $0.number == link.number } }
    }
  }

  // MARK: Fields

  private func assignFields() throws {
    for draft in entities {
      let fields = draft.stored.layout.fields
      if draft.change.kind == .kept, relinked.isEmpty, draft.old?.layout.fields == fields {
        draft.fields = fields.indices.map(FieldSource.copy)
      } else {
        draft.fields = fields.map { source(of: $0, in: draft) }
      }
      if let old = draft.old, draft.objectCount > 0 {
        if canKeepRows(of: draft, old), defers || old.unfinished == nil {
          draft.stored = draft.stored.with(
            try renamed(old.layout, draft), unfinished: old.unfinished)
        } else if defers, let layout = try deferred(draft, old) {
          draft.stored = draft.stored.with(
            layout, unfinished: UnfinishedRows(count: draft.objectCount))
        } else {
          draft.isRewritten = true
        }
      }
    }
  }

  private func source(of field: RowLayout.Field, in draft: EntityDraft) -> FieldSource {
    if field.kind == .reference {
      if let index = relinked.firstIndex(where: { $0.concerns(draft.destination.name, field.name) })
      {
        return .link(index)
      }
      let old = draft.change.sourceRelationship(of: field.name).flatMap {
        draft.old?.layout.index(of: $0.name)
      }
      return old.map(FieldSource.copy) ?? .absent
    }
    guard let attribute = draft.destination.attribute(named: field.name) else { return .absent }
    let change = draft.change.attributes.first { $0.destination?.name == field.name }
    let source = change?.source
    let old = source.flatMap { draft.old?.layout.index(of: $0.name) }
    let isNewlyRequired = !attribute.isOptional && source?.isOptional == true
    // A derived attribute of another type is computed again.
    if let old, let conversion = change?.numberConversion, attribute.derivationExpression == nil {
      return .number(
        old, conversion, orDefault: isNewlyRequired ? attribute.defaultValue : nil)
    }
    guard let old, draft.old?.layout.fields[old].kind == field.kind else {
      return attribute.initialValue.map(FieldSource.constant) ?? .absent
    }
    if field.kind == .composite, let conversion = change.flatMap(CompositeConversion.init) {
      return .convert(
        old, conversion, orDefault: isNewlyRequired ? attribute.defaultValue : nil)
    }
    if isNewlyRequired, let value = attribute.defaultValue {
      return .copyOrDefault(old, value)
    }
    return .copy(old)
  }

  /// Whether the old rows can be kept: they have the same fields with the same sources.
  private func canKeepRows(of draft: EntityDraft, _ old: StoredEntity) -> Bool {
    var isCopied = Array(repeating: false, count: old.layout.fields.count)
    for field in draft.fields {
      guard case .copy(let index) = field else { return false }
      isCopied[index] = true
    }
    return isCopied.allSatisfy { $0 }
  }

  /// The old layout with the new names of properties.
  private func renamed(_ layout: RowLayout, _ draft: EntityDraft) throws -> RowLayout {
    var fields = layout.fields
    for (index, source) in draft.fields.enumerated() {
      if case .copy(let old) = source { fields[old].name = draft.stored.layout.fields[index].name }
    }
    if fields == layout.fields { return layout }
    let renamed = RowLayout(number: layout.number, fields: fields)
    return RowLayout(
      number: layout.number, fields: fields,
      older: try layout.older.map { try OlderLayout($0.layout, to: renamed, $0.sources) })
  }

  /// The new layout, with the older ones that the entity's rows may have until they are rewritten.
  ///
  /// - Returns: `nil` if the bytes of a row are not enough for the conversion.
  private func deferred(_ draft: EntityDraft, _ old: StoredEntity) throws -> RowLayout? {
    let needsMore = draft.fields.contains { source in
      switch source {
      case .link, .convert, .number: true
      case .copy, .copyOrDefault, .constant, .absent: false
      }
    }
    guard !needsMore, old.layout.older.count < OlderLayout.limit else { return nil }
    let layout = draft.stored.layout
    let last = try OlderLayout(old.layout, to: layout, draft.fields)
    let earlier = try old.layout.older.map { older in
      try OlderLayout(
        older.layout, to: layout, draft.fields.map { $0.composed(with: older.sources) })
    }
    return RowLayout(number: layout.number, fields: layout.fields, older: [last] + earlier)
  }
}

extension EntityChange {
  /// The relationship of the old model that a relationship of the new one was; `nil` if it is new.
  func sourceRelationship(of name: String) -> RelationshipDescription? {
    relationships.first { $0.destination?.name == name }?.source
  }
}

extension ModelDifference {
  /// Whether links may have to be rebuilt: a relationship was added or has another shape, inverse
  /// or destination, or an entity that may be a destination was removed or has another position in
  /// the hierarchy.
  fileprivate var mayRelink: Bool {
    entities.contains { change in
      change.kind == .removed || change.parentChanged || change.abstractChanged
        || change.relationships.contains { !$0.facets.allSatisfy(\.keepsLinks) }
    }
  }
}

extension RelationshipChange.Facet {
  /// Whether links are not affected by the change.
  fileprivate var keepsLinks: Bool {
    switch self {
    case .renamed, .countsChanged, .becameOptional, .becameRequired, .modifierChanged: true
    case .added, .removed, .toOneToToMany, .toManyToToOne, .orderedChanged, .destinationChanged,
      .destinationNarrowed, .destinationWidened, .inverseChanged, .transientChanged:
      false
    }
  }
}

extension ManagedObjectModel {
  /// Whether deletions can leave dangling references in relationships with an inverse: because of
  /// the delete rule *no action*.
  var hasUntoldDeletions: Bool {
    entities.contains { entity in
      entity.declaration.relationships.contains {
        $0.deleteRule.leavesOtherEnds && $0.inverse != nil && !$0.isTransient
      }
    }
  }

  /// A relationship that must not have dangling references, but may have some from the time of
  /// `former`, in which the inverse had the delete rule *no action*; `nil` if there is none.
  func relationshipToClear(since former: ManagedObjectModel) -> String? {
    guard former.hasUntoldDeletions else { return nil }
    for entity in entities {
      for relationship in entity.declaration.relationships where !relationship.isTransient {
        guard let old = former.entity(named: entity.name)?.relationship(named: relationship.name),
          RelationshipMatching.mayDangle(old, in: former),
          !RelationshipMatching.mayDangle(relationship, in: self)
        else { continue }
        return "\(entity.name).\(relationship.name)"
      }
    }
    return nil
  }
}
