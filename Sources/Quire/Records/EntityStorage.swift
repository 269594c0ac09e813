import QuireModel
import QuireStorage
import Synchronization

/// Where the properties of an entity lie in one store: a field or a link tree for each slot.
final class EntityStorage: Sendable {
  let binding: EntityBinding
  let stored: StoredEntity
  /// The store's UUID.
  let identity: StoreIdentity
  /// The field of each attribute and to-one slot; -1 for slots without one.
  let fieldBySlot: [Int]
  /// The slot of each field.
  let slotByField: [Int]
  private let linkBySlot: [StoredEntity.Link?]
  /// The same as the fields' layout, for reading quickly.
  let table: FieldTable

  init(_ binding: EntityBinding, _ stored: StoredEntity, identity: StoreIdentity) {
    self.binding = binding
    self.stored = stored
    self.identity = identity
    var fieldBySlot = Array(repeating: -1, count: binding.properties.count)
    slotByField = stored.layout.fields.map { binding.slot(named: $0.name) ?? -1 }
    for (field, slot) in slotByField.enumerated() where slot >= 0 { fieldBySlot[slot] = field }
    self.fieldBySlot = fieldBySlot
    table = FieldTable(stored.layout, fieldBySlot)
    var linkBySlot = [StoredEntity.Link?](repeating: nil, count: binding.properties.count)
    for link in stored.links {
      if let slot = binding.slot(named: link.relationship) { linkBySlot[slot] = link }
    }
    self.linkBySlot = linkBySlot
  }

  var layout: RowLayout { stored.layout }

  /// The link tree of a to-many slot; `nil` for other slots and transient relationships.
  func link(_ slot: Int) -> StoredEntity.Link? { linkBySlot[slot] }
}

/// The entities of one store, by model index and by number.
final class StoreEntities: Sendable {
  /// The store's UUID.
  let identity: StoreIdentity
  /// The model that the store was opened with: of the coordinator's, what its configuration has.
  let model: ManagedObjectModel
  /// What the schema says about the hashes of that model.
  let hashBytes: [UInt8]
  let schema: StoreSchema
  /// What the schema says about where rows and links lie.
  let schemaBytes: [UInt8]
  /// The indexes that the store had when it was opened.
  let indexes: StoreIndexes
  /// By the entity's index in the coordinator's model; `nil` for abstract entities, and for those
  /// that the store's configuration does not have.
  let byIndex: [EntityStorage?]
  /// By the entity's number in the store, which begin at 1 and have few gaps.
  private let byNumber: [EntityStorage?]
  /// `nil` when the model has no derived attributes.
  let derivations: DerivationPlan?

  /// - Parameter configuration: `nil` for all entities of the model.
  init(
    _ model: ModelBinding, schema: StoreSchema, identity: StoreIdentity,
    configuration: ModelSubset? = nil
  ) throws {
    self.identity = identity
    self.model = configuration?.model ?? model.model
    hashBytes = configuration.map { StoreSchema.hashBytes(of: $0.model) } ?? model.hashBytes
    self.schema = schema
    schemaBytes = schema.entityBytes
    var byIndex: [EntityStorage?] = []
    var byNumber = [EntityStorage?](
      repeating: nil, count: (schema.entities.map { Int($0.number) }.max() ?? 0) + 1)
    for binding in model.entities {
      guard !binding.entity.isAbstract,
        configuration?.entityNames.contains(binding.entity.name) ?? true
      else {
        byIndex.append(nil)
        continue
      }
      guard let stored = schema.entity(named: binding.entity.name) else {
        throw StoreSchema.damaged("has no entity \(binding.entity.name)")
      }
      let storage = EntityStorage(binding, stored, identity: identity)
      byIndex.append(storage)
      byNumber[Int(stored.number)] = storage
    }
    self.byIndex = byIndex
    self.byNumber = byNumber
    indexes = try StoreIndexes(schema.indexes, schema.indexBytes) { number in
      Int(number) < byNumber.count ? byNumber[Int(number)] : nil
    }
    derivations = DerivationPlan(model.entities, model.model)
  }

  func storage(of reference: Reference) -> EntityStorage? { storage(number: reference.entity) }

  func storage(number: UInt16) -> EntityStorage? {
    Int(number) < byNumber.count ? byNumber[Int(number)] : nil
  }

  private let isRetiredFlag = Atomic(false)

  /// Whether the store has left its coordinator: what was read from it is no state to go on with.
  var isRetired: Bool { isRetiredFlag.load(ordering: .relaxed) }
  func retire() { isRetiredFlag.store(true, ordering: .relaxed) }
}

/// A row of a store that an object can keep: the bytes, and what keeps them in memory.
///
/// A reader alone is a pointer: it is used only where something is known to keep its bytes. A value
/// of more than a quarter of a page is put together from several pages, and its bytes go with the
/// owner even while the snapshot lives.
struct Row {
  private let reader: RowReader
  /// The page, the assembled value, or the scratch that the bytes lie in.
  private let owner: AnyObject

  /// - Parameter layout: the current one; a row of an older one is kept as it is in this.
  init(_ value: StoredValue, layout: RowLayout) throws(RowError) {
    guard RowReader.isCurrent(value.bytes, layout) else {
      self = try Row(older: value, layout)
      return
    }
    reader = try RowReader(current: value.bytes, layout)
    owner = value.owner
  }

  init(_ encoded: EncodedRow, layout: RowLayout) throws(RowError) {
    reader = try RowReader(current: encoded.bytes, layout)
    owner = encoded
  }

  @inline(never)
  private init(older value: StoredValue, _ layout: RowLayout) throws(RowError) {
    defer { withExtendedLifetime(value.owner) {} }
    let scratch = RowScratch()
    reader = try RowReader(value.bytes, layout: layout, scratch)
    owner = scratch
  }

  var version: UInt32 { withExtendedLifetime(owner) { reader.version } }

  var byteCount: Int { reader.bytes.count }

  /// Whether the row was made of an object of a parent context, with changes that no store has.
  var isEncoded: Bool { (owner as? EncodedRow).map { !$0.isSaved } ?? false }

  /// Whether the row has values outside of it.
  var hasExternal: Bool { withExtendedLifetime(owner) { reader.hasExternal } }

  /// Where the bytes are: for who keeps the row.
  var start: UnsafeRawPointer? { reader.bytes.baseAddress }

  func reference(_ field: Int) -> Reference? {
    withExtendedLifetime(owner) { reader.reference(field) }
  }

  func value(_ field: Int) throws -> AttributeValue? {
    try withExtendedLifetime(owner) { try reader.value(field) }
  }

  /// Calls `body` with a reader that is valid within the call.
  func withReader<Result>(_ body: (RowReader) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(owner) { try body(reader) }
  }
}

extension StoredValue {
  /// Calls `body` with the bytes, which are kept for as long as the call takes.
  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(owner) {} }
    return try body(bytes)
  }

  /// The bytes as one little-endian integer; `nil` when they are of another length.
  func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T? {
    withBytes {
      $0.count == MemoryLayout<T>.size ? T(littleEndian: $0.loadUnaligned(as: T.self)) : nil
    }
  }
}
