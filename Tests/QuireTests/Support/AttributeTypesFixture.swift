import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One entity with an attribute of every type, and the values that are hard to keep.
enum AttributeTypesFixture {
  static let model = try! ManagedObjectModel {
    Entity("Everything") {
      Attribute("i16", .integer16)
      Attribute("i32", .integer32)
      Attribute("i64", .integer64)
      Attribute("decimal", .decimal)
      Attribute("double", .double)
      Attribute("float", .float)
      Attribute("string", .string)
      Attribute("boolean", .boolean)
      Attribute("date", .date)
      Attribute("data", .binaryData)
      Attribute("uuid", .uuid)
      Attribute("uri", .uri)
      Attribute("transformable", .transformable)
      Attribute("objectID", .objectID)
      composite
    }
  }

  private static var composite: AttributeDescription {
    var attribute = Attribute("home", .composite)
    attribute.elements = [Attribute("city", .string), Attribute("zip", .integer32)]
    return attribute
  }

  static var values: [[String: Any]] {
    let uri = URL(string: "https://example.org/a%20b?c=d#e")!
    return [
      [
        "i16": Int(Int16.min), "i32": Int(Int32.min), "i64": Int(Int64.min),
        "decimal": Decimal(string: "-12345678901234567890123456789012345678")!,
        "double": -Double.greatestFiniteMagnitude, "float": Float.leastNonzeroMagnitude,
        "string": "", "boolean": false, "date": Date(timeIntervalSinceReferenceDate: -0.1),
        "data": Data(), "uuid": UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)),
        "uri": uri, "transformable": Data([1, 2, 3]),
      ],
      [
        "i16": Int(Int16.max), "i32": Int(Int32.max), "i64": Int(Int64.max),
        "decimal": Decimal(string: "0.00000000000000000001")!, "double": Double.infinity,
        "float": Float(1.33), "string": String(repeating: "größe 🎨 e\u{301} \0", count: 9_000),
        "boolean": true, "date": Date.distantFuture,
        "data": Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }),
        "home": ["city": "Reykjavík", "zip": 101] as [String: Any],
      ],
      [:],
    ]
  }

  static func expectRoundTrip() throws {
    let context = try ManagedObjectContext.stubbed(model)
    for values in values {
      let object = try EntityDescription.insertNewObject(forEntityName: "Everything", into: context)
      for (key, value) in values { try object.setValue(value, forKey: key) }
    }
    try context.save()
    context.reset()
    let found = try context.fetch(FetchRequest<ManagedObject>(entityName: "Everything"))
    #expect(found.count == values.count)
    for (object, values) in zip(found, values) {
      for attribute in model.entities[0].attributes {
        let key = attribute.name
        let expected = values[key].flatMap { AttributeValue($0, for: attribute) }
        let value = try object.value(forKey: key).flatMap { AttributeValue($0, for: attribute) }
        #expect(value == expected, "\(key)")
      }
    }
    let nan = try EntityDescription.insertNewObject(forEntityName: "Everything", into: context)
    try nan.setValue(Decimal.nan, forKey: "decimal")
    try nan.setValue(Double.nan, forKey: "double")
    try context.save()
    context.refresh(nan, mergeChanges: false)
    #expect((try nan.value(forKey: "decimal") as? Decimal)?.isNaN == true)
    #expect((try nan.value(forKey: "double") as? Double)?.isNaN == true)
    #expect(!nan.hasPersistentChangedValues)
  }
}
