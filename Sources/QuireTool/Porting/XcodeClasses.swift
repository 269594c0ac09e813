import QuireModel

/// The classes that Xcode writes for a model at each build, as it writes them.
///
/// They are ported together with the sources of a folder: what becomes of them is what would become
/// of them had they been in files.
struct XcodeClasses {
  let model: FolderPort.Model
  let modules: SourceModules
  /// What the folder's files declare.
  let declared: DeclaredMembers

  /// Files for the classes and properties that no file declares, with their paths.
  func files(in folder: String) -> [(path: String, text: String)] {
    model.entities.compactMap { entity in
      guard let name = className(entity), let kind = model.codeGeneration[entity.name] else {
        return nil
      }
      switch kind {
      case "class" where !declared.hasClass(name):
        let superclass =
          entity.parent.flatMap { parent in model.entities.first { $0.name == parent } }
          .flatMap(className) ?? "NSManagedObject"
        let head = "\(Self.head)@objc(\(name))\npublic class \(name): \(superclass) {\n"
        return (
          "\(folder)\(name)+CoreDataClass.swift",
          "\(head)\(lines(properties(of: entity, name)))}\n\n\(members(of: entity, name))"
        )
      case "category" where declared.hasClass(name):
        let properties = properties(of: entity, name)
        let members = members(of: entity, name)
        guard !properties.isEmpty || !members.isEmpty else { return nil }
        let body = properties.isEmpty ? "" : "extension \(name) {\n\(lines(properties))}\n\n"
        return (
          "\(folder)\(name)+CoreDataProperties.swift", "\(Self.head)\(body)\(members)"
        )
      default: return nil
      }
    }
  }

  private static let head = "import CoreData\n\n"

  private func className(_ entity: Entity) -> String? {
    guard let name = entity.managedObjectClassName?.split(separator: ".").last,
      name != "NSManagedObject"
    else { return nil }
    return String(name)
  }

  private func lines(_ lines: [String]) -> String { lines.map { "  \($0)\n" }.joined() }

  // MARK: Properties

  private func properties(of entity: Entity, _ name: String) -> [String] {
    let attributes = entity.attributes.map { ($0.name, type(of: $0)) }
    let relationships = entity.relationships.map { ($0.name, type(of: $0)) }
    return (attributes + relationships).sorted { $0.0 < $1.0 }
      .filter { !declared.hasMember($0.0, in: name) }
      .map { "@NSManaged public var \($0.0): \($0.1)" }
  }

  private func type(of attribute: AttributeDescription) -> String {
    let isScalar = attribute.usesScalarValueType
    return switch attribute.type {
    case .integer16: isScalar ? "Int16" : "NSNumber?"
    case .integer32: isScalar ? "Int32" : "NSNumber?"
    case .integer64: isScalar ? "Int64" : "NSNumber?"
    case .double: isScalar ? "Double" : "NSNumber?"
    case .float: isScalar ? "Float" : "NSNumber?"
    case .boolean: isScalar ? "Bool" : "NSNumber?"
    case .decimal: "NSDecimalNumber?"
    case .string: "String?"
    case .date: "Date?"
    case .binaryData: "Data?"
    case .uuid: "UUID?"
    case .uri: "URL?"
    case .composite: "[String: Any]?"
    default: (attribute.valueClassName ?? "NSObject") + "?"
    }
  }

  private func destination(of relationship: RelationshipDescription) -> String {
    let entity = model.entities.first { $0.name == relationship.destination }
    return entity.flatMap(className) ?? "NSManagedObject"
  }

  private func type(of relationship: RelationshipDescription) -> String {
    guard relationship.isToMany else { return "\(destination(of: relationship))?" }
    return relationship.isOrdered ? "NSOrderedSet?" : "NSSet?"
  }

  // MARK: Methods

  /// The request of a class, and the methods for its to-many relationships.
  private func members(of entity: Entity, _ name: String) -> String {
    var blocks: [[String]] = []
    if !declared.hasMember("fetchRequest", in: name) {
      blocks.append([
        "@nonobjc public class func fetchRequest() -> NSFetchRequest<\(name)> {",
        "  NSFetchRequest<\(name)>(entityName: \"\(entity.name)\")", "}",
      ])
    }
    for relationship in entity.relationships where relationship.isToMany {
      blocks += methods(for: relationship).filter { method in
        let start = method.firstRange(of: "func ")?.upperBound ?? method.startIndex
        return !declared.hasMember(String(method[start...].prefix { $0 != "(" }), in: name)
      }.map { [$0] }
    }
    if blocks.isEmpty { return "" }
    return "extension \(name) {\n" + blocks.map(lines).joined(separator: "\n") + "}\n"
  }

  private func methods(for relationship: RelationshipDescription) -> [String] {
    let (value, key) = (destination(of: relationship), relationship.name)
    let name = key.prefix(1).uppercased() + key.dropFirst()
    let set = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
    let ordered = [
      "insertInto\(name)(_ value: \(value), at idx: Int)",
      "removeFrom\(name)(at idx: Int)",
      "insertInto\(name)(_ values: [\(value)], at indexes: NSIndexSet)",
      "removeFrom\(name)(at indexes: NSIndexSet)",
      "replace\(name)(at idx: Int, with value: \(value))",
      "replace\(name)(at indexes: NSIndexSet, with values: [\(value)])",
    ]
    let both = [
      "addTo\(name)(_ value: \(value))", "removeFrom\(name)(_ value: \(value))",
      "addTo\(name)(_ values: \(set))", "removeFrom\(name)(_ values: \(set))",
    ]
    return ((relationship.isOrdered ? ordered : []) + both).map { "@NSManaged public func \($0)" }
  }
}

/// The classes of a folder, and the names of their members, those of extensions too.
struct DeclaredMembers {
  private var classes: Set<String> = []
  private var members: [String: Set<String>] = [:]

  init(_ files: [PortedFile]) {
    for file in files {
      for declaration in file.declarations {
        if declaration.kind == .type, file.source.isWord(declaration.keyword, "class") {
          classes.insert(Self.last(declaration.name))
        }
        guard let parent = declaration.parent else { continue }
        members[Self.last(file.declarations[parent].name), default: []].insert(declaration.name)
      }
    }
  }

  private static func last(_ name: String) -> String {
    String(name.split(separator: ".").last ?? "")
  }

  func hasClass(_ name: String) -> Bool { classes.contains(name) }

  func hasMember(_ member: String, in name: String) -> Bool {
    members[name]?.contains(member) ?? false
  }
}
