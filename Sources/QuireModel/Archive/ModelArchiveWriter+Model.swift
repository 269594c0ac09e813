extension ModelArchiveWriter {
  mutating func write(_ model: ManagedObjectModel) {
    let flags = Self.flags(of: model)
    if !flags.isEmpty {
      write(unsigned: flags.rawValue)
      if flags.contains(.userInfo) { write(model.userInfo) }
      if flags.contains(.localization) { write(model.localizationDictionary) }
    }
    write(model.versionIdentifiers.count)
    for identifier in model.versionIdentifiers { write(identifier) }
    write(model.configurations.count)
    for (name, entities) in model.configurations.sorted(by: { $0.key < $1.key }) {
      write(name)
      write(entities.count)
      for entity in entities { write(entity) }
    }
    write(model.fetchRequestTemplates.count)
    for template in model.fetchRequestTemplates { write(template) }
    write(model.entities.count)
    for entity in model.entities { write(entity.declaration) }
  }

  static func flags(of model: ManagedObjectModel) -> ModelFlags {
    var flags: ModelFlags = []
    flags.set(.userInfo, !model.userInfo.isEmpty)
    flags.set(.localization, !model.localizationDictionary.isEmpty)
    return flags
  }

  private mutating func write(_ entity: Entity) {
    var flags: EntityFlags = []
    flags.set(.abstract, entity.isAbstract)
    flags.set(.className, entity.managedObjectClassName != nil)
    flags.set(.parent, entity.parent != nil)
    flags.set(.renamingIdentifier, entity.renamingIdentifier != nil)
    flags.set(.versionHashModifier, entity.versionHashModifier != nil)
    flags.set(.spotlight, entity.coreSpotlightDisplayNameExpression != nil)
    flags.set(.userInfo, !entity.userInfo.isEmpty)
    write(entity.name)
    write(unsigned: flags.rawValue)
    write(ifPresent: entity.managedObjectClassName)
    write(ifPresent: entity.parent)
    write(ifPresent: entity.renamingIdentifier)
    write(ifPresent: entity.versionHashModifier)
    write(ifPresent: entity.coreSpotlightDisplayNameExpression)
    if flags.contains(.userInfo) { write(entity.userInfo) }
    write(entity.attributes.count)
    for attribute in entity.attributes { write(attribute) }
    write(entity.relationships.count)
    for relationship in entity.relationships { write(relationship) }
    write(entity.fetchedProperties.count)
    for property in entity.fetchedProperties { write(property) }
    write(entity.indexes.count)
    for index in entity.indexes { write(index) }
    write(entity.uniquenessConstraints.count)
    for constraint in entity.uniquenessConstraints {
      write(constraint.count)
      for path in constraint { write(path) }
    }
  }

  private mutating func write(_ attribute: AttributeDescription) {
    let validation = attribute.validation
    var flags: AttributeFlags = []
    flags.set(.optional, attribute.isOptional)
    flags.set(.transient, attribute.isTransient)
    flags.set(.externalStorage, attribute.allowsExternalBinaryDataStorage)
    flags.set(.keptInHistory, attribute.preservesValueInHistoryOnDeletion)
    flags.set(.scalar, attribute.usesScalarValueType)
    flags.set(.spotlight, attribute.isIndexedBySpotlight)
    flags.set(.encrypted, attribute.allowsCloudEncryption)
    flags.set(.indexed, attribute.isIndexed)
    flags.set(.defaultValue, attribute.defaultValue != nil)
    flags.set(.renamingIdentifier, attribute.renamingIdentifier != nil)
    flags.set(.versionHashModifier, attribute.versionHashModifier != nil)
    flags.set(.elements, !attribute.elements.isEmpty)
    flags.set(.minimum, validation.minimum != nil)
    flags.set(.maximum, validation.maximum != nil)
    flags.set(.earliestDate, validation.earliestDate != nil)
    flags.set(.latestDate, validation.latestDate != nil)
    flags.set(.regularExpression, validation.regularExpression != nil)
    flags.set(.transformer, attribute.valueTransformerName != nil)
    flags.set(.valueClass, attribute.valueClassName != nil)
    flags.set(.derivation, attribute.derivationExpression != nil)
    flags.set(.userInfo, !attribute.userInfo.isEmpty)
    write(attribute.name)
    write(attribute.type.rawValue)
    write(unsigned: flags.rawValue)
    if let value = attribute.defaultValue { write(value) }
    write(ifPresent: attribute.renamingIdentifier)
    write(ifPresent: attribute.versionHashModifier)
    if flags.contains(.elements) {
      write(attribute.elements.count)
      for element in attribute.elements { write(element) }
    }
    write(ifPresent: validation.minimum)
    write(ifPresent: validation.maximum)
    if let date = validation.earliestDate { write(date) }
    if let date = validation.latestDate { write(date) }
    write(ifPresent: validation.regularExpression)
    write(ifPresent: attribute.valueTransformerName)
    write(ifPresent: attribute.valueClassName)
    write(ifPresent: attribute.derivationExpression)
    if flags.contains(.userInfo) { write(attribute.userInfo) }
  }

  private mutating func write(_ relationship: RelationshipDescription) {
    var flags: RelationshipFlags = []
    flags.set(.optional, relationship.isOptional)
    flags.set(.transient, relationship.isTransient)
    flags.set(.ordered, relationship.isOrdered)
    flags.set(.spotlight, relationship.isIndexedBySpotlight)
    flags.set(.inverse, relationship.inverse != nil)
    flags.set(.renamingIdentifier, relationship.renamingIdentifier != nil)
    flags.set(.versionHashModifier, relationship.versionHashModifier != nil)
    flags.set(.userInfo, !relationship.userInfo.isEmpty)
    write(relationship.name)
    write(unsigned: flags.rawValue)
    write(relationship.destination)
    write(ifPresent: relationship.inverse)
    write(relationship.deleteRule.rawValue)
    write(signed: Int64(relationship.minCount))
    write(signed: Int64(relationship.maxCount))
    write(ifPresent: relationship.renamingIdentifier)
    write(ifPresent: relationship.versionHashModifier)
    if flags.contains(.userInfo) { write(relationship.userInfo) }
  }

  private mutating func write(_ property: FetchedPropertyDescription) {
    var flags: FetchedPropertyFlags = []
    flags.set(.optional, property.isOptional)
    flags.set(.renamingIdentifier, property.renamingIdentifier != nil)
    flags.set(.versionHashModifier, property.versionHashModifier != nil)
    flags.set(.userInfo, !property.userInfo.isEmpty)
    write(property.name)
    write(unsigned: flags.rawValue)
    write(property.request)
    write(ifPresent: property.renamingIdentifier)
    write(ifPresent: property.versionHashModifier)
    if flags.contains(.userInfo) { write(property.userInfo) }
  }

  private mutating func write(_ request: FetchRequestTemplate) {
    var flags: FetchRequestFlags = []
    flags.set(.subentities, request.includesSubentities)
    flags.set(.propertyValues, request.includesPropertyValues)
    flags.set(.pendingChanges, request.includesPendingChanges)
    flags.set(.faults, request.returnsObjectsAsFaults)
    flags.set(.distinct, request.returnsDistinctResults)
    flags.set(.predicate, request.predicateFormat != nil)
    flags.set(.userInfo, !request.userInfo.isEmpty)
    flags.set(.sorted, !request.sortDescriptors.isEmpty)
    write(request.name)
    write(request.entityName)
    write(unsigned: flags.rawValue)
    write(ifPresent: request.predicateFormat)
    write(signed: Int64(request.fetchLimit))
    write(signed: Int64(request.fetchBatchSize))
    write(signed: Int64(request.resultType))
    if flags.contains(.userInfo) { write(request.userInfo) }
    guard flags.contains(.sorted) else { return }
    write(request.sortDescriptors.count)
    for descriptor in request.sortDescriptors {
      write(descriptor.keyPath.count)
      for name in descriptor.keyPath { write(name) }
      bytes.append(descriptor.absentValues.rawValue << 1 | (descriptor.ascending ? 1 : 0))
      bytes.append(descriptor.options.rawValue)
    }
  }

  private mutating func write(_ index: FetchIndexDescription) {
    var flags: FetchIndexFlags = []
    flags.set(.partial, index.partialIndexPredicate != nil)
    flags.set(.userInfo, !index.userInfo.isEmpty)
    write(index.name)
    write(unsigned: flags.rawValue)
    write(ifPresent: index.partialIndexPredicate)
    if flags.contains(.userInfo) { write(index.userInfo) }
    write(index.elements.count)
    for element in index.elements {
      var flags: IndexElementFlags = []
      flags.set(.ascending, element.isAscending)
      flags.set(.rTree, element.kind == .rTree)
      flags.set(.property, element.property != nil)
      flags.set(.expression, element.expression != nil)
      flags.set(.expressionType, element.expressionType != nil)
      write(unsigned: flags.rawValue)
      write(ifPresent: element.property)
      write(ifPresent: element.expression)
      write(ifPresent: element.expressionType)
    }
  }
}

extension OptionSet where Element == Self {
  fileprivate mutating func set(_ option: Self, _ isSet: Bool) { if isSet { insert(option) } }
}
