import QuireModel
import QuireStorage

/// An index of all rows of one entity that is ordered by one property first. A fetch that compares
/// the property with a constant is answered from it without a plan.
final class ComparisonIndex {
  let entityName: String
  let property: String
  let storage: EntityStorage
  let element: StoredIndex.Element
  /// `nil` when the property is a relationship.
  private let attributeType: AttributeType?
  /// `nil` when the index has no key.
  let keys: IndexTree?
  let rows: RecordTree
  /// Whether all keys of the index are of rows of this entity.
  private let isOfOneEntity: Bool
  let entities: StoreEntities
  /// The entities of the objects that the relationship can lead to; empty for an attribute.
  private let destinations: [(name: String, number: UInt16)]

  private init(
    _ entityName: String, _ property: String, _ storage: EntityStorage,
    _ index: StoredIndex, _ element: StoredIndex.Element, _ rows: RecordTree, in view: StoreView
  ) throws {
    self.entityName = entityName
    self.property = property
    self.storage = storage
    self.element = element
    self.rows = rows
    attributeType = storage.binding.slot(named: property)
      .flatMap { storage.binding.traits[$0].attributeType }
    keys = try view.indexTree(index)
    entities = view.entities
    isOfOneEntity = index.entities == [storage.stored.number]
    destinations =
      element.kind == .reference
      ? ComparisonIndex.destinations(of: property, storage, in: view) : []
  }

  private static func destinations(
    of property: String, _ storage: EntityStorage, in view: StoreView
  ) -> [(name: String, number: UInt16)] {
    guard let slot = storage.binding.slot(named: property),
      case .relationship(let relationship) = storage.binding.properties[slot],
      let entity = view.entities.model.entity(named: relationship.destination)
    else { return [] }
    return view.entities.model.family(of: entity).compactMap { member in
      view.entities.schema.entity(named: member.name).map { (member.name, $0.number) }
    }
  }

  /// The first suitable index of an entity by a property.
  ///
  /// - Parameter view: a view of a store with rows and indexes of its own.
  /// - Returns: `nil` if there is none, or if the entity has subentities.
  static func find(
    _ binding: EntityBinding, _ property: String, in view: StoreView
  ) throws -> ComparisonIndex? {
    guard !binding.entity.isAbstract, binding.entity.subentityNames.isEmpty,
      let storage = view.entities.byIndex[binding.index], let rows = try view.rows(of: storage)
    else { return nil }
    for index in try view.indexes().indexes(of: storage.stored.number) {
      guard let element = index.stored.elements.first, element.path == [property],
        element.isAscending, index.predicate == nil, let slot = binding.slot(named: property),
        // A key may hold a dangling reference.
        element.kind != .reference || !binding.traits[slot].canDangle
      else { continue }
      return try ComparisonIndex(
        binding.entity.name, property, storage, index.stored, element, rows, in: view)
    }
    return nil
  }

  /// The rows whose values can satisfy a comparison with a constant, in order; `nil` if there are
  /// more than `limit`, or if the keys cannot tell.
  func references(
    _ operator: FetchPredicate.Operator, _ value: PredicateValue
  ) throws -> [Reference]? {
    guard let range = range(`operator`, value) else { return nil }
    guard let keys else { return [] }
    var found: [Reference] = []
    var isUsual = true
    try range.lower.withUnsafeBytes { lower in
      try (range.upper ?? []).withUnsafeBytes { upper in
        try keys.visitKeys(from: lower) { key in
          // Most ranges consist of the keys that begin with `lower`.
          guard
            key.begins(with: lower)
              || range.upper != nil && CanonicalText.byteOrder(key, upper) == .ascending
          else { return false }
          guard let reference = IndexKey.reference(of: key) else { return true }
          // Keys of other entities, and many keys, are left to a plan.
          isUsual =
            reference.entity == storage.stored.number && found.count < ComparisonIndex.limit
          if isUsual { found.append(reference) }
          return isUsual
        }
      }
    }
    guard isUsual else { return nil }
    if found.count > 1 { found.sort() }
    return found
  }

  /// The range of the keys of rows that can satisfy a comparison.
  ///
  /// - Returns: a range without an end if it has all keys that begin with its start; `nil` if no
  ///   range of keys corresponds to the comparison.
  private func range(
    _ operator: FetchPredicate.Operator, _ value: PredicateValue
  ) -> KeyRange? {
    guard case .value(let value) = value else {
      guard `operator` == .equal else { return nil }
      return start(ofKeysWith: value).map { KeyRange(lower: $0, upper: nil) }
    }
    switch (`operator`, value) {
    case (.equal, _):
      guard let bounds = KeyBounds(value, element.kind, after: []), bounds.low == bounds.high
      else { return nil }
      return KeyRange(lower: bounds.low, upper: nil)
    case (.beginsWith, .string(let text)) where element.kind == .string && !text.isEmpty:
      var writer = IndexKeyWriter()
      writer.append(prefix: text)
      return KeyRange(lower: writer.bytes, upper: nil)
    default: break
    }
    // Other constants may be an error, which a plan reports.
    guard let attributeType, value.isOf(attributeType),
      let demand = FetchCondition.Demand(`operator`, value)
    else {
      return nil
    }
    var interval = KeyInterval()
    interval.narrow(by: demand, element.kind, after: [])
    guard interval.isBoundedBelow || interval.isBoundedAbove else { return nil }
    return interval.range(isAscending: true)
  }

  private static let limit = 64

  // MARK: Counts

  /// The number of rows that have a value.
  ///
  /// - Returns: `nil` if the keys cannot tell. A plan then checks whether the value can be
  ///   compared.
  func count(_ value: PredicateValue) throws -> Int? {
    guard isOfOneEntity, let start = start(ofKeysWith: value) else { return nil }
    guard let keys else { return 0 }
    return try start.withUnsafeBytes { lower in
      try IndexKey.withSuccessor(of: lower) { try keys.keyCount(from: lower, to: $0) }
    }
  }

  /// The bytes with which the keys of all rows that have a value begin, and no other keys.
  private func start(ofKeysWith value: PredicateValue) -> [UInt8]? {
    switch value {
    case .value(let value):
      guard let bounds = KeyBounds(value, element.kind, after: []), bounds.isExact,
        bounds.low == bounds.high
      else { return nil }
      return bounds.low
    case .object(let identity):
      guard element.kind == .reference, let id = identity.objectID,
        id.store == storage.identity,
        let number = destinations.first(where: { $0.name == id.entity.name })?.number
      else { return nil }
      var writer = IndexKeyWriter()
      writer.append(to: Reference(entity: number, key: id.key))
      return writer.bytes
    case .collection: return nil
    }
  }
}

/// The indexes that requests have looked for in one state of a store.
private final class ComparisonIndexes {
  /// By the names that requests were made with; few, as a program has few such requests.
  var known: [(entity: String, name: String, ComparisonIndex?)] = []
}

extension StoreView {
  // Sound: nothing else is kept with a view.
  private var comparisonIndexes: ComparisonIndexes {
    if let companion { return unsafeDowncast(companion, to: ComparisonIndexes.self) }
    let indexes = ComparisonIndexes()
    companion = indexes
    return indexes
  }

  /// What `property == constant` is looked up in; `nil` where that takes a plan.
  func comparisonIndex(
    _ entityName: String, _ property: String, _ model: ModelBinding
  ) throws -> ComparisonIndex? {
    let indexes = comparisonIndexes
    for known in indexes.known where known.name == property && known.entity == entityName {
      return known.2
    }
    let index = try model.entity(named: entityName).flatMap {
      try ComparisonIndex.find($0, property, in: self)
    }
    if indexes.known.count < 64 { indexes.known.append((entityName, property, index)) }
    return index
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the bytes begin with a prefix; compares eight bytes at a time.
  fileprivate func begins(with prefix: UnsafeRawBufferPointer) -> Bool {
    guard count >= prefix.count else { return false }
    var index = 0
    while index + 8 <= prefix.count {
      if loadUnaligned(fromByteOffset: index, as: UInt64.self)
        != prefix.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      {
        return false
      }
      index += 8
    }
    while index < prefix.count {
      if self[index] != prefix[index] { return false }
      index += 1
    }
    return true
  }
}
