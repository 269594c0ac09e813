import QuireModel
import QuireStorage

/// An index for the rows of one concrete entity: the fields that make its keys.
final class EntityIndex: Sendable {
  private struct Source {
    let field: Int
    let kind: FieldKind
    /// The path of a value inside a composite attribute; empty for the attribute itself.
    let path: [String]
    let isAscending: Bool
  }

  let stored: StoredIndex
  let number: UInt16
  let isUnique: Bool
  private let sources: [Source]
  /// The predicate of a partial index, which has only the rows that match it.
  let predicate: FetchPredicate?

  /// - Throws: an error if the entity's rows do not have the properties of the index.
  init(_ stored: StoredIndex, _ storage: EntityStorage) throws(PersistenceError) {
    self.stored = stored
    number = stored.number
    isUnique = stored.kind == .unique
    var sources: [Source] = []
    for element in stored.elements {
      guard let name = element.path.first, let field = storage.layout.index(of: name) else {
        throw EntityIndex.misfit(stored, storage)
      }
      let kind = storage.layout.fields[field].kind
      guard element.path.count == 1 ? kind == element.kind : kind == .composite else {
        throw EntityIndex.misfit(stored, storage)
      }
      sources.append(
        Source(
          field: field, kind: element.kind, path: Array(element.path.dropFirst()),
          isAscending: element.isAscending))
    }
    self.sources = sources
    guard let format = stored.predicate else {
      predicate = nil
      return
    }
    predicate = StoredIndex.partialPredicate(format, storage.binding.entity)
    if predicate == nil { throw EntityIndex.misfit(stored, storage) }
  }

  /// The fields that make the keys.
  var fields: some Sequence<Int> { sources.lazy.map(\.field) }

  /// The fields that make the keys, if ``KeyList`` can write all of them; otherwise
  /// empty.
  func plainFields(_ storage: EntityStorage) -> [FieldTable.Field] {
    var fields: [FieldTable.Field] = []
    for source in sources {
      let slot = storage.slotByField[source.field]
      guard source.path.isEmpty, source.isAscending, slot >= 0,
        source.kind == .reference || source.kind == .string
      else { return [] }
      fields.append(storage.table.fields[slot])
    }
    return fields
  }

  private static func misfit(_ stored: StoredIndex, _ storage: EntityStorage) -> PersistenceError {
    StoreSchema.damaged(
      "has an index \(stored.title) that the rows of \(storage.stored.name) cannot have")
  }

  /// Appends the elements of a row's key.
  func appendElements(of row: RowReader, to writer: inout IndexKeyWriter) throws(RowError) {
    for source in sources {
      guard writer.hasRoom() else { return }
      let start = writer.bytes.count
      try append(source, row, &writer)
      if !source.isAscending { writer.complement(from: start) }
    }
  }

  /// The values of a row's constraint as bytes, which are equal for equal values.
  func wholeKey(of row: RowReader) throws(RowError) -> [UInt8] {
    var writer = IndexKeyWriter.unlimited
    try appendElements(of: row, to: &writer)
    return writer.bytes
  }

  /// Whether every element has a value in the row.
  func hasAllValues(_ row: RowReader) throws(RowError) -> Bool {
    for source in sources {
      if row.isNil(source.field) { return false }
      if !source.path.isEmpty, try value(source, row) == nil { return false }
    }
    return true
  }

  private func value(_ source: Source, _ row: RowReader) throws(RowError) -> AttributeValue? {
    var value = try row.value(source.field)
    for name in source.path {
      guard case .composite(let elements)? = value else { return nil }
      value = elements[name]
    }
    return value
  }

  private func append(
    _ source: Source, _ row: RowReader, _ writer: inout IndexKeyWriter
  ) throws(RowError) {
    guard source.path.isEmpty, !row.isNil(source.field) else {
      return writer.append(try value(source, row), source.kind)
    }
    switch source.kind {
    case .reference: writer.append(to: row.reference(source.field))
    case .string: writer.append(utf8: row.variable(source.field))
    case .uri, .objectID:
      // From the decoded value, as a URL may write its text in another way.
      writer.append(try row.value(source.field), source.kind)
    default: writer.append(try row.value(source.field), source.kind)
    }
  }
}

/// The condition of a partial index on its rows.
struct PartialIndexFilter {
  private struct Subject: PredicateSubject {
    let row: RowReader
    let paths: [(field: Int, rest: ArraySlice<String>)]

    func value(atPath index: Int) throws -> PredicateValue? {
      let path = paths[index]
      var value = try row.value(path.field)
      for name in path.rest {
        guard case .composite(let elements)? = value else { return nil }
        value = elements[name]
      }
      return value.map(PredicateValue.value)
    }

    // No predicate of an index uses the identity.
    var identity: OpaqueIdentity { OpaqueIdentity(0) }
  }

  private let evaluator: PredicateEvaluator
  private let paths: [(field: Int, rest: ArraySlice<String>)]

  /// - Returns: `nil` if the index is not partial.
  init?(_ index: EntityIndex, _ layout: RowLayout) throws {
    guard let predicate = index.predicate else { return nil }
    evaluator = try PredicateEvaluator(predicate)
    paths = try evaluator.paths.map { path in
      guard let name = path.first, let field = layout.index(of: name) else {
        throw StoreSchema.damaged("has an index \(index.stored.title) over what rows do not have")
      }
      return (field, path.dropFirst())
    }
  }

  /// Whether the row is in the index. It also is if the predicate fails for it, such as by a
  /// division by zero: a fetch has to read the row and report the error.
  func includes(_ row: RowReader) throws -> Bool {
    do {
      return try evaluator.evaluate(Subject(row: row, paths: paths))
    } catch is FetchPredicateError {
      return true
    }
  }
}
