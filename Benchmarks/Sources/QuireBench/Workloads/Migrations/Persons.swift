import Quire

/// Persons of two types, who become teachers and students: the example of the article that the
/// project's mission names.
enum Persons {
  static func firstname(_ id: Int) -> String { ["John", "Lily", "Grace", "Omar"][id % 4] }
  static func lastname(_ id: Int) -> String { "Smith \(id.padded(6))" }
  /// 0 is a teacher, 1 a student.
  static func type(_ id: Int) -> Int { Int(mix(UInt64(id)) & 1) }

  static func teacherCount(of count: Int) -> Int { (1...count).count { type($0) == 0 } }

  static func source() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Person") {
        Attribute("firstname", .string)
        Attribute("lastname", .string)
        Attribute("type", .integer16, optional: false, default: 0)
      }
    }
  }

  static func destination() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Person", abstract: true) {
        Attribute("firstname", .string)
        Attribute("lastname", .string)
      }
      Entity("Teacher", parent: "Person")
      Entity("Student", parent: "Person")
    }
  }

  static var mapping: MappingModel {
    var mapping = EntityMapping(from: "Person", to: nil, .customEntityMappingType)
    mapping.entityMigrationPolicy = Policy.self
    return MappingModel(entityMappings: [mapping])
  }

  /// Through the public interface, as an application would write it.
  private final class Policy: EntityMigrationPolicy {
    override func createDestinationInstances(
      forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      let type = try sInstance.primitiveValue(forKey: "type") as? Int
      let person = try EntityDescription.insertNewObject(
        forEntityName: type == 0 ? "Teacher" : "Student", into: manager.destinationContext)
      try person.setValue(try sInstance.primitiveValue(forKey: "firstname"), forKey: "firstname")
      try person.setValue(try sInstance.primitiveValue(forKey: "lastname"), forKey: "lastname")
    }
  }
}
