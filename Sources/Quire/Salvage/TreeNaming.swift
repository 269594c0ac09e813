import QuireModel
import QuireStorage

/// Finds the names of trees, and the places of parts of trees, that a damaged store does not tell.
///
/// Everything is known by its content. Rows have the layout of their entity, and their references
/// lead to entities that the relationships allow; keys of links and of indexes end with a reference
/// that names an entity and a key, which is then the key of one of its rows. Where two entities
/// cannot be told apart by all this, the first is chosen.
struct TreeNaming {
  private(set) var salvage: TreeSalvage
  private let schema: SalvagedSchema
  /// The keys of each entity that references in links and indexes name.
  private var mentions: [UInt16: Set<Int64>] = [:]

  init(_ salvage: TreeSalvage, _ schema: SalvagedSchema) {
    self.salvage = salvage
    self.schema = schema
  }

  mutating func run() {
    guard !salvage.fragments.isEmpty else { return }
    placeByContent()
    guard !salvage.fragments.isEmpty else { return }
    if schema.entities.byIndex.contains(where: isRowTreeMissing) { collectMentions() }
    nameRows()
    mentions = [:]
    nameLinks()
    nameOthers()
  }

  // MARK: Parts of known trees

  /// Places the fragments that fit in holes of several trees, by what their entries are.
  private mutating func placeByContent() {
    salvage.place(
      salvage.fragments.compactMap { fragment in
        let fitting = salvage.candidates(of: fragment).filter { fits(fragment, treeNamed: $0.name) }
        return fitting.count == 1 ? (fragment, fitting[0]) : nil
      })
  }

  private func fits(_ fragment: TreeFragment, treeNamed name: String) -> Bool {
    for case let storage? in schema.entities.byIndex {
      if storage.stored.rowTree == name { return isRows(fragment, of: storage) }
      for link in storage.stored.links where link.tree == name {
        return isLinks(fragment, of: storage, link)
      }
    }
    return true
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
    var pairs: [(score: Double, fragment: TreeFragment, link: StoredEntity.Link)] = []
    for (storage, link) in missing {
      for fragment in salvage.fragments where isLinks(fragment, of: storage, link) {
        if let score = rows.score(fragment, of: storage, link) {
          pairs.append((score, fragment, link))
        }
      }
    }
    pairs.sort { ($1.score, $0.link.number) < ($0.score, $1.link.number) }
    for pair in pairs {
      guard salvage.tree(named: pair.link.tree) == nil, salvage.hasFragment(pair.fragment) else {
        continue
      }
      salvage.take(pair.fragment, asTree: pair.link.tree)
    }
  }

  /// The values outside of rows are long, the records of a history can be read as such. Counters of
  /// keys are worked out anew, and so are indexes.
  private mutating func nameOthers() {
    for fragment in salvage.fragments where fragment.kind == .record {
      var (isHistory, isValues) = (true, true)
      salvage.visit(fragment) { _, value in
        guard let value else { return }
        if isHistory {
          isHistory = value.withUnsafeBytes { (try? HistoryRecord($0)) != nil }
        }
        if value.count <= ExternalValue.byteThreshold { isValues = false }
      }
      let name = isValues ? ExternalValue.tree : isHistory ? StoreSchema.historyTree : nil
      if let name, salvage.tree(named: name) == nil { salvage.take(fragment, asTree: name) }
    }
  }
}

/// Compares links with rows, to find out which relationship they are of.
private struct LinkEvidence {
  private let salvage: TreeSalvage
  private let schema: SalvagedSchema
  /// The keys of the rows of each entity.
  private var keys: [UInt16: Set<Int64>] = [:]
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

  /// The share of links that agree with the other side; of a relationship without an inverse, a
  /// little less than the share of links between objects that are there. `nil` for less than half.
  func score(
    _ fragment: TreeFragment, of storage: EntityStorage, _ link: StoredEntity.Link
  ) -> Double? {
    let inverse = storage.binding.entity.relationship(named: link.relationship)?.inverse
    let owners = keys[storage.stored.number] ?? []
    var (right, count) = (0, 0)
    salvage.visit(fragment) { key, _ in
      guard case .bytes(let bytes) = key,
        let found = bytes.withUnsafeBytes({ LinkKey($0, isOrdered: link.isOrdered) })
      else { return }
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
    if inverse == nil { return count > 0 ? 0.75 * Double(right) / Double(count) : nil }
    return count > 0 && 2 * right >= count ? Double(right) / Double(count) : nil
  }
}

extension Reference {
  /// The reference that keys of links and of indexes end with.
  fileprivate init?(endOf key: TreeSalvage.Key) {
    guard case .bytes(let bytes) = key, bytes.count >= 8 else { return nil }
    self.init(rawValue: bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }
}
