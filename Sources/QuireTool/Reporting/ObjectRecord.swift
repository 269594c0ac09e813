import Quire
import QuireModel

/// An object with everything that a store has of it.
struct ObjectRecord {
  private let object: ManagedObject

  init(_ object: ManagedObject) { self.object = object }

  /// The object as a line of a dump, properties by their names.
  var json: JSONValue {
    get throws {
      let (attributes, relationships) = try properties(isForReading: false)
      return [
        "entity": .string(object.entity.name),
        "id": .string("p\(object.objectID.key)"),
        "attributes": .object(attributes.sorted { $0.key < $1.key }),
        "relationships": .object(relationships.sorted { $0.key < $1.key }),
      ]
    }
  }

  /// A line for each property, as the entity declares them, below the object's name.
  var text: String {
    get throws {
      let (attributes, relationships) = try properties(isForReading: true)
      let lines = PropertyLines((attributes + relationships).map { ($0.key, $0.value) }).text
      return ["\(object.objectID)", lines].filter { !$0.isEmpty }.joined(separator: "\n")
    }
  }

  private typealias Members = [(key: String, value: JSONValue)]

  private func properties(isForReading: Bool) throws -> (Members, Members) {
    let entity = object.entity
    let attributes = try entity.attributes.filter { !$0.isTransient }.map { attribute in
      let value = try object.value(forKey: attribute.name)
        .flatMap { AttributeValue($0, for: attribute) }
      return (attribute.name, value.map { JSONValue($0, isForReading: isForReading) } ?? .null)
    }
    let relationships = try entity.relationships.filter { !$0.isTransient }
      .map { ($0.name, try destinations(of: $0)) }
    return (attributes, relationships)
  }

  /// Members of a set come by entity and key, those of an ordered relationship as they are. They
  /// need not be made to be named.
  private func destinations(of relationship: RelationshipDescription) throws -> JSONValue {
    var members = try object.objectIDs(forRelationshipNamed: relationship.name)
    guard relationship.isToMany else { return JSONValue(members.first?.description) }
    if !relationship.isOrdered {
      members.sort { ($0.entity.name, $0.key) < ($1.entity.name, $1.key) }
    }
    return JSONValue(members.map(\.description))
  }
}
