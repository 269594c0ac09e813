import QuireModel
import QuireStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value that is kept outside of its row: large binary data of an attribute that allows it.
///
/// Such values have a tree of their own, so that all that holds for rows holds for them: they are
/// there after a crash if and only if the commit is, a snapshot has those of its state, a backup
/// has them, a store in memory too. The row has the number of the value and its length, and says
/// itself that it does: the attribute's flag is in no version hash, and may change at any time.
///
/// A value never changes, and its number is never used again. Each belongs to one field of one row,
/// and goes when the row has another value there or goes itself; ``StoreWriter`` sees to that.
struct ExternalValue: Hashable, Sendable {
  var number: Int64
  var byteCount: Int

  /// Values of more bytes are kept outside, if their attribute allows it. Not on disk: what lies
  /// where is said by each row.
  static let byteThreshold = 100 << 10
  /// The tree of the values, by their numbers; there when there are any.
  static let tree = "blobs"
  /// What draws the numbers from the counters of keys. Those of entities begin at 1.
  static let keySpace: UInt16 = 0
  /// What a row has in the place of the value.
  static let byteWidth = 16
}

/// Where values outside of rows are read from: a state of a store, or a transaction.
protocol ExternalValues {
  /// - Returns: `nil` when the value is not there, as its row has another one in this state.
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
  @inline(__always)
  var hasExternal: Bool { bytes[2] & RowLayout.externalFlag != 0 }

  /// Where the numbers of the fields begin whose values are outside, and how many there are.
  private var externalFields: (start: Int, count: Int) {
    guard hasExternal else { return (bytes.count, 0) }
    let start = variableEnd
    return (start, (bytes.count - start) / 2)
  }

  func externalField(_ index: Int) -> Int {
    let place = externalFields.start + 2 * index
    return Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self)))
  }

  var externalCount: Int { externalFields.count }

  /// Where the value of a field is, if it is outside of the row.
  func external(_ field: Int) -> ExternalValue? {
    guard hasExternal, !isNil(field), layout.fields[field].kind.canBeExternal else { return nil }
    for index in 0..<externalCount where externalField(index) == field {
      let place = variable(field)
      return ExternalValue(
        number: Int64(littleEndian: place.loadUnaligned(as: Int64.self)),
        byteCount: Int(Int64(littleEndian: place.loadUnaligned(fromByteOffset: 8, as: Int64.self))))
    }
    return nil
  }

  /// All values of the row that are outside of it.
  var externalValues: [ExternalValue] {
    (0..<externalCount).compactMap { external(externalField($0)) }
  }

  /// Checks what the row says about values outside of it: what follows its fields.
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

  /// The value of a field, wherever it is.
  ///
  /// - Throws: ``RowError`` also when the value should be there and is not.
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

/// The values outside of rows, in one transaction.
final class ExternalDataWriter {
  private let transaction: WriteTransaction
  // Private, and no call leads back here while it changes.
  @exclusivity(unchecked) private var tree: MutableRecordTree??

  init(_ transaction: WriteTransaction) { self.transaction = transaction }

  /// The tree, if there is one: most stores have none.
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
      try noteFormat(hasExternalData: true)
      values = try transaction.createRecordTree(ExternalValue.tree)
      tree = .some(values)
    }
    _ = try data.withUnsafeBytes { try values.put($0, for: number) }
  }

  func remove(_ value: ExternalValue) throws {
    _ = try existingTree()?.remove(value.number)
  }

  /// Without values a store is again one that every release reads.
  func finish() throws {
    guard case .some(.some(let values)) = tree, values.count == 0 else { return }
    tree = .some(nil)
    try noteFormat(hasExternalData: false)
    try transaction.dropTree(ExternalValue.tree)
  }

  /// Before the tree is made or dropped: a schema that does not fit its store cannot be read.
  private func noteFormat(hasExternalData: Bool) throws {
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

  /// Puts a value outside of its row if it is large and its attribute allows that.
  ///
  /// - Parameter content: what the field is to hold.
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

  /// Removes the values that the row at a place has outside of it.
  ///
  /// - Parameter kept: those that the row has that takes its place.
  func removeExternal(
    at reference: Reference, in storage: EntityStorage, keeping kept: [ExternalValue] = []
  ) throws {
    guard storage.canHaveExternal, try external.existingTree() != nil else { return }
    let former = try withRow(reference) { $0.externalValues } ?? []
    for value in former where !kept.contains(value) { try external.remove(value) }
  }
}
