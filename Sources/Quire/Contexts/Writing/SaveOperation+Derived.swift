import QuireModel

// Derived attributes in a save. Those that depend on their object alone are computed when its row
// is written.
extension SaveOperation {
  /// Records the objects whose values depend on what is about to be changed.
  ///
  /// - Returns: `nil` when there are no derived attributes, or they are computed after the last of
  ///   several saves.
  func beginDerivedValues(_ writer: StoreWriter) throws -> DerivedValues? {
    guard let plan = entities.derivations, !writer.defersLinks else { return nil }
    let values = DerivedValues(plan, writer)
    for update in updated {
      try values.recordOwners(of: update.object.reference, changing: update.changedSlots)
    }
    for object in deleted { try values.recordOwners(of: object.reference) }
    return values
  }

  /// Computes and writes the values, when all rows and links are written.
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

  /// The values of the derived fields of an object's new row, by slot: computed for those that
  /// depend on the object alone, and the store's for the others. Other saves may have computed the
  /// latter again since the object was read; they are updated when all rows are written.
  ///
  /// - Parameter writer: `nil` for an incremental store.
  func derivedValues(
    of object: ManagedObject, _ storage: EntityStorage, _ writer: StoreWriter?
  ) throws -> [Int: AttributeValue?] {
    let derivations = storage.binding.derivations
    if derivations.isEmpty { return [:] }
    var values: [Int: AttributeValue?] = [:]
    for derivation in derivations where derivation.isOwn {
      // Where no derived attribute is read, the object itself has the same values, and saves a
      // search by name for each.
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

/// An object with the derived values that are about to be saved, for derivations that read other
/// derived attributes.
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
