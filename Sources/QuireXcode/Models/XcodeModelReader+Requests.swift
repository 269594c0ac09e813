import QuireModel

extension XcodeModelReader {
  /// - Returns: `nil`, and a note, for a request without an entity: Xcode saves unfinished ones.
  mutating func fetchRequest(
    _ element: XcodeElement, of property: String? = nil
  ) throws(XcodeModelError) -> FetchRequestTemplate? {
    var fields = XcodeFields(element)
    let name = fields.nonEmptyText("name") ?? property ?? ""
    guard let entity = fields.nonEmptyText("entity") else {
      fields.note("it has no entity; ignored")
      finish(&fields)
      return nil
    }
    var request = FetchRequestTemplate(name: name, entityName: entity)
    request.predicateFormat = fields.nonEmptyText("predicateString")
    request.fetchLimit = max(0, fields.integer("fetchLimit") ?? 0)
    request.fetchBatchSize = max(0, fields.integer("fetchBatchSize") ?? 0)
    request.resultType = fields.integer("resultType") ?? 0
    // Xcode leaves out what is NO, and has spelled these in two ways.
    request.includesSubentities = either("includeSubentities", "includesSubentities", &fields)
    request.includesPropertyValues =
      either("includePropertyValues", "includesPropertyValues", &fields)
    request.includesPendingChanges =
      either("includePendingChanges", "includesPendingChanges", &fields)
    request.returnsObjectsAsFaults =
      either("returnObjectsAsFaults", "returnsObjectsAsFaults", &fields)
    request.returnsDistinctResults =
      either("returnDistinctResults", "returnsDistinctResults", &fields)
    finish(&fields)
    for child in element.children {
      if child.name == "userInfo" {
        request.userInfo = userInfo(child)
      } else {
        noteUnknown(child)
      }
    }
    return request
  }

  private func either(_ one: String, _ other: String, _ fields: inout XcodeFields) -> Bool {
    let first = fields.flag(one)
    return fields.flag(other) || first
  }

  mutating func fetchedProperty(
    _ element: XcodeElement
  ) throws(XcodeModelError) -> FetchedPropertyDescription? {
    var fields = XcodeFields(element)
    let name = try required("name", &fields)
    let isOptional = fields.flag("optional")
    let renamingIdentifier = fields.nonEmptyText("elementID")
    let versionHashModifier = fields.nonEmptyText("versionHashModifier")
    fields.skip("syncable", "transient", "spotlightIndexingEnabled")
    var request: FetchRequestTemplate?
    var info: [String: String] = [:]
    for child in element.children {
      switch child.name {
      case "fetchRequest": request = try fetchRequest(child, of: name)
      case "userInfo": info = userInfo(child)
      default: noteUnknown(child)
      }
    }
    if request == nil { fields.note("it has no fetch request; ignored") }
    finish(&fields)
    guard let request else { return nil }
    var property = FetchedPropertyDescription(name, request: request)
    property.isOptional = isOptional
    property.renamingIdentifier = renamingIdentifier
    property.versionHashModifier = versionHashModifier
    property.userInfo = info
    return property
  }

  mutating func fetchIndex(
    _ element: XcodeElement
  ) throws(XcodeModelError) -> FetchIndexDescription {
    var fields = XcodeFields(element)
    var index = FetchIndexDescription(try required("name", &fields), [])
    let predicate = fields.nonEmptyText("partialIndexPredicate")
    index.partialIndexPredicate = fields.nonEmptyText("predicateString") ?? predicate
    finish(&fields)
    for child in element.children {
      guard child.name == "fetchIndexElement" else {
        noteUnknown(child)
        continue
      }
      if let element = fetchIndexElement(child) { index.elements.append(element) }
    }
    return index
  }

  private mutating func fetchIndexElement(
    _ child: XcodeElement
  ) -> FetchIndexDescription.Element? {
    var fields = XcodeFields(child)
    defer { finish(&fields) }
    let property = fields.nonEmptyText("property")
    let expression = fields.nonEmptyText("expression")
    let expressionType = fields.nonEmptyText("expressionType")
    let kind = fields.nonEmptyText("type")
    let order = fields.nonEmptyText("order")
    var element: FetchIndexDescription.Element
    if let property {
      element = .init(property)
    } else if let expression {
      element = .init(expression: expression, type: expressionType)
    } else {
      fields.note("it indexes nothing; ignored")
      return nil
    }
    element.isAscending = order != "descending"
    if let kind {
      if let known = FetchIndexDescription.Kind(rawValue: kind) {
        element.kind = known
      } else {
        fields.note("the type “\(kind)” is unknown; taken as Binary")
      }
    }
    return element
  }

  /// The form before Xcode 9: lists of properties without a name.
  mutating func compoundIndexes(_ element: XcodeElement) -> [FetchIndexDescription] {
    element.children.compactMap { index in
      let properties = index.children.compactMap { $0.attributes["value"] }
      guard !properties.isEmpty else { return nil }
      return FetchIndexDescription(
        "compound_" + properties.joined(separator: "_"),
        properties.map { FetchIndexDescription.Element($0) })
    }
  }
}
