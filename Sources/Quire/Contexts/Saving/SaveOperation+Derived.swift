import QuireModel

// What a save does with derived attributes. What it works out from the object alone is part of
// writing the row.
extension SaveOperation {
  /// Notes whose values change with what is about to be changed.
  ///
  /// - Returns: `nil` when there are no derived attributes, or they are worked out at the end of
  ///   all saves.
  func beginDerivedValues(_ writer: StoreWriter) throws -> DerivedValues? {
    guard let plan = entities.derivations, !writer.defersLinks else { return nil }
    let values = DerivedValues(plan, writer)
    for update in updated {
      try values.recordOwners(of: update.object.reference, changing: update.changedSlots)
    }
    for object in deleted { try values.recordOwners(of: object.reference) }
    return values
  }

  /// Works the values out, when all rows and links are written.
  func writeDerivedValues(_ values: DerivedValues?) throws {
    guard let values else { return }
    for item in inserted {
      values.record(item.reference)
      try values.recordOwners(of: item.reference)
    }
    for update in updated {
      values.record(update.object.reference)
      try values.recordOwners(of: update.object.reference, changing: update.changedSlots)
    }
    try values.write()
  }

  /// What the derived fields of an object's new row hold, by slot: what its own derivations make
  /// of it, and of those that lead elsewhere what the store has. Other saves may have worked that
  /// out anew since the object was read, and who reads it is told of what changes from there.
  ///
  /// - Parameter writer: of a store of Quire's make.
  func derivedValues(
    of object: ManagedObject, _ storage: EntityStorage, _ writer: StoreWriter?
  ) throws -> [Int: AttributeValue?] {
    let derivations = storage.binding.derivations
    if derivations.isEmpty { return [:] }
    var values: [Int: AttributeValue?] = [:]
    for derivation in derivations where derivation.isOwn {
      values[derivation.slot] = .some(
        try derivation.value(
          for: derivation.derivedSlots.isEmpty ? object : SubjectOfSave(object, values)))
    }
    guard let writer, object.row != nil, values.count < derivations.count else { return values }
    _ = try writer.withRow(object.reference) { row in
      for derivation in derivations where !derivation.isOwn {
        let field = storage.fieldBySlot[derivation.slot]
        if field >= 0 { values[derivation.slot] = .some(try row.value(field, in: writer)) }
      }
    }
    return values
  }
}

/// An object as those of its derivations see it that read others: with the values of these that are
/// about to be saved.
private final class SubjectOfSave: KeyValueCoding {
  private let object: ManagedObject
  private let values: [Int: AttributeValue?]

  init(_ object: ManagedObject, _ values: [Int: AttributeValue?]) {
    self.object = object
    self.values = values
  }

  func value(forKey key: String) throws -> Any? {
    if let value = object.binding.slot(named: key).flatMap({ values[$0] }) {
      return value?.plainValue
    }
    return try object.value(forKey: key)
  }
}
