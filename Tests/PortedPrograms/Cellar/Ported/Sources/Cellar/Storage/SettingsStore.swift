public import Foundation
import QuireCoreData

/// Settings by name, in a store of their own whose model is made here.
public final class SettingsStore: @unchecked Sendable {
  private let context: NSManagedObjectContext

  /// One model, so that the entities of all stores are the same.
  nonisolated(unsafe) private static let model: NSManagedObjectModel = {
    let setting = NSEntityDescription()
    setting.name = "Setting"
    setting.managedObjectClassName = NSStringFromClass(Setting.self)
    setting.properties = [
      attribute("name", .string, isOptional: false),
      attribute("text", .string),
      attribute("number", .double),
      attribute("isOn", .boolean, isOptional: false, default: false),
      attribute("changedAt", .date),
    ]
    setting.uniquenessConstraints = [["name"]]
    let byName = NSFetchIndexDescription(
      name: "byName",
      elements: [
        NSFetchIndexElementDescription(
          property: setting.propertiesByName["name"]!, collationType: .binary)
      ])
    setting.indexes = [byName]
    let group = NSEntityDescription()
    group.name = "Group"
    group.managedObjectClassName = "NSManagedObject"
    group.properties = [attribute("title", .string, isOptional: false, default: "General")]
    connect(setting, "group", with: group, "settings")
    let model = NSManagedObjectModel()
    model.entities = [setting, group]
    return model
  }()

  private static func attribute(
    _ name: String, _ type: NSAttributeDescription.AttributeType, isOptional: Bool = true,
    default value: Any? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.type = type
    attribute.isOptional = isOptional
    attribute.defaultValue = value
    return attribute
  }

  private static func connect(
    _ one: NSEntityDescription, _ name: String, with other: NSEntityDescription,
    _ inverseName: String
  ) {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = other
    relationship.minCount = 0
    relationship.maxCount = 1
    relationship.deleteRule = .nullifyDeleteRule
    let inverse = NSRelationshipDescription()
    inverse.name = inverseName
    inverse.destinationEntity = one
    inverse.minCount = 0
    inverse.maxCount = 0
    inverse.deleteRule = .cascadeDeleteRule
    relationship.inverseRelationship = inverse
    inverse.inverseRelationship = relationship
    one.properties.append(relationship)
    other.properties.append(inverse)
  }

  public init(url: URL?) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SettingsStore.model)
    _ = try coordinator.addPersistentStore(
      type: url == nil ? .inMemory : .sqlite, configuration: nil,
      at: url ?? URL(fileURLWithPath: "/dev/null"), options: nil)
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    context.retainsRegisteredObjects = true
  }

  public subscript(text name: String) -> String? {
    get { read(name)?.value(forKey: "text") as? String }
    set { write(name, newValue, "text") }
  }

  public subscript(number name: String) -> Double? {
    get { (read(name)?.value(forKey: "number") as? NSNumber)?.doubleValue }
    set { write(name, newValue, "number") }
  }

  public subscript(flag name: String) -> Bool {
    get { read(name)?.isOn ?? false }
    set { write(name, newValue, "isOn") }
  }

  private func read(_ name: String) -> Setting? {
    context.performAndWait { try? context.first(Setting.self, "name", name) }
  }

  private func write(_ name: String, _ value: Any?, _ key: String) {
    context.performAndWait {
      let setting = (try? context.first(Setting.self, "name", name)) ?? Setting(context: context)
      setting.name = name
      setting.setValue(value, forKey: key)
      setting.changedAt = .now
      try? context.save()
    }
  }

  public func names() -> [String] {
    context.performAndWait {
      let request = NSFetchRequest<Setting>(entityName: "Setting")
      request.sortDescriptors = [NSSortDescriptor(keyPath: \Setting.name, ascending: true)]
      return ((try? context.fetch(request)) ?? []).map(\.name)
    }
  }

  /// Puts settings into a group, which is made when there is none of that title.
  public func move(_ name: String, toGroup title: String) {
    context.performAndWait {
      guard let setting = try? context.first(Setting.self, "name", name) else { return }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Group")
      request.predicate = NSPredicate(format: "title ==[cd] %@", title)
      let group: NSManagedObject
      if let found = try? context.fetch(request).first {
        group = found
      } else {
        group = NSEntityDescription.insertNewObject(forEntityName: "Group", into: context)
        group.setValue(title, forKey: "title")
      }
      group.mutableSetValue(forKey: "settings").add(setting)
      try? context.save()
    }
  }

  public func groups() -> [String: Int] {
    context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Group")
      let groups = (try? context.fetch(request)) ?? []
      return groups.reduce(into: [:]) { result, group in
        let title = group.value(forKey: "title") as? String ?? ""
        result[title] = group.value(forKeyPath: "settings.@count") as? Int
      }
    }
  }
}

final class Setting: NSManagedObject {
  @QuireCoreData.Managed var name: String
  @QuireCoreData.Managed var isOn: Bool
  @QuireCoreData.Managed var changedAt: Date?
}
