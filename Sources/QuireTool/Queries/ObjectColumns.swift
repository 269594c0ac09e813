import Quire
import QuireModel

/// The columns of objects: key paths that were asked for, or the ID, the attributes and the to-one
/// relationships, as the entity of the query declares them.
struct ObjectColumns {
  /// What stands in a column.
  private enum Content {
    case attribute(AttributeDescription)
    /// The ID of an object.
    case object
    /// The number of members of a to-many relationship.
    case count

    var isNumber: Bool {
      switch self {
      case .attribute(let attribute): attribute.type.isNumber
      case .object: false
      case .count: true
      }
    }
  }

  let columns: [ResultColumn]
  /// The key path and the content of each column; no path for the object of the row.
  private let contents: [(path: String?, content: Content)]

  /// All that the entity has.
  init(of entity: EntityDescription) {
    let attributes = entity.attributes.filter { !$0.isTransient }
    let relationships = entity.relationships.filter { !$0.isTransient && !$0.isToMany }
    self.init(
      [(FetchExpression.objectIDName, nil, .object)]
        + attributes.map { ($0.name, $0.name, .attribute($0)) }
        + relationships.map { ($0.name, $0.name, .object) })
  }

  /// What key paths refer to: attributes, objects, numbers of members.
  ///
  /// - Throws: an error for a path that the model does not have, or that refers to many.
  init(_ paths: [String], of entity: EntityDescription, in model: ManagedObjectModel) throws {
    self.init(
      try paths.map { path in
        let (reached, content) = try ObjectColumns.content(of: path, from: entity, in: model)
        return (path, reached, content)
      })
  }

  private init(_ all: [(name: String, path: String?, content: Content)]) {
    columns = all.map { ResultColumn(name: $0.name, isNumber: $0.content.isNumber) }
    contents = all.map { ($0.path, $0.content) }
  }

  /// - Returns: the path to the value, without what asks an object for its ID.
  private static func content(
    of path: String, from entity: EntityDescription, in model: ManagedObjectModel
  ) throws -> (path: String?, content: Content) {
    let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var entity = entity
    for (position, name) in names.enumerated() {
      let rest = Array(names[(position + 1)...])
      let before = position == 0 ? nil : names[..<position].joined(separator: ".")
      if name == FetchExpression.objectIDName, rest.isEmpty { return (before, .object) }
      if let attribute = entity.attribute(named: name) {
        return (path, .attribute(try element(rest, of: attribute, path)))
      }
      guard let relationship = entity.relationship(named: name),
        let destination = model.entity(named: relationship.destination)
      else {
        throw InputError(
          "the column \(path) asks \(entity.name) for \(name), which it does not have; "
            + hint(for: name, in: entity))
      }
      if relationship.isToMany {
        if rest == [FetchExpression.countOperator] { return (path, .count) }
        throw InputError(
          "the column \(path) refers to many \(destination.name): ask how many there are, by "
            + "\(names[...position].joined(separator: ".")).@count")
      }
      if rest.isEmpty { return (path, .object) }
      entity = destination
    }
    return (nil, .object)
  }

  /// The attribute, or the element of a composite that the names after it refer to.
  private static func element(
    _ names: [String], of attribute: AttributeDescription, _ path: String
  ) throws -> AttributeDescription {
    var attribute = attribute
    for name in names {
      guard let element = attribute.elements.first(where: { $0.name == name }) else {
        throw InputError(
          "the column \(path) asks \(attribute.name) for \(name), which it does not have")
      }
      attribute = element
    }
    return attribute
  }

  private static func hint(for name: String, in entity: EntityDescription) -> String {
    let names = (entity.attributes.map(\.name) + entity.relationships.map(\.name)).sorted()
    return Suggestion.question(for: name, among: names)
      ?? "it has \(names.joined(separator: ", "))"
  }

  /// A value for each column.
  ///
  /// - Parameter isForReading: whether a person reads them.
  func cells(of object: ManagedObject, isForReading: Bool) throws -> [JSONValue] {
    try contents.map { path, content in
      let value = try path.map { try object.value(forKeyPath: $0) } ?? object
      switch content {
      case .object: return JSONValue((value as? ManagedObject).map { "\($0.objectID)" })
      case .count: return JSONValue(value as? Int ?? 0)
      case .attribute(let attribute):
        return value.flatMap { AttributeValue($0, for: attribute) }
          .map { JSONValue($0, isForReading: isForReading) } ?? .null
      }
    }
  }
}

extension AttributeType {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: true
    case .undefined, .string, .boolean, .date, .binaryData, .uuid, .uri, .transformable, .objectID,
      .composite:
      false
    }
  }
}
