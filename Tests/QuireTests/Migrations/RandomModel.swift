import Quire
import QuireSimulation

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The declarations of a model that a seed makes, and changes by hand: plain data that becomes a
/// model when it is asked for one.
struct RandomModel {
  var entities: [Entity] = []
  var generator: SeededGenerator
  private var lastName = 0

  /// A model of one to five entities.
  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    for number in 0..<(1 + generator.below(5)) {
      var entity = Entity(name("E"))
      if number > 0, chance(2) { entity.parent = entities[generator.below(number)].name }
      entity.isAbstract = chance(5)
      // Now and then more fields than a word has bits.
      let count = chance(30) ? 60 + generator.below(12) : generator.below(6)
      for _ in 0..<count { entity.attributes.append(attribute(name("a"))) }
      entities.append(entity)
    }
    for _ in 0..<generator.below(6) { addRelationship() }
  }

  func model() throws -> ManagedObjectModel { try ManagedObjectModel(entities: entities) }

  /// The next version begins with names of its own.
  mutating func forgetNames() {
    for entity in entities.indices {
      entities[entity].renamingIdentifier = nil
      for index in entities[entity].relationships.indices {
        entities[entity].relationships[index].renamingIdentifier = nil
      }
      for index in entities[entity].attributes.indices {
        entities[entity].attributes[index].renamingIdentifier = nil
        for element in entities[entity].attributes[index].elements.indices {
          entities[entity].attributes[index].elements[element].renamingIdentifier = nil
        }
      }
    }
  }

  /// Demands nothing of relationships that random objects would not fulfil.
  mutating func relax() {
    for entity in entities.indices {
      for index in entities[entity].relationships.indices {
        entities[entity].relationships[index].isOptional = true
        // Objects whose relationship alone is not stored cannot be kept true to it by a save.
        if entities[entity].relationships[index].inverse != nil {
          entities[entity].relationships[index].isTransient = false
        }
        if entities[entity].relationships[index].deleteRule == .deny {
          entities[entity].relationships[index].deleteRule = .nullify
        }
      }
    }
  }

  // MARK: Choosing

  mutating func chance(_ one: Int) -> Bool { generator.below(one) == 0 }

  mutating func name(_ prefix: String) -> String {
    lastName += 1
    return "\(prefix)\(lastName)"
  }

  mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[generator.below(elements.count)]
  }

  mutating func anEntity() -> Int? { pick(Array(entities.indices)) }

  mutating func anAttribute(where isWanted: (AttributeDescription) -> Bool = { _ in true })
    -> (entity: Int, attribute: Int)?
  {
    pick(
      entities.indices.flatMap { entity in
        entities[entity].attributes.indices.filter { isWanted(entities[entity].attributes[$0]) }
          .map { (entity, $0) }
      })
  }

  mutating func aRelationship(
    where isWanted: (RelationshipDescription) -> Bool = { _ in true }
  ) -> (entity: Int, relationship: Int)? {
    pick(
      entities.indices.flatMap { entity in
        entities[entity].relationships.indices.filter {
          isWanted(entities[entity].relationships[$0])
        }.map { (entity, $0) }
      })
  }

  func index(_ entity: String) -> Int? { entities.firstIndex { $0.name == entity } }

  func descendants(_ entity: String) -> [String] {
    entities.filter { $0.parent == entity }.flatMap { [$0.name] + descendants($0.name) }
  }

  // MARK: Making

  static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date,
    .binaryData, .uuid, .uri, .transformable, .objectID, .composite,
  ]

  mutating func attribute(_ name: String) -> AttributeDescription {
    // Strings are what models are full of.
    let type = chance(3) ? .string : pick(RandomModel.types) ?? .string
    var attribute = Attribute(name, type)
    if type == .composite {
      for number in 0..<(1 + generator.below(3)) {
        attribute.elements.append(element("c\(number)"))
      }
    }
    attribute.isTransient = chance(12)
    attribute.isOptional = !chance(4)
    if chance(3) { attribute.defaultValue = RandomValue.value(of: attribute, &generator) }
    return attribute
  }

  mutating func element(_ name: String) -> AttributeDescription {
    let types = RandomModel.types.filter { $0 != .composite && $0 != .objectID }
    return Attribute(name, pick(types) ?? .string)
  }

  mutating func addRelationship() {
    guard let owner = anEntity(), let target = anEntity() else { return }
    var near = relationship(name("r"), to: entities[target].name)
    switch generator.below(6) {
    case 0, 1: near.isTransient = chance(10)
    case 2 where owner == target:
      near.inverse = near.name
    default:
      var far = relationship(name("r"), to: entities[owner].name)
      (near.inverse, far.inverse) = (far.name, near.name)
      entities[target].relationships.append(far)
    }
    entities[owner].relationships.append(near)
  }

  mutating func relationship(_ name: String, to destination: String) -> RelationshipDescription {
    let rule: DeleteRule = pick([.nullify, .nullify, .noAction, .cascade]) ?? .nullify
    if chance(2) { return Relationship(name, toOne: destination, deleteRule: rule) }
    return Relationship(name, toMany: destination, ordered: chance(2), deleteRule: rule)
  }

  /// Leaves the inverse of a relationship without one.
  mutating func clearInverse(ofRelationship name: String) {
    for entity in entities.indices {
      for index in entities[entity].relationships.indices
      where entities[entity].relationships[index].inverse == name {
        entities[entity].relationships[index].inverse = nil
      }
    }
  }

  /// Changes the place of the relationship whose name this is; names are unique in the model.
  func place(ofRelationship name: String) -> (entity: Int, relationship: Int)? {
    for entity in entities.indices {
      if let index = entities[entity].relationships.firstIndex(where: { $0.name == name }) {
        return (entity, index)
      }
    }
    return nil
  }
}

/// Values that are hard to keep.
enum RandomValue {
  static func value(
    of attribute: AttributeDescription, _ generator: inout SeededGenerator
  ) -> AttributeValue {
    func pick<Element>(_ elements: [Element]) -> Element {
      elements[generator.below(elements.count)]
    }
    let number = Int64(generator.below(1000))
    switch attribute.type {
    case .integer16: return .integer(pick([0, number, Int64(Int16.min), Int64(Int16.max)]))
    case .integer32: return .integer(pick([0, -number, Int64(Int32.min), Int64(Int32.max)]))
    case .integer64: return .integer(pick([0, number, Int64.min, Int64.max]))
    case .decimal:
      return .decimal(
        pick([
          Decimal(number), Decimal(string: "-12345678901234567890123456789012345678") ?? 0,
          Decimal(string: "0.00000000000000000001") ?? 0, Decimal.nan,
        ]))
    case .double:
      return .double(pick([0, -0.0, Double(number), .infinity, .nan, -.greatestFiniteMagnitude]))
    case .float: return .float(pick([0, Float(number), .leastNonzeroMagnitude, -.infinity]))
    case .boolean: return .boolean(pick([true, false]))
    case .date:
      return .date(
        pick([.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: -0.1)]))
    case .uuid:
      let bytes = generator.bytes(4)
      return .uuid(
        UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, bytes[0], bytes[1], bytes[2], bytes[3])))
    case .binaryData, .transformable:
      let data = Data(generator.bytes(pick([0, 0, 1, 100, 3000])))
      return attribute.type == .binaryData ? .binary(data) : .transformed(data)
    case .uri: return .uri(URL(string: "https://example.org/\(number)?c=d#e")!)
    case .objectID: return .objectID(URL(string: "x-coredata:///E/p\(number)")!)
    case .composite:
      var values: [String: AttributeValue] = [:]
      for element in attribute.elements where generator.below(3) > 0 {
        values[element.name] = value(of: element, &generator)
      }
      return .composite(values)
    default:
      // Some do not fit into a page, and some few not into 16 bits.
      switch generator.below(40) {
      case 0: return .string(String(repeating: "größe 🎨 \(number) ", count: 5000))
      case 1, 2: return .string(String(repeating: "\(number)\0", count: 1500))
      case 3..<10: return .string("")
      default: return .string("text \(number)")
      }
    }
  }
}
