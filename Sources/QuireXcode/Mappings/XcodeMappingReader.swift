import Foundation
import Quire
import QuireModel

/// Turns Xcode's document into mappings, and fills in what it leaves to Xcode.
struct XcodeMappingReader {
  private let document: XcodeMappingDocument
  private let source: ManagedObjectModel
  private let destination: ManagedObjectModel
  private(set) var notes: [XcodeModelNote] = []
  /// The mappings without their properties, for those to refer to.
  private var mappings: [EntityMapping] = []

  init(
    _ document: XcodeMappingDocument, source: ManagedObjectModel, destination: ManagedObjectModel
  ) {
    self.document = document
    self.source = source
    self.destination = destination
  }

  mutating func read() throws(XcodeMappingError) -> [EntityMapping] {
    let items = try document.entityMappings().filter { isBegun($0) }
    for item in items { mappings.append(try entityMapping(item)) }
    var result: [EntityMapping] = []
    for (item, mapping) in zip(items, mappings) {
      result.append(try withProperties(mapping, item))
    }
    return result
  }

  /// Whether a mapping has a source or a destination: Xcode keeps those that were added to the
  /// document and never filled in.
  private mutating func isBegun(_ item: XcodeMappingDocument.Item) -> Bool {
    if document.text("sourcename", of: item) != nil { return true }
    if document.text("destinationname", of: item) != nil { return true }
    let name = document.text("name", of: item).map { " \($0)" } ?? ""
    note(item, "the mapping\(name) is unfinished, without a source and a destination; skipped")
    return false
  }

  private mutating func note(_ item: XcodeMappingDocument.Item, _ words: String) {
    notes.append(XcodeModelNote(line: item.line, words))
  }

  private mutating func entityMapping(
    _ item: XcodeMappingDocument.Item
  ) throws(XcodeMappingError) -> EntityMapping {
    let sourceName = document.text("sourcename", of: item)
    let destinationName = document.text("destinationname", of: item)
    var mapping = EntityMapping(
      from: sourceName, to: destinationName, name: document.text("name", of: item))
    mapping.entityMigrationPolicyClassName = document.text("migrationpolicyclassname", of: item)
    mapping.mappingType = type(of: mapping, item)
    mapping.userInfo = try userInfo(item)
    let isAutomatic = try document.flag("autogenerateexpression", of: item) ?? false
    if let sourceName {
      let predicate = document.text("sourcefilterpredicatestring", of: item)
      mapping.sourceExpression = .expression(.sources(of: sourceName, predicate ?? "TRUEPREDICATE"))
      // A predicate that is shown beside “automatic” is newer than an expression from before.
      if !(isAutomatic && predicate != nil),
        let expression = try expression("sourceexpression", of: item)
      {
        mapping.sourceExpression = .expression(expression)
      }
    }
    return mapping
  }

  /// Xcode writes “Undefined” for most and decides when it compiles; so does this.
  private mutating func type(
    of mapping: EntityMapping, _ item: XcodeMappingDocument.Item
  ) -> EntityMappingType {
    switch document.text("mappingtypename", of: item)?.lowercased() {
    case "custom": return .customEntityMappingType
    case "add": return .addEntityMappingType
    case "remove": return .removeEntityMappingType
    case "copy": return .copyEntityMappingType
    case "transform": return .transformEntityMappingType
    case nil, "undefined": break
    case let other?:
      note(item, "\(mapping.name): the mapping type “\(other)” is unknown and ignored")
    }
    guard let sourceName = mapping.sourceEntityName else { return .addEntityMappingType }
    if mapping.entityMigrationPolicyClassName != nil { return .customEntityMappingType }
    guard let destinationName = mapping.destinationEntityName else {
      return .removeEntityMappingType
    }
    let hashes = (
      source.entity(named: sourceName)?.versionHash,
      destination.entity(named: destinationName)?.versionHash
    )
    return hashes.0 == hashes.1 ? .copyEntityMappingType : .transformEntityMappingType
  }

  private mutating func withProperties(
    _ mapping: EntityMapping, _ item: XcodeMappingDocument.Item
  ) throws(XcodeMappingError) -> EntityMapping {
    var mapping = mapping
    for (name, kind) in [
      ("attributemappings", "XDDEVATTRIBUTEMAPPING"),
      ("relationshipmappings", "XDDEVRELATIONSHIPMAPPING"),
    ] {
      var properties: [PropertyMapping] = []
      for property in try document.referenced(name, kind, by: item) {
        if let property = try propertyMapping(property, mapping) { properties.append(property) }
      }
      // The document has them in any order.
      properties.sort { $0.name < $1.name }
      if name == "attributemappings" {
        mapping.attributeMappings = properties
      } else {
        mapping.relationshipMappings = properties
      }
    }
    return mapping
  }

  /// - Returns: `nil` for an unfinished mapping, of which there is a note.
  private mutating func propertyMapping(
    _ item: XcodeMappingDocument.Item, _ mapping: EntityMapping
  ) throws(XcodeMappingError) -> PropertyMapping? {
    guard let name = document.text("name", of: item) else {
      note(item, "\(mapping.name): a property's mapping is unfinished, without a name; skipped")
      return nil
    }
    var property = PropertyMapping(name)
    property.userInfo = try userInfo(item)
    // What is written counts, also beside “automatic”: Xcode compiles it.
    if let written = try expression("valueexpression", of: item) {
      property.valueExpression = .expression(written)
      return property
    }
    let isAutomatic = try document.flag("autogenerateexpression", of: item)
    // Switched off, and nothing in its place: the property keeps its default.
    let keyPath = document.text("sourcekeypath", of: item)
    if isAutomatic == false, keyPath == nil { return property }
    let entity = mapping.sourceEntityName.flatMap(source.entity(named:))
    guard let entity, keyPath != nil || entity.hasProperty(named: name) else { return property }
    let path = XcodeSourcePath(keyPath ?? name)
    if item.kind == "XDDEVATTRIBUTEMAPPING" {
      property.valueExpression = .expression(path.expression)
      return property
    }
    if let through = document.text("sourcemappingname", of: item) {
      property.valueExpression = .expression(.destinations(of: path, in: through))
      return property
    }
    let target = path.target(from: entity, in: source)
    let found = target.map(mappings(carryingOver:)) ?? []
    if found.isEmpty {
      let reason =
        target == nil
        ? "refers to no entity of the source model" : "refers to what no mapping carries over"
      note(item, "\(mapping.name).\(name): \(path) \(reason); the relationship stays empty")
    } else if found.count == 1, target?.subentities.isEmpty == true {
      property.valueExpression = .expression(.destinations(of: path, in: found[0].name))
    } else {
      property.valueExpression = .expression(.destinations(of: path))
    }
    return property
  }

  /// The mappings that carry over objects of an entity or of one of its subentities.
  private func mappings(carryingOver entity: EntityDescription) -> [EntityMapping] {
    mappings.filter { mapping in
      guard let name = mapping.sourceEntityName,
        mapping.destinationEntityName != nil || mapping.entityMigrationPolicyClassName != nil
      else { return false }
      return source.entity(named: name)?.isKindOf(entity: entity) ?? false
    }
  }

  // MARK: Archives and formats

  /// An expression, as Xcode archives it or as text.
  private func expression(
    _ name: String, of item: XcodeMappingDocument.Item
  ) throws(XcodeMappingError) -> FetchExpression? {
    for name in ["\(name)data", name, "\(name)string"] {
      guard let text = document.text(name, of: item) else { continue }
      guard item.attributes[name]?.attributes["type"] != "binary" else {
        return try archived(name, of: item) { root throws(PropertyListError) in
          try FetchExpression(archived: root)
        }
      }
      do {
        return try FetchExpression(format: text)
      } catch {
        throw document.incomplete(item, "\(name) is not an expression: \(error)")
      }
    }
    return nil
  }

  private func userInfo(
    _ item: XcodeMappingDocument.Item
  ) throws(XcodeMappingError) -> [String: String] {
    try archived("userinfodata", of: item) { root throws(PropertyListError) in
      try root.userInfo()
    } ?? [:]
  }

  private func archived<Result>(
    _ name: String, of item: XcodeMappingDocument.Item,
    _ read: (ArchivedItem) throws(PropertyListError) -> Result
  ) throws(XcodeMappingError) -> Result? {
    guard let data = try document.data(name, of: item) else { return nil }
    do throws(PropertyListError) {
      return try read(try KeyedArchive(data).root())
    } catch {
      throw document.incomplete(item, "\(name): \(error.text)")
    }
  }
}

extension EntityDescription {
  fileprivate func hasProperty(named name: String) -> Bool {
    attribute(named: name) != nil || relationship(named: name) != nil
  }
}

extension ArchivedItem {
  /// The texts of a dictionary; other values are left out, as nothing would hold them.
  func userInfo() throws(PropertyListError) -> [String: String] {
    var info: [String: String] = [:]
    for (key, value) in try entries() { info[key] = try? value?.text() }
    return info
  }
}

// MARK: - What Xcode generates

extension FetchExpression {
  /// All objects of an entity, without those of its subentities, that a predicate is true of.
  static func sources(of entityName: String, _ predicate: String) -> FetchExpression {
    .fetch(
      .call(
        .variable("manager"), selector: "fetchRequestForSourceEntityNamed:predicateString:",
        [FetchExpression(entityName), FetchExpression(predicate)]),
      context: .path(.variable("manager"), ["sourceContext"]), countOnly: false)
  }

  /// An expression for the objects that any mapping made from those at the end of a path: for an
  /// entity with subentities, of which each has a mapping of its own.
  static func destinations(of path: XcodeSourcePath) -> FetchExpression {
    .call(
      .variable("manager"),
      selector: "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
      [FetchExpression(path.lastName), path.expression])
  }

  /// An expression for the objects that one mapping made from those at the end of a path.
  static func destinations(of path: XcodeSourcePath, in mappingName: String) -> FetchExpression {
    .call(
      .variable("manager"),
      selector: "destinationInstancesForEntityMappingNamed:sourceInstances:",
      [FetchExpression(mappingName), path.expression])
  }
}
