import Quire
import QuireStorage
import QuireTesting
import Testing

/// Constraints over derived attributes whose expressions change, which no version hash counts.
///
/// A store was opened with another expression by which two objects had the same value: it had them
/// from then on, and the next save of either was refused.
@Suite struct DerivedUniquenessTests {
  private static func model(
    _ expression: String, unique: Bool = true, more: Bool = false
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Work") {
        Attribute("title", .string)
        Attribute("number", .string)
        Attribute("code", .string, derivedFrom: expression)
        if more { Attribute("rating", .integer16) }
        if unique { UniquenessConstraint("code") }
        FetchIndex("byCode", on: "code")
      }
    }
  }

  private func fill(_ scene: IndexScene, _ titles: [String], unique: Bool = true) throws {
    let context = try scene.open(try Self.model("number", unique: unique))
    for (number, title) in titles.enumerated() {
      try context.add("Work", ["title": title, "number": "\(number)"])
    }
    try context.save()
    try scene.close(context)
  }

  private func expectViolation(_ body: () throws -> Void) {
    do {
      try body()
      Issue.record("opened in spite of duplicates")
    } catch let error as PersistenceError {
      #expect(error.code == .migrationConstraintViolation)
      #expect(error.message.contains("Work/p2 and Work/p3 have the same code"), "\(error)")
    } catch {
      Issue.record("\(error)")
    }
  }

  /// No policy resolved it, and the error named nothing.
  @Test func `a policy resolves a constraint over a derived attribute`() throws {
    for policy in [
      MergePolicy.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite,
      .rollback,
    ] {
      let scene = IndexScene()
      let context = try scene.open(try Self.model("lowercase:(title)"))
      context.mergePolicy = policy
      try context.add("Work", ["title": "wave", "number": "1"])
      try context.save()
      // One that the store has, and two new ones.
      try context.add("Work", ["title": "WAVE", "number": "2"])
      try context.add("Work", ["title": "New", "number": "3"])
      try context.add("Work", ["title": "NEW", "number": "4"])
      if policy.mergeType == .errorMergePolicyType {
        let error = #expect(throws: PersistenceError.self) { try context.save() }
        #expect(error?.constraintConflicts.count == 2)
        #expect(error?.message.contains("code") == true, "\(error as Any)")
      } else {
        try context.save()
        let numbers = try context.values(of: "number", "Work", sortedBy: "number")
        let takesNew = [
          .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
        ].contains(policy.mergeType)
        #expect(numbers == (takesNew ? ["2", "4"] : ["1", "3"]))
        #expect(try context.values(of: "code", "Work", sortedBy: "code") == ["new", "wave"])
      }
      context.rollback()
      #expect(try StoreFacts(context).findings == [])
      try scene.close(context)
    }
  }

  @Test func `an object keeps its other changes when it gives up members`() throws {
    let model = try ManagedObjectModel {
      Entity("Shelf") {
        Attribute("title", .string)
        Attribute("size", .integer64, default: 0, derivedFrom: "books.@count")
        Relationship("books", toMany: "Book", inverse: "shelf")
        UniquenessConstraint("size")
      }
      Entity("Book") { Relationship("shelf", toOne: "Shelf", inverse: "books") }
    }
    let scene = IndexScene()
    let context = try scene.open(model)
    context.mergePolicy = .mergeByPropertyStoreTrump
    let shelves = try (0..<2).map { try context.add("Shelf", ["title": "\($0)"]) }
    let books = try (0..<2).map { _ in try context.add("Book", ["shelf": shelves[1]]) }
    try context.save()
    try books[0].setValue(nil, forKey: "shelf")
    try books[1].setValue(nil, forKey: "shelf")
    try shelves[1].setValue("changed", forKey: "title")
    try context.save()
    #expect(try context.values(of: "title", "Shelf", sortedBy: "size") == ["0", "changed"])
    #expect((try shelves[1].value(forKey: "books") as? Set<ManagedObject>)?.count == 2)
    #expect(try StoreFacts(context).findings == [])
    try scene.close(context)
  }

  @Test func `a changed object gives up what its constraint is derived from`() throws {
    let scene = IndexScene()
    let context = try scene.open(try Self.model("lowercase:(title)"))
    context.mergePolicy = .mergeByPropertyStoreTrump
    try context.add("Work", ["title": "a", "number": "1"])
    try context.add("Work", ["title": "b", "number": "2"])
    try context.save()
    let second = try #require(try context.found("Work", Key("code") == "b").objects.first)
    try second.setValue("A", forKey: "title")
    try second.setValue("3", forKey: "number")
    try context.save()
    #expect(try context.values(of: "title", "Work", sortedBy: "code") == ["a", "b"])
    #expect(try context.values(of: "number", "Work", sortedBy: "code") == ["1", "3"])
    try scene.close(context)
  }

  @Test(arguments: [false, true])
  func `an expression by which objects break a constraint is refused, and nothing has changed`(
    _ isMigrated: Bool
  ) throws {
    let scene = IndexScene()
    try fill(scene, ["a", "b", "b", "c"])
    let new = try Self.model("title", more: isMigrated)
    let versions = try #require(
      VersionedModel(versions: [.init("old", try Self.model("number")), .init("new", new)]))
    expectViolation {
      _ = isMigrated ? try scene.open(versions, .migrating) : try scene.open(new)
    }
    let context = try scene.open(try Self.model("number"))
    #expect(try context.values(of: "code", "Work", sortedBy: "number") == ["0", "1", "2", "3"])
    #expect(try StoreFacts(context).findings == [])
    try scene.close(context)
  }

  @Test(arguments: [false, true])
  func `an expression by which objects keep a constraint is taken, and found by its index`(
    _ isMigrated: Bool
  ) throws {
    let scene = IndexScene()
    try fill(scene, ["d", "c", "b", "a"])
    let new = try Self.model("title", more: isMigrated)
    let versions = try #require(
      VersionedModel(versions: [.init("old", try Self.model("number")), .init("new", new)]))
    let context = isMigrated ? try scene.open(versions, .migrating) : try scene.open(new)
    #expect(try context.values(of: "title", "Work", sortedBy: "code") == ["a", "b", "c", "d"])
    let found = try context.found("Work", Key("code") == "b")
    #expect(found.plan.contains("index") && found.objects.count == 1)
    #expect(try StoreFacts(context).findings == [])
    try context.add("Work", ["title": "a"])
    #expect(throws: PersistenceError.self) { try context.save() }
    try scene.close(context)
  }

  @Test func `a constraint that goes with the expression is not asked`() throws {
    let scene = IndexScene()
    try fill(scene, ["a", "a"])
    let context = try scene.open(try Self.model("title", unique: false))
    #expect(try context.values(of: "code", "Work") == ["a", "a"])
    #expect(try StoreFacts(context).findings == [])
    try scene.close(context)
  }

  @Test func `a constraint that comes with the expression is asked by it`() throws {
    let scene = IndexScene()
    try fill(scene, ["a", "b", "b"], unique: false)
    expectViolation { _ = try scene.open(try Self.model("title")) }
    let context = try scene.open(try Self.model("number", unique: true))
    #expect(try StoreFacts(context).findings == [])
    try scene.close(context)
  }
}
