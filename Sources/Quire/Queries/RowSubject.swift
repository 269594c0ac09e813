import QuireModel

/// A saved row, without unsaved changes.
struct RowSubject: PathSubject {
  /// Either a row under a cursor, whose bytes are valid as long as the cursor stays, or a row that
  /// keeps its own bytes.
  enum Source {
    case borrowed(RowReader)
    case kept(Row)
  }

  let reference: Reference
  let source: Source
  let storage: EntityStorage
  let view: StoreView

  var binding: EntityBinding { storage.binding }
  var key: SubjectKey { .row(reference) }

  var objectIdentity: OpaqueIdentity {
    if let parentRows = view.parentRows {
      return OpaqueIdentity(parentRows.objectID(of: reference, storage).permanent)
    }
    return OpaqueIdentity(
      ManagedObjectID(
        entity: storage.binding.entity, store: storage.identity, key: reference.key))
  }

  func managedObject(in session: StoreSession) throws -> ManagedObject {
    try session.object(at: reference)
  }

  func attribute(_ slot: Int) throws -> AttributeValue? {
    let field = storage.fieldBySlot[slot]
    guard field >= 0 else { return nil }
    return switch source {
    case .borrowed(let reader): try reader.value(field, in: view)
    case .kept(let row): try row.value(field, in: view)
    }
  }

  func one(_ slot: Int) throws -> RowSubject? {
    try destination(slot).flatMap { try RowSubject(at: $0, in: view) }
  }

  func members(_ slot: Int) throws -> [RowSubject] {
    try destinations(slot).compactMap { try RowSubject(at: $0, in: view) }
  }

  func destination(_ slot: Int) -> Reference? {
    let field = storage.fieldBySlot[slot]
    guard field >= 0 else { return nil }
    let reference =
      switch source {
      case .borrowed(let reader): reader.reference(field)
      case .kept(let row): row.reference(field)
      }
    guard let parentRows = view.parentRows else { return reference }
    return reference.map { parentRows.current($0) }
  }

  func destinations(_ slot: Int) throws -> [Reference] {
    guard let link = storage.link(slot) else { return [] }
    return try view.members(of: reference, link)
  }
}

extension RowSubject {
  /// - Returns: `nil` when the store has no such row.
  init?(at reference: Reference, in view: StoreView) throws {
    guard let storage = try view.storage(of: reference), let row = try view.row(reference)
    else { return nil }
    self.init(reference: reference, source: .kept(row), storage: storage, view: view)
  }
}

extension RowSubject {
  var plainRow: (UnsafeRawPointer, EntityStorage)? {
    guard case .borrowed(let reader) = source, view.parentRows == nil,
      let row = reader.bytes.baseAddress
    else { return nil }
    return (row, storage)
  }

  func sortPrefix(at path: FetchPath, by rule: SortPrefix.Rule) -> SortPrefix? {
    guard path.isAttribute, case .borrowed(let reader) = source,
      let row = reader.bytes.baseAddress
    else { return nil }
    return storage.table.fields[path.slot].sortPrefix(in: row, by: rule)
  }
}

extension FieldTable.Field {
  /// The sort prefix of the field's value, if the bytes of the row tell it.
  func sortPrefix(in row: UnsafeRawPointer, by rule: SortPrefix.Rule) -> SortPrefix? {
    guard let kind = FieldKind(rawValue: kind) else { return nil }
    let ascending = rule.ascending
    switch kind {
    case .double, .date, .float, .boolean, .integer16, .integer32, .integer64, .string:
      if isNil(in: row) { return SortPrefix(nil, by: rule) }
    default: return nil
    }
    switch kind {
    case .double:
      return SortPrefix(number: Double(bitPattern: fixed(in: row)), ascending: ascending)
    case .date:
      return SortPrefix(seconds: Double(bitPattern: fixed(in: row)), ascending: ascending)
    case .float:
      let number = Float(bitPattern: fixed(in: row))
      return SortPrefix(number: Double(number), ascending: ascending)
    case .integer64: return SortPrefix(integer: fixed(in: row), ascending: ascending)
    case .integer32:
      return SortPrefix(integer: Int64(fixed(in: row) as Int32), ascending: ascending)
    case .integer16:
      return SortPrefix(integer: Int64(fixed(in: row) as Int16), ascending: ascending)
    case .boolean:
      return SortPrefix(integer: fixed(in: row) as UInt8 != 0 ? 1 : 0, ascending: ascending)
    case .string: return SortPrefix(utf8: variable(in: row), by: rule)
    default: return nil
    }
  }
}
