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
      try values.noteOwners(of: update.object.reference, changing: update.changedSlots)
    }
    for object in deleted { try values.noteOwners(of: object.reference) }
    return values
  }

  /// Works the values out, when all rows and links are written.
  func writeDerivedValues(_ values: DerivedValues?) throws {
    guard let values else { return }
    for item in inserted {
      values.note(item.reference)
      try values.noteOwners(of: item.reference)
    }
    for update in updated {
      values.note(update.object.reference)
      try values.noteOwners(of: update.object.reference, changing: update.changedSlots)
    }
    try values.write()
  }

  /// What a derived field of an object's new row holds; of one that leads elsewhere what it held.
  func derivedContent(
    of field: Int, _ slot: Int, _ object: ManagedObject, _ old: RowReader?
  ) throws -> RowWriter.Field? {
    let derivation = object.binding.derivations.first { $0.slot == slot }
    if let derivation, derivation.isOwn {
      return try derivation.value(for: object).map(RowWriter.Field.value)
    }
    guard let old, !old.isNil(field) else { return nil }
    return .copy(of: field, in: old)
  }
}
