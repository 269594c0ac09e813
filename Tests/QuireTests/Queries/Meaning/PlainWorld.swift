import Quire
import QuireModel
import QuireTesting

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What an expression stands for, in plain Swift: nothing of Quire's is asked for it.
indirect enum Plain {
  case none
  case number(Double)
  case text(String)
  case date(Double)
  case object(PlainObject)
  case list([Plain])

  /// The members of a list; any other value is the only one.
  var members: [Plain] { if case .list(let members) = self { members } else { [self] } }
  var isNone: Bool { if case .none = self { true } else { false } }
  var number: Double? { if case .number(let number) = self { number } else { nil } }
  var text: String? { if case .text(let text) = self { text } else { nil } }
  var object: PlainObject? { if case .object(let object) = self { object } else { nil } }

  func equals(_ other: Plain) -> Bool {
    switch (self, other) {
    case (.none, .none): true
    case (.number(let left), .number(let right)): left == right
    case (.text(let left), .text(let right)): left == right
    case (.date(let left), .date(let right)): left == right
    case (.object(let left), .object(let right)): left === right
    default: false
    }
  }

  /// -1, 0 or 1; `nil` where no order holds.
  func order(_ other: Plain) -> Int? {
    switch (self, other) {
    case (.number(let left), .number(let right)), (.date(let left), .date(let right)):
      left < right ? -1 : left > right ? 1 : 0
    case (.text(let left), .text(let right)):
      left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
        ? -1 : left == right ? 0 : 1
    default: nil
    }
  }
}

/// An object as plain values.
final class PlainObject {
  let id: ManagedObjectID
  let entity: String
  var values: [String: Plain] = [:]

  init(_ id: ManagedObjectID, _ entity: String) {
    self.id = id
    self.entity = entity
  }

  subscript(name: String) -> Plain { values[name] ?? .none }
}

/// The entities of the tests of meaning: every kind of value and of relationship, some by index.
enum PlainWorld {
  static let model = try! ManagedObjectModel {
    Entity("Node") {
      Attribute("name", .string)
      Attribute("alias", .string)
      Attribute("size", .integer32)
      Attribute("weight", .double)
      Attribute("ratio", .float)
      Attribute("cost", .decimal)
      Attribute("isOpen", .boolean)
      Attribute("born", .date)
      Relationship("parent", toOne: "Node", inverse: "children")
      Relationship("children", toMany: "Node", inverse: "parent")
      Relationship("friends", toMany: "Node", inverse: "fans")
      Relationship("fans", toMany: "Node", inverse: "friends")
      Relationship("twin", toOne: "Node", inverse: "twin")
      Relationship("steps", toMany: "Step", inverse: "node", ordered: true)
      Relationship("hint", toOne: "Step")
      FetchIndex("byName", on: "name")
      FetchIndex("bySize", on: "size", "name")
      FetchIndex("byParent", on: "parent")
    }
    Entity("Leaf", parent: "Node") { Attribute("colour", .string) }
    Entity("Step") {
      Attribute("word", .string)
      Attribute("number", .integer64)
      Relationship("node", toOne: "Node", inverse: "steps")
      Relationship("marks", toMany: "Node")
    }
  }

  /// What there is to ask of an entity, by the kind of what comes out.
  struct Shape {
    var numbers: [String] = []
    var texts: [String] = []
    var dates: [String] = []
    /// Relationships with the entities that they lead to.
    var ones: [(name: String, entity: String)] = []
    var manies: [(name: String, entity: String)] = []
  }

  static let shapes: [String: Shape] = [
    "Node": Shape(
      numbers: ["size", "weight", "ratio", "cost", "isOpen"], texts: ["name", "alias"],
      dates: ["born"], ones: [("parent", "Node"), ("twin", "Node"), ("hint", "Step")],
      manies: [("children", "Node"), ("friends", "Node"), ("fans", "Node"), ("steps", "Step")]),
    "Step": Shape(
      numbers: ["number"], texts: ["word"], dates: [], ones: [("node", "Node")],
      manies: [("marks", "Node")]),
  ]

  /// All objects as a context shows them, read property by property.
  static func objects(in context: ManagedObjectContext) throws -> [PlainObject] {
    var known: [ManagedObjectID: PlainObject] = [:]
    var found: [(ManagedObject, PlainObject)] = []
    for entity in ["Node", "Step"] {
      for object in try context.fetch(FetchRequest<ManagedObject>(entityName: entity)) {
        let plain = PlainObject(object.objectID, entity)
        plain.values["entity"] = .text(object.entity.name)
        known[object.objectID] = plain
        found.append((object, plain))
      }
    }
    for (object, plain) in found {
      guard let shape = shapes[plain.entity] else { continue }
      for name in shape.numbers {
        plain.values[name] = .number(of: try object.value(forKey: name))
      }
      for name in shape.texts {
        plain.values[name] = (try object.value(forKey: name) as? String).map(Plain.text)
      }
      for name in shape.dates {
        let date = try object.value(forKey: name) as? Date
        plain.values[name] = date.map { .date($0.timeIntervalSinceReferenceDate) }
      }
      for (name, _) in shape.ones {
        let other = try object.value(forKey: name) as? ManagedObject
        plain.values[name] = other.flatMap { known[$0.objectID] }.map(Plain.object)
      }
      for (name, _) in shape.manies {
        let value = try object.value(forKey: name)
        let others = value as? [ManagedObject] ?? Array(value as? Set<ManagedObject> ?? [])
        plain.values[name] = .list(others.compactMap { known[$0.objectID] }.map(Plain.object))
      }
    }
    return found.map(\.1)
  }
}

extension Plain {
  fileprivate static func number(of value: Any?) -> Plain {
    switch value {
    case let flag as Bool: .number(flag ? 1 : 0)
    case let number as Int: .number(Double(number))
    case let number as Double: .number(number)
    case let number as Float: .number(Double(number))
    case let number as Decimal: .number(Double("\(number)") ?? .nan)
    default: .none
    }
  }
}
