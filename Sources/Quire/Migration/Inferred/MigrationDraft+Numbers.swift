import QuireModel
import QuireStorage

// Numbers that get another type. As only the rows show whether each number fits the new type, they
// are all read before anything is written.
extension MigrationDraft {
  var numberSteps: [MigrationPlan.NumberStep] {
    entities.flatMap { draft in
      // A new entity has no rows to convert.
      draft.old == nil
        ? [] : draft.change.attributes.flatMap { steps(for: $0, path: $0.name, draft) }
    }.sorted { ($0.entityName, $0.propertyName) < ($1.entityName, $1.propertyName) }
  }

  private func steps(
    for change: AttributeChange, path: String, _ draft: EntityDraft
  ) -> [MigrationPlan.NumberStep] {
    guard change.destination?.derivationExpression == nil else { return [] }
    guard let conversion = change.numberConversion else {
      let isComposite = change.source?.type == .composite && change.source?.isTransient == false
      guard isComposite, change.destination?.isTransient == false else { return [] }
      return change.elements.flatMap { steps(for: $0, path: "\(path).\($0.name)", draft) }
    }
    return [
      MigrationPlan.NumberStep(
        entityName: draft.destination.name, propertyName: path,
        sourceType: "\(conversion.source)", destinationType: "\(conversion.destination)",
        direction: conversion.direction,
        checkedObjectCount: conversion.direction == .narrowing ? draft.objectCount : 0)
    ]
  }

  /// Checks every number that may not fit its new type.
  ///
  /// - Throws: ``PersistenceError/Code/migration`` with the objects whose numbers do not fit.
  /// - Complexity: O(rows of the entities with such attributes).
  func checkNumbers(
    in snapshot: Snapshot, identity: StoreIdentity, _ progress: StepProgress
  ) throws {
    var refusals = NumberRefusals()
    for draft in entities {
      let conversions = draft.narrowingConversions
      guard !conversions.isEmpty, let old = draft.old,
        var cursor = try snapshot.recordTree(old.rowTree)?.cursor()
      else { continue }
      let scratch = RowScratch()
      defer { withExtendedLifetime(scratch) {} }
      var isInside = try cursor.first()
      var count = 0
      while isInside {
        if count.isMultiple(of: MigrationDraft.rowsBetweenChecks) {
          try progress.reach(0.02, "looking at numbers of \(draft.destination.name)")
        }
        count += 1
        let row = try RowReader(try cursor.valueBytes, layout: old.layout, scratch)
        for (from, convert) in conversions {
          guard let value = try row.value(from) else { continue }
          do throws(NumberRefusal) {
            _ = try convert(value)
          } catch {
            refusals.add(
              error,
              of: ManagedObjectID(
                entity: draft.destination, store: identity, key: try cursor.key))
          }
        }
        isInside = try cursor.next()
      }
    }
    try refusals.finish()
  }

  private static let rowsBetweenChecks = 4_096
}

extension MigrationDraft.EntityDraft {
  fileprivate typealias Conversion = (AttributeValue) throws(NumberRefusal) -> AttributeValue

  /// The old fields whose values may not fit their new type.
  fileprivate var narrowingConversions: [(from: Int, convert: Conversion)] {
    zip(fields, stored.layout.fields).compactMap { source, field in
      switch source {
      case .number(let from, let conversion, _) where conversion.direction == .narrowing:
        (from, { value throws(NumberRefusal) in try conversion(value, path: field.name) })
      case .convert(let from, let conversion, _) where conversion.isNarrowing:
        (from, { value throws(NumberRefusal) in try conversion(value, path: field.name) })
      default: nil
      }
    }
  }
}

/// The numbers because of which a migration is refused: the first ones with names, all of them
/// counted.
private struct NumberRefusals {
  private var errors: [PersistenceError] = []
  private var count = 0
  private static let limit = 20

  mutating func add(_ refusal: NumberRefusal, of id: ManagedObjectID) {
    count += 1
    if errors.count < NumberRefusals.limit { errors.append(refusal.error(of: id)) }
  }

  func finish() throws(PersistenceError) {
    guard count > 0 else { return }
    let list = errors.map { "\n  \($0.message)" }.joined()
    let rest = count - errors.count
    var error = PersistenceError(
      .migration,
      "\(count) \(count == 1 ? "number in the store is" : "numbers in the store are") none of the "
        + "type that the new model has, so nothing was migrated: change the "
        + "\(count == 1 ? "value" : "values"), keep the type, or write a mapping that converts "
        + "them:\(list)" + (rest > 0 ? "\n  and \(rest) more" : ""))
    error.detailedErrors = errors
    throw error
  }
}

extension NumberRefusal {
  /// The error for a refused number, with the object and the value.
  func error(of id: ManagedObjectID) -> PersistenceError {
    let name = id.entity.name
    var error = PersistenceError(
      .migration, "\(name).\(path) of \(name)/p\(id.key) \(conversion.refusal(of: value))")
    error.entityName = name
    error.objectID = id
    error.key = path
    error.rejectedValue = value
    return error
  }
}
