import Foundation
import Quire
import QuireModel
import QuireSimulation
import Testing

/// Objects as values that any format can encode, and back.
@Suite struct ExportTests {
  private static let types: [AttributeType] = IndexValues.types + [.binaryData, .objectID]

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Thing") {
        for type in types { AttributeDescription("a\(type.rawValue)", type) }
        AttributeDescription("_hidden", .string)
        AttributeDescription("id", .string, default: .string("default"))
        Attribute("place", .composite) {
          Attribute("latitude", .double)
          Attribute("name", .string)
        }
        Attribute("length", .integer64, derivedFrom: "a700.length")
        Relationship("parent", toOne: "Thing", inverse: "children")
        Relationship("children", toMany: "Thing", inverse: "parent")
        Relationship("next", toMany: "Thing", inverse: "former", ordered: true)
        Relationship("former", toMany: "Thing", inverse: "next")
      }
      Entity("Special", parent: "Thing") { Attribute("more", .string) }
    }
  }

  private func context(_ model: ManagedObjectModel) throws -> ManagedObjectContext {
    try .stubbed(model)
  }

  private func fill(
    _ context: ManagedObjectContext, _ generator: inout SeededGenerator
  ) throws -> [ManagedObject] {
    let things = try (0..<12).map { number in
      let thing = try context.insert(number % 4 == 0 ? "Special" : "Thing")
      for type in Self.types {
        let value: AttributeValue? =
          switch type {
          case .binaryData: .binary(Data((0..<generator.below(9)).map { UInt8($0 * 31) }))
          case .objectID: URL(string: "x-coredata://a/b/p\(number)").map { .objectID($0) }
          default: IndexValues.random(type, using: &generator)
          }
        try thing.setValue(value, forKey: "a\(type.rawValue)")
      }
      // Moments of every kind.
      let seconds = Double(Int64(generator.below(4_000_000_000)) - 2_000_000_000)
      let part = [0, 0.5, 0.001, 0.123_456, 0.1 + 0.2, 1e-7][generator.below(6)]
      if number % 2 == 0 {
        try thing.setValue(
          Date(timeIntervalSinceReferenceDate: seconds + part),
          forKey: "a\(AttributeType.date.rawValue)")
      }
      if number % 3 == 0 { try thing.setValue("hidden \(number)", forKey: "_hidden") }
      if number % 3 == 1 { try thing.setValue(nil, forKey: "id") }
      if number % 3 == 2 {
        try thing.setValue(
          AttributeValue.composite(["latitude": .double(0.1 * Double(number))]), forKey: "place")
      }
      return thing
    }
    for thing in things {
      try thing.setValue(things[generator.below(things.count)], forKey: "parent")
      var next: [ManagedObject] = []
      for _ in 0..<generator.below(4) {
        let member = things[generator.below(things.count)]
        if !next.contains(member) { next.append(member) }
      }
      try thing.setValue(next, forKey: "next")
    }
    return things
  }

  @Test func `objects exported and inserted elsewhere are equal to the last bit`() throws {
    for seed in 1...Amount.of(debug: 6, release: 60, exhaustive: 1_000) {
      var generator = SeededGenerator(seed: UInt64(seed))
      let model = try Self.model()
      let source = try context(model)
      let things = try fill(source, &generator)
      if seed % 2 == 0 { try source.save() }
      let encoder = JSONEncoder()
      encoder.outputFormatting = seed % 3 == 0 ? [.prettyPrinted, .sortedKeys] : []
      let exported = try source.export(things)
      let decoded = try JSONDecoder().decode(
        [ExportedObject].self, from: try encoder.encode(exported))
      #expect(decoded == exported, "seed \(seed)")

      let destination = try context(model)
      let copies = try destination.insert(decoded.reversed()).reversed() as [ManagedObject]
      try destination.save()
      let numbers = Dictionary(uniqueKeysWithValues: things.enumerated().map { ($1, $0) })
      let copyNumbers = Dictionary(uniqueKeysWithValues: copies.enumerated().map { ($1, $0) })
      for (thing, copy) in zip(things, copies) {
        #expect(thing.entity.name == copy.entity.name)
        for attribute in thing.entity.attributes where attribute.name != "length" {
          let (value, other) = (
            try thing.attributeValue(attribute.name), try copy.attributeValue(attribute.name)
          )
          #expect(value.map(bits) == other.map(bits), "seed \(seed): \(attribute.name)")
        }
        func number(_ object: Any?, _ numbers: [ManagedObject: Int]) -> Int? {
          (object as? ManagedObject).flatMap { numbers[$0] }
        }
        let (parent, other) = (
          number(try thing.value(forKey: "parent"), numbers),
          number(try copy.value(forKey: "parent"), copyNumbers)
        )
        #expect(parent == other)
        let (next, otherNext) = (
          try thing.value(forKey: "next") as? [ManagedObject],
          try copy.value(forKey: "next") as? [ManagedObject]
        )
        #expect(next?.map { numbers[$0] } == otherNext?.map { copyNumbers[$0] })
      }
    }
  }

  /// A value with its bits, which `==` does not compare.
  private func bits(_ value: AttributeValue) -> String {
    switch value {
    case .double(let number): "\(number.isNaN ? "nan" : "\(number.bitPattern)")"
    case .float(let number): "\(number.isNaN ? "nan" : "\(number.bitPattern)")"
    case .date(let date):
      date.timeIntervalSinceReferenceDate.isNaN
        ? "nan" : "\(date.timeIntervalSinceReferenceDate.bitPattern)"
    case .string(let text): "\(Array(text.utf8))"
    default: "\(value)"
    }
  }

  @Test func `an export is readable`() throws {
    let context = try context(try Self.model())
    let thing = try context.insert("Special", ["a700": "text", "id": "own", "_hidden": "h"])
    try thing.setValue(7, forKey: "a300")
    try thing.setValue(1.5, forKey: "a500")
    try thing.setValue(Float(0.1), forKey: "a600")
    try thing.setValue(Date(timeIntervalSinceReferenceDate: 0.5), forKey: "a900")
    try thing.setValue(thing, forKey: "parent")
    try context.save()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let text = String(decoding: try encoder.encode(context.export([thing])), as: UTF8.self)
    #expect(
      text == """
        [{"__hidden":"h","_id":"own","a300":7,"a500":1.5,"a600":0.1,"a700":"text",\
        "a900":"2001-01-01T00:00:00.5Z","children":["Special/p1"],"entity":"Special",\
        "id":"Special/p1","parent":"Special/p1"}]
        """)
  }

  @Test func `an object that cannot be inserted is named, and nothing is inserted`() throws {
    let context = try context(try Self.model())
    func refusal(_ objects: [ExportedObject]) throws -> String {
      let error = try #require(throws: PersistenceError.self) { try context.insert(objects) }
      #expect(context.insertedObjects.isEmpty)
      return error.message
    }
    func thing(_ id: String, _ values: [String: ExportedValue]) -> ExportedObject {
      ExportedObject(entityName: "Thing", id: id, values: values)
    }
    let good = thing("1", ["a300": .integer(1)])
    #expect(
      try refusal([good, ExportedObject(entityName: "No", id: "2", values: [:])]).contains("No"))
    #expect(try refusal([good, thing("2", ["no": .integer(1)])]).contains("no property no"))
    #expect(try refusal([good, thing("2", ["a300": .text("x")])]).contains("2.a300 is \"x\""))
    #expect(try refusal([good, thing("2", ["a900": .text("today")])]).contains("today"))
    for text in ["2001-02-30T00:00:00Z", "2001-01-01T00:00:00ZZ", "2001-01-01T00:00:00.5xZ"] {
      #expect(try refusal([good, thing("2", ["a900": .text(text)])]).contains(text))
    }
    #expect(try refusal([good, thing("2", ["a400": .text("12 cm")])]).contains("12 cm"))
    #expect(try refusal([good, thing("2", ["a600": .number(1e300)])]).contains("2.a600"))
    #expect(try refusal([good, good]).contains("twice"))
    #expect(try refusal([good, thing("2", ["parent": .text("3")])]).contains("refers to 3"))
    #expect(
      try refusal([good, thing("2", ["parent": .integer(3)])]).contains("no name of an object"))
    let dropped = try context.insert([thing("2", ["parent": .text("3")])], missing: .drop)
    #expect(try dropped.first?.value(forKey: "parent") == nil)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(ExportedObject.self, from: Data(#"{"id": "1"}"#.utf8))
    }
  }

  /// It had its default again, without a word.
  @Test func `a required value that is absent stays so, and the save tells of it`() throws {
    let model = try ManagedObjectModel {
      Entity("Thing") {
        Attribute("size", .integer64, optional: false, default: 7)
        Attribute("name", .string, default: "none")
      }
    }
    let context = try context(model)
    let thing = try context.insert("Thing")
    try thing.setValue(nil, forKey: "size")
    let exported = try context.export([thing])
    #expect(exported[0].values["size"] == .absent)
    let data = try JSONEncoder().encode(exported)
    #expect(String(decoding: data, as: UTF8.self).contains(#""size":null"#))
    let decoded = try JSONDecoder().decode([ExportedObject].self, from: data)
    #expect(decoded == exported)
    let other = try self.context(model)
    let copy = try other.insert(decoded)[0]
    #expect(try copy.value(forKey: "size") == nil)
    let error = persistenceError { try other.save() }
    #expect(error?.code == .validationMissingMandatoryProperty && error?.key == "size")
    // Who leaves it out means the default.
    let named = ExportedObject(entityName: "Thing", id: "1", values: ["name": .absent])
    let filled = try self.context(model).insert([named])[0]
    #expect(try filled.value(forKey: "size") as? Int == 7)
    #expect(try filled.value(forKey: "name") == nil)
  }
}

extension ManagedObject {
  fileprivate func attributeValue(_ name: String) throws -> AttributeValue? {
    try value(forKey: name).flatMap { value in
      entity.attribute(named: name).flatMap { AttributeValue(value, for: $0) }
    }
  }
}
