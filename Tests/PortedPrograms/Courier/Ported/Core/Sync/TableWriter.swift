import Foundation
import QuireCoreData

/// Writes the objects of any entity as lines with commas, by what the model says of it.
public struct TableWriter {
  public enum Order {
    case byName
    case byType
  }

  private let context: NSManagedObjectContext
  private let order: Order

  public init(context: NSManagedObjectContext, order: Order = .byName) {
    self.context = context
    self.order = order
  }

  /// Attributes that have text, transient ones apart.
  func columns(of entity: NSEntityDescription) -> [NSAttributeDescription] {
    let attributes = entity.attributesByName.values.filter { attribute in
      !attribute.isTransient && attribute.attributeType != .binaryDataAttributeType
        && attribute.attributeType != .undefinedAttributeType
    }
    switch order {
    case .byName: return attributes.sorted { $0.name < $1.name }
    case .byType:
      return attributes.sorted {
        ($0.attributeType.rawValue, $0.name) < ($1.attributeType.rawValue, $1.name)
      }
    }
  }

  func links(of entity: NSEntityDescription) -> [NSRelationshipDescription] {
    return entity.relationshipsByName.values.filter { relationship in
      !relationship.isToMany && relationship.inverseRelationship != nil
    }.sorted { $0.name < $1.name }
  }

  public func table(of name: String, where format: String? = nil) throws -> String {
    guard let entity = NSEntityDescription.entity(forEntityName: name, in: context) else {
      throw CourierError.noModel(name)
    }
    let columns = self.columns(of: entity)
    let links = self.links(of: entity)
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = entity
    request.predicate = format.map { NSPredicate(format: $0) }
    if let first = columns.first(where: { $0.attributeType == .stringAttributeType }) {
      request.sortDescriptors = [NSSortDescriptor(key: first.name, ascending: true)]
    }
    var lines = [(columns.map(\.name) + links.map(\.name)).joined(separator: ",")]
    for object in try context.fetch(request) {
      let values = object.dictionaryWithValues(forKeys: columns.map(\.name))
      var fields = columns.map { text(of: values[$0.name], $0) }
      for link in links {
        let target = object.value(forKey: link.name) as? NSManagedObject
        fields.append(target.map { self.title(of: $0) } ?? "")
      }
      lines.append(fields.joined(separator: ","))
    }
    return lines.joined(separator: "\n")
  }

  private func text(of value: Any?, _ attribute: NSAttributeDescription) -> String {
    guard let value = value, !(value is NSNull) else { return "" }
    switch attribute.attributeType {
    case .dateAttributeType:
      return ISO8601DateFormatter().string(from: value as! Date)
    case .booleanAttributeType:
      return (value as! NSNumber).boolValue ? "yes" : "no"
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      return "\((value as! NSNumber).int64Value)"
    case .decimalAttributeType:
      return (value as! NSDecimalNumber).stringValue
    case .doubleAttributeType, .floatAttributeType:
      return "\((value as! NSNumber).doubleValue)"
    case .transformableAttributeType:
      let transformer = attribute.valueTransformerName.flatMap {
        ValueTransformer(forName: NSValueTransformerName($0))
      }
      let data = transformer?.transformedValue(value) as? Data
      return data.flatMap { String(data: $0, encoding: .utf8) }.map { quoted($0) } ?? ""
    default:
      return quoted("\(value)")
    }
  }

  private func quoted(_ text: String) -> String {
    guard text.contains(where: { $0 == "," || $0 == "\"" }) else { return text }
    return "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\""
  }

  /// The name of an object, or its code; else the last part of its ID.
  private func title(of object: NSManagedObject) -> String {
    for key in ["name", "code", "address"] where object.entity.attributesByName[key] != nil {
      if let text = object.value(forKey: key) as? String { return text }
    }
    return object.objectID.uriRepresentation().lastPathComponent
  }
}
