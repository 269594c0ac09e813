import QuireModel
import QuireStorage

// Values outside of rows in an inferred migration. Rows keep theirs, wherever their fields are
// moved; values without a field in the new model are removed, even if rows stay in an older layout.
extension MigrationDraft {
  /// Removes the values of removed entities and attributes, before any row is written.
  ///
  /// - Returns: whether values are left.
  func removeExternalData(
    _ snapshot: Snapshot, _ transaction: WriteTransaction
  ) throws -> Bool {
    guard oldSchema.hasExternalData,
      let values = try transaction.mutableRecordTree(ExternalValue.tree)
    else { return false }
    for entity in removed {
      try removeExternalData(of: entity.stored, snapshot, values) { _ in true }
    }
    for draft in entities {
      guard let old = draft.old else { continue }
      var copied: Set<Int> = []
      for source in draft.fields {
        switch source {
        case .copy(let field), .copyOrDefault(let field, _): copied.insert(field)
        case .convert, .number, .constant, .link, .absent: break
        }
      }
      try removeExternalData(of: old, snapshot, values) { !copied.contains($0) }
    }
    if values.count > 0 { return true }
    try transaction.dropTree(ExternalValue.tree)
    return false
  }

  /// - Parameter isDropped: whether a field of the old layout is removed.
  private func removeExternalData(
    of stored: StoredEntity, _ snapshot: Snapshot, _ values: MutableRecordTree,
    where isDropped: (Int) -> Bool
  ) throws {
    let fields = stored.layout.fields.indices.filter {
      stored.layout.fields[$0].kind.canBeExternal && isDropped($0)
    }
    guard !fields.isEmpty, let tree = try snapshot.recordTree(stored.rowTree) else { return }
    let scratch = RowScratch()
    defer { withExtendedLifetime(scratch) {} }
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      let row = try RowReader(try cursor.valueBytes, layout: stored.layout, scratch)
      if row.hasExternal {
        for field in fields {
          if let external = row.external(field) { _ = try values.remove(external.number) }
        }
      }
      isInside = try cursor.next()
    }
  }
}
