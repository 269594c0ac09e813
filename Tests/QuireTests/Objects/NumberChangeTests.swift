import Quire
import QuireModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A row of which numbers alone have changed is written over a copy of itself.
@Suite struct NumberChangeTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Sample") {
        Attribute("text", .string)
        Attribute("flag", .boolean)
        Attribute("short", .integer16)
        Attribute("middle", .integer32)
        Attribute("long", .integer64)
        Attribute("real", .double)
        Attribute("single", .float)
        Attribute("date", .date)
        Attribute("uuid", .uuid)
        Relationship("next", toOne: "Sample", inverse: "former")
        Relationship("former", toMany: "Sample", inverse: "next")
        FetchIndex("byShort", on: "short")
        FetchIndex("byNext", on: "next")
        FetchIndex("byText", on: "text")
      }
    }
  }

  private static let values: [(String, any Sendable)] = [
    ("flag", true), ("short", 7), ("middle", -70_000), ("long", 1 << 40), ("real", -0.0),
    ("single", Float(1.5)), ("date", Date(timeIntervalSinceReferenceDate: 12)),
    ("uuid", UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
  ]

  @Test func `numbers come, go and come back, beside what stays`() throws {
    let scene = IndexScene()
    var context = try scene.open(try Self.model())
    let objects = try (0..<40).map { try context.add("Sample", ["text": "text \($0)"]) }
    try context.save()
    for round in 0..<4 {
      for (number, object) in objects.enumerated() where number % 4 != round {
        for (place, (name, value)) in Self.values.enumerated() {
          let isSet = (number + place + round) % 3 > 0
          if isSet {
            try object.setValue(value, forKey: name)
          } else {
            try object.setValue(nil, forKey: name)
          }
        }
        let next: ManagedObject? =
          (number + round) % 5 == 0 ? nil : objects[(number + 7 * round) % 40]
        try object.setValue(next, forKey: "next")
        if (number + round) % 7 == 0 { try object.setValue("\(round)", forKey: "text") }
      }
      let wanted = try objects.map(Self.content)
      try context.save()
      #expect(try objects.map(Self.content) == wanted)
      #expect(try StoreFacts(context).findings == [])
      for object in objects { context.refresh(object, mergeChanges: false) }
      #expect(try objects.map(Self.content) == wanted)
      let sevens = try context.found("Sample", Key("short") == 7).objects
      var count = 0
      for object in objects where try object.value(forKey: "short") != nil { count += 1 }
      #expect(sevens.count == count)
    }
    #expect(objects.allSatisfy { $0.version == 4 })
    let wanted = try Set(objects.map(Self.content))
    try scene.close(context)
    context = try scene.open(try Self.model())
    #expect(try Set(context.found("Sample").objects.map(Self.content)) == wanted)
    #expect(try StoreFacts(context).findings == [])
    try scene.close(context)
  }

  private static func content(_ object: ManagedObject) throws -> String {
    let next = try object.value(forKey: "next") as? ManagedObject
    let values = try (["text"] + values.map(\.0)).map { name in
      try object.value(forKey: name).map { "\($0)" } ?? "-"
    }
    return (values + [next.map { "\($0.objectID)" } ?? "-"]).joined(separator: " ")
  }
}
