import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Everything a store holds, as plain values: what a migration's outcome is compared with.
///
/// Read through contexts and objects, as an application would, so that a survey before and one
/// after a migration do not share the migration's own view of rows.
package struct StoreSurvey: Sendable {
  /// An object by concrete entity and key.
  struct Name: Hashable, Comparable, Sendable, CustomStringConvertible {
    var entity: String
    var key: Int64

    var description: String { "\(entity)/p\(key)" }
    static func < (left: Name, right: Name) -> Bool {
      (left.entity, left.key) < (right.entity, right.key)
    }
  }

  struct Content: Sendable {
    var attributes: [String: AttributeValue] = [:]
    /// What derived attributes are to be by the expressions of the model, as far as these give the
    /// same value each time; `.some(nil)` for no value.
    var derived: [String: AttributeValue?] = [:]
    /// The derived attributes whose expressions give another value each time, such as the time.
    var volatile: Set<String> = []
    /// Destinations by relationship, to-one ones as a list of at most one.
    var links: [String: [Name]] = [:]
  }

  let model: ManagedObjectModel
  private(set) var objects: [Name: Content] = [:]

  /// Surveys a store of any version: the model is the one the store carries.
  package init(of url: URL) throws {
    let model = try PersistentStoreCoordinator.managedObjectModel(storedAt: url)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      type: .quire, at: url, options: [ReadOnlyPersistentStoreOption: true])
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    self.model = model
    for entity in model.entities where !entity.isAbstract {
      var request = FetchRequest<ManagedObject>(entityName: entity.name)
      request.includesSubentities = false
      for object in try context.fetch(request) {
        objects[Name(object)] = try Content(object)
      }
    }
  }

  func count(of entity: String) -> Int { objects.keys.count { $0.entity == entity } }
}

extension StoreSurvey.Name {
  init(_ object: ManagedObject) {
    entity = object.entity.name
    key = object.objectID.key
  }
}

extension StoreSurvey.Content {
  init(_ object: ManagedObject) throws {
    for attribute in object.entity.attributes where !attribute.isTransient {
      attributes[attribute.name] = try object.value(forKey: attribute.name).flatMap {
        AttributeValue($0, for: attribute)
      }
      guard let text = attribute.derivationExpression,
        let expression = try? FetchExpression(format: text)
      else { continue }
      let written = "\(expression)"
      if written.contains("now(") || written.contains("random(") {
        volatile.insert(attribute.name)
      } else if let value = Self.value(of: attribute, by: expression, for: object) {
        derived[attribute.name] = value
      }
    }
    for relationship in object.entity.relationships where !relationship.isTransient {
      let destinations: [ManagedObject] =
        switch try object.value(forKey: relationship.name) {
        case let list as [ManagedObject]: list
        case let set as Set<ManagedObject>:
          set.sorted { StoreSurvey.Name($0) < StoreSurvey.Name($1) }
        case let object as ManagedObject: [object]
        default: []
        }
      links[relationship.name] = destinations.map { StoreSurvey.Name($0) }
    }
  }

  /// - Returns: `nil` where the expression cannot be evaluated by itself or gives no value of the
  ///   attribute's type: then there is nothing to compare with.
  private static func value(
    of attribute: AttributeDescription, by expression: FetchExpression, for object: ManagedObject
  ) -> AttributeValue?? {
    do {
      guard let result = try expression.expressionValue(with: object) else {
        return .some(attribute.isOptional ? nil : attribute.defaultValue)
      }
      return AttributeValue(result, for: attribute).map { .some($0) }
    } catch {
      return nil
    }
  }
}
