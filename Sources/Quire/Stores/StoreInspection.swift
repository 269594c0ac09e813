import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Looks at everything a store file holds and says what is wrong with it.
///
/// Three floors are checked: the engine's pages and trees, the schema, and the objects: every row
/// is decoded, every reference followed, every link compared with its inverse. Nothing is written.
///
/// - Complexity: O(bytes of the store), and O(log *n*) for each reference.
public struct StoreInspection: Sendable {
  /// What makes the store unsound. Empty in a sound one.
  public internal(set) var findings: [String] = []
  /// What is legal and yet worth knowing, such as a required attribute without a value.
  public private(set) var notes: [String] = []
  public private(set) var objectCount = 0
  public private(set) var referenceCount = 0

  public var isSound: Bool { findings.isEmpty }

  /// - Throws: when the store cannot be opened at all.
  public init(of url: URL) throws {
    self = try StoreOpening.inspecting(url, readsUnvouchedPages: true) { snapshot, pages in
      var inspection = StoreInspection()
      for finding in try pages.check().findings { inspection.findings.append("\(finding)") }
      do {
        try inspection.inspectObjects(in: snapshot)
      } catch let error as StorageError {
        // What the pages' own check has found stays found; the objects behind a damaged page cannot
        // be.
        inspection.findings.append("the objects could not be looked at further: \(error)")
      }
      return inspection
    }
  }

  init() {}

  mutating func inspectObjects(in snapshot: Snapshot) throws {
    guard let schema = try StoreSchema(from: snapshot) else {
      findings.append("the store has no schema: it holds no objects")
      return
    }
    let model = ModelBinding(try StoreSchema.model(in: snapshot))
    guard try StoreSchema.isOf(model.model, model.hashBytes, in: snapshot) else {
      findings.append("the version hashes in the schema are not those of its model")
      return
    }
    let entities = try StoreEntities(
      model, schema: schema, identity: StoreIdentity(high: 0, low: 0))
    let view = StoreView(entities, snapshot)
    try inspectTrees(snapshot, schema)
    var external = try ExternalDataInspection(snapshot)
    for storage in entities.byIndex.compactMap({ $0 }) {
      inspectLayout(storage)
      try inspectRows(storage, view, &external)
      for link in storage.stored.links { try inspectLinks(link, of: storage, view) }
    }
    for index in schema.indexes { try inspectIndex(index, view) }
    findings += try external.findings()
    try inspectHistory(view)
  }

  // MARK: Schema

  private mutating func inspectTrees(_ snapshot: Snapshot, _ schema: StoreSchema) throws {
    var known: Set<String> = [StoreSchema.tree, StoreSchema.keysTree]
    if schema.history != nil { known.insert(StoreSchema.historyTree) }
    if schema.hasExternalData { known.insert(ExternalValue.tree) }
    for entity in schema.entities {
      known.insert(entity.rowTree)
      for link in entity.links { known.insert(link.tree) }
    }
    for index in schema.indexes { known.insert(index.tree) }
    for tree in try snapshot.treeNames() where !known.contains(tree.name) {
      findings.append("the tree \(tree.name) belongs to nothing")
    }
  }

  private mutating func inspectLayout(_ storage: EntityStorage) {
    let expected = Set(RowLayout.fields(of: storage.binding.entity))
    if expected != Set(storage.layout.fields) {
      findings.append("the rows of \(storage.stored.name) have other fields than its model")
    }
    let links = StoredEntity.storedLinks(of: storage.binding.entity)
    if Set(links.map(\.name)) != Set(storage.stored.links.map(\.relationship)) {
      findings.append("\(storage.stored.name) has other link trees than its model")
    }
  }

  // MARK: Rows

  private mutating func inspectRows(
    _ storage: EntityStorage, _ view: StoreView, _ external: inout ExternalDataInspection
  ) throws {
    guard let tree = try view.rows(of: storage) else { return }
    let required = Set(
      storage.binding.entity.attributes.filter { !$0.isOptional && !$0.isTransient }.map(\.name))
    var missing: [String: Int] = [:]
    var lastKey: Int64 = 0
    var olderCount = 0
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      objectCount += 1
      lastKey = try cursor.key
      let place = "\(storage.stored.name)/p\(lastKey)"
      do {
        let bytes = try cursor.valueBytes
        if !RowReader.isCurrent(bytes, storage.layout) {
          olderCount += 1
          inspectOlderRow(place, lastKey, storage)
        }
        let row = try RowReader(bytes, layout: storage.layout, scratch)
        if row.version == 0 { findings.append("\(place) has version 0") }
        for (field, description) in storage.layout.fields.enumerated() {
          if description.kind == .reference {
            if let target = row.reference(field) {
              try inspectReference(
                target, description.name,
                from: Reference(entity: storage.stored.number, key: lastKey), storage, view)
            }
          } else if let value = row.external(field) {
            if let finding = try external.finding(value, "\(place).\(description.name)") {
              findings.append(finding)
            }
          } else if try row.value(field) == nil, required.contains(description.name) {
            missing[description.name, default: 0] += 1
          }
        }
      } catch let error as RowError {
        findings.append("\(place): \(error)")
      }
      isInside = try cursor.next()
    }
    for (name, count) in missing.sorted(by: { $0.key < $1.key }) {
      notes.append(
        "\(storage.stored.name).\(name) is required and has no value in \(count) objects")
    }
    inspectOlderRows(olderCount, storage)
    try inspectKeys(storage, lastKey, view)
  }

  /// A row that finishing would pass over could not be read afterwards.
  private mutating func inspectOlderRow(_ place: String, _ key: Int64, _ storage: EntityStorage) {
    if let unfinished = storage.stored.unfinished, key < unfinished.firstKey {
      findings.append(
        "\(place) has an older layout, but those below p\(unfinished.firstKey) have none")
    }
  }

  private mutating func inspectOlderRows(_ count: Int, _ storage: EntityStorage) {
    guard let unfinished = storage.stored.unfinished else { return }
    let name = storage.stored.name
    notes.append("\(name) has \(count) objects that a deferred migration is to rewrite")
    if count > unfinished.count {
      findings.append(
        "\(name) has \(count) objects of older layouts, and \(unfinished.count) at most are said "
          + "to be left")
    }
  }

  private mutating func inspectKeys(
    _ storage: EntityStorage, _ lastKey: Int64, _ view: StoreView
  ) throws {
    guard lastKey > 0 else { return }
    let given =
      try view.snapshot.recordTree(StoreSchema.keysTree)?
      .value(for: Int64(storage.stored.keySpace))?.integer(Int64.self) ?? 0
    if given < lastKey {
      findings.append(
        "\(storage.stored.name) has key \(lastKey), but keys were counted up to \(given) only")
    }
  }

  private mutating func inspectReference(
    _ target: Reference, _ relationshipName: String, from source: Reference,
    _ storage: EntityStorage, _ view: StoreView
  ) throws {
    referenceCount += 1
    let place = "\(storage.stored.name)/p\(source.key).\(relationshipName)"
    guard let relationship = storage.binding.entity.relationship(named: relationshipName) else {
      return
    }
    guard try inspectDestination(target, relationship, place, view) else { return }
    guard let inverse = relationship.inverse, let other = view.entities.storage(of: target) else {
      return
    }
    if let link = other.stored.link(named: inverse) {
      if try !hasLink(link, target.key, source, view) {
        findings.append("\(place) leads to \(target.key), whose \(inverse) does not lead back")
      }
    } else if let field = other.layout.index(of: inverse) {
      let back = try view.row(target)?.reference(field)
      if back != source {
        findings.append("\(place) leads to \(target.key), whose \(inverse) does not lead back")
      }
    }
  }

  /// Whether the destination exists and is of the right entity; says so when not.
  private mutating func inspectDestination(
    _ target: Reference, _ relationship: RelationshipDescription, _ place: String, _ view: StoreView
  ) throws -> Bool {
    guard let storage = view.entities.storage(of: target) else {
      findings.append("\(place) leads to entity number \(target.entity), which does not exist")
      return false
    }
    var ancestor: EntityDescription? = storage.binding.entity
    while let level = ancestor, level.name != relationship.destination { ancestor = level.parent }
    if ancestor == nil {
      findings.append(
        "\(place) leads to \(storage.stored.name)/p\(target.key), which is no \(relationship.destination)"
      )
      return false
    }
    guard try !view.contains(target) else { return true }
    let text = "\(place) leads to \(storage.stored.name)/p\(target.key), which does not exist"
    // Nobody was told when the destination went: that is what such a relationship asks for.
    if isTold(relationship, storage) { findings.append(text) } else { notes.append(text) }
    return false
  }

  /// Whether a destination that is deleted clears the relationship.
  private func isTold(_ relationship: RelationshipDescription, _ storage: EntityStorage) -> Bool {
    guard let inverse = relationship.inverse,
      let back = storage.binding.entity.relationship(named: inverse)
    else { return false }
    return back.deleteRule != .noAction && !back.isTransient
  }

  // MARK: Links

  private mutating func inspectLinks(
    _ link: StoredEntity.Link, of storage: EntityStorage, _ view: StoreView
  ) throws {
    guard let reader = try view.links(link),
      let relationship = storage.binding.entity.relationship(named: link.relationship)
    else { return }
    var keys: [LinkKey] = []
    try reader.forEach { keys.append($0) }
    for key in keys {
      referenceCount += 1
      let owner = Reference(entity: storage.stored.number, key: key.owner)
      let place = "\(storage.stored.name)/p\(key.owner).\(link.relationship)"
      guard try view.contains(owner) else {
        findings.append("\(place) has a link, but the object does not exist")
        continue
      }
      guard try inspectDestination(key.member, relationship, place, view),
        let inverse = relationship.inverse, let other = view.entities.storage(of: key.member)
      else { continue }
      let leadsBack: Bool
      if let back = other.stored.link(named: inverse) {
        leadsBack = try hasLink(back, key.member.key, owner, view)
      } else if let field = other.layout.index(of: inverse) {
        leadsBack = try view.row(key.member)?.reference(field) == owner
      } else {
        continue
      }
      if !leadsBack {
        findings.append(
          "\(place) leads to \(other.stored.name)/p\(key.member.key), whose \(inverse) does not lead back"
        )
      }
    }
  }

  private func hasLink(
    _ link: StoredEntity.Link, _ owner: Int64, _ member: Reference, _ view: StoreView
  ) throws -> Bool {
    guard let reader = try view.links(link) else { return false }
    if !link.isOrdered {
      return try reader.tree.contains(LinkKey(owner: owner, member: member).bytes(isOrdered: false))
    }
    return try reader.members(of: owner).contains(member)
  }
}

extension StoreInspection {
  /// Looks at a store that is open, as of its last save.
  package init(of store: PersistentStore) throws {
    if store.incremental != nil { throw IncrementalStoreOpening.refusal(of: "inspected", store) }
    for finding in try store.pages.check().findings { findings.append("\(finding)") }
    try inspectObjects(in: try store.pages.snapshot())
  }
}
