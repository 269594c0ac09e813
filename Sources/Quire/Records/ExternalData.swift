import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value that is stored outside of its row: large binary data of an attribute that allows it.
///
/// Such values are in a tree of the store and have its guarantees: they are committed with the
/// transaction, belong to a snapshot, are part of a backup, and exist in memory stores too. The row
/// has the value's number and length, and a flag that it does; the attribute's setting is in no
/// version hash and may change at any time.
///
/// A value never changes, and its number is never reused. Each belongs to one field of one row, and
/// is removed by ``StoreWriter`` when the row gets another value or is removed.
struct ExternalValue: Hashable, Sendable {
  var number: Int64
  var byteCount: Int

  /// The number of bytes above which values are stored outside, if their attribute allows it. It
  /// may change, as each row says where its values are.
  static let byteThreshold = 100 << 10
  /// The name of the tree of the values, by their numbers; it exists when there are any.
  static let tree = "blobs"
  /// The key space of the numbers. Those of entities begin at 1.
  static let keySpace: UInt16 = 0
  /// The number of bytes in the row that refer to a value outside.
  static let byteWidth = 16
}

/// A source of values outside of rows: a snapshot, or a transaction.
protocol ExternalValues {
  /// - Returns: `nil` if the value does not exist, as its row has another one in this state.
  func data(of value: ExternalValue) throws -> Data?
}

extension FieldKind {
  var canBeExternal: Bool { self == .binary || self == .transformed }
}

extension RowLayout {
  /// The flag of rows with values outside of them.
  static let externalFlag: UInt8 = 2
}

extension RowReader {
  /// Whether the row has values outside of it.
  var hasExternal: Bool { bytes[2] & RowLayout.externalFlag != 0 }

  /// The offset and the number of the entries for fields whose values are outside.
  private var externalFields: (start: Int, count: Int) {
    guard hasExternal else { return (bytes.count, 0) }
    let start = variableEnd
    return (start, (bytes.count - start) / 2)
  }

  func externalField(_ index: Int) -> Int {
    let offset = externalFields.start + 2 * index
    return Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  var externalCount: Int { externalFields.count }

  /// The reference to a field's value, if it is outside of the row.
  func external(_ field: Int) -> ExternalValue? {
    guard hasExternal, !isNil(field), layout.fields[field].kind.canBeExternal else { return nil }
    for index in 0..<externalCount where externalField(index) == field {
      let content = variable(field)
      return ExternalValue(
        number: Int64(littleEndian: content.loadUnaligned(as: Int64.self)),
        byteCount: Int(
          Int64(littleEndian: content.loadUnaligned(fromByteOffset: 8, as: Int64.self))))
    }
    return nil
  }

  /// All values of the row that are outside of it.
  var externalValues: [ExternalValue] {
    (0..<externalCount).compactMap { external(externalField($0)) }
  }

  /// Checks the entries for values outside of the row, which follow its fields.
  @inline(never)
  func checkExternal() throws(RowError) {
    let (start, count) = externalFields
    guard count > 0, start + 2 * count == bytes.count else {
      throw RowError(reason: "a row has values outside of it, and does not say which")
    }
    for index in 0..<count {
      let field = externalField(index)
      guard layout.fields.indices.contains(field), layout.fields[field].kind.canBeExternal,
        !isNil(field), variable(field).count == ExternalValue.byteWidth
      else { throw RowError(reason: "a row has field \(field) outside, which cannot be there") }
    }
  }

  /// The value of a field, inside or outside of the row.
  ///
  /// - Throws: ``RowError``, also if a value outside of the row is missing.
  func value(_ field: Int, in source: some ExternalValues) throws -> AttributeValue? {
    guard let external = external(field) else { return try value(field) }
    guard let data = try source.data(of: external) else {
      throw RowError(
        reason:
          "the value of \(layout.fields[field].name), number \(external.number) outside of the "
          + "rows, is not there")
    }
    return externalValue(field, data)
  }

  func externalValue(_ field: Int, _ data: Data) -> AttributeValue {
    layout.fields[field].kind == .transformed ? .transformed(data) : .binary(data)
  }
}

extension Row {
  func value(_ field: Int, in source: some ExternalValues) throws -> AttributeValue? {
    try withReader { try $0.value(field, in: source) }
  }

  func external(_ field: Int) -> ExternalValue? { withReader { $0.external(field) } }
}

extension StoredValue {
  var data: Data { withBytes { Data($0) } }
}

// MARK: - Writing

/// Writes the values outside of rows, in one transaction.
final class ExternalDataWriter {
  private let transaction: WriteTransaction
  private var tree: MutableRecordTree??

  init(_ transaction: WriteTransaction) { self.transaction = transaction }

  /// The tree, if there is one; most stores have none.
  func existingTree() throws -> MutableRecordTree? {
    if let tree { return tree }
    let found = try transaction.mutableRecordTree(ExternalValue.tree)
    tree = .some(found)
    return found
  }

  func put(_ data: Data, number: Int64) throws {
    let values: MutableRecordTree
    if let found = try existingTree() {
      values = found
    } else {
      try recordFormat(hasExternalData: true)
      values = try transaction.createRecordTree(ExternalValue.tree)
      tree = .some(values)
    }
    _ = try data.withUnsafeBytes { try values.put($0, for: number) }
  }

  func remove(_ value: ExternalValue) throws {
    _ = try existingTree()?.remove(value.number)
  }

  /// Drops the tree if it is empty, which gives the store back the format that every release reads.
  func finish() throws {
    guard case .some(.some(let values)) = tree, values.count == 0 else { return }
    tree = .some(nil)
    try recordFormat(hasExternalData: false)
    try transaction.dropTree(ExternalValue.tree)
  }

  /// Must come before the tree is made or dropped: a schema that does not match its store cannot be
  /// read.
  private func recordFormat(hasExternalData: Bool) throws {
    guard let schemaTree = try transaction.mutableIndexTree(StoreSchema.tree),
      var schema = try StoreSchema(from: transaction)
    else { throw StoreSchema.damaged("is missing") }
    schema.hasExternalData = hasExternalData
    try schema.writeLayouts(to: schemaTree)
  }
}

extension StoreWriter: ExternalValues {
  func data(of value: ExternalValue) throws -> Data? {
    try external.existingTree()?.value(for: value.number)?.data
  }

  /// Stores a value outside of its row if it is large and its attribute allows that.
  ///
  /// - Parameter content: the new content of the field.
  func placing(
    _ content: RowWriter.Field?, _ field: Int, _ storage: EntityStorage
  ) throws -> RowWriter.Field? {
    guard case .value(let value)? = content, storage.layout.fields[field].kind.canBeExternal else {
      return content
    }
    let slot = storage.slotByField[field]
    guard slot >= 0, storage.binding.traits[slot].isExternal else { return content }
    switch value {
    case .binary(let data), .transformed(let data):
      guard data.count > ExternalValue.byteThreshold else { return content }
      let number = try takeKey(in: ExternalValue.keySpace)
      try external.put(data, number: number)
      return .external(ExternalValue(number: number, byteCount: data.count))
    default: return content
    }
  }

  /// Removes the values outside of the row with a reference.
  ///
  /// - Parameter kept: values that the replacing row refers to.
  func removeExternal(
    at reference: Reference, in storage: EntityStorage, keeping kept: [ExternalValue] = []
  ) throws {
    guard storage.canHaveExternal, try external.existingTree() != nil else { return }
    let former = try withRow(reference) { $0.externalValues } ?? []
    for value in former where !kept.contains(value) { try external.remove(value) }
  }
}
