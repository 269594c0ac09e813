import QuireModel
import QuireStorage

/// The insertion of one request's objects in one store.
final class BatchInsertion {
  let write: BatchWrite
  let storage: EntityStorage
  let row: BatchRow
  let rowWriter: RowWriter
  let execution: BatchExecution
  private let policy: MergePolicyType
  private let constraints: BatchConstraints?
  /// The derived attributes that constraints read, whose values the row has from the beginning. All
  /// others are worked out when the objects that they may be derived from are written.
  private let constrainedSlots: Set<Int>
  /// `nil` if no derived value depends on objects of the entity.
  private let derived: DerivedValues?
  private var source: (BatchRow) throws -> Bool = { _ in true }
  /// The position of the current object in the request.
  private var position = 0
  /// The destinations of the current object's to-one relationships.
  private var links: [BatchLink] = []
  /// The references of recent destinations.
  private var knownDestinations: [ManagedObjectID: Reference] = [:]
  /// Objects whose derived values are not computed yet.
  private var underived: [Reference] = []

  private static let portion = 4096

  init(
    _ write: BatchWrite, _ storage: EntityStorage, _ policy: MergePolicyType,
    _ execution: BatchExecution
  ) throws {
    self.write = write
    self.storage = storage
    self.policy = policy
    self.execution = execution
    row = BatchRow(
      storage,
      execution.context.persistentStoreCoordinator?.classes.computedDefaults(of: storage.binding))
    rowWriter = RowWriter(storage.layout)
    constraints = try BatchConstraints(write, storage)
    constrainedSlots = constraints?.derivedSlots ?? []
    let isRead = write.entities.derivations?.readsObjects(of: storage.binding) ?? false
    derived = isRead ? write.derived : nil
  }

  /// Inserts the objects that `source` fills in, until it returns `true`.
  func insert(_ source: @escaping (BatchRow) throws -> Bool) throws {
    self.source = source
    // A request without objects changes nothing.
    guard try next() else { return }
    try write.writer.gatheringLinks {
      if try isBuilt {
        try buildRows()
      } else {
        try putRows()
      }
      try deriveValues()
    }
  }

  // MARK: Rows

  /// Whether the rows can be built in order: there are none yet, and none is read before the end.
  private var isBuilt: Bool {
    get throws {
      guard constraints == nil, derived == nil, !storage.binding.hasOneToOnes else {
        return false
      }
      return try write.writer.isEmpty(storage)
    }
  }

  /// Builds the rows of the current object and of all that follow.
  private func buildRows() throws {
    let keys = try NewRowKeys(storage, write.writer, isUnchecked: true)
    try write.writer.buildRows(of: storage) { builder in
      repeat {
        try encode()
        let reference = try takeReference()
        try rowWriter.withBytes { bytes in
          try keys.record(bytes, at: reference)
          try builder.append(bytes, for: reference.key)
        }
        try finish(reference)
      } while try next()
    }
  }

  /// Appends the rows of the current object and of all that follow to those in the store.
  private func putRows() throws {
    let rows = try write.writer.rows(of: storage.stored).appender()
    let keys = try NewRowKeys(storage, write.writer, isUnchecked: true)
    repeat {
      try encode()
      if let constraints {
        let rivals = try rowWriter.withBytes { try constraints.rivals(of: $0) }
        if !rivals.isEmpty, try !isInserted(despite: rivals) { continue }
      }
      let reference = try takeReference()
      if derived != nil { try write.recordOwners(of: reference, nil, links) }
      let wasThere = try rowWriter.withBytes { bytes in
        try keys.record(bytes, at: reference)
        return try rows.put(bytes, for: reference.key)
      }
      if wasThere { throw StoreWriter.keyIsTaken(reference, storage) }
      try constraints?.recordWritten()
      try finish(reference)
    } while try next()
  }

  private func takeReference() throws -> Reference {
    Reference(
      entity: storage.stored.number, key: try write.writer.takeKey(in: storage.stored.keySpace))
  }

  /// Lets the source fill in the next object, and validates it.
  ///
  /// - Returns: `false` if there is none.
  private func next() throws -> Bool {
    while true {
      row.begin()
      if try source(row) { return false }
      try row.check()
      try findDestinations()
      if isValid() { return true }
      // Further errors, of this object and of others, are collected.
      try write.stopAtManyErrors()
      position += 1
    }
  }

  private func finish(_ reference: Reference) throws {
    write.changes.recordInsertion(at: reference)
    if !links.isEmpty { try write.arrive(links, from: reference) }
    position += 1
    if derived != nil {
      underived.append(reference)
      if underived.count == BatchInsertion.portion { try deriveValues() }
    }
    try execution.advance()
  }

  // MARK: Values

  private func findDestinations() throws {
    links.removeAll(keepingCapacity: true)
    for (slot, id) in row.destinations {
      guard let id else { continue }
      let destination: Reference
      if let known = knownDestinations[id] {
        destination = known
      } else {
        destination = try write.destination(id, storage.binding, slot)
        if knownDestinations.count >= 10_000 { knownDestinations.removeAll() }
        knownDestinations[id] = destination
      }
      links.append(BatchLink(slot: slot, storage: storage, old: nil, new: destination))
    }
    if links.count > 1 { links.sort { $0.slot < $1.slot } }
  }

  private func isValid() -> Bool {
    var isValid = true
    let binding = storage.binding
    for slot in binding.ruledSlots where !binding.traits[slot].isTransient {
      binding.rules[slot]?.check(row.values[slot]) { failure in
        isValid = false
        write.validation.fail(failure.code, validated, failure.key, failure.words, failure.value)
      }
    }
    for slot in binding.limitedSlots {
      let count = write.validation.errors.count
      if binding.traits[slot].isToMany {
        write.validation.checkCount(0, binding.relationship(slot), validated)
      } else if !links.contains(where: { $0.slot == slot }) {
        write.validation.fail(
          .validationMissingMandatoryProperty, validated, binding.name(of: slot),
          "has no destination")
      }
      if write.validation.errors.count > count { isValid = false }
    }
    return isValid
  }

  private var subject: BatchSubject { BatchSubject(row, links, derived) }

  private var validated: Validation.Subject {
    Validation.Subject(
      entityName: storage.binding.entity.name, objectID: nil, position: position)
  }

  /// Builds the row of the current object.
  private func encode() throws {
    try rowWriter.write(
      version: 1,
      putting: { field in
        let slot = storage.plainSlotByField[field]
        if slot >= 0, let value = row.values[slot] {
          try rowWriter.put(value, in: field)
          return true
        }
        return try putOther(field)
      })
  }

  /// Writes a field whose content is not a plain value.
  private func putOther(_ field: Int) throws -> Bool {
    let slot = storage.slotByField[field]
    guard slot >= 0 else { return false }
    if storage.binding.traits[slot].isDerived {
      guard constrainedSlots.contains(slot), let value = try subject.derivedValue(slot) else {
        return false
      }
      try rowWriter.put(value, in: field)
      return true
    }
    if storage.binding.traits[slot].attributeType == nil {
      guard let destination = links.first(where: { $0.slot == slot })?.new else { return false }
      try rowWriter.put(destination, in: field)
      return true
    }
    guard let value = row.values[slot] else { return false }
    let content = try write.writer.placing(.value(value), field, storage)
    guard let content else { return false }
    try rowWriter.put(content, field)
    return true
  }

  private func deriveValues() throws {
    guard let derived, !underived.isEmpty else { return }
    for reference in underived where try write.writer.contains(reference) {
      derived.recordAll(reference)
      try derived.recordOwners(of: reference)
    }
    underived.removeAll(keepingCapacity: true)
    try derived.write()
  }

  // MARK: Uniqueness

  /// Applies the merge policy to the current object and those with its values of a constraint.
  ///
  /// - Returns: whether the current object is inserted.
  private func isInserted(despite rivals: [BatchConstraints.Rival]) throws -> Bool {
    switch policy {
    case .errorMergePolicyType:
      try write.validation.finish()
      throw write.constraintError(rivals[0].index, rivals[0].reference, at: position)
    case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType:
      try giveUp()
      return false
    case .overwriteMergePolicyType:
      try delete(rivals.map(\.reference))
      return true
    case .mergeByPropertyObjectTrumpMergePolicyType:
      let same = rivals.first { $0.reference.entity == storage.stored.number }?.reference
      try delete(rivals.map(\.reference).filter { $0 != same })
      // Delete rules may have deleted this one too.
      guard let same, try write.writer.contains(same) else { return true }
      try merge(into: same)
      try giveUp()
      return false
    }
  }

  /// Discards the current object.
  private func giveUp() throws {
    for value in rowWriter.externalValues { try write.writer.external.remove(value) }
    position += 1
    try execution.advance()
  }

  private func delete(_ references: [Reference]) throws {
    if references.isEmpty { return }
    try deriveValues()
    try write.delete(Set(references).sorted(), nil)
    // Delete rules may have deleted other destinations too.
    knownDestinations.removeAll()
    for link in links {
      guard let new = link.new, try !write.writer.contains(new) else { continue }
      throw storage.binding.error(
        about: link.slot, .managedObjectReferentialIntegrity,
        "of object \(position) of the batch request cannot refer to what gave way to the object")
    }
  }

  /// Gives the values that were set for the current object to an existing one with its values of a
  /// constraint.
  private func merge(into other: Reference) throws {
    try deriveValues()
    let binding = storage.binding
    let sources = row.givenSlots.map { slot -> (name: String, source: BatchUpdate.Source) in
      let isAttribute = binding.traits[slot].attributeType != nil
      return (
        binding.name(of: slot),
        isAttribute
          ? .value(row.values[slot]) : .reference(links.first { $0.slot == slot }.flatMap(\.new))
      )
    }
    let updating = try BatchUpdating(write, BatchUpdate(sources), storage, isRepeated: true)
    if updating.moves.isEmpty {
      try updating.updateAttributes(at: other)
    } else {
      try updating.update([other], isLast: true)
    }
    if derived != nil { underived.append(other) }
    // The next object may have what this one is to have by now.
    if !constrainedSlots.isEmpty { try deriveValues() }
    write.changes.recordMerge(into: other)
  }
}

/// The current object of a batch insertion, for working out its derived attributes before it is
/// written.
private final class BatchSubject: KeyValueCoding {
  private let row: BatchRow
  private let links: [BatchLink]
  private let derived: DerivedValues?
  /// Of two derived attributes that refer to each other one has no value yet.
  private let underWay: Set<Int>

  init(_ row: BatchRow, _ links: [BatchLink], _ derived: DerivedValues?, _ underWay: Set<Int> = [])
  {
    self.row = row
    self.links = links
    self.derived = derived
    self.underWay = underWay
  }

  private var binding: EntityBinding { row.storage.binding }

  func derivedValue(_ slot: Int) throws -> AttributeValue? {
    guard let derivation = binding.derivations.first(where: { $0.slot == slot }) else { return nil }
    return try derivation.value(
      for: BatchSubject(row, links, derived, underWay.union([slot])))
  }

  func value(forKey key: String) throws -> Any? {
    guard let slot = binding.slot(named: key) else {
      throw PersistenceError.undefinedKey(key, of: self, message: "has no property \(key)")
    }
    let trait = binding.traits[slot]
    if trait.isDerived, !underWay.contains(slot) { return try derivedValue(slot)?.plainValue }
    if trait.attributeType != nil { return row.values[slot]?.plainValue }
    // Nothing refers to an object that is not written yet.
    if trait.isToMany { return [any KeyValueCoding]() }
    return links.first { $0.slot == slot }?.new.flatMap { derived?.subject($0) }
  }
}
