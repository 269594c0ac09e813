import QuireModel
import QuireStorage

/// Finds objects with equal values of one constraint, given its keys in order.
struct DuplicateSearch {
  private let index: StoredIndex
  private let reader: any TreeReader
  private let entities: StoreEntities
  /// The complete values of keys that are equal but may be cut off, with the objects that have
  /// them.
  private var group: [[UInt8]: Reference] = [:]

  init(_ index: StoredIndex, _ reader: any TreeReader, _ entities: StoreEntities) {
    self.index = index
    self.reader = reader
    self.entities = entities
  }

  /// - Throws: ``PersistenceError/Code/migrationConstraintViolation`` if the object of the second
  ///   key has the same values as that of an earlier key.
  mutating func compare(_ one: [UInt8], _ next: [UInt8]) throws {
    guard let (first, second) = try duplicates(one, next) else { return }
    let (name, other) = (self.name(of: first), self.name(of: second))
    throw PersistenceError(
      .migrationConstraintViolation,
      "\(name) and \(other) have the same \(index.name), which the model wants to be unique in "
        + "\(index.entityName): change one of them before the constraint is added")
  }

  /// The object of the second key and an earlier one with the same values; `nil` if there is none.
  mutating func duplicates(
    _ one: [UInt8], _ next: [UInt8]
  ) throws -> (first: Reference, second: Reference)? {
    guard one.count == next.count, let first = one.withUnsafeBytes({ IndexKey.reference(of: $0) }),
      let second = next.withUnsafeBytes({ IndexKey.reference(of: $0) }),
      one.dropLast(IndexKey.referenceByteCount) == next.dropLast(IndexKey.referenceByteCount)
    else {
      group = [:]
      return nil
    }
    guard IndexKey.hasAllValues(index.elements, in: one) else { return nil }
    if group.isEmpty, let whole = try wholeKey(of: first) { group[whole] = first }
    guard let whole = try wholeKey(of: second) else { return nil }
    if let earlier = group[whole] { return (earlier, second) }
    group[whole] = second
    return nil
  }

  func name(of reference: Reference) -> String {
    "\(entities.storage(of: reference)?.stored.name ?? "?")/p\(reference.key)"
  }

  /// - Returns: `nil` if a value is absent.
  private func wholeKey(of reference: Reference) throws -> [UInt8]? {
    guard let storage = entities.storage(of: reference) else { return nil }
    let entity = try EntityIndex(index, storage)
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    return try reader.recordTree(storage.stored.rowTree)?.withValue(for: reference.key) { bytes in
      let row = try RowReader(bytes, layout: storage.layout, scratch)
      return try entity.hasAllValues(row) ? try entity.wholeKey(of: row) : nil
    } ?? nil
  }
}

extension StoreEntities {
  /// Checks constraints over derived attributes after their values were computed for all objects,
  /// which no save has checked.
  ///
  /// - Throws: ``PersistenceError/Code/migrationConstraintViolation`` with two of the objects that
  ///   break a constraint.
  /// - Complexity: O(objects) of the entities that have such constraints.
  func checkDerivedConstraints(in transaction: WriteTransaction) throws {
    for index in try indexes(in: transaction).list where index.kind == .unique && isDerived(index) {
      guard let tree = try transaction.indexTree(index.tree) else { continue }
      var search = DuplicateSearch(index, transaction, self)
      var entries = tree.entries()
      var last: [UInt8]?
      while try entries.next() {
        let key = Array(try entries.key)
        if let last { try search.compare(last, key) }
        last = key
      }
    }
  }

  private func isDerived(_ index: StoredIndex) -> Bool {
    index.entities.contains { number in
      guard let binding = storage(number: number)?.binding else { return false }
      return index.elements.contains { element in
        element.path.first.flatMap(binding.slot(named:)).map { binding.traits[$0].isDerived }
          ?? false
      }
    }
  }
}
