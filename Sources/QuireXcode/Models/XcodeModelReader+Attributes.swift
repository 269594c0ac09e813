import Foundation
import QuireModel

extension XcodeModelReader {
  /// - Parameters:
  ///   - outer: the names of the definitions that this is a part of.
  ///   - depth: how many composites this is an element of.
  mutating func attribute(
    _ element: XcodeElement, within outer: [String] = [], depth: Int = 0
  ) throws(XcodeModelError) -> AttributeDescription {
    try checkLimits(of: element, depth: depth)
    var fields = XcodeFields(element)
    let name = try required("name", &fields)
    var attribute = AttributeDescription(name, type(&fields), optional: fields.flag("optional"))
    attribute.isTransient = fields.flag("transient")
    attribute.renamingIdentifier = fields.nonEmptyText("elementID")
    attribute.versionHashModifier = fields.nonEmptyText("versionHashModifier")
    attribute.valueTransformerName = fields.nonEmptyText("valueTransformerName")
    attribute.valueClassName = fields.nonEmptyText("customClassName")
    // Both spellings occur; the second is of Xcode 4 and 5.
    let isExternal = fields.flag("allowsExternalBinaryDataStorage")
    attribute.allowsExternalBinaryDataStorage = fields.flag("storedInExternalRecord") || isExternal
    let isDerived = fields.flag("derived")
    attribute.derivationExpression = fields.nonEmptyText("derivationExpression")
    if isDerived, attribute.derivationExpression == nil { fields.note("is derived from nothing") }
    let preserves = fields.flag("preserveAfterDeletion")
    attribute.preservesValueInHistoryOnDeletion =
      fields.flag("preservesValueInHistoryOnDeletion") || preserves
    attribute.usesScalarValueType = fields.flag("usesScalarValueType")
    attribute.isIndexedBySpotlight = fields.flag("spotlightIndexingEnabled")
    attribute.allowsCloudEncryption = fields.flag("allowsCloudEncryption")
    attribute.isIndexed = fields.flag("indexed")
    attribute.validation = validation(&fields)
    attribute.defaultValue = defaultValue(of: attribute.type, &fields)
    if attribute.type == .composite {
      attribute.elements = try elements(of: element, &fields, within: outer, depth: depth)
    }
    fields.skip("syncable", "storedInTruthFile")
    finish(&fields)
    for child in element.children {
      switch child.name {
      case "userInfo": attribute.userInfo = userInfo(child)
      case "attribute" where attribute.type == .composite: break
      default: noteUnknown(child)
      }
    }
    return attribute
  }

  private func type(_ fields: inout XcodeFields) -> AttributeType {
    guard let text = fields.nonEmptyText("attributeType") else { return .undefined }
    // As Xcode writes it, or in another case, as people and generators do.
    if let type = Self.types[text] { return type }
    if let (name, type) = Self.types.first(where: { $0.key.lowercased() == text.lowercased() }) {
      fields.note("the type “\(text)” is taken as \(name)")
      return type
    }
    let names = Self.types.keys.sorted().joined(separator: ", ")
    fields.fail("the type “\(text)” is unknown; there are \(names)")
    return .undefined
  }

  private static let types: [String: AttributeType] = [
    "Undefined": .undefined, "Integer 16": .integer16, "Integer 32": .integer32,
    "Integer 64": .integer64, "Decimal": .decimal, "Double": .double, "Float": .float,
    "String": .string, "Boolean": .boolean, "Date": .date, "Binary": .binaryData,
    "Binary Data": .binaryData, "UUID": .uuid, "URI": .uri, "Transformable": .transformable,
    "ObjectID": .objectID, "Composite": .composite,
    // The names of Core Data's constants, without their ends.
    "Integer16": .integer16, "Integer32": .integer32, "Integer64": .integer64,
    "BinaryData": .binaryData,
  ]

  private func validation(_ fields: inout XcodeFields) -> AttributeValidation {
    var validation = AttributeValidation()
    validation.minimum = fields.nonEmptyText("minValueString")
    validation.maximum = fields.nonEmptyText("maxValueString")
    validation.regularExpression = fields.nonEmptyText("regularExpressionString")
    validation.earliestDate =
      fields.number("minDateTimeInterval").map(Date.init(timeIntervalSinceReferenceDate:))
    validation.latestDate =
      fields.number("maxDateTimeInterval").map(Date.init(timeIntervalSinceReferenceDate:))
    return validation
  }

  private func defaultValue(
    of type: AttributeType, _ fields: inout XcodeFields
  ) -> AttributeValue? {
    let interval = fields.number("defaultDateTimeInterval")
    let text = fields.text("defaultValueString")
    if type == .date, let interval {
      return .date(Date(timeIntervalSinceReferenceDate: interval))
    }
    guard let text, !text.isEmpty || type == .string else { return nil }
    let value = XcodeValue.parse(text, as: type)
    if value == nil { fields.note("the default value “\(text)” is no \(type); ignored") }
    return value
  }

  /// The elements of a composite attribute, written inside it or in the definition that it names.
  ///
  /// The attribute of the XML that has the name of the definition is not documented; the first
  /// unread one whose value is such a name is taken.
  private mutating func elements(
    of element: XcodeElement, _ fields: inout XcodeFields, within outer: [String], depth: Int
  ) throws(XcodeModelError) -> [AttributeDescription] {
    var definition = element
    var path = outer
    if !element.children.contains(where: { $0.name == "attribute" }) {
      guard let name = fields.takeUnread(withValueIn: composites.keys), let found = composites[name]
      else {
        fields.note("it names no composite attribute of this model; taken as having no elements")
        return []
      }
      guard !outer.contains(name) else {
        throw XcodeModelError(
          file: file,
          reason: .incomplete(
            line: element.line, "the composite attribute \(name) contains itself"))
      }
      definition = found
      path.append(name)
    }
    var result: [AttributeDescription] = []
    for child in definition.children where child.name == "attribute" {
      result.append(try attribute(child, within: path, depth: depth + 1))
    }
    return result
  }

  /// Checked while attributes are read: definitions that name each other twice can describe more
  /// attributes than memory holds, in a few kilobytes.
  private mutating func checkLimits(
    of element: XcodeElement, depth: Int
  ) throws(XcodeModelError) {
    attributeCount += 1
    let depthLimit = ManagedObjectModel.maximumCompositeDepth
    let countLimit = ManagedObjectModel.maximumPropertyCount
    guard depth > depthLimit || attributeCount > countLimit else { return }
    let words =
      depth > depthLimit
      ? "composite attributes are nested more than \(depthLimit) deep"
      : "the model has more than \(countLimit) attributes, elements of composites counted"
    throw XcodeModelError(file: file, reason: .incomplete(line: element.line, words))
  }
}

/// Values as Xcode writes them into a model.
///
/// Xcode keeps the text of a default when the attribute's type changes: “NO” on what became an
/// integer, “0.0” on what became a Boolean. Such a text is the number that it means, as it is to
/// the compiler of models.
enum XcodeValue {
  static func parse(_ text: String, as type: AttributeType) -> AttributeValue? {
    switch type {
    case .integer16, .integer32, .integer64:
      let number = Int64(text) ?? Double(text).flatMap(Int64.init(exactly:)) ?? flagNumber(text)
      guard let number, type.integerRange?.contains(number) == true else { return nil }
      return .integer(number)
    case .decimal:
      return (DecimalText.parse(text) ?? flagNumber(text).map { Decimal($0) }).map { .decimal($0) }
    case .double: return (Double(text) ?? flagNumber(text).map(Double.init)).map { .double($0) }
    case .float: return (Float(text) ?? flagNumber(text).map(Float.init)).map { .float($0) }
    case .string: return .string(text)
    case .boolean:
      if let flag = XcodeFields.flag(text) { return .boolean(flag) }
      guard let number = Double(text), !number.isNaN else { return nil }
      return .boolean(number != 0)
    case .date: return Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .uuid: return UUID(uuidString: text).map { .uuid($0) }
    case .uri: return URL(string: text).map { .uri($0) }
    case .undefined, .binaryData, .transformable, .objectID, .composite: return nil
    }
  }

  /// YES and NO as the numbers that they are.
  private static func flagNumber(_ text: String) -> Int64? {
    XcodeFields.flag(text).map { $0 ? 1 : 0 }
  }
}

/// Decimal numbers as text, the whole of which has to be one.
enum DecimalText {
  static func parse(_ text: String) -> Decimal? {
    if text.lowercased() == "nan" { return .nan }
    // Foundation stops at the first character it does not know; a number it half read is no number.
    let isNumber = text.wholeMatch(of: /[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?/) != nil
    guard isNumber,
      let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), value.isFinite
    else { return nil }
    return value
  }
}
