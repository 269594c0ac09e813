/// The classes of a folder, and which of them are classes of managed objects.
struct ManagedClasses {
  struct Location: Hashable {
    var file: Int
    var declaration: Int
  }

  private struct Class {
    var location: Location
    var path: String
    var conditions: [String]
    var superclass: String?
    var isManaged: Bool
  }

  private var classes: [String: [Class]] = [:]
  /// Classes that are declared elsewhere, and have managed properties in extensions here.
  private var extended: Set<String> = []
  /// Types that say they can be types of `@Managed` properties.
  private(set) var valueTypes: Set<String> = []
  /// Whether the folder has a type of the name that properties are marked with, such as a protocol
  /// that all entities conform to.
  private(set) var hasTypeManaged = false
  /// The last names of all classes of managed objects.
  private var lastNames: Set<String> = []

  init(_ files: [PortedFile]) {
    for (fileIndex, file) in files.enumerated() {
      for (index, declaration) in file.declarations.enumerated()
      where declaration.kind == .type && file.source.isWord(declaration.keyword, "class") {
        let superclass = declaration.inherited.first.map { String($0.prefix { $0 != "<" }) }
        classes[declaration.name, default: []].append(
          Class(
            location: Location(file: fileIndex, declaration: index), path: file.path,
            conditions: declaration.conditions, superclass: superclass,
            isManaged: superclass.map(Self.isManagedObject) ?? false))
      }
      if file.declarations.contains(where: { $0.kind == .type && $0.name == "Managed" }) {
        hasTypeManaged = true
      }
      for declaration in file.declarations
      where !Self.valueProtocols.isDisjoint(with: declaration.inherited) {
        valueTypes.insert(declaration.name)
      }
      for declaration in file.declarations {
        guard declaration.attribute("NSManaged") != nil, let parent = declaration.parent else {
          continue
        }
        let around = file.declarations[parent]
        if around.kind == .extension {
          extended.insert(around.name)
        } else if let index = classes[around.name]?.firstIndex(where: {
          $0.location == Location(file: fileIndex, declaration: parent)
        }) {
          classes[around.name]?[index].isManaged = true
        }
      }
    }
    followSuperclasses()
    for (name, others) in classes where others.contains(where: \.isManaged) {
      lastNames.insert(Self.lastName(name))
    }
    lastNames.formUnion(extended.map(Self.lastName))
  }

  private static let valueProtocols: Set<String> = [
    "ManagedAttribute", "ManagedValue", "OptionalManagedValue", "TransformableValue",
  ]

  private static func isManagedObject(_ name: String) -> Bool {
    ["NSManagedObject", "CoreData.NSManagedObject", "QuireCoreData.NSManagedObject"].contains(name)
  }

  private static func lastName(_ name: String) -> String {
    String(name.split(separator: ".").last ?? "")
  }

  /// A class is one of managed objects if its superclass is, at any distance.
  private mutating func followSuperclasses() {
    var subclasses: [String: [(name: String, index: Int)]] = [:]
    var work: [String] = []
    for (name, others) in classes {
      for (index, one) in others.enumerated() {
        if let superclass = one.superclass {
          subclasses[Self.lastName(superclass), default: []].append((name, index))
        }
        if one.isManaged { work.append(Self.lastName(name)) }
      }
    }
    work += extended.map(Self.lastName)
    while let name = work.popLast() {
      for (subclass, index) in subclasses[name] ?? []
      where classes[subclass]?[index].isManaged == false {
        classes[subclass]?[index].isManaged = true
        work.append(Self.lastName(subclass))
      }
    }
  }

  // MARK: Questions

  /// Whether a type that is declared or extended in a file is a class of managed objects.
  func isManaged(_ name: String, in path: String) -> Bool {
    let nearest = nearest(name, to: path)
    return nearest.isEmpty ? extended.contains(name) : nearest.contains(where: \.isManaged)
  }

  /// Whether a name in an expression or a type is that of a class of managed objects.
  func isManaged(word: String) -> Bool { lastNames.contains(Self.lastName(word)) }

  func isManaged(_ declaration: SwiftDeclaration, in file: PortedFile) -> Bool {
    switch declaration.kind {
    case .extension: isManaged(declaration.name, in: file.path)
    case .type:
      file.source.isWord(declaration.keyword, "class") && isManaged(declaration.name, in: file.path)
    default: false
    }
  }

  /// The declarations of a class with the conditions around them: several, if they are as near to
  /// a file as each other.
  func declarations(of name: String, near path: String) -> [(
    location: Location, conditions: [String]
  )] {
    nearest(name, to: path).map { ($0.location, $0.conditions) }
  }

  /// All classes, by their full names.
  var names: Set<String> { Set(classes.keys) }

  /// Two targets may have a class of the same name: the one that shares most folders is meant.
  private func nearest(_ name: String, to path: String) -> [Class] {
    guard let all = classes[name], all.count > 1 else { return classes[name] ?? [] }
    func shared(_ other: String) -> Int {
      let (one, two) = (
        path.split(separator: "/").dropLast(), other.split(separator: "/").dropLast()
      )
      return zip(one, two).prefix { $0 == $1 }.count
    }
    let most = all.map { shared($0.path) }.max() ?? 0
    return all.filter { shared($0.path) == most }
  }
}
