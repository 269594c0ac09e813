import Foundation
import Quire
import Testing

/// A property that contradicts the model read 0, or nothing, and failed at a save: with whatever
/// object was saved first.
@Suite struct ClassDifferencesTests {
  private static let model = try! ManagedObjectModel {
    Entity("Employee") {
      Attribute("name", .string)
      Attribute("age", .integer32)
      Attribute("salary", .decimal)
      Attribute("hired", .date)
      Attribute("photo", .binaryData)
      Attribute("tags", .transformable)
      Attribute("home", .uri)
      Relationship("boss", toOne: "Employee", inverse: "reports")
      Relationship("reports", toMany: "Employee", inverse: "boss")
      Relationship("rooms", toMany: "Room", ordered: true)
    }
    Entity("Manager", parent: "Employee") { Attribute("level", .integer16) }
    Entity("Room") { Attribute("number", .integer64) }
  }

  private func coordinator(_ classes: [ManagedObject.Type]) -> PersistentStoreCoordinator {
    PersistentStoreCoordinator(managedObjectModel: Self.model, classes: classes)
  }

  private func error(_ classes: [ManagedObject.Type]) throws -> PersistenceError {
    try #require(
      #expect(throws: PersistenceError.self) {
        try coordinator(classes).addPersistentStore(type: .inMemory, at: nil)
      })
  }

  @Test func `classes that say what the model says are taken`() throws {
    enum Right {
      final class Room: ManagedObject { @Managed var number: Int }
      class Employee: ManagedObject {
        @Managed var name: String?
        @Managed var age: Int32
        @Managed var salary: Decimal
        @Managed var hired: Date?
        @Managed var photo: Data?
        @Managed var tags: Set<String>?
        @Managed var home: URL?
        @Managed var boss: Employee?
        @Managed var reports: Set<Employee>
        @Managed var rooms: [Room]
        var cache: [String: Int] = [:]
      }
      final class Manager: Employee { @Managed var level: Int? }
    }
    let all: [ManagedObject.Type] = [Right.Room.self, Right.Employee.self, Right.Manager.self]
    try coordinator(all).checkClasses()
    try coordinator(all).addPersistentStore(type: .inMemory, at: nil)
  }

  @Test func `all differences come in one error, before there is a store`() throws {
    enum Wrong {
      final class Room: ManagedObject { @Managed var number: Int32 }
      class Employee: ManagedObject {
        @Managed var nmae: String?
        @Managed var age: String
        @Managed var salary: Double
        @Managed var tags: Date?
        @Managed var boss: Set<Employee>
        @Managed var reports: Employee?
        @Managed var rooms: Set<Room>
        @Managed var hired: Room?
        @Managed var home: Int?
        @Managed var photo: [Int]?
      }
    }
    let error = try error([Wrong.Room.self, Wrong.Employee.self])
    #expect(error.code.rawValue == 134060)
    let keys = error.detailedErrors.compactMap(\.key)
    #expect(
      keys.sorted() == [
        "age", "boss", "hired", "home", "nmae", "number", "photo", "reports", "rooms", "salary",
        "tags",
      ])
    #expect(Set(error.detailedErrors.compactMap(\.entityName)) == ["Employee", "Room"])
    let text = "\(error)"
    #expect(text.contains("Employee.age is declared as String"))
    #expect(text.contains("the entity Employee has no such property; it has age, boss"))
    #expect(text.contains("Room.number is declared as Int32") && text.contains("do not fit"))
    #expect(text.contains("declare it as Employee?"))
    #expect(text.contains("declare it as Set<Employee>"))
    #expect(text.contains("declare it as [Room]"))
    #expect(text.contains("Employee.hired is declared as Room?"))
    #expect(error.detailedErrors.first { $0.key == "nmae" }?.code == .undefinedKey)
    #expect(error.detailedErrors.first { $0.key == "age" }?.code == .unacceptableValue)
  }

  @Test func `a relationship leads to objects of the class that is declared`() throws {
    enum Wrong {
      final class Room: ManagedObject {}
      final class Hall: ManagedObject {}
      class Employee: ManagedObject {
        @Managed var rooms: [Hall]
        @Managed var boss: Employee?
      }
      final class Manager: ManagedObject {}
    }
    let error = try error([Wrong.Room.self, Wrong.Employee.self, Wrong.Manager.self])
    #expect(error.detailedErrors.compactMap(\.key).sorted() == ["boss", "rooms"])
    #expect("\(error)".contains("objects of Manager, where it leads, are of the class Manager"))
    #expect("\(error)".contains("objects of Room, where it leads, are of the class Room"))
  }

  @Test func `a class that was forgotten is named`() throws {
    enum Forgotten {
      final class Room: ManagedObject {}
      final class Employee: ManagedObject { @Managed var rooms: [Room] }
    }
    let error = try error([Forgotten.Employee.self])
    #expect("\(error)".contains("no class is registered for Room"))
  }

  @Test func `a container's store is not loaded with classes that contradict the model`() throws {
    final class Room: ManagedObject { @Managed var number: String }
    let container = PersistentContainer(
      name: "Rooms", managedObjectModel: Self.model, classes: [Room.self])
    #expect(throws: PersistenceError.self) { try container.loadPersistentStore(at: nil) }
  }
}
