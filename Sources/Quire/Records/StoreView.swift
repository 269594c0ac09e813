import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What an upper floor keeps with a state of a store.
protocol StateAttachment: AnyObject {}

/// One state of a store, read as rows and links.
///
/// Finding a tree by name takes a search in the catalog; a view keeps the trees that it has found.
final class StoreView {
  /// A tree, so that a look at it counts one reference and not each of its parts.
  final class Rows {
    let tree: RecordTree
    init(_ tree: RecordTree) { self.tree = tree }
  }

  private enum KnownRows {
    case unknown
    case none
    case rows(Rows)
  }

  let entities: StoreEntities
  let snapshot: Snapshot
  /// What is looked up before the rows, in a child context. Trees are the store's own all the same.
  let frontRows: RowsInFront?
  /// What has the rows instead of the trees, in a store of another make.
  let incrementalRows: RowsInFront?
  /// Whether rows and links are in the trees.
  let isPlain: Bool
  /// By which states of a store can be told apart; 0 where rows may change at any time.
  let stateNumber: UInt32
  private var rowTrees: [KnownRows]
  // Sound: `rowTrees` keeps them, and lets go of none.
  /// Those that are known and have rows, for looks that count no reference.
  private(set) var foundRows: [Unmanaged<Rows>?]
  private var linkTrees: [UInt16: LinkReader?] = [:]
  private var indexTrees: [UInt16: IndexTree?] = [:]
  private var externalTree: RecordTree??

  private var knownIndexes: StoreIndexes?
  /// What requests find out for as long as this state is read.
  var attachment: (any StateAttachment)?

  init(
    _ entities: StoreEntities, _ snapshot: Snapshot, _ frontRows: RowsInFront? = nil,
    _ incrementalRows: RowsInFront? = nil
  ) {
    self.entities = entities
    self.frontRows = frontRows
    self.incrementalRows = incrementalRows
    isPlain = frontRows == nil && incrementalRows == nil
    self.snapshot = snapshot
    // Enough, as a context that is so many commits behind has read anew long before.
    stateNumber = isPlain ? UInt32(truncatingIfNeeded: snapshot.commitNumber.rawValue) : 0
    rowTrees = Array(repeating: .unknown, count: entities.byIndex.count)
    foundRows = Array(repeating: nil, count: entities.byIndex.count)
  }

  /// The rows of a concrete entity; `nil` if none was ever written.
  func rows(of storage: EntityStorage) throws -> RecordTree? { try knownRows(of: storage)?.tree }

  func knownRows(of storage: EntityStorage) throws -> Rows? {
    switch rowTrees[storage.index] {
    case .unknown: try findRows(of: storage)
    case .none: nil
    case .rows(let rows): rows
    }
  }

  @inline(never)
  private func findRows(of storage: EntityStorage) throws -> Rows? {
    let rows = try snapshot.recordTree(storage.stored.rowTree).map(Rows.init)
    rowTrees[storage.index] = rows.map { .rows($0) } ?? .none
    foundRows[storage.index] = rows.map { .passUnretained($0) }
    return rows
  }

  func links(_ link: StoredEntity.Link) throws -> LinkReader? {
    if let reader = linkTrees[link.number] { return reader }
    let reader = try snapshot.indexTree(link.tree).map {
      LinkReader(tree: $0, isOrdered: link.isOrdered)
    }
    linkTrees[link.number] = .some(reader)
    return reader
  }

  /// The indexes of the store in this state. A store without indexes when it was opened is read as
  /// if it still had none.
  func indexes() throws -> StoreIndexes {
    if let knownIndexes { return knownIndexes }
    let indexes = entities.indexes.isEmpty ? entities.indexes : try entities.indexes(in: snapshot)
    knownIndexes = indexes
    return indexes
  }

  /// - Returns: `nil` when the index has no key.
  func indexTree(_ index: StoredIndex) throws -> IndexTree? {
    if let tree = indexTrees[index.number] { return tree }
    let tree = try snapshot.indexTree(index.tree)
    indexTrees[index.number] = .some(tree)
    return tree
  }

  func count(of storage: EntityStorage) throws -> Int { try rows(of: storage)?.count ?? 0 }

  /// - Returns: `nil` if the store has no such row.
  func row(_ reference: Reference) throws -> Row? {
    if !isPlain { return try (frontRows ?? incrementalRows)?.row(reference) }
    guard let storage = entities.storage(of: reference), let tree = try rows(of: storage),
      let value = try tree.value(for: reference.key)
    else { return nil }
    return try Row(value, layout: storage.layout)
  }

  func contains(_ reference: Reference) throws -> Bool {
    if !isPlain { return try (frontRows ?? incrementalRows)?.contains(reference) ?? false }
    guard let storage = entities.storage(of: reference) else { return false }
    return try rows(of: storage)?.contains(reference.key) ?? false
  }

  /// The destinations of a to-many relationship of an object.
  func members(of reference: Reference, _ link: StoredEntity.Link) throws -> [Reference] {
    if !isPlain {
      return try (frontRows ?? incrementalRows)?.members(of: reference, link) ?? []
    }
    // A parent's new object has a temporary reference, whose key may be that of a stored row.
    if reference.isTemporary { return [] }
    return try links(link)?.members(of: reference.key) ?? []
  }

  /// The same for an ordered relationship, with the positions of the links where there are some.
  func order(of reference: Reference, _ link: StoredEntity.Link) throws -> StoredOrder {
    guard isPlain, !reference.isTemporary else {
      return StoredOrder(members: try members(of: reference, link))
    }
    let (members, positions) = try links(link)?.order(of: reference.key) ?? ([], [])
    return StoredOrder(members: members, links: (positions, snapshot.contentCommit))
  }
}

extension StoreView: ExternalValues {
  func data(of value: ExternalValue) throws -> Data? {
    // The parent may have gone on to another state of the store.
    if let frontRows { return try frontRows.data(of: value) }
    if externalTree == nil { externalTree = .some(try snapshot.recordTree(ExternalValue.tree)) }
    return try externalTree??.value(for: value.number)?.data
  }
}
