import Quire
import QuireModel

/// Sees to it that what mappings name is in the two models, and notes the models' hashes.
struct MappingModelCheck {
  let file: String
  let source: ManagedObjectModel
  let destination: ManagedObjectModel

  /// - Returns: the mappings, with the version hashes of their entities.
  func checked(_ mappings: [EntityMapping]) throws(XcodeMappingError) -> [EntityMapping] {
    var result = mappings
    for index in result.indices {
      let mapping = result[index]
      if let name = mapping.sourceEntityName {
        guard let entity = source.entity(named: name) else {
          throw fail("\(mapping.name) reads \(name), which the source model does not have")
        }
        result[index].sourceEntityVersionHash = entity.versionHash
      }
      guard let name = mapping.destinationEntityName else { continue }
      guard let entity = destination.entity(named: name) else {
        throw fail("\(mapping.name) makes \(name), which the destination model does not have")
      }
      result[index].destinationEntityVersionHash = entity.versionHash
      for property in mapping.attributeMappings where entity.attribute(named: property.name) == nil
      {
        throw fail("\(mapping.name) maps \(name).\(property.name), which is no attribute")
      }
      for property in mapping.relationshipMappings
      where entity.relationship(named: property.name) == nil {
        throw fail("\(mapping.name) maps \(name).\(property.name), which is no relationship")
      }
    }
    for mapping in result {
      for property in mapping.attributeMappings + mapping.relationshipMappings {
        try checkSource(of: property, in: mapping)
      }
    }
    return result
  }

  /// Checks that a path from the source begins with a property of the source entity. Most
  /// expressions of mappings are such paths, so the check detects a wrong version of the model.
  private func checkSource(
    of property: PropertyMapping, in mapping: EntityMapping
  ) throws(XcodeMappingError) {
    guard case .expression(let expression)? = property.valueExpression,
      case .path(.variable("source"), let names) = expression, let key = names.first,
      let entity = mapping.sourceEntityName.flatMap(source.entity(named:)),
      entity.attribute(named: key) == nil, entity.relationship(named: key) == nil
    else { return }
    throw fail("\(mapping.name).\(property.name) reads \(entity.name).\(key), which is not there")
  }

  private func fail(_ words: String) -> XcodeMappingError {
    XcodeMappingError(file: file, reason: .otherModels(words))
  }
}
