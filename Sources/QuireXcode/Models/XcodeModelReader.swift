import Foundation
import QuireModel

/// Converts the elements of a model's XML to declarations.
///
/// Content that it does not know is noted and left out. What would be something else, such as a
/// type or a delete rule of no known name, is an error with the line, and so is the absence of what
/// is needed, such as a name or a destination.
struct XcodeModelReader {
  let file: String
  var notes: [XcodeModelNote] = []
  /// By the names of entities.
  private(set) var codeGeneration: [String: String] = [:]
  var composites: [String: XcodeElement] = [:]

  /// The number of attributes read so far; those of a definition count wherever it is named.
  var attributeCount = 0

  private var model = ModelDeclaration()
  /// The first thing that cannot be told.
  private var failure: (line: Int, words: String)?
  private var entityLines: [String: Int] = [:]

  init(file: String) { self.file = file }

  mutating func read(_ root: XcodeElement) throws(XcodeModelError) -> ManagedObjectModel {
    guard root.name == "model" else {
      throw XcodeModelError(
        file: file, reason: .notAModel("its root element is <\(root.name)>, not <model>"))
    }
    var fields = XcodeFields(root)
    let identifier = fields.nonEmptyText("userDefinedModelVersionIdentifier")
    fields.skip(
      "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
      "sourceLanguage", "name", "macOSVersion", "iOSVersion", "usedWithCloudKit",
      "usedWithSwiftData")
    finish(&fields)
    for child in root.children where ["compositeAttribute", "composite"].contains(child.name) {
      if let name = child.attributes["name"] { composites[name] = child }
    }
    for child in root.children { try read(childOfModel: child) }
    if let failure {
      throw XcodeModelError(
        file: file, reason: .incomplete(line: failure.line, failure.words))
    }
    model.versionIdentifiers = identifier.map { [$0] } ?? []
    XcodeInverses(entities: model.entities, lines: entityLines).settle(&model.entities, &notes)
    do {
      let checked = try XcodeReferences(lines: entityLines).settle(&model, &notes)
      notes.sort { $0.line < $1.line }
      return checked
    } catch {
      throw XcodeModelError(file: file, reason: .inconsistent(error))
    }
  }

  private mutating func read(childOfModel child: XcodeElement) throws(XcodeModelError) {
    switch child.name {
    case "entity":
      let entity = try entity(child)
      entityLines[entity.name] = child.line
      model.entities.append(entity)
    case "fetchRequest":
      if let request = try fetchRequest(child) { model.fetchRequestTemplates.append(request) }
    case "configuration":
      var fields = XcodeFields(child)
      let name = try required("name", &fields)
      fields.skip("usedWithCloudKit", "usedWithSwiftData")
      finish(&fields)
      model.configurations[name] = child.children.compactMap { $0.attributes["name"] }
      for other in child.children where other.name != "memberEntity" { noteUnknown(other) }
    case "userInfo": model.userInfo = userInfo(child)
    case "elements", "compositeAttribute", "composite": break
    default: noteUnknown(child)
    }
  }

  private mutating func entity(_ element: XcodeElement) throws(XcodeModelError) -> Entity {
    var fields = XcodeFields(element)
    var entity = Entity(try required("name", &fields))
    entity.managedObjectClassName = fields.nonEmptyText("representedClassName")
    if entity.managedObjectClassName == "NSManagedObject" { entity.managedObjectClassName = nil }
    entity.parent = fields.nonEmptyText("parentEntity")
    entity.isAbstract = fields.flag("isAbstract")
    entity.renamingIdentifier = fields.nonEmptyText("elementID")
    entity.versionHashModifier = fields.nonEmptyText("versionHashModifier")
    entity.coreSpotlightDisplayNameExpression =
      fields.nonEmptyText("coreSpotlightDisplayNameExpression")
    codeGeneration[entity.name] = fields.nonEmptyText("codeGenerationType")
    fields.skip("syncable")
    finish(&fields)
    for child in element.children {
      switch child.name {
      case "attribute": entity.attributes.append(try attribute(child))
      case "relationship": entity.relationships.append(try relationship(child))
      case "fetchedProperty":
        if let property = try fetchedProperty(child) { entity.fetchedProperties.append(property) }
      case "fetchIndex": entity.indexes.append(try fetchIndex(child))
      case "compoundIndexes": entity.indexes += compoundIndexes(child)
      case "uniquenessConstraints": entity.uniquenessConstraints += constraints(child)
      case "userInfo": entity.userInfo = userInfo(child)
      default: noteUnknown(child)
      }
    }
    return entity
  }

  private mutating func constraints(_ element: XcodeElement) -> [[String]] {
    element.children.map { $0.children.compactMap { $0.attributes["value"] } }
      .filter { !$0.isEmpty }
  }

  mutating func userInfo(_ element: XcodeElement) -> [String: String] {
    var result: [String: String] = [:]
    for entry in element.children {
      guard let key = entry.attributes["key"] else { continue }
      result[key] = entry.attributes["value"] ?? ""
    }
    return result
  }

  // MARK: what all readers need

  /// Keeps what there is to say of an element that was read.
  mutating func finish(_ fields: inout XcodeFields) {
    notes += fields.finish()
    guard failure == nil, let words = fields.failure else { return }
    failure = (fields.element.line, words)
  }

  func required(
    _ name: String, _ fields: inout XcodeFields
  ) throws(XcodeModelError) -> String {
    guard let text = fields.nonEmptyText(name) else {
      throw XcodeModelError(
        file: file,
        reason: .incomplete(
          line: fields.element.line, "the element <\(fields.element.name)> has no \(name)"))
    }
    return text
  }

  mutating func noteUnknown(_ element: XcodeElement) {
    notes.append(
      XcodeModelNote(
        line: element.line, "the element <\(element.name)> is unknown here and ignored"))
  }
}
