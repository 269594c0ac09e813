import Foundation
public import QuireCoreData

/// Copies objects with what belongs to them, by what the model says.
public struct Copier {
  private let context: NSManagedObjectContext
  private var copies: [NSManagedObjectID: NSManagedObject] = [:]
  public var skippedKeys: Set<String>

  public init(into context: NSManagedObjectContext, skipping keys: Set<String> = []) {
    self.context = context
    skippedKeys = keys
  }

  public mutating func copy<Object: NSManagedObject>(_ object: Object) -> Object {
    if let copy = copies[object.objectID] as? Object { return copy }
    let copy = Object(entity: object.entity, insertInto: context)
    copies[object.objectID] = copy
    let attributes = object.entity.attributesByName.values.filter {
      !($0 is NSDerivedAttributeDescription) && !skippedKeys.contains($0.name)
    }
    for attribute in attributes {
      copy.setValue(object.value(forKey: attribute.name), forKey: attribute.name)
    }
    for (name, relationship) in object.entity.relationshipsByName
    where !skippedKeys.contains(name) {
      copyRelationship(relationship, of: object, to: copy)
    }
    return copy
  }

  private mutating func copyRelationship(
    _ relationship: NSRelationshipDescription, of object: NSManagedObject,
    to copy: NSManagedObject
  ) {
    let name = relationship.name
    guard relationship.deleteRule == .cascadeDeleteRule else {
      guard !relationship.isToMany, let target = object.value(forKey: name) as? NSManagedObject
      else { return }
      let own = copies[target.objectID] ?? context.object(with: target.objectID)
      copy.setValue(own, forKey: name)
      return
    }
    if relationship.isOrdered {
      let members = copy.mutableOrderedSetValue(forKey: name)
      for member in object.mutableOrderedSetValue(forKey: name) {
        members.add(self.copy(member))
      }
    } else if relationship.isToMany {
      let members = copy.mutableSetValue(forKey: name)
      for member in object.mutableSetValue(forKey: name) {
        members.add(self.copy(member))
      }
    } else if let target = object.value(forKey: name) as? NSManagedObject {
      copy.setValue(self.copy(target), forKey: name)
    }
  }
}

/// What differs between two objects of one entity.
public struct Difference: Equatable {
  public var key: String
  public var old: String
  public var new: String
}

extension NSManagedObject {
  /// Values that were changed since the last save, as text.
  public func differences() -> [Difference] {
    let keys = Array(changedValues().keys)
    let old = committedValues(forKeys: keys)
    return keys.sorted().map { key in
      Difference(key: key, old: Self.text(old[key]), new: Self.text(value(forKey: key)))
    }
  }

  private static func text(_ value: Any?) -> String {
    switch value {
    case nil, is NSNull: "nil"
    case let object as NSManagedObject: object.entity.name ?? "?"
    case let set as NSSet: "\(set.count) objects"
    case let set as NSOrderedSet: "\(set.count) objects"
    case let number as NSNumber: number.stringValue
    case let value?: "\(value)"
    }
  }
}
