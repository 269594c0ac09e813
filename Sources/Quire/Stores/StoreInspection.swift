import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An inspection of all data in a store file for errors.
///
/// It checks the engine's pages and trees, the schema, and the objects: every row is decoded, every
/// reference followed, every link compared with its inverse. Nothing is written.
///
/// - Complexity: O(bytes of the store), and O(log *n*) for each reference.
public struct StoreInspection: Sendable {
  /// The errors found; empty for an intact store.
  public internal(set) var findings: [String] = []
  /// Valid but remarkable states, such as a required attribute without a value.
  public private(set) var notes: [String] = []
  /// How many rows were looked at.
  public private(set) var objectCount = 0
  /// How many to-one references and links were followed.
  public private(set) var referenceCount = 0
  private var linkCount = 0
  private var orderedMembership = OrderedMembership()
  /// The number of members of ordered relationships that were read to see whether they lead back.
  package var orderedReadCount: Int { orderedMembership.readCount }

  /// Whether nothing is wrong.
  public var isSound: Bool { findings.isEmpty }

  /// - Parameters:
  ///   - url: the store's file.
  ///   - progress: called from time to time, in pages and objects.
  /// - Throws: an error if the store cannot be opened at all.
  public init(
    of url: URL, progress: @escaping (StoreProgress) -> Void = { _ in }
  ) throws {
    try self.init(of: url, in: DiskFileSystem(), progress: progress)
  }

  /// The same on a given file system, for tests.
  package init(
    of url: URL, in fileSystem: any FileSystem,
    progress: @escaping (StoreProgress) -> Void = { _ in }
  ) throws {
    self = try StoreFiles.inspecting(url, in: fileSystem, readsUnvouchedPages: true) {
      snapshot, pages in
      var inspection = StoreInspection()
      let entryCount = StoreInspection.entryCount(in: snapshot)
      var pageCount = 0
      let report = try pages.check { done, total in
        pageCount = total
        progress(StoreProgress(completedUnitCount: done, totalUnitCount: total + entryCount))
      }
      for finding in report.findings { inspection.findings.append("\(finding)") }
      try inspection.inspectObjects(in: snapshot) { done in
        progress(
          StoreProgress(
            completedUnitCount: pageCount + done, totalUnitCount: pageCount + entryCount))
      }
      return inspection
    }
  }

  init() {}

  /// The number of rows and links.
  private static func entryCount(in snapshot: Snapshot) -> Int {
    let trees = (try? snapshot.treeNames()) ?? []
    // A damaged catalog may have any number, with which nothing must overflow.
    return trees.reduce(0) { sum, tree in
      tree.name.hasPrefix("rows/") || tree.name.hasPrefix("links/")
        ? sum + min(max(tree.count, 0), 1 << 40) : sum
    }
  }

  /// - Parameter progress: is called from time to time with the number of rows and links that were
  ///   looked at.
  /// - Throws: an error if the store has a newer format.
  mutating func inspectObjects(
    in snapshot: Snapshot, progress: (_ done: Int) -> Void = { _ in }
  ) throws {
    let schema: StoreSchema
    let entities: StoreEntities
    do {
      guard let found = try StoreSchema(from: snapshot) else {
        findings.append("the store has no schema: it holds no objects")
        return
      }
      schema = found
      let model = ModelBinding(try StoreSchema.model(in: snapshot))
      guard try StoreSchema.isOf(model.model, model.hashBytes, in: snapshot) else {
        findings.append("the version hashes in the schema are not those of its model")
        return
      }
      entities = try StoreEntities(
        model, schema: schema, identity: StoreIdentity(high: 0, low: 0))
    } catch let error as PersistenceError where error.code == .persistentStoreOpen {
      throw error
    } catch {
      // Without a schema, objects cannot be identified.
      record(error)
      return
    }
    let view = StoreView(entities, snapshot)
    attempt { try $0.inspectTrees(snapshot, schema) }
    attempt { try $0.inspectCounters(snapshot) }
    var external: ExternalDataInspection?
    attempt { _ in external = try ExternalDataInspection(snapshot) }
    for storage in entities.byIndex.compactMap({ $0 }) {
      attempt { try $0.inspectRows(storage, view, &external, progress) }
      for link in storage.stored.links {
        attempt { try $0.inspectLinks(link, of: storage, view, progress) }
      }
    }
    for index in schema.indexes { attempt { try $0.inspectIndex(index, view) } }
    attempt { $0.findings += try external?.findings() ?? [] }
    attempt { try $0.inspectHistory(view) }
    orderedMembership.removeAll()
  }

  private func tell(_ progress: (_ done: Int) -> Void) {
    let done = objectCount + linkCount
    if done.isMultiple(of: 1024) { progress(done) }
  }

  /// Inspects one part. An error in it does not prevent the inspection of others.
  private mutating func attempt(_ body: (inout StoreInspection) throws -> Void) {
    do { try body(&self) } catch { record(error) }
  }

  private mutating func record(_ error: any Error) {
    switch error {
    case let error as PersistenceError: findings.append(error.message)
    case let error as StorageError:
      // The findings of the pages' check are kept. One page may stop the look at several parts.
      let finding = "the objects could not be looked at further: \(error)"
      if !findings.contains(finding) { findings.append(finding) }
    default: findings.append("\(error)")
    }
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

  /// Checks that each counter belongs to a key space, and has the number of a key.
  private mutating func inspectCounters(_ snapshot: Snapshot) throws {
    guard let tree = try snapshot.recordTree(StoreSchema.keysTree) else { return }
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      let space = try cursor.key
      // Counters of removed entities are kept.
      if UInt16(exactly: space) == nil {
        findings.append("the counter of keys \(space) belongs to no key space")
      }
      let value = try cursor.storedValue()
      do throws(PersistenceError) {
        _ = try KeyCounters.checked(value, space: space)
      } catch { findings.append(error.message) }
      isInside = try cursor.next()
    }
  }

  // MARK: Rows

  private mutating func inspectRows(
    _ storage: EntityStorage, _ view: StoreView, _ external: inout ExternalDataInspection?,
    _ progress: (_ done: Int) -> Void
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
      tell(progress)
      lastKey = try cursor.key
      let subject = "\(storage.stored.name)/p\(lastKey)"
      if !Reference.keys.contains(lastKey) {
        findings.append("\(subject) has a key that no object can have")
      }
      do {
        let bytes = try cursor.valueBytes
        if !RowReader.isCurrent(bytes, storage.layout) {
          olderCount += 1
          inspectOlderRow(subject, lastKey, storage)
        }
        let row = try RowReader(bytes, layout: storage.layout, scratch)
        if row.version == 0 { findings.append("\(subject) has version 0") }
        for (field, description) in storage.layout.fields.enumerated() {
          if description.kind == .reference {
            if let target = row.reference(field) {
              try inspectReference(
                target, description.name,
                from: Reference(entity: storage.stored.number, key: lastKey), storage, view)
            }
          } else if let value = row.external(field) {
            if let finding = try external?.finding(value, "\(subject).\(description.name)") {
              findings.append(finding)
            }
          } else if let value = try row.value(field) {
            inspectValue(value, row, field, storage, subject)
          } else if required.contains(description.name) {
            missing[description.name, default: 0] += 1
          }
        }
      } catch let error as RowError {
        findings.append("\(subject): \(error)")
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

  /// Checks that finishing the migration would not skip a row, which could not be read afterwards.
  private mutating func inspectOlderRow(_ subject: String, _ key: Int64, _ storage: EntityStorage) {
    if let unfinished = storage.stored.unfinished, key < unfinished.firstKey {
      findings.append(
        "\(subject) has an older layout, but those below p\(unfinished.firstKey) have none")
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
    let subject = "\(storage.stored.name)/p\(source.key).\(relationshipName)"
    guard let relationship = storage.binding.entity.relationship(named: relationshipName) else {
      return
    }
    guard try inspectDestination(target, relationship, subject, view) else { return }
    guard let inverse = relationship.inverse, let other = view.entities.storage(of: target) else {
      return
    }
    if let link = other.stored.link(named: inverse) {
      if try !hasLink(link, target.key, source, view) {
        findings.append("\(subject) refers to \(target.key), whose \(inverse) does not refer back")
      }
    } else if let field = other.layout.index(of: inverse) {
      if try !refers(target, field, to: source, view) {
        findings.append("\(subject) refers to \(target.key), whose \(inverse) does not refer back")
      }
    }
  }

  /// Whether the destination exists and has the right entity; otherwise reports an error.
  private mutating func inspectDestination(
    _ target: Reference, _ relationship: RelationshipDescription, _ subject: String,
    _ view: StoreView
  ) throws -> Bool {
    guard let storage = view.entities.storage(of: target) else {
      findings.append("\(subject) refers to entity number \(target.entity), which does not exist")
      return false
    }
    var ancestor: EntityDescription? = storage.binding.entity
    while let level = ancestor, level.name != relationship.destination { ancestor = level.parent }
    if ancestor == nil {
      findings.append(
        "\(subject) refers to \(storage.stored.name)/p\(target.key), which is no "
          + "\(relationship.destination)"
      )
      return false
    }
    guard try !view.contains(target) else { return true }
    let text = "\(subject) refers to \(storage.stored.name)/p\(target.key), which does not exist"
    // No error for a relationship that is not cleared when the destination is deleted.
    if isTold(relationship, storage) { findings.append(text) } else { notes.append(text) }
    return false
  }

  /// Whether the relationship is cleared when a destination is deleted.
  private func isTold(_ relationship: RelationshipDescription, _ storage: EntityStorage) -> Bool {
    guard let inverse = relationship.inverse,
      let back = storage.binding.entity.relationship(named: inverse)
    else { return false }
    return !back.deleteRule.leavesOtherEnds && !back.isTransient
  }

  // MARK: Links

  private mutating func inspectLinks(
    _ link: StoredEntity.Link, of storage: EntityStorage, _ view: StoreView,
    _ progress: (_ done: Int) -> Void
  ) throws {
    guard let reader = try view.links(link),
      let relationship = storage.binding.entity.relationship(named: link.relationship)
    else { return }
    // Of the owner whose links are being looked at.
    var members: Set<Reference> = []
    var last: Int64?
    try reader.forEach { key in
      referenceCount += 1
      linkCount += 1
      tell(progress)
      let owner = Reference(entity: storage.stored.number, key: key.owner)
      let subject = "\(storage.stored.name)/p\(key.owner).\(link.relationship)"
      if link.isOrdered {
        if last != key.owner { members = [] }
        last = key.owner
        inspectPosition(key, in: &members, subject)
      }
      guard Reference.keys.contains(key.owner), try view.contains(owner) else {
        findings.append("\(subject) has a link, but the object does not exist")
        return
      }
      if try inspectDestination(key.member, relationship, subject, view),
        let inverse = relationship.inverse, let other = view.entities.storage(of: key.member),
        try !refersBack(key.member, inverse, other, to: owner, view)
      {
        findings.append(
          "\(subject) refers to \(other.stored.name)/p\(key.member.key), whose \(inverse) does not "
            + "refer back"
        )
      }
    }
  }

  private mutating func refersBack(
    _ member: Reference, _ inverse: String, _ storage: EntityStorage, to owner: Reference,
    _ view: StoreView
  ) throws -> Bool {
    if let back = storage.stored.link(named: inverse) {
      return try hasLink(back, member.key, owner, view)
    }
    guard let field = storage.layout.index(of: inverse) else { return true }
    return try refers(member, field, to: owner, view)
  }

  /// Checks that each member occurs once, and that another position can follow it.
  private mutating func inspectPosition(
    _ key: LinkKey, in members: inout Set<Reference>, _ subject: String
  ) {
    if !members.insert(key.member).inserted {
      findings.append("\(subject) has the object with key \(key.member.key) twice")
    }
    if key.position == .max {
      findings.append(
        "\(subject) has the object with key \(key.member.key) at the last position there is")
    }
  }

  private func refers(
    _ target: Reference, _ field: Int, to source: Reference, _ view: StoreView
  ) throws -> Bool {
    do throws(any Error) {
      return try view.row(target)?.reference(field) == source
    } catch is RowError {
      // An unreadable row is reported where it is stored.
      return true
    }
  }

  private mutating func hasLink(
    _ link: StoredEntity.Link, _ owner: Int64, _ member: Reference, _ view: StoreView
  ) throws -> Bool {
    guard let reader = try view.links(link) else { return false }
    if !link.isOrdered {
      return try reader.tree.contains(LinkKey(owner: owner, member: member).bytes(isOrdered: false))
    }
    return try orderedMembership.contains(member, of: owner, link, in: reader)
  }
}

extension StoreInspection {
  /// Inspects an open store, as of its last save.
  package init(of store: PersistentStore) throws {
    if store.incremental != nil { throw store.refusal(of: "inspected") }
    for finding in try store.pages.check().findings { findings.append("\(finding)") }
    try inspectObjects(in: try store.pages.snapshot())
  }
}
