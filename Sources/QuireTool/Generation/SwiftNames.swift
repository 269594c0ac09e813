import QuireModel

/// Which names can be names of properties and classes in Swift, and how they are written.
package enum SwiftNames {
  /// Words that are names between grave accents only.
  private static let keywords: Set<String> = [
    "Any", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default",
    "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate",
    "for", "func", "guard", "if", "import", "in", "inout", "internal", "is", "let", "nil",
    "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return",
    "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "var", "where", "while",
  ]

  /// Words that mean something else after a dot, also between grave accents.
  private static let impossible: Set<String> = ["Protocol", "Self", "Type", "_", "init", "self"]

  /// The properties that all objects have: a class cannot have another one of the name.
  package static let propertiesOfObjects: Set<String> = [
    "description", "entity", "faultingState", "fullDescription", "hasChanges",
    "hasPersistentChangedValues", "hashValue", "isDeleted", "isFault", "isInaccessible",
    "isInserted", "isUpdated", "managedObjectContext", "objectID", "predicateValue",
  ]

  /// Why the class of an entity cannot have a property of this name; `nil` when it can.
  static func reasonAgainst(_ name: String, in entity: Entity) -> String? {
    if propertiesOfObjects.contains(name) { return "every object has one of this name" }
    if !isIdentifier(name) { return "Swift has no such names" }
    let other = name.dropFirst()
    if name.hasPrefix("_"),
      entity.attributes.contains(where: { $0.name == other })
        || entity.relationships.contains(where: { $0.name == other })
    {
      return "Swift keeps the property “\(other)” under this name"
    }
    return nil
  }

  static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, !impossible.contains(name) else { return false }
    return (first == "_" || first.properties.isXIDStart)
      && name.unicodeScalars.dropFirst().allSatisfy { $0.properties.isXIDContinue }
  }

  /// The name as it is written: a keyword between grave accents.
  static func written(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// Names of modules and of the library's types that a class must not have: the generated code
  /// could not name what it hides.
  private static let unavailableClasses: Set<String> = [
    "Foundation", "Quire", "QuireModel", "Swift",
  ]

  static func canBeClass(_ name: String) -> Bool {
    isIdentifier(name) && !keywords.contains(name) && !unavailableClasses.contains(name)
  }
}
