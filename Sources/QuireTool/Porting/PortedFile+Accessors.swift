extension PortedFile {
  /// A method that Xcode writes for a relationship, such as `addToPlaces(_:)`.
  private enum Accessor {
    case add, remove, insert, replace

    /// The name without the relationship's, and the relationship's with a capital letter.
    static func split(_ name: String) -> (Accessor, relationship: String)? {
      let prefixes: [(String, Accessor)] = [
        ("addTo", .add), ("removeFrom", .remove), ("insertInto", .insert), ("replace", .replace),
      ]
      for (prefix, accessor) in prefixes where name.hasPrefix(prefix) && name.count > prefix.count {
        return (accessor, String(name.dropFirst(prefix.count)))
      }
      return nil
    }
  }

  /// Gives bodies to `@NSManaged` methods.
  mutating func portAccessors(_ relationships: Relationships) {
    for declaration in declarations where declaration.kind == .function {
      guard let attribute = declaration.attribute("NSManaged"), declaration.braces == nil else {
        continue
      }
      guard let body = body(of: declaration, relationships) else {
        record(
          "@NSManaged func \(declaration.name)", atToken: declaration.keyword,
          "write a body; none is made for it at run time")
        continue
      }
      remove(words: [attribute.tokens])
      let outer = source.indentation(ofLine: source.line(ofToken: declaration.keyword))
      let inner = outer + indentationUnit(in: declaration.parent)
      let lines = [" {"] + body.map { inner + $0 } + ["\(outer)}"]
      edits.insert(
        lines.joined(separator: source.newline), at: bytes(of: declaration.tokens).upperBound)
    }
  }

  private func body(
    of declaration: SwiftDeclaration, _ relationships: Relationships
  ) -> [String]? {
    guard let (accessor, capitalized) = Accessor.split(declaration.name),
      let parent = declaration.parent, let parameters = parameters(of: declaration)
    else { return nil }
    let labels = parameters.map(\.label)
    let names = parameters.map(\.name)
    let (key, isOrdered) = relationships.relationship(
      capitalized, of: declarations[parent].name,
      isOrdered: accessor == .insert || accessor == .replace || labels.contains("at"))
    let members =
      (isOrdered ? "mutableOrderedSetValue" : "mutableSetValue") + "(forKey: \"\(key)\")"
    let isOfMany = Self.typesOfMany.contains { parameters[0].type.hasPrefix($0) }
    let local = names.contains("members") ? "all" : "members"
    let (index, value) = (names.contains("index") ? "position" : "index", "value")
    func loop(_ head: String, _ call: String) -> [String] {
      ["let \(local) = \(members)", "for \(head) { \(local).\(call) }"]
    }
    switch (accessor, labels) {
    case (.add, ["_"]), (.remove, ["_"]):
      let verb = accessor == .add ? "add" : "remove"
      return isOfMany
        ? loop("\(value) in \(names[0])", "\(verb)(\(value))") : ["\(members).\(verb)(\(names[0]))"]
    case (.remove, ["at"]):
      // The last first, so that the other indexes stay valid.
      return isOfMany
        ? loop("\(index) in \(names[0]).reversed()", "removeObject(at: \(index))")
        : ["\(members).removeObject(at: \(names[0]))"]
    case (.insert, ["_", "at"]):
      return isOfMany
        ? loop(
          "(\(index), \(value)) in zip(\(names[1]), \(names[0]))", "insert(\(value), at: \(index))")
        : ["\(members).insert(\(names[0]), at: \(names[1]))"]
    case (.replace, ["at", "with"]):
      return isOfMany
        ? loop(
          "(\(index), \(value)) in zip(\(names[0]), \(names[1]))",
          "replaceObject(at: \(index), with: \(value))")
        : ["\(members).replaceObject(at: \(names[0]), with: \(names[1]))"]
    default: return nil
    }
  }

  private static let typesOfMany = ["NSSet", "NSOrderedSet", "Set<", "[", "NSIndexSet", "IndexSet"]

  private struct Parameter {
    var label: String
    var name: String
    var type: String
  }

  private func parameters(of declaration: SwiftDeclaration) -> [Parameter]? {
    guard let (open, close) = declaration.parameters else { return nil }
    var parameters: [Parameter] = []
    var words: [String] = []
    var (type, isType, angles) = ("", false, 0)
    for index in open + 1..<close + 1 where !source.tokens[index].isTrivia {
      if index == close || (angles == 0 && source.isPunctuation(index, ",")) {
        guard let label = words.first, let name = words.last, !type.isEmpty else { return nil }
        parameters.append(Parameter(label: label, name: name, type: type))
        (words, type, isType) = ([], "", false)
      } else if isType {
        if source.isPunctuation(index, "<") { angles += 1 }
        if source.isPunctuation(index, ">") { angles -= 1 }
        type += source.text(index)
      } else if source.isPunctuation(index, ":") {
        isType = true
      } else {
        words.append(source.text(index))
      }
    }
    return parameters
  }
}

/// To-many relationships of the classes of a folder, by the names that Xcode's methods have.
struct Relationships {
  private struct Name: Hashable {
    var type: String
    var capitalized: String
  }

  private var properties: [Name: (key: String, isOrdered: Bool)] = [:]
  private var ordered: Set<Name> = []

  init(_ files: [PortedFile]) {
    for file in files {
      for declaration in file.declarations where declaration.attribute("NSManaged") != nil {
        guard let parent = declaration.parent else { continue }
        let type = file.declarations[parent].name
        if declaration.kind == .property, let range = declaration.type {
          let name = Name(type: type, capitalized: Self.capitalized(declaration.name))
          let isOrdered = file.source.compactText(range).hasPrefix("NSOrderedSet")
          properties[name] = (declaration.name, isOrdered)
        } else if declaration.name.hasPrefix("insertInto") {
          ordered.insert(
            Name(type: type, capitalized: String(declaration.name.dropFirst("insertInto".count))))
        }
      }
    }
  }

  private static func capitalized(_ key: String) -> String {
    key.prefix(1).uppercased() + key.dropFirst()
  }

  /// The key of a relationship and whether it is ordered.
  ///
  /// - Parameter isOrdered: whether the method itself is one of ordered relationships.
  func relationship(
    _ capitalized: String, of type: String, isOrdered: Bool
  ) -> (key: String, isOrdered: Bool) {
    let name = Name(type: type, capitalized: capitalized)
    if let property = properties[name] { return (property.key, property.isOrdered || isOrdered) }
    let key = capitalized.prefix(1).lowercased() + capitalized.dropFirst()
    return (key, isOrdered || ordered.contains(name))
  }
}
