import QuireModel
import QuireStorage

/// Updates derived attributes in the transaction that changes what they are derived from.
///
/// A value is evaluated again when its object is written and, if its path leads through
/// relationships, when an object on the path is. The owner's row is then written with its old
/// version: adding a member to an owner causes no conflict with adding another, or with a change of
/// the owner (decision 0021). A save first records the owners of the objects that it will change,
/// as they are before, and at the end updates the values of these owners and of those after the
/// change.
final class DerivedValues {
  private let plan: DerivationPlan
  let writer: StoreWriter
  /// The slots to evaluate, by object.
  private var affected: [Reference: Set<Int>] = [:]

  /// The slots of the current round that are not evaluated yet.
  private var pending: [Reference: Set<Int>] = [:]
  /// The values evaluated so far of the objects that are being evaluated, by slot.
  private var underWay: [Reference: [Int: AttributeValue?]] = [:]

  /// The values that a value depends on are evaluated first, up to this depth, which limits the use
  /// of the stack. Beyond it the value is evaluated again in the next round.
  private static let depthLimit = 32
  /// Only values that depend on each other in a circle, and never settle, take so many rounds.
  private static let roundLimit = 4096

  init(_ plan: DerivationPlan, _ writer: StoreWriter) {
    self.plan = plan
    self.writer = writer
  }

  // MARK: Affected owners

  /// Records the owners whose values depend on an object, as the transaction has it now.
  ///
  /// - Parameter slots: the slots that change; `nil` for all.
  func recordOwners(of reference: Reference, changing slots: SlotSet? = nil) throws {
    guard let binding = writer.entities.storage(of: reference)?.binding else { return }
    let dependencies = plan.dependencies[binding.index]
    if dependencies.isEmpty { return }
    // Values derived from the object alone may change with any slot.
    let own = binding.derivations.lazy.filter(\.isOwn).map(\.slot)
    let names = slots.map { Set((Array($0) + own).map(binding.name(of:))) }
    for dependency in dependencies {
      if let names, names.isDisjoint(with: dependency.triggers) { continue }
      var owners: Set = [reference]
      for name in dependency.wayBack {
        owners = try owners.reduce(into: []) { $0.formUnion(try follow(name, from: $1)) }
      }
      for owner in owners {
        guard let slot = slot(of: dependency, in: owner) else { continue }
        affected[owner, default: []].insert(slot)
      }
    }
  }

  /// Records an object whose row or links are written: all its values that depend on other objects.
  func record(_ reference: Reference) {
    guard let binding = writer.entities.storage(of: reference)?.binding else { return }
    for derivation in binding.derivations where !derivation.isOwn {
      affected[reference, default: []].insert(derivation.slot)
    }
  }

  /// Records an object whose row was written without any derived value: all its values.
  func recordAll(_ reference: Reference) {
    guard let binding = writer.entities.storage(of: reference)?.binding else { return }
    for derivation in binding.derivations {
      affected[reference, default: []].insert(derivation.slot)
    }
  }

  private func slot(of dependency: DerivationPlan.Dependency, in owner: Reference) -> Int? {
    // The way back may reach objects of an ancestor of the entity.
    guard let binding = writer.entities.storage(of: owner)?.binding,
      binding.entity.isKindOf(entity: dependency.owner)
    else { return nil }
    return binding.slot(named: dependency.attributeName)
  }

  /// The destinations of a relationship in the transaction, deleted ones included.
  func follow(_ name: String, from reference: Reference) throws -> [Reference] {
    guard let storage = writer.entities.storage(of: reference),
      let slot = storage.binding.slot(named: name)
    else { return [] }
    if let link = storage.link(slot) {
      return try writer.linkKeys(link, of: reference.key).map(\.member)
    }
    let field = storage.fieldBySlot[slot]
    guard field >= 0, storage.layout.fields[field].kind == .reference else { return [] }
    return try writer.withRow(reference, { $0.reference(field) }).flatMap { $0 }.map { [$0] } ?? []
  }

  // MARK: Evaluation

  /// Evaluates the recorded values, and then those that depend on them, until none changes.
  ///
  /// - Throws: ``PersistenceError/Code/invalidExpression`` if the values never settle.
  func write() throws {
    var rounds = 0
    while let (reference, slots) = affected.first {
      rounds += 1
      guard rounds <= DerivedValues.roundLimit else { throw endless(slots, of: reference) }
      pending = affected
      affected = [:]
      for reference in pending.keys.sorted() {
        guard let slots = pending.removeValue(forKey: reference) else { continue }
        try workOut(slots, of: reference)
      }
    }
  }

  private func workOut(_ slots: Set<Int>, of reference: Reference) throws {
    let changed = try write(slots, of: reference)
    if !changed.isEmpty { try recordOwners(of: reference, changing: SlotSet(changed.sorted())) }
  }

  private func endless(_ slots: Set<Int>, of reference: Reference) -> PersistenceError {
    let binding = writer.entities.storage(of: reference)?.binding
    let names = binding.map { slots.sorted().map($0.name(of:)).joined(separator: ", ") } ?? ""
    var error = PersistenceError(
      .invalidExpression,
      "\(names) of \(binding?.entity.name ?? "") is derived from objects that lead back to it, and "
        + "its value never settles: derive it from attributes that are not derived")
    error.entityName = binding?.entity.name
    return error
  }

  /// An object of the transaction, as its derived values will be read.
  func subject(_ reference: Reference) -> any KeyValueCoding { DerivedSubject(reference, self) }

  /// The value that an attribute will have, as far as it is known. Derived values that are still
  /// pending are evaluated first, up to a depth.
  func value(_ slot: Int, _ field: Int, of reference: Reference, isDerived: Bool) throws
    -> AttributeValue?
  {
    if isDerived {
      if let value = underWay[reference]?[slot] { return value }
      if pending[reference]?.contains(slot) == true, underWay.count < DerivedValues.depthLimit,
        let slots = pending.removeValue(forKey: reference)
      {
        try workOut(slots, of: reference)
      }
    }
    return try writer.withRow(reference) { try $0.value(field, in: writer) } ?? nil
  }

  /// Writes the derived values of one object that differ from its row, and those of its derived
  /// values that read them.
  ///
  /// - Returns: the slots that changed.
  private func write(_ slots: Set<Int>, of reference: Reference) throws -> [Int] {
    guard let storage = writer.entities.storage(of: reference), try writer.contains(reference)
    else { return [] }
    let object = DerivedSubject(reference, self)
    var values: [Int: AttributeValue?] = [:]
    underWay[reference] = [:]
    defer { underWay[reference] = nil }
    for derivation in storage.binding.derivations {
      let slot = derivation.slot
      let field = storage.fieldBySlot[slot]
      guard field >= 0,
        slots.contains(slot) || derivation.derivedSlots.contains(where: { values[$0] != nil })
      else { continue }
      let value: AttributeValue?
      if let name = derivation.countedRelationship,
        let link = storage.binding.slot(named: name).flatMap({ storage.link($0) })
      {
        value = try derivation.value(from: writer.linkKeys(link, of: reference.key).count)
      } else {
        value = try derivation.value(for: object)
      }
      underWay[reference]?[slot] = .some(value)
      let present = try writer.withRow(reference) { try $0.value(field, in: writer) } ?? nil
      if let value, let present, value.isIdentical(to: present) { continue }
      if value == nil, present == nil { continue }
      values[slot] = .some(value)
    }
    if values.isEmpty { return [] }
    let row = RowWriter(storage.layout)
    _ = try writer.withRow(reference) { reader in
      try row.write(version: reader.version) { field in
        if let value = values[storage.slotByField[field]] {
          return value.map(RowWriter.Field.value)
        }
        return reader.isNil(field) ? nil : .copy(of: field, in: reader)
      }
    }
    try writer.putRow(row, at: reference, in: storage)
    return Array(values.keys)
  }

  // MARK: All objects

  /// Evaluates derived values of all objects of some entities: after a migration or an import, or
  /// when an expression has changed.
  ///
  /// - Parameters:
  ///   - onlyMissing: whether only absent values are evaluated.
  ///   - wanted: whether to evaluate a value, by entity.
  /// - Returns: whether any value was wanted. If so, constraints over them must be checked.
  @discardableResult
  static func writeAll(
    _ writer: StoreWriter, onlyMissing: Bool = false,
    _ wanted: (EntityBinding, Derivation) -> Bool = { _, _ in true }
  ) throws -> Bool {
    guard let plan = writer.entities.derivations else { return false }
    let values = DerivedValues(plan, writer)
    var isAnyWanted = false
    for storage in writer.entities.byIndex {
      guard let storage else { continue }
      let slots = storage.binding.derivations.filter { wanted(storage.binding, $0) }.map(\.slot)
      if slots.isEmpty { continue }
      isAnyWanted = true
      var next: Int64? = 0
      while let first = next {
        let keys = try writer.keys(of: storage, from: first, limit: 256)
        for key in keys {
          let reference = Reference(entity: storage.stored.number, key: key)
          let chosen = onlyMissing ? try values.missing(slots, of: reference, storage) : slots
          for slot in chosen { values.affected[reference, default: []].insert(slot) }
        }
        try values.write()
        next = keys.last.flatMap { $0 < .max ? $0 + 1 : nil }
      }
    }
    return isAnyWanted
  }

  /// Evaluates the values whose expressions differ from those in a former model.
  ///
  /// - Returns: whether there were any.
  static func writeChanged(
    since former: ManagedObjectModel, _ entities: StoreEntities, in transaction: WriteTransaction
  ) throws -> Bool {
    let writer = StoreWriter(transaction, entities)
    let isAnyNew = try writeAll(writer) { entity, derivation in
      former.entity(named: entity.entity.name)?
        .attribute(named: derivation.attribute.name)?.derivationExpression
        != derivation.attribute.derivationExpression
    }
    try writer.writeKeys()
    return isAnyNew
  }

  private func missing(
    _ slots: [Int], of reference: Reference, _ storage: EntityStorage
  ) throws -> [Int] {
    try writer.withRow(reference) { row in
      slots.filter { storage.fieldBySlot[$0] >= 0 && row.isNil(storage.fieldBySlot[$0]) }
    } ?? []
  }
}

/// An object whose row and links are read in the transaction, for evaluating a derivation.
private final class DerivedSubject: KeyValueCoding {
  private let reference: Reference
  private let values: DerivedValues

  init(_ reference: Reference, _ values: DerivedValues) {
    self.reference = reference
    self.values = values
  }

  func value(forKey key: String) throws -> Any? {
    guard let storage = values.writer.entities.storage(of: reference),
      let slot = storage.binding.slot(named: key)
    else {
      throw PersistenceError.undefinedKey(key, of: self, message: "has no property \(key)")
    }
    let trait = storage.binding.traits[slot]
    if trait.attributeType != nil {
      let field = storage.fieldBySlot[slot]
      guard field >= 0 else { return nil }
      return try values.value(slot, field, of: reference, isDerived: trait.isDerived)?.plainValue
    }
    let subjects = try values.follow(key, from: reference)
      .filter { try values.writer.contains($0) }.map { DerivedSubject($0, values) }
    return trait.isToMany ? subjects : subjects.first
  }
}
