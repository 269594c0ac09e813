import Quire
import Testing

/// Where the typed properties of a class lie is learned from one of its objects, whatever else the
/// class has, and in whatever order.
@Suite struct LearnedPropertiesTests {
  private class Plain: ManagedObject {
    @Managed var text: String
    @Managed var number: Int
    @Managed var real: Double
    @Managed var flag: Bool
  }

  /// Bytes between the properties, one of which looks like a property that is not known yet.
  private final class Mixed: ManagedObject {
    @Managed var text: String
    var byte: UInt8 = 255
    @Managed var number: Int
    var word: UInt64 = .max
    var note = "a note that is too long for its string's own bytes"
    @Managed var real: Double
    @Managed var flag: Bool
  }

  private final class Late: ManagedObject {
    var byte: UInt8 = 255
    var bytes: (UInt8, UInt8, UInt8) = (255, 255, 255)
    var list = [1, 2, 3]
    @Managed var flag: Bool
    @Managed var real: Double
    @Managed var number: Int
    @Managed var text: String
  }

  /// Has more properties, and some of its own.
  private final class Lower: Plain {
    @Managed var second: String
    var byte: UInt8 = 255
    @Managed var third: String
  }

  private static let names = ["Plain", "Mixed", "Late", "Lower"]

  private static func coordinator() throws -> PersistentStoreCoordinator {
    let model = try ManagedObjectModel {
      names.map { name in
        Entity(name) {
          Attribute("flag", .boolean)
          Attribute("number", .integer64)
          Attribute("real", .double)
          Attribute("second", .string)
          Attribute("text", .string)
          Attribute("third", .string)
        } as any ModelMember
      }
    }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model,
      classes: [Plain.self, Mixed.self, Late.self, Lower.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    // More than a page of each.
    for name in names {
      for number in 0..<200 {
        try context.insert(
          name,
          [
            "text": "text \(number)", "number": number, "real": Double(number) / 4,
            "flag": number % 3 == 0, "second": "second \(number)", "third": "third \(number)",
          ])
      }
    }
    try context.save()
    return coordinator
  }

  /// - Parameter isRead: whether an object is read before many are fetched.
  private func check<Object: ManagedObject>(
    _ type: Object.Type, isRead: Bool,
    _ values: (Object) -> (text: String, number: Int, real: Double, flag: Bool)
  ) throws {
    let coordinator = try Self.coordinator()
    let context = GotchaHome.context(of: coordinator)
    if isRead {
      let new = try #require(try context.insert(Object.modelEntityName) as? Object)
      try new.setValue("new", forKey: "text")
      #expect(values(new) == ("new", 0, 0, false))
      context.delete(new)
      try context.save()
    }
    for _ in 0..<2 {
      let objects = try context.fetch(FetchRequest<Object>())
      #expect(objects.count == 200)
      // From the last one on: they were made when more was known than of the first ones.
      for object in objects.reversed() {
        let number = try #require(try object.value(forKey: "number") as? Int)
        #expect(
          values(object) == ("text \(number)", number, Double(number) / 4, number % 3 == 0))
      }
      context.reset()
    }
  }

  @Test(arguments: [false, true])
  func `properties are found in whatever order they lie, beside whatever else`(
    isRead: Bool
  ) throws {
    try check(Plain.self, isRead: isRead) { ($0.text, $0.number, $0.real, $0.flag) }
    try check(Late.self, isRead: isRead) { object in
      #expect(object.byte == 255 && object.bytes == (255, 255, 255) && object.list == [1, 2, 3])
      return (object.text, object.number, object.real, object.flag)
    }
    try check(Mixed.self, isRead: isRead) { object in
      #expect(object.byte == 255 && object.word == .max && object.note.hasSuffix("own bytes"))
      return (object.text, object.number, object.real, object.flag)
    }
    try check(Lower.self, isRead: isRead) { object in
      // The new one has none of the others' values.
      let number = object.number
      let isNew = object.text == "new"
      #expect(object.second == (isNew ? "" : "second \(number)"))
      #expect(object.third == (isNew ? "" : "third \(number)") && object.byte == 255)
      return (object.text, number, object.real, object.flag)
    }
  }

  @Test func `a class below another has its own properties behind the other's`() throws {
    let coordinator = try Self.coordinator()
    let context = GotchaHome.context(of: coordinator)
    for _ in 0..<2 {
      let plain = try #require(try context.fetch(FetchRequest<Plain>()).last)
      let lower = try #require(try context.fetch(FetchRequest<Lower>()).last)
      #expect(plain.real == Double(plain.number) / 4)
      #expect(lower.third == "third \(lower.number)")
      context.reset()
    }
  }

  /// Its own mirror asks for a property, so that no mirror may be asked for where that lies.
  private final class Mirrored: ManagedObject, CustomReflectable {
    @Managed var text: String
    var customMirror: Mirror { Mirror(self, children: ["text": text]) }
  }

  @Test func `a class with a mirror of its own is told that its properties are not found`() throws {
    let model = try ManagedObjectModel { Entity("Mirrored") { Attribute("text", .string) } }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: model, classes: [Mirrored.self])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    for number in 0..<500 { try context.insert("Mirrored", ["text": "text \(number)"]) }
    try context.save()
    context.reset()
    let objects = try context.fetch(FetchRequest<Mirrored>())
    #expect(try objects.map { try $0.value(forKey: "text") as? String }.contains("text 499"))
    #expect(objects[0].text == "" && Mirror(reflecting: objects[1]).children.count == 1)
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .undefinedKey && error?.description.contains("Mirrored") == true)
    #expect(try context.fetch(FetchRequest<Mirrored>()).count == 500)
  }

  /// More properties than are given at once, with bytes between them that belong to nobody else.
  private final class Long: ManagedObject {
    @Managed var p0: Int
    @Managed var p1: Int
    @Managed var p2: Int
    var byte: UInt8 = 255
    @Managed var p3: Int
    @Managed var p4: Int
    @Managed var p5: Int
    @Managed var p6: Int
    @Managed var p7: Int
    @Managed var p8: Int
    @Managed var p9: Int
    @Managed var p10: Int
    @Managed var p11: Int
    var flag = true
    var word: UInt64 = 0x0102_0304_0506_0708
    @Managed var p12: Int

    static let all: [@Sendable (Long) -> Int] = [
      { $0.p0 }, { $0.p1 }, { $0.p2 }, { $0.p3 }, { $0.p4 }, { $0.p5 }, { $0.p6 }, { $0.p7 },
      { $0.p8 }, { $0.p9 }, { $0.p10 }, { $0.p11 }, { $0.p12 },
    ]

    /// Whether every property is found, asked for from one on, and what lies between is as it was.
    func isSound(from start: Int) -> Bool {
      let indices = Self.all.indices.map { ($0 * 5 + start) % Self.all.count }
      return indices.allSatisfy { Self.all[$0](self) == $0 }
        && byte == 255 && flag && word == 0x0102_0304_0506_0708
    }
  }

  @Test func `threads that learn a class at once find each property in its place`() async throws {
    for round in 0..<13 {
      let model = try ManagedObjectModel {
        Entity("Long") {
          Long.all.indices.reversed().map { Attribute("p\($0)", .integer64) as any EntityMember }
        }
      }
      let coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: [Long.self])
      try coordinator.addPersistentStore(type: .inMemory, at: nil)
      let context = GotchaHome.context(of: coordinator)
      let values = Dictionary(
        uniqueKeysWithValues: Long.all.indices.map { ("p\($0)", $0 as Any) })
      for _ in 0..<40 { try context.insert("Long", values) }
      try context.save()
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for task in 0..<4 {
          group.addTask {
            let context = GotchaHome.context(of: coordinator)
            return try context.fetch(FetchRequest<Long>()).allSatisfy {
              $0.isSound(from: round + task * 3)
            }
          }
        }
        for try await isSound in group { #expect(isSound) }
      }
    }
  }
}
