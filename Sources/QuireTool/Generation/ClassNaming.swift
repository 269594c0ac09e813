import QuireModel

/// The names of the classes that are written for the entities of a model.
///
/// A class has the name that the model gives it, without its module; without one, and where several
/// entities share a class, that of the entity. Two classes never differ in the case of letters
/// alone, as their files are called after them.
struct ClassNaming {
  private var names: [String: String] = [:]
  /// The entities whose class has to say their name.
  private var overriding: Set<String> = []

  init(_ model: ManagedObjectModel) {
    let wanted = model.entities.map { Self.wantedName(of: $0) }
    let counts = Dictionary(wanted.map { ($0, 1) }, uniquingKeysWith: +)
    var taken: Set<String> = []
    // Names that no other entity wants come first, so that these keep them.
    for isShared in [false, true] {
      for (entity, name) in zip(model.entities, wanted) where (counts[name] ?? 0 > 1) == isShared {
        names[entity.name] = Self.free(isShared ? Self.className(entity.name) : name, &taken)
      }
    }
    for entity in model.entities {
      // An override is inherited.
      var level: EntityDescription? = entity
      while let ancestor = level {
        if self.name(of: ancestor) != ancestor.name { overriding.insert(entity.name) }
        level = ancestor.parent
      }
    }
  }

  func name(of entity: EntityDescription) -> String { names[entity.name] ?? entity.name }

  func name(ofEntityNamed name: String) -> String { names[name] ?? name }

  /// Whether the class of an entity overrides `modelEntityName`.
  func overridesName(_ entity: EntityDescription) -> Bool { overriding.contains(entity.name) }

  var all: Set<String> { Set(names.values) }

  private static func wantedName(of entity: EntityDescription) -> String {
    let name = entity.managedObjectClassName?.split(separator: ".").last.map(String.init)
    guard let name, !["ManagedObject", "NSManagedObject"].contains(name),
      SwiftNames.canBeClass(name)
    else { return className(entity.name) }
    return name
  }

  /// The name of an entity, as far as it can be one of a class.
  private static func className(_ entity: String) -> String {
    if SwiftNames.canBeClass(entity) { return entity }
    var name = ""
    var isStart = true
    for character in entity {
      if character.isLetter || character.isNumber || character == "_" {
        name += isStart ? character.uppercased() : String(character)
        isStart = false
      } else {
        isStart = true
      }
    }
    return SwiftNames.canBeClass(name) ? name : "Entity\(name)"
  }

  private static func free(_ name: String, _ taken: inout Set<String>) -> String {
    var candidate = name
    var number = 2
    while !taken.insert(candidate.lowercased()).inserted {
      candidate = "\(name)\(number)"
      number += 1
    }
    return candidate
  }
}
