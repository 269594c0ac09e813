import Foundation
import QuireCoreData

enum MappingError: Error {
  case noIdentity(entity: String)
  case missing(key: String, entity: String)
  case wrongType(key: String, value: Any)
}

/// Fills objects from JSON by what the model says in its user info: `remoteKey` names the key of an
/// attribute, `identityAttribute` the attribute that finds an object, `localOnly` what stays here.
struct RecordMapper {
  let context: NSManagedObjectContext
  static let formatter: ISO8601DateFormatter = ISO8601DateFormatter()

  func entity(forEndpoint endpoint: String) -> NSEntityDescription? {
    let model = context.persistentStoreCoordinator!.managedObjectModel
    return model.entities.first { entity in
      entity.userInfo?["endpoint"] as? String == endpoint
    }
  }

  func attributes(of entity: NSEntityDescription) -> [(NSAttributeDescription, remoteKey: String)] {
    return entity.attributesByName.values.compactMap { attribute in
      if attribute.userInfo?["localOnly"] != nil { return nil }
      let key = attribute.userInfo?["remoteKey"] as? String ?? attribute.name
      return (attribute, key)
    }.sorted { $0.0.name < $1.0.name }
  }

  func identity(of entity: NSEntityDescription) throws -> NSAttributeDescription {
    guard let name = entity.userInfo?["identityAttribute"] as? String,
      let attribute = entity.attributesByName[name]
    else { throw MappingError.noIdentity(entity: entity.name ?? "") }
    return attribute
  }

  @discardableResult
  func apply(_ record: [String: Any], to entity: NSEntityDescription) throws -> NSManagedObject {
    let identity = try self.identity(of: entity)
    let identityKey = identity.userInfo?["remoteKey"] as? String ?? identity.name
    guard let identifier = record[identityKey] else {
      throw MappingError.missing(key: identityKey, entity: entity.name!)
    }
    let object =
      try find(entity, identity.name, identifier)
      ?? NSManagedObject(entity: entity, insertInto: context)
    for (attribute, key) in attributes(of: entity) {
      guard let value = record[key] else { continue }
      let converted = try convert(value, for: attribute)
      if let old = object.value(forKey: attribute.name) as? NSObject,
        let new = converted as? NSObject, old.isEqual(new)
      {
        continue
      }
      object.setValue(converted, forKey: attribute.name)
    }
    return object
  }

  private func find(
    _ entity: NSEntityDescription, _ key: String, _ identifier: Any
  ) throws -> NSManagedObject? {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name!)
    request.predicate = NSPredicate(format: "%K == %@", argumentArray: [key, identifier])
    request.fetchLimit = 1
    return try context.fetch(request).first
  }

  func convert(_ value: Any, for attribute: NSAttributeDescription) throws -> Any? {
    if value is NSNull { return nil }
    switch attribute.attributeType {
    case .stringAttributeType:
      return value as? String ?? "\(value)"
    case .dateAttributeType:
      guard let text = value as? String, let date = RecordMapper.formatter.date(from: text) else {
        throw MappingError.wrongType(key: attribute.name, value: value)
      }
      return date
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      guard let number = value as? Int else {
        throw MappingError.wrongType(key: attribute.name, value: value)
      }
      return number
    case .doubleAttributeType, .floatAttributeType:
      if let number = value as? Double { return number }
      if let number = value as? Int { return Double(number) }
      throw MappingError.wrongType(key: attribute.name, value: value)
    case .booleanAttributeType:
      return value as? Bool
    case .UUIDAttributeType:
      return (value as? String).flatMap { UUID(uuidString: $0) }
    default:
      throw MappingError.wrongType(key: attribute.name, value: value)
    }
  }

  /// What would be sent for an object.
  func record(of object: NSManagedObject) -> [String: Any] {
    var record: [String: Any] = [:]
    for (attribute, key) in attributes(of: object.entity) {
      guard let value = object.value(forKey: attribute.name) else { continue }
      if let date = value as? Date {
        record[key] = RecordMapper.formatter.string(from: date)
      } else if let identifier = value as? UUID {
        record[key] = identifier.uuidString
      } else {
        record[key] = value
      }
    }
    return record
  }

  func apply(changedKeysOf object: NSManagedObject) -> [String: Any] {
    let all = record(of: object)
    let changed = Set(object.changedValues().keys)
    let keys = attributes(of: object.entity).filter { changed.contains($0.0.name) }
    return all.filter { entry in keys.contains { $0.remoteKey == entry.key } }
  }
}
