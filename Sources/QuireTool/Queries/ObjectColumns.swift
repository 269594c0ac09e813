import Quire
import QuireModel

/// The columns of objects: their ID, attributes and to-one relationships, as the entity of the
/// query declares them.
struct ObjectColumns {
  let columns: [ResultColumn]
  private let attributes: [AttributeDescription]
  private let relationships: [RelationshipDescription]

  init(of entity: EntityDescription) {
    attributes = entity.attributes.filter { !$0.isTransient }
    relationships = entity.relationships.filter { !$0.isTransient && !$0.isToMany }
    columns =
      [ResultColumn(name: "objectID", isNumber: false)]
      + attributes.map { ResultColumn(name: $0.name, isNumber: $0.type.isNumber) }
      + relationships.map { ResultColumn(name: $0.name, isNumber: false) }
  }

  /// A value for each column.
  ///
  /// - Parameter isForReading: whether a person reads them.
  func cells(of object: ManagedObject, isForReading: Bool) throws -> [JSONValue] {
    var cells: [JSONValue] = [.string("\(object.objectID)")]
    for attribute in attributes {
      let value = try object.value(forKey: attribute.name)
      cells.append(
        value.flatMap { AttributeValue($0, for: attribute) }
          .map { JSONValue($0, isForReading: isForReading) } ?? .null)
    }
    for relationship in relationships {
      let destination = try object.value(forKey: relationship.name) as? ManagedObject
      cells.append(JSONValue(destination.map { "\($0.objectID)" }))
    }
    return cells
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
