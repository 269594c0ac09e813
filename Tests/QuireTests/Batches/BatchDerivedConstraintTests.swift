import Quire
import QuireModel
import QuireTesting
import Testing

/// Constraints over derived attributes: a batch insertion ended with an error about them, whatever
/// the policy, as new rows had their derived values only when all of them were written.
@Suite struct `Batches and derived constraints` {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Town") { Attribute("name", .string) }
      Entity("Person") {
        Attribute("name", .string)
        Attribute("email", .string)
        Attribute("age", .integer64, optional: false, default: 0)
        Attribute("folded", .string, derivedFrom: "lowercase:(name)")
        // Of another derived attribute, and of another object.
        Attribute("key", .string, derivedFrom: "uppercase:(folded)")
        Attribute("place", .string, derivedFrom: "town.name")
        Relationship("town", toOne: "Town", inverse: nil)
        UniquenessConstraint("folded")
        UniquenessConstraint("email")
        UniquenessConstraint("key", "place")
      }
    }
  }

  private func context(_ policy: MergePolicy) throws -> ManagedObjectContext {
    let context = try ManagedObjectContext.stubbed(Self.model())
    context.mergePolicy = policy
    let person = try context.insert("Person")
    try person.setValue("Ada", forKey: "name")
    try person.setValue(1, forKey: "age")
    try context.save()
    return context
  }

  private func people(_ context: ManagedObjectContext) throws -> [String] {
    context.reset()
    return try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).map {
      try ["name", "folded", "age"].map { [person = $0] in
        "\(try person.value(forKey: $0) ?? "-")"
      }.joined(separator: " ")
    }.sorted()
  }

  private func insert(
    _ objects: [[String: Any]], _ policy: MergePolicy
  ) throws -> [String] {
    let context = try context(policy)
    _ = try context.execute(BatchInsertRequest(entityName: "Person", objects: objects))
    return try people(context)
  }

  private let rivals: [[String: Any]] = [
    ["name": "ADA", "age": 2], ["name": "Bob", "age": 3], ["name": "bOB", "age": 4],
  ]

  @Test func `each policy resolves them`() throws {
    #expect(try insert(rivals, .mergeByPropertyStoreTrump) == ["Ada ada 1", "Bob bob 3"])
    #expect(try insert(rivals, .rollback) == ["Ada ada 1", "Bob bob 3"])
    #expect(try insert(rivals, .mergeByPropertyObjectTrump) == ["ADA ada 2", "bOB bob 4"])
    #expect(try insert(rivals, .overwrite) == ["ADA ada 2", "bOB bob 4"])
    let error = persistenceError { _ = try insert(rivals, .error) }
    #expect(error?.code == .managedObjectConstraintMerge)
    #expect(error?.constraintConflicts.first?.constraint == ["folded"])
  }

  /// What was merged into a stored object changes its derived value, which the next one then has.
  @Test func `a value that a merge has brought is found by the next object`() throws {
    let objects: [[String: Any]] = [
      ["name": "Eve", "email": "e", "age": 5], ["name": "Zoe", "email": "e", "age": 6],
      ["name": "zoe", "age": 7], ["name": "eve", "age": 8],
    ]
    #expect(
      try insert(objects, .mergeByPropertyObjectTrump) == ["Ada ada 1", "eve eve 8", "zoe zoe 7"])
  }

  @Test func `a constraint over what is derived of other values and objects holds`() throws {
    let context = try context(.mergeByPropertyObjectTrump)
    let towns = try ["Bath", "York"].map { name in
      let town = try context.insert("Town")
      try town.setValue(name, forKey: "name")
      return town
    }
    try context.save()
    var objects: [[String: Any]] = []
    for (index, town) in [towns[0], towns[1], towns[0]].enumerated() {
      objects.append(["name": ["kim", "lee", "KIM"][index], "town": town.objectID, "age": index])
    }
    _ = try context.execute(BatchInsertRequest(entityName: "Person", objects: objects))
    #expect(try people(context) == ["Ada ada 1", "KIM kim 2", "lee lee 1"])
    let places = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person")).map {
      "\(try $0.value(forKey: "key") ?? "-") \(try $0.value(forKey: "place") ?? "-")"
    }
    #expect(places.sorted() == ["ADA -", "KIM Bath", "LEE York"])
  }
}
