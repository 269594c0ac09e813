import Foundation
import Quire
import QuireModel

/// A compiled mapping model: the keyed archive of an `NSMappingModel`.
struct MappingArchive {
  private(set) var entityMappings: [EntityMapping] = []
  /// Apple's, by the names of entities.
  private(set) var sourceHashes: [String: Data] = [:]
  private(set) var destinationHashes: [String: Data] = [:]
  private(set) var notes: [XcodeModelNote] = []

  init(_ data: Data, file: String) throws(XcodeMappingError) {
    let root: ArchivedItem
    do throws(PropertyListError) {
      root = try KeyedArchive(data).root()
      guard try root.className() == "NSMappingModel" else {
        throw root.error("is not an NSMappingModel")
      }
    } catch {
      throw XcodeMappingError(file: file, reason: .notAMapping(error.text))
    }
    do throws(PropertyListError) {
      for mapping in try root.required("NSEntityMappings").members() {
        guard let mapping else { throw root.error("has a mapping that is missing") }
        let read = try entityMapping(mapping)
        guard read.sourceEntityName != nil || read.destinationEntityName != nil else {
          notes.append(
            XcodeModelNote(
              line: 0,
              "\(mapping.location): the mapping is unfinished, without a source and a "
                + "destination; skipped"
            ))
          continue
        }
        entityMappings.append(read)
      }
    } catch {
      throw XcodeMappingError(file: file, reason: .incomplete(line: 0, error.text))
    }
  }

  private mutating func entityMapping(
    _ item: ArchivedItem
  ) throws(PropertyListError) -> EntityMapping {
    guard try item.className() == "NSEntityMapping" else {
      throw item.error("is not an NSEntityMapping")
    }
    let number = try item.integer("NSMappingType")
    guard let type = UInt(exactly: number).flatMap(EntityMappingType.init(rawValue:)) else {
      throw item.error("has the mapping type \(number), which is unknown")
    }
    let sourceName = try item.text("NSSourceEntityName")
    let destinationName = try item.text("NSDestinationEntityName")
    var mapping = EntityMapping(
      from: sourceName, to: destinationName, type, name: try item.text("NSMappingName"))
    if let sourceName {
      sourceHashes[sourceName] = try item.item("NSSourceEntityVersionHash")?.data()
    }
    if let destinationName {
      destinationHashes[destinationName] = try item.item("NSDestinationEntityVersionHash")?.data()
    }
    if let expression = try item.item("NSSourceExpression") {
      mapping.sourceExpression = .expression(try FetchExpression(archived: expression))
    }
    mapping.entityMigrationPolicyClassName = try item.text("NSEntityMigrationPolicyClassName")
    mapping.userInfo = try item.item("NSUserInfo")?.userInfo() ?? [:]
    mapping.attributeMappings = try properties(item.item("NSAttributeMappings"))
    mapping.relationshipMappings = try properties(item.item("NSRelationshipMappings"))
    return mapping
  }

  private mutating func properties(
    _ list: ArchivedItem?
  ) throws(PropertyListError) -> [PropertyMapping] {
    var properties: [PropertyMapping] = []
    for item in try list?.members() ?? [] {
      guard let item, try item.className() == "NSPropertyMapping" else {
        throw (item ?? list)?.error("is not an NSPropertyMapping") ?? PropertyListError("is empty")
      }
      var property = PropertyMapping(try item.required("NSDestinationPropertyName").text())
      if let expression = try item.item("NSValueExpression") {
        property.valueExpression = .expression(try FetchExpression(archived: expression))
      }
      property.userInfo = try item.item("NSUserInfo")?.userInfo() ?? [:]
      // Transformations that a model editor once offered.
      if let transforms = try item.item("NSPropertyTransforms"), try !transforms.members().isEmpty {
        notes.append(
          XcodeModelNote(line: 0, "\(transforms.location): transformations of values are ignored"))
      }
      properties.append(property)
    }
    return properties
  }
}
