import QuireModel
import QuireStorage

/// Validates the result of a migration by the rules of its model, row by row and without objects.
struct DestinationValidation {
  private let view: StoreView
  private let model: ModelBinding
  private var errors: [PersistenceError] = []
  private var errorCount = 0

  /// The largest number of errors that are reported; further ones are counted.
  private static let limit = 100

  init(_ view: StoreView, _ model: ModelBinding) {
    self.view = view
    self.model = model
  }

  /// - Throws: the only error, or one with all errors, as a save does.
  mutating func run() throws {
    for storage in view.entities.byIndex {
      if let storage { try validate(storage) }
    }
    if errorCount == 1, let error = errors.first { throw error }
    guard errorCount > 0 else { return }
    var error = PersistenceError(
      .validationMultipleErrors, "\(errorCount) things are wrong with the migrated objects")
    error.detailedErrors = errors
    throw error
  }

  private struct Count {
    let relationship: RelationshipDescription
    let link: StoredEntity.Link
  }

  private mutating func validate(_ storage: EntityStorage) throws {
    let required = requiredFields(of: storage)
    let counts = demandedCounts(of: storage)
    let limited = limitedFields(of: storage)
    guard !required.isEmpty || !limited.isEmpty || !counts.isEmpty,
      let tree = try view.rows(of: storage)
    else {
      return
    }
    var cursor = tree.cursor()
    var isInside = try cursor.first()
    while isInside {
      let key = try cursor.key
      let row = try RowReader(try cursor.valueBytes, layout: storage.layout)
      for (field, name) in required where row.isNil(field) {
        fail(.validationMissingMandatoryProperty, storage, key, name, "has no value")
      }
      for (field, rule) in limited where !row.isNil(field) {
        try rule.check(row.value(field)) {
          fail($0.code, storage, key, $0.key, $0.words, $0.value)
        }
      }
      for count in counts { try validate(count, storage, key) }
      isInside = try cursor.next()
    }
  }

  private func requiredFields(of storage: EntityStorage) -> [(field: Int, name: String)] {
    let entity = storage.binding.entity
    return storage.layout.fields.enumerated().compactMap { index, field in
      let isRequired =
        entity.attribute(named: field.name).map { !$0.isOptional }
        ?? entity.relationship(named: field.name).map { !$0.isOptional } ?? false
      return isRequired ? (index, field.name) : nil
    }
  }

  private func limitedFields(of storage: EntityStorage) -> [(field: Int, rule: AttributeRule)] {
    let binding = storage.binding
    return binding.ruledSlots.compactMap { slot in
      guard let rule = binding.rules[slot], rule.limitsStoredValues else { return nil }
      let field = storage.fieldBySlot[slot]
      return field >= 0 ? (field, rule) : nil
    }
  }

  private func demandedCounts(of storage: EntityStorage) -> [Count] {
    storage.binding.entity.relationships.compactMap { relationship in
      guard relationship.isToMany, !relationship.isTransient,
        let link = storage.stored.link(named: relationship.name), relationship.limitsCount
      else { return nil }
      return Count(relationship: relationship, link: link)
    }
  }

  private mutating func validate(_ demand: Count, _ storage: EntityStorage, _ key: Int64) throws {
    let relationship = demand.relationship
    let reference = Reference(entity: storage.stored.number, key: key)
    let count = try view.members(of: reference, demand.link).count
    if count == 0 && relationship.isOptional { return }
    if count < relationship.minCount {
      fail(
        .validationRelationshipLacksMinimumCount, storage, key, relationship.name,
        "has \(PersistenceError.objects(count)) of at least \(relationship.minCount)")
    } else if relationship.maxCount > 0 && count > relationship.maxCount {
      fail(
        .validationRelationshipExceedsMaximumCount, storage, key, relationship.name,
        "has \(PersistenceError.objects(count)) of at most \(relationship.maxCount)")
    }
  }

  private mutating func fail(
    _ code: PersistenceError.Code, _ storage: EntityStorage, _ key: Int64, _ property: String,
    _ what: String, _ value: AttributeValue? = nil
  ) {
    errorCount += 1
    guard errors.count < DestinationValidation.limit else { return }
    let entity = storage.binding.entity
    var error = PersistenceError(code, "\(entity.name).\(property) \(what)")
    error.entityName = entity.name
    error.objectID = ManagedObjectID(entity: entity, store: storage.identity, key: key)
    error.key = property
    error.rejectedValue = value
    errors.append(error)
  }
}
