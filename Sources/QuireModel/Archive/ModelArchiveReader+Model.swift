extension ModelArchiveReader {
  /// - Parameter hasFlags: whether the format has flags of the model.
  mutating func readModel(hasFlags: Bool) throws(ModelArchiveError) -> ManagedObjectModel {
    var model = ModelDeclaration()
    if hasFlags {
      let flags = try readFlags(ModelFlags.all)
      if flags.contains(.userInfo) { model.userInfo = try readPairs() }
      if flags.contains(.localization) { model.localizationDictionary = try readPairs() }
    }
    model.versionIdentifiers = try readStrings()
    for _ in 0..<(try readCount()) {
      let name = try readString()
      model.configurations[name] = try readStrings()
    }
    model.fetchRequestTemplates = try readList { (reader) throws(ModelArchiveError) in
      try reader.readFetchRequest()
    }
    model.entities = try readList { (reader) throws(ModelArchiveError) in try reader.readEntity() }
    do throws(ModelError) {
      return try ManagedObjectModel(unchecked: model)
    } catch {
      throw .invalidModel(error)
    }
  }

  private mutating func readEntity() throws(ModelArchiveError) -> Entity {
    var entity = Entity(try readString())
    let flags = try readFlags(EntityFlags.all)
    entity.isAbstract = flags.contains(.abstract)
    entity.managedObjectClassName = try readString(if: flags.contains(.className))
    entity.parent = try readString(if: flags.contains(.parent))
    entity.renamingIdentifier = try readString(if: flags.contains(.renamingIdentifier))
    entity.versionHashModifier = try readString(if: flags.contains(.versionHashModifier))
    entity.coreSpotlightDisplayNameExpression = try readString(if: flags.contains(.spotlight))
    if flags.contains(.userInfo) { entity.userInfo = try readPairs() }
    entity.attributes = try readList { (reader) throws(ModelArchiveError) in
      try reader.readAttribute(depth: 0)
    }
    entity.relationships = try readList { (reader) throws(ModelArchiveError) in
      try reader.readRelationship()
    }
    entity.fetchedProperties = try readList { (reader) throws(ModelArchiveError) in
      try reader.readFetchedProperty()
    }
    entity.indexes = try readList { (reader) throws(ModelArchiveError) in try reader.readIndex() }
    entity.uniquenessConstraints = try readList { (reader) throws(ModelArchiveError) in
      try reader.readStrings()
    }
    return entity
  }

  private mutating func readAttribute(
    depth: Int
  ) throws(ModelArchiveError) -> AttributeDescription {
    if depth > ModelArchiveFormat.maximumDepth { throw damaged("composites are nested too deep") }
    let name = try readString()
    guard let type = AttributeType(rawValue: try readNumber(limit: 65_535)) else {
      throw damaged("the attribute \(name) has an unknown type")
    }
    var attribute = AttributeDescription(name, type)
    let flags = try readFlags(AttributeFlags.all)
    attribute.isOptional = flags.contains(.optional)
    attribute.isTransient = flags.contains(.transient)
    attribute.allowsExternalBinaryDataStorage = flags.contains(.externalStorage)
    attribute.preservesValueInHistoryOnDeletion = flags.contains(.keptInHistory)
    attribute.usesScalarValueType = flags.contains(.scalar)
    attribute.isIndexedBySpotlight = flags.contains(.spotlight)
    attribute.allowsCloudEncryption = flags.contains(.encrypted)
    attribute.isIndexed = flags.contains(.indexed)
    if flags.contains(.defaultValue) { attribute.defaultValue = try readValue() }
    attribute.renamingIdentifier = try readString(if: flags.contains(.renamingIdentifier))
    attribute.versionHashModifier = try readString(if: flags.contains(.versionHashModifier))
    if flags.contains(.elements) {
      attribute.elements = try readList { (reader) throws(ModelArchiveError) in
        try reader.readAttribute(depth: depth + 1)
      }
    }
    attribute.validation.minimum = try readString(if: flags.contains(.minimum))
    attribute.validation.maximum = try readString(if: flags.contains(.maximum))
    if flags.contains(.earliestDate) { attribute.validation.earliestDate = try readDate() }
    if flags.contains(.latestDate) { attribute.validation.latestDate = try readDate() }
    attribute.validation.regularExpression = try readString(
      if: flags.contains(.regularExpression))
    attribute.valueTransformerName = try readString(if: flags.contains(.transformer))
    attribute.valueClassName = try readString(if: flags.contains(.valueClass))
    attribute.derivationExpression = try readString(if: flags.contains(.derivation))
    if flags.contains(.userInfo) { attribute.userInfo = try readPairs() }
    return attribute
  }

  private mutating func readRelationship() throws(ModelArchiveError) -> RelationshipDescription {
    let name = try readString()
    let flags = try readFlags(RelationshipFlags.all)
    var relationship = RelationshipDescription(name, toOne: try readString())
    relationship.inverse = try readString(if: flags.contains(.inverse))
    guard let rule = DeleteRule(rawValue: try readNumber(limit: 255)) else {
      throw damaged("the relationship \(name) has an unknown delete rule")
    }
    relationship.deleteRule = rule
    relationship.minCount = try readInt()
    relationship.maxCount = try readInt()
    relationship.isOptional = flags.contains(.optional)
    relationship.isTransient = flags.contains(.transient)
    relationship.isOrdered = flags.contains(.ordered)
    relationship.isIndexedBySpotlight = flags.contains(.spotlight)
    relationship.renamingIdentifier = try readString(if: flags.contains(.renamingIdentifier))
    relationship.versionHashModifier = try readString(if: flags.contains(.versionHashModifier))
    if flags.contains(.userInfo) { relationship.userInfo = try readPairs() }
    return relationship
  }

  private mutating func readFetchedProperty()
    throws(ModelArchiveError) -> FetchedPropertyDescription
  {
    let name = try readString()
    let flags = try readFlags(FetchedPropertyFlags.all)
    var property = FetchedPropertyDescription(name, request: try readFetchRequest())
    property.isOptional = flags.contains(.optional)
    property.renamingIdentifier = try readString(if: flags.contains(.renamingIdentifier))
    property.versionHashModifier = try readString(if: flags.contains(.versionHashModifier))
    if flags.contains(.userInfo) { property.userInfo = try readPairs() }
    return property
  }

  private mutating func readFetchRequest() throws(ModelArchiveError) -> FetchRequestTemplate {
    let name = try readString()
    var request = FetchRequestTemplate(name: name, entityName: try readString())
    let flags = try readFlags(FetchRequestFlags.all)
    request.includesSubentities = flags.contains(.subentities)
    request.includesPropertyValues = flags.contains(.propertyValues)
    request.includesPendingChanges = flags.contains(.pendingChanges)
    request.returnsObjectsAsFaults = flags.contains(.faults)
    request.returnsDistinctResults = flags.contains(.distinct)
    request.predicateFormat = try readString(if: flags.contains(.predicate))
    request.fetchLimit = try readInt()
    request.fetchBatchSize = try readInt()
    request.resultType = try readInt()
    if flags.contains(.userInfo) { request.userInfo = try readPairs() }
    if flags.contains(.sorted) {
      request.sortDescriptors = try readList { (reader) throws(ModelArchiveError) in
        try reader.readSortDescriptor()
      }
    }
    return request
  }

  private mutating func readSortDescriptor() throws(ModelArchiveError) -> FetchSortDescriptor {
    let names = try readStrings()
    let direction = try readByte()
    let options = FetchComparisonOptions(rawValue: try readByte())
    // The lowest bit says the direction, those above it where absent values go.
    guard let placement = FetchSortDescriptor.AbsentValues(rawValue: direction >> 1),
      options.isSubset(of: .all)
    else { throw damaged("a sort descriptor has no meaning in this format") }
    return FetchSortDescriptor(
      keyPath: names, ascending: direction & 1 == 1, options: options, absentValues: placement)
  }

  private mutating func readIndex() throws(ModelArchiveError) -> FetchIndexDescription {
    let name = try readString()
    let flags = try readFlags(FetchIndexFlags.all)
    let predicate = try readString(if: flags.contains(.partial))
    let userInfo = flags.contains(.userInfo) ? try readPairs() : [:]
    let elements = try readList { (reader) throws(ModelArchiveError) in
      let flags = try reader.readFlags(IndexElementFlags.all)
      var element = FetchIndexDescription.Element("", ascending: flags.contains(.ascending))
      element.kind = flags.contains(.rTree) ? .rTree : .binary
      element.property = try reader.readString(if: flags.contains(.property))
      element.expression = try reader.readString(if: flags.contains(.expression))
      element.expressionType = try reader.readString(if: flags.contains(.expressionType))
      return element
    }
    var index = FetchIndexDescription(name, elements)
    index.partialIndexPredicate = predicate
    index.userInfo = userInfo
    return index
  }
}
