import Quire
import QuireModel
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A relationship that gets a to-one inverse can lead to each object from one side only. Where two
/// led to the same object, one of the links went, and nothing said so.
@Suite struct `Links that an inferred migration drops` {
  /// Opens a store of the old model with the new one.
  ///
  /// - Returns: the plan made beforehand, and the report of the migration.
  private func migrate(
    from old: ManagedObjectModel, to new: ManagedObjectModel,
    _ fill: (ManagedObjectContext) throws -> Void, then look: (ManagedObjectContext) throws -> Void
  ) throws -> MigrationPlan {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let versions = try MigrationTrial.versioned(old, new)
      do {
        let coordinator = PersistentStoreCoordinator(managedObjectModel: old)
        let store = try coordinator.addPersistentStore(type: .quire, at: url)
        let context = GotchaHome.context(of: coordinator)
        try fill(context)
        try context.save()
        try coordinator.remove(store)
      }
      let plan = try #require(try MigrationPlan.plan(forStoreAt: url, to: versions))
      let coordinator = PersistentStoreCoordinator(versionedModel: versions)
      let store = try coordinator.addPersistentStore(type: .quire, at: url, options: .migrating)
      let report = try #require(store.migrationReport)
      #expect(report.plan == plan)
      #expect(report.droppedLinkCount == plan.droppedLinkCount)
      #expect(report.description.contains("go") == (plan.droppedLinkCount > 0))
      let data = try JSONEncoder().encode(plan)
      #expect(try JSONDecoder().decode(MigrationPlan.self, from: data) == plan)
      let context = GotchaHome.context(of: coordinator)
      try look(context)
      #expect(try StoreInspection(of: url).findings == [])
      return plan
    }
  }

  private func insert(
    _ entity: String, _ name: String, _ context: ManagedObjectContext
  ) throws -> ManagedObject {
    let object = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
    try object.setValue(name, forKey: "name")
    return object
  }

  private func departments(_ hasInverse: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Department") {
        Attribute("name", .string)
        Relationship("staff", toMany: "Person", inverse: hasInverse ? "department" : nil)
      }
      Entity("Person") {
        Attribute("name", .string)
        if hasInverse { Relationship("department", toOne: "Department", inverse: "staff") }
      }
    }
  }

  @Test func `a new to-one inverse drops all links to an object but the first, and they are told`()
    throws
  {
    let plan = try migrate(from: departments(false), to: departments(true)) { context in
      let people = try ["Ada", "Bea", "Cyd"].map { try insert("Person", $0, context) }
      for (name, staff) in [("Art", people), ("Law", Array(people[1...])), ("Tax", [people[2]])] {
        try insert("Department", name, context).setValue(Set(staff), forKey: "staff")
      }
    } then: { context in
      let departments = try context.fetch(FetchRequest<ManagedObject>(entityName: "Department"))
      #expect(
        try departments.map { (try $0.value(forKey: "staff") as? Set<ManagedObject>)?.count }
          == [3, 0, 0])
    }
    let step = try #require(plan.relationships.first)
    #expect(plan.droppedLinkCount == 3 && step.droppedLinkCount == 3)
    #expect(
      step.droppedLinks.map { [$0.entityName, $0.relationshipName, $0.destinationEntityName] }
        == Array(repeating: ["Department", "staff", "Person"], count: 3))
    #expect(
      step.droppedLinks.map { [$0.key, $0.destinationKey] } == [[2, 2], [2, 3], [3, 3]])
    #expect(step.droppedLinks.allSatisfy { $0.reason == .exclusive })
    #expect(plan.description.contains("Department.staff"), "\(plan)")
    #expect(plan.description.contains("Department 3 → Person 3"), "\(plan)")
    #expect(plan.description.contains("3 links go"), "\(plan)")
  }

  @Test func `of many links that go the number is exact, and the list has an end`() throws {
    let plan = try migrate(from: departments(false), to: departments(true)) { context in
      let people = try (0..<200).map { try insert("Person", "\($0)", context) }
      for name in ["Art", "Law", "Tax"] {
        try insert("Department", name, context).setValue(Set(people), forKey: "staff")
      }
    } then: { _ in
    }
    let step = try #require(plan.relationships.first)
    #expect(step.linkCount == 200)
    #expect(step.droppedLinkCount == 400)
    #expect(step.droppedLinks.count == MigrationPlan.DroppedLink.limit)
    #expect(plan.description.contains("and 395 more"), "\(plan)")
  }

  @Test func `where nothing is shared nothing goes, and nothing is told`() throws {
    let plan = try migrate(from: departments(false), to: departments(true)) { context in
      for name in ["Art", "Law"] {
        try insert("Department", name, context)
          .setValue(Set([try insert("Person", name, context)]), forKey: "staff")
      }
    } then: { _ in
    }
    #expect(plan.relationships.map(\.linkCount) == [2])
    #expect(plan.droppedLinkCount == 0 && !plan.description.contains(" go"))
  }

  @Test func `one-to-one sides that were never each other's are told where they disagree`() throws {
    func model(_ areInverse: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Car") {
          Attribute("name", .string)
          Relationship("driver", toOne: "Driver", inverse: areInverse ? "car" : nil)
        }
        Entity("Driver") {
          Attribute("name", .string)
          Relationship("car", toOne: "Car", inverse: areInverse ? "driver" : nil)
        }
      }
    }
    let plan = try migrate(from: model(false), to: model(true)) { context in
      let cars = try (1...4).map { try insert("Car", "\($0)", context) }
      let drivers = try (1...4).map { try insert("Driver", "\($0)", context) }
      try cars[0].setValue(drivers[0], forKey: "driver")
      try drivers[0].setValue(cars[0], forKey: "car")
      // A second car for the first driver; and a driver whose car does not know him.
      try cars[1].setValue(drivers[0], forKey: "driver")
      try drivers[2].setValue(cars[2], forKey: "car")
    } then: { context in
      let cars = try context.fetch(FetchRequest<ManagedObject>(entityName: "Car"))
      #expect(
        try cars.map { try $0.value(forKeyPath: "driver.name") as? String } == ["1", nil, nil, nil])
    }
    let dropped = plan.relationships.flatMap(\.droppedLinks)
    #expect(plan.droppedLinkCount == 2)
    #expect(
      dropped.map(\.description).sorted() == [
        "Car 2 → Driver 1 (another leads there)",
        "Driver 3 → Car 3 (the other side says otherwise)",
      ])
  }

  @Test func `a relationship that becomes its own inverse drops what is taken, each pair once`()
    throws
  {
    func model(_ isOwn: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Person") {
          Attribute("name", .string)
          Relationship("partner", toOne: "Person", inverse: isOwn ? "partner" : nil)
        }
      }
    }
    let plan = try migrate(from: model(false), to: model(true)) { context in
      let people = try (1...7).map { try insert("Person", "\($0)", context) }
      func pair(_ left: Int, _ right: Int) throws {
        try people[left - 1].setValue(people[right - 1], forKey: "partner")
      }
      // 1 and 2 lead to each other, 3 and 5 to one of them; 4 to itself; 6 and 7 to each other.
      for (left, right) in [(1, 2), (2, 1), (3, 1), (4, 4), (5, 2), (6, 7), (7, 6)] {
        try pair(left, right)
      }
    } then: { context in
      let people = try context.fetch(FetchRequest<ManagedObject>(entityName: "Person"))
      #expect(
        try people.map { try $0.value(forKeyPath: "partner.name") as? String }
          == ["2", "1", nil, "4", nil, "7", "6"])
    }
    #expect(
      plan.relationships.flatMap(\.droppedLinks).map { [$0.key, $0.destinationKey] }
        == [[3, 1], [5, 2]])
  }

  @Test func `links to objects that a relationship may not lead to any more are told`() throws {
    func model(_ destination: String) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Box") {
          Attribute("name", .string)
          Relationship("thing", toOne: destination)
        }
        Entity("Thing") { Attribute("name", .string) }
        Entity("Toy", parent: "Thing")
      }
    }
    let plan = try migrate(from: model("Thing"), to: model("Toy")) { context in
      for (name, kind) in [("a", "Thing"), ("b", "Toy"), ("c", "Thing")] {
        try insert("Box", name, context).setValue(try insert(kind, name, context), forKey: "thing")
      }
    } then: { context in
      let boxes = try context.fetch(FetchRequest<ManagedObject>(entityName: "Box"))
      #expect(
        try boxes.map { try $0.value(forKeyPath: "thing.name") as? String } == [nil, "b", nil])
    }
    #expect(
      plan.relationships.flatMap(\.droppedLinks).map(\.description) == [
        "Box 1 → Thing 1 (it may not lead there)", "Box 3 → Thing 3 (it may not lead there)",
      ])
    // Also when nothing is left.
    let none = try migrate(from: model("Thing"), to: model("Toy")) { context in
      try insert("Box", "a", context)
        .setValue(try insert("Thing", "a", context), forKey: "thing")
    } then: { _ in
    }
    #expect(none.droppedLinkCount == 1)
  }

  /// The side that is read, the ordered one, has lost its end: only the other one knows the link.
  @Test func `a link is told whose way back its entity has lost`() throws {
    func model(_ owner: String) throws -> ManagedObjectModel {
      func back(_ entity: String) -> RelationshipDescription? {
        entity == owner
          ? Relationship("shelves", toMany: "Shelf", inverse: "books", ordered: true) : nil
      }
      return try ManagedObjectModel {
        Entity("Shelf") {
          Attribute("name", .string)
          Relationship("books", toMany: owner, inverse: "shelves")
        }
        Entity("Book") {
          Attribute("name", .string)
          if let shelves = back("Book") { shelves }
        }
        Entity("Atlas", parent: "Book") { if let shelves = back("Atlas") { shelves } }
      }
    }
    let plan = try migrate(from: model("Book"), to: model("Atlas")) { context in
      let shelf = try insert("Shelf", "top", context)
      let books = [try insert("Book", "a", context), try insert("Atlas", "b", context)]
      try shelf.setValue(Set(books), forKey: "books")
    } then: { context in
      let shelf = try #require(
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Shelf")).first)
      let books = try #require(try shelf.value(forKey: "books") as? Set<ManagedObject>)
      #expect(try books.map { try $0.value(forKey: "name") as? String } == ["b"])
    }
    #expect(
      plan.relationships.flatMap(\.droppedLinks).map(\.description)
        == ["Shelf 1 → Book 1 (it may not lead there)"])
  }

  @Test func `a plan that was encoded before links were counted decodes`() throws {
    let json = """
      {"from": "1", "to": "2", "entities": [], "indexes": [], "obstacles": [],
       "relationships": [{"entity": "A", "name": "bs", "links": 3}]}
      """
    let plan = try JSONDecoder().decode(MigrationPlan.self, from: Data(json.utf8))
    #expect(plan.relationships.map(\.linkCount) == [3])
    #expect(plan.droppedLinkCount == 0)
  }
}
