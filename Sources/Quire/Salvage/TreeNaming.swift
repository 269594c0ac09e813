import QuireModel
import QuireStorage

/// Finds the names of trees, and which trees parts belong to, where a damaged store does not tell.
///
/// Everything is known by its content. Rows have the layout of their entity, and their references
/// are to entities that the relationships allow; keys of links and of indexes end with a reference
/// that names an entity and a key, which is then the key of one of its rows. Where two entities
/// cannot be told apart by all this, the first is chosen; links that may be of several
/// relationships are left out, as nothing would tell a wrong one.
struct TreeNaming {
  private(set) var salvage: TreeSalvage
  private let schema: SalvagedSchema
  /// The keys of each entity that references in links and indexes name.
  private var mentions: [UInt16: Set<Int64>] = [:]
  /// The pages of links that may belong to several relationships, and so belong to none.
  private(set) var unknownLinkPageCount = 0

  init(_ salvage: TreeSalvage, _ schema: SalvagedSchema) {
    self.salvage = salvage
    self.schema = schema
  }

  mutating func run() {
    guard !salvage.fragments.isEmpty else { return }
    assignByContent()
    guard !salvage.isCatalogComplete, !salvage.fragments.isEmpty else { return }
    if schema.entities.byIndex.contains(where: isRowTreeMissing) { collectMentions() }
    nameRows()
    mentions = [:]
    nameLinks()
    nameOthers()
  }

  // MARK: Parts of known trees

  /// Assigns the fragments that fit in holes of several trees, by what their entries are. If the
  /// catalog has lost names, a fragment that can also be a tree without one is not assigned yet.
  private mutating func assignByContent() {
    let trees = StoredTree.all(of: schema.schema)
    let byName = Dictionary(trees.map { ($0.name, $0.content) }) { first, _ in first }
    let nameless =
      salvage.isCatalogComplete ? [] : trees.filter { salvage.tree(named: $0.name) == nil }
    salvage.place(
      salvage.fragments.compactMap { fragment in
        let fitting = salvage.candidates(of: fragment).filter { tree in
          byName[tree.name].map { fits(fragment, $0) } ?? true
        }
        guard fitting.count == 1, !nameless.contains(where: { fits(fragment, $0.content) }) else {
          return nil
        }
        return (fragment, fitting[0])
      })
  }

  /// Whether all entries of a fragment can be of a tree with this content.
  private func fits(_ fragment: TreeFragment, _ content: StoredTree.Content) -> Bool {
    switch content {
    case .rows(let entity):
      storage(named: entity).map { isRows(fragment, of: $0) } ?? false
    case .links(let entity, let relationship):
      storage(named: entity).flatMap { storage in
        storage.stored.link(named: relationship).map { isLinks(fragment, of: storage, $0) }
      } ?? false
    case .fetchIndex(let entity, let name):
      isIndex(fragment) { $0.kind == .fetch && $0.entityName == entity && $0.name == name }
    case .uniquenessConstraint(let entity, let name):
      isIndex(fragment) { $0.kind == .unique && $0.entityName == entity && $0.name == name }
    case .schema:
      fragment.kind == .index
        && salvage.allSatisfy(fragment) { key, _ in
          key.bytes?.allSatisfy { (0x20..<0x7F).contains($0) } ?? false
        }
    case .keys:
      fragment.kind == .record && salvage.allSatisfy(fragment) { $1?.count == 8 }
    case .history:
      fragment.kind == .record
        && salvage.allSatisfy(fragment) { _, value in
          value?.withUnsafeBytes { (try? HistoryRecord($0)) != nil } ?? true
        }
    case .values:
      fragment.kind == .record
        && salvage.allSatisfy(fragment) {
          $1.map { $0.count > ExternalValue.byteThreshold } ?? true
        }
    }
  }

  private func storage(named entity: String) -> EntityStorage? {
    schema.entities.byIndex.lazy.compactMap { $0 }.first { $0.stored.name == entity }
  }

  // MARK: Evidence

  private func isRowTreeMissing(_ storage: EntityStorage?) -> Bool {
    storage.map { salvage.tree(named: $0.stored.rowTree) == nil } ?? false
  }

  private mutating func collectMentions() {
    var mentions: [UInt16: Set<Int64>] = [:]
    let take: (TreeSalvage.Key, [UInt8]?) -> Void = { key, _ in
      guard let reference = Reference(endOf: key) else { return }
      mentions[reference.entity, default: []].insert(reference.key)
    }
    for fragment in salvage.fragments where fragment.kind == .index {
      salvage.visit(fragment, take)
    }
    for tree in salvage.trees where tree.kind == .index && tree.name != StoreSchema.tree {
      salvage.visit(tree, take)
    }
    self.mentions = mentions
  }

  private func isRows(_ fragment: TreeFragment, of storage: EntityStorage) -> Bool {
    guard fragment.kind == .record else { return false }
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    return salvage.allSatisfy(fragment) { key, value in
      value?.withUnsafeBytes { isRow($0, key, of: storage, scratch) } ?? true
    }
  }

  private func isRow(
    _ bytes: UnsafeRawBufferPointer, _ key: TreeSalvage.Key, of storage: EntityStorage,
    _ scratch: RowScratch
  ) -> Bool {
    guard case .number(let number) = key, Reference.keys.contains(number),
      let row = try? RowReader(bytes, layout: storage.layout, scratch), row.version > 0
    else { return false }
    for (field, description) in storage.layout.fields.enumerated() {
      if description.kind == .reference {
        guard let target = row.reference(field) else { continue }
        guard let other = schema.entities.storage(of: target),
          let relationship = storage.binding.entity.relationship(named: description.name),
          other.binding.entity.isKind(ofEntityNamed: relationship.destination)
        else { return false }
      } else if row.external(field) == nil, (try? row.value(field)) == nil, !row.isNil(field) {
        return false
      } else if description.kind == .string, !row.isNil(field),
        String(validating: row.variable(field), as: UTF8.self) == nil
      {
        return false
      }
    }
    return true
  }

  private func isLinks(
    _ fragment: TreeFragment, of storage: EntityStorage, _ link: StoredEntity.Link
  ) -> Bool {
    guard fragment.kind == .index,
      let relationship = storage.binding.entity.relationship(named: link.relationship)
    else { return false }
    return salvage.allSatisfy(fragment) { key, value in
      guard case .bytes(let bytes) = key, value?.isEmpty ?? true,
        let found = bytes.withUnsafeBytes({ LinkKey($0, isOrdered: link.isOrdered) }),
        Reference.keys.contains(found.owner),
        let other = schema.entities.storage(of: found.member)
      else { return false }
      return other.binding.entity.isKind(ofEntityNamed: relationship.destination)
    }
  }

  private func isIndex(
    _ fragment: TreeFragment, _ isWanted: (StoredIndex) -> Bool
  ) -> Bool {
    guard fragment.kind == .index, let index = schema.schema.indexes.first(where: isWanted) else {
      return false
    }
    return salvage.allSatisfy(fragment) { key, value in
      guard value?.isEmpty ?? true, let reference = Reference(endOf: key) else { return false }
      return Reference.keys.contains(reference.key) && index.entities.contains(reference.entity)
    }
  }

  // MARK: Whole trees without a name

  private mutating func nameRows() {
    var pairs: [(score: Int, fragment: TreeFragment, storage: EntityStorage)] = []
    for case let storage? in schema.entities.byIndex where isRowTreeMissing(storage) {
      let mentioned = mentions[storage.stored.number] ?? []
      for fragment in salvage.fragments where isRows(fragment, of: storage) {
        var hits = 0
        salvage.visit(fragment) { key, _ in
          if case .number(let number) = key, mentioned.contains(number) { hits += 1 }
        }
        pairs.append((2 * hits - mentioned.count, fragment, storage))
      }
    }
    // The best first; of equal ones the larger fragment, then the lower number.
    pairs.sort {
      ($1.score, $1.fragment.leafCount, $0.storage.stored.number)
        < ($0.score, $0.fragment.leafCount, $1.storage.stored.number)
    }
    for pair in pairs {
      guard salvage.tree(named: pair.storage.stored.rowTree) == nil,
        salvage.hasFragment(pair.fragment)
      else { continue }
      salvage.take(pair.fragment, asTree: pair.storage.stored.rowTree)
    }
  }

  private mutating func nameLinks() {
    let missing = schema.entities.byIndex.compactMap { $0 }.flatMap { storage in
      storage.stored.links.filter { salvage.tree(named: $0.tree) == nil }.map { (storage, $0) }
    }
    guard !missing.isEmpty else { return }
    let rows = LinkEvidence(salvage, schema, for: missing)
    var pairs: [LinkPair] = []
    for (storage, link) in missing {
      for fragment in salvage.fragments where isLinks(fragment, of: storage, link) {
        if rows.isRefuted(fragment, storage, link) { continue }
        let (share, isProof) = rows.share(of: fragment, storage, link)
        pairs.append(LinkPair(share: share, isProof: isProof, fragment: fragment, link: link))
      }
    }
    pairs.sort { ($1.share, $0.link.number) < ($0.share, $1.link.number) }
    take(pairs.filter { $0.isProof && $0.share >= 0.5 })
    let rest = pairs.filter {
      salvage.hasFragment($0.fragment) && salvage.tree(named: $0.link.tree) == nil
    }
    let byFragment = Dictionary(grouping: rest) { $0.fragment.root }
    take(rest.filter { !$0.isProof && byFragment[$0.fragment.root]?.count == 1 })
    let unknown = rest.filter { salvage.hasFragment($0.fragment) }.map(\.fragment)
    let counts = Dictionary(unknown.map { ($0.root, $0.leafCount) }) { first, _ in first }
    unknownLinkPageCount = counts.values.reduce(0, +)
  }

  /// A fragment that may be the links of a relationship.
  private struct LinkPair {
    /// The share of links that agree with the rest of the store.
    let share: Double
    /// Whether there is another side, which proves what it agrees with. Without it all fragments
    /// with objects of the right entities look the same.
    let isProof: Bool
    let fragment: TreeFragment
    let link: StoredEntity.Link
  }

  private mutating func take(_ pairs: [LinkPair]) {
    for pair in pairs
    where salvage.tree(named: pair.link.tree) == nil && salvage.hasFragment(pair.fragment) {
      salvage.take(pair.fragment, asTree: pair.link.tree)
    }
  }

  /// Counters of keys are worked out anew, and so are indexes.
  private mutating func nameOthers() {
    let others = [
      StoredTree(name: ExternalValue.tree, content: .values),
      StoredTree(name: StoreSchema.historyTree, content: .history),
    ]
    for fragment in salvage.fragments {
      if let tree = others.first(where: { fits(fragment, $0.content) }),
        salvage.tree(named: tree.name) == nil
      {
        salvage.take(fragment, asTree: tree.name)
      }
    }
  }
}

/// Compares links with rows, to find out which relationship they are of.
private struct LinkEvidence {
  private let salvage: TreeSalvage
  private let schema: SalvagedSchema
  /// The keys of the rows of each entity.
  private var keys: [UInt16: Set<Int64>] = [:]
  /// The entities of which no row is lost.
  private var whole: Set<UInt16> = []
  /// The destinations in rows, by object and name of the relationship.
  private var destinations: [String: [Reference: Reference]] = [:]
  /// The links in all parts of trees without a name, by whether they are ordered.
  private var pairs: [Bool: Set<Pair>] = [:]

  private struct Pair: Hashable {
    let owner: Int64
    let member: Reference
  }

  /// - Parameter links: those to be found, with the entities of their owners. What says nothing of
  ///   them is not read into memory.
  init(
    _ salvage: TreeSalvage, _ schema: SalvagedSchema,
    for links: [(EntityStorage, StoredEntity.Link)]
  ) {
    self.salvage = salvage
    self.schema = schema
    let inverses = Set(
      links.compactMap { storage, link in
        storage.binding.entity.relationship(named: link.relationship)?.inverse
      })
    readRows(inverses)
    let backs = schema.entities.byIndex.compactMap { $0 }.flatMap(\.stored.links).filter {
      inverses.contains($0.relationship)
    }
    for isOrdered in Set(backs.map(\.isOrdered)) { readPairs(isOrdered) }
  }

  /// - Parameter inverses: the names of the relationships of interest.
  private mutating func readRows(_ inverses: Set<String>) {
    let scratch = RowScratch()
    for case let storage? in schema.entities.byIndex {
      guard let tree = salvage.tree(named: storage.stored.rowTree) else { continue }
      let fields = storage.layout.fields.indices.filter {
        storage.layout.fields[$0].kind == .reference
          && inverses.contains(storage.layout.fields[$0].name)
      }
      var keys: Set<Int64> = []
      var destinations: [String: [Reference: Reference]] = [:]
      salvage.visit(tree) { key, value in
        guard case .number(let number) = key, let value else { return }
        keys.insert(number)
        value.withUnsafeBytes { bytes in
          guard let row = try? RowReader(bytes, layout: storage.layout, scratch) else { return }
          for field in fields {
            guard let target = row.reference(field) else { continue }
            let source = Reference(entity: storage.stored.number, key: number)
            destinations[storage.layout.fields[field].name, default: [:]][source] = target
          }
        }
      }
      self.keys[storage.stored.number] = keys
      if salvage.isWhole(tree) { whole.insert(storage.stored.number) }
      for (name, found) in destinations {
        self.destinations[name, default: [:]].merge(found) { first, _ in first }
      }
    }
    withExtendedLifetime(scratch) {}
  }

  private mutating func readPairs(_ isOrdered: Bool) {
    var pairs: Set<Pair> = []
    let take: (TreeSalvage.Key, [UInt8]?) -> Void = { key, _ in
      guard case .bytes(let bytes) = key,
        let found = bytes.withUnsafeBytes({ LinkKey($0, isOrdered: isOrdered) })
      else { return }
      pairs.insert(Pair(owner: found.owner, member: found.member))
    }
    for fragment in salvage.fragments where fragment.kind == .index {
      salvage.visit(fragment, take)
    }
    for tree in salvage.trees where tree.name.hasPrefix("links/") { salvage.visit(tree, take) }
    self.pairs[isOrdered] = pairs
  }

  /// Whether a fragment cannot be the links of an entity's relationship: of most there is no owner,
  /// and no row of the entity is lost. Entities of one family share their keys, so that this tells
  /// their relationships apart.
  func isRefuted(
    _ fragment: TreeFragment, _ storage: EntityStorage, _ link: StoredEntity.Link
  ) -> Bool {
    guard whole.contains(storage.stored.number), let owners = keys[storage.stored.number] else {
      return false
    }
    var (owned, count) = (0, 0)
    visitLinks(of: fragment, isOrdered: link.isOrdered) { found in
      count += 1
      if owners.contains(found.owner) { owned += 1 }
    }
    return 2 * owned < count
  }

  private func visitLinks(
    of fragment: TreeFragment, isOrdered: Bool, _ body: (LinkKey) -> Void
  ) {
    salvage.visit(fragment) { key, _ in
      guard case .bytes(let bytes) = key,
        let found = bytes.withUnsafeBytes({ LinkKey($0, isOrdered: isOrdered) })
      else { return }
      body(found)
    }
  }

  /// The share of links that agree with the other side; of a relationship without an inverse, of
  /// links between objects that are there.
  func share(
    of fragment: TreeFragment, _ storage: EntityStorage, _ link: StoredEntity.Link
  ) -> (Double, isProof: Bool) {
    let inverse = storage.binding.entity.relationship(named: link.relationship)?.inverse
    let owners = keys[storage.stored.number] ?? []
    var (right, count) = (0, 0)
    visitLinks(of: fragment, isOrdered: link.isOrdered) { found in
      count += 1
      guard owners.contains(found.owner) else { return }
      let owner = Reference(entity: storage.stored.number, key: found.owner)
      let other = schema.entities.storage(of: found.member)
      if let inverse, other?.layout.index(of: inverse) != nil {
        if destinations[inverse]?[found.member] == owner { right += 1 }
      } else if let inverse, let back = other?.stored.link(named: inverse) {
        let mirror = Pair(owner: found.member.key, member: owner)
        if pairs[back.isOrdered]?.contains(mirror) ?? false { right += 1 }
      } else if keys[found.member.entity]?.contains(found.member.key) ?? false {
        right += 1
      }
    }
    return (count > 0 ? Double(right) / Double(count) : 0, inverse != nil)
  }
}

extension Reference {
  /// The reference that keys of links and of indexes end with.
  fileprivate init?(endOf key: TreeSalvage.Key) {
    guard case .bytes(let bytes) = key, bytes.count >= 8 else { return nil }
    self.init(rawValue: bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }
}
