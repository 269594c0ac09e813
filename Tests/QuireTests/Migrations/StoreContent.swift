import Quire
import QuireSimulation

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An object by its concrete entity and key: what its URI says.
struct ObjectName: Hashable, Comparable, CustomStringConvertible {
  var entity: String
  var key: Int64

  var description: String { "\(entity)/p\(key)" }
  static func < (left: ObjectName, right: ObjectName) -> Bool {
    (left.entity, left.key) < (right.entity, right.key)
  }

  init(_ entity: String, _ key: Int64) { (self.entity, self.key) = (entity, key) }
  init(_ object: ManagedObject) { self.init(object.entity.name, object.objectID.key) }
}

/// All that a store shows, as plain values.
struct StoreContent {
  struct Node {
    var version: UInt32 = 0
    var values: [String: AttributeValue] = [:]
    /// Destinations by relationship; those of an unordered one are sorted by name.
    var links: [String: [ObjectName]] = [:]
    /// Relationships whose order is that of the list.
    var exact: Set<String> = []
  }

  var objects: [ObjectName: Node] = [:]

  init() {}

  init(_ context: ManagedObjectContext, _ model: ManagedObjectModel) throws {
    for entity in model.entities where !entity.isAbstract {
      var request = FetchRequest<ManagedObject>(entityName: entity.name)
      request.includesSubentities = false
      for object in try context.fetch(request) {
        var node = Node()
        for attribute in entity.attributes where !attribute.isTransient {
          guard let value = try object.value(forKey: attribute.name) else { continue }
          // What the attribute cannot hold is not passed over.
          node.values[attribute.name] =
            AttributeValue(value, for: attribute) ?? .string("\(value), which is no value of it")
        }
        for relationship in entity.relationships where !relationship.isTransient {
          switch try object.value(forKey: relationship.name) {
          case let list as [ManagedObject]:
            node.links[relationship.name] = list.map(ObjectName.init)
          case let set as Set<ManagedObject>:
            node.links[relationship.name] = set.map(ObjectName.init).sorted()
          case let one as ManagedObject: node.links[relationship.name] = [ObjectName(one)]
          default: node.links[relationship.name] = []
          }
        }
        node.version = object.version
        objects[ObjectName(object)] = node
      }
    }
  }

  func keys(of entity: String) -> [ObjectName] {
    objects.keys.filter { $0.entity == entity }.sorted()
  }

  /// How another content differs from this, which is expected.
  func differences(in found: StoreContent) -> [String] {
    var lines: [String] = []
    for name in Set(objects.keys).union(found.objects.keys).sorted() {
      guard let node = objects[name] else {
        lines.append("\(name) should not be there")
        continue
      }
      guard let other = found.objects[name] else {
        lines.append("\(name) is gone")
        continue
      }
      if node.version != other.version {
        lines.append("\(name) has version \(other.version) instead of \(node.version)")
      }
      for key in Set(node.values.keys).union(other.values.keys).sorted()
      where !StoreContent.isSame(node.values[key], other.values[key]) {
        lines.append(
          "\(name).\(key): \(text(other.values[key])) instead of \(text(node.values[key]))")
      }
      for key in Set(node.links.keys).union(other.links.keys).sorted() {
        let (expected, members) = (node.links[key] ?? [], other.links[key] ?? [])
        let isSame =
          node.exact.contains(key) ? expected == members : expected.sorted() == members.sorted()
        if !isSame { lines.append("\(name).\(key): \(members) instead of \(expected)") }
      }
    }
    return lines
  }

  private func text(_ value: AttributeValue?) -> String {
    value.map { String("\($0)".prefix(60)) } ?? "nothing"
  }

  /// Whether two values have the same bits.
  private static func isSame(_ one: AttributeValue?, _ other: AttributeValue?) -> Bool {
    switch (one, other) {
    case (.double(let one)?, .double(let other)?): one.bitPattern == other.bitPattern
    case (.float(let one)?, .float(let other)?): one.bitPattern == other.bitPattern
    case (.decimal(let one)?, .decimal(let other)?): one == other || (one.isNaN && other.isNaN)
    case (.composite(let one)?, .composite(let other)?):
      one.count == other.count && one.allSatisfy { isSame($1, other[$0]) }
    default: one == other
    }
  }
}

extension StoreContent {
  /// Puts random objects into a context: saved, changed, saved again, some of them deleted.
  static func fill(
    _ context: ManagedObjectContext, _ model: ManagedObjectModel, count: Int, seed: UInt64
  ) throws {
    var generator = SeededGenerator(seed: seed)
    var objects: [ManagedObject] = []
    for entity in model.entities where !entity.isAbstract {
      for _ in 0..<generator.below(count + 1) {
        let object = try EntityDescription.insertNewObject(
          forEntityName: entity.name, into: context)
        try setValues(of: object, &generator)
        objects.append(object)
      }
    }
    for object in objects { try setLinks(of: object, among: objects, &generator) }
    try context.save()
    if generator.below(2) == 0 {
      for object in objects {
        switch generator.below(8) {
        case 0: context.delete(object)
        case 1: try setValues(of: object, &generator)
        default: break
        }
      }
      try context.save()
    }
  }

  static func setValues(of object: ManagedObject, _ generator: inout SeededGenerator) throws {
    // No store has transient values, but an object that lacks a required one is not saved.
    for attribute in object.entity.attributes where !attribute.isTransient || !attribute.isOptional
    {
      if attribute.isOptional, generator.below(3) == 0 {
        if generator.below(2) == 0 { try object.setValue(nil, forKey: attribute.name) }
      } else {
        try object.setValue(
          RandomValue.value(of: attribute, &generator), forKey: attribute.name)
      }
    }
  }

  private static func setLinks(
    of object: ManagedObject, among objects: [ManagedObject], _ generator: inout SeededGenerator
  ) throws {
    for relationship in object.entity.relationships
    where !relationship.isTransient && generator.below(3) > 0 {
      let candidates = objects.filter { candidate in
        var level: EntityDescription? = candidate.entity
        while let entity = level, entity.name != relationship.destination { level = entity.parent }
        return level != nil
      }
      if candidates.isEmpty { continue }
      if relationship.isToMany {
        let members = candidates.shuffled(using: &generator).prefix(generator.below(5))
        try object.setValue(
          relationship.isOrdered ? Array(members) as Any : Set(members) as Any,
          forKey: relationship.name)
      } else {
        try object.setValue(
          candidates[generator.below(candidates.count)], forKey: relationship.name)
      }
    }
  }
}
