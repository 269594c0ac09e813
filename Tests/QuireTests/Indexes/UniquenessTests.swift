import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Values that no two objects of an entity share.
@Suite struct UniquenessTests {
  private static let model = try! ManagedObjectModel {
    Entity("Item", abstract: true) {
      Attribute("slug", .string)
      Attribute("note", .string)
      Attribute("rating", .integer16, default: 3)
      Relationship("owner", toOne: "Owner", inverse: "items")
      UniquenessConstraint("slug")
    }
    Entity("Book", parent: "Item") {
      Attribute("shelf", .integer16)
      Attribute("place", .integer16)
      Relationship("pages", toMany: "Page", inverse: "book", deleteRule: .cascade)
      UniquenessConstraint("shelf", "place")
    }
    Entity("Film", parent: "Item")
    Entity("Page") { Relationship("book", toOne: "Book", inverse: "pages") }
    Entity("Owner") {
      Attribute("name", .string)
      Relationship("items", toMany: "Item", inverse: "owner")
      Relationship("favourite", toOne: "Item")
    }
    Entity("Badge") {
      Relationship("owner", toOne: "Owner")
      UniquenessConstraint("owner")
    }
  }

  private func open(_ policy: MergePolicy = .error) throws -> ManagedObjectContext {
    let context = try IndexScene().open(Self.model)
    context.mergePolicy = policy
    return context
  }

  private func slugs(_ context: ManagedObjectContext) throws -> [String] {
    try context.found("Item").objects.compactMap { try $0.value(forKey: "slug") as? String }
      .sorted()
  }

  /// The error that a save ends with.
  private func failure(_ context: ManagedObjectContext) -> PersistenceError? {
    do {
      try context.save()
      return nil
    } catch { return error as? PersistenceError }
  }

  // MARK: Conflicts

  @Test func `a value that the store has already is a conflict that names both objects`() throws {
    let context = try open()
    let stored = try context.add("Book", ["slug": "é", "note": "first"])
    try context.save()
    // Another entity of the family, another spelling of the same text.
    let film = try context.add("Film", ["slug": "e\u{301}"])
    let error = try #require(failure(context))
    #expect(error.code == .managedObjectConstraintMerge && error.code.rawValue == 133021)
    let report = try #require(error.constraintConflicts.first)
    #expect(error.constraintConflicts.count == 1)
    #expect(report.entityName == "Item" && report.constraint == ["slug"])
    #expect(report.values == ["slug": .attribute(.string("é"))])
    #expect(report.databaseObjectID == stored.objectID)
    #expect(report.databaseValues?["note"] == .attribute(.string("first")))
    #expect(report.conflictingObjectIDs == [film.objectID])
    #expect(error.message.contains("slug of Item is to be unique, and is é in"))
    // Nothing has happened, here or there.
    #expect(context.insertedObjects == [film])
    try film.setValue("other", forKey: "slug")
    try context.save()
    #expect(try slugs(context) == ["other", "é"])
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `two unsaved objects of one value are a conflict without an object of the store`()
    throws
  {
    let context = try open()
    let objects = try ["Book", "Film"].map { try context.add($0, ["slug": "a"]) }
    let report = try #require(failure(context)?.constraintConflicts.first)
    #expect(report.databaseObjectID == nil)
    #expect(report.conflictingObjectIDs == objects.map(\.objectID))
  }

  @Test func `two objects may exchange their values in one save, and take those of deleted ones`()
    throws
  {
    let context = try open()
    let objects = try ["a", "b", "c"].map { try context.add("Book", ["slug": $0]) }
    try context.save()
    try objects[0].setValue("b", forKey: "slug")
    try objects[1].setValue("a", forKey: "slug")
    context.delete(objects[2])
    try context.add("Film", ["slug": "c"])
    try context.save()
    #expect(try slugs(context) == ["a", "b", "c"])
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `objects that lack a value of a constraint do not conflict`() throws {
    let context = try open()
    for _ in 0..<3 { try context.add("Book", ["shelf": 1]) }
    try context.add("Book", ["shelf": 1, "place": 1])
    try context.add("Book", ["shelf": 1, "place": 2])
    try context.save()
    try context.add("Book", ["shelf": 1, "place": 2])
    let error = try #require(failure(context))
    #expect(error.constraintConflicts.first?.constraint == ["shelf", "place"])
  }

  @Test func `a destination may be unique, also one that is new`() throws {
    let context = try open()
    let owner = try context.add("Owner", [:])
    try context.add("Badge", ["owner": owner])
    try context.add("Badge", [:])
    try context.save()
    try context.add("Badge", ["owner": owner])
    #expect(
      failure(context)?.constraintConflicts.first?.values == ["owner": .object(owner.objectID)])
    context.rollback()
    let new = try context.add("Owner", [:])
    for _ in 0..<2 { try context.add("Badge", ["owner": new]) }
    #expect(failure(context)?.code == .managedObjectConstraintMerge)
  }

  @Test func `values that differ behind the end of a key are different`() throws {
    let context = try open()
    let long = String(repeating: "long ", count: 100)
    try context.add("Book", ["slug": long + "a"])
    try context.add("Book", ["slug": long + "b"])
    try context.save()
    #expect(try StoreFacts(context).findings == [])
    try context.add("Film", ["slug": long + "b"])
    #expect(failure(context)?.constraintConflicts.first?.databaseObjectID?.entity.name == "Book")
  }

  /// Index keys of long texts are cut off; all of these have the same key.
  @Test func `a conflict names the object whose value is the same behind the end of a key`() throws
  {
    let context = try open()
    let long = String(repeating: "long ", count: 100)
    var objects: [ManagedObject] = []
    for end in ["a", "b", "c"] {
      objects.append(try context.add("Book", ["slug": long + end]))
      try context.save()
    }
    for object in objects {
      let slug = try #require(try object.value(forKey: "slug") as? String)
      // A new text, which has the same key and is in no conflict.
      try context.add("Film", ["slug": long + "new"])
      try context.add("Film", ["slug": slug])
      let conflicts = failure(context)?.constraintConflicts ?? []
      #expect(conflicts.map(\.values) == [["slug": .attribute(.string(slug))]])
      #expect(conflicts.map(\.databaseObjectID) == [object.objectID])
      context.rollback()
    }
  }

  @Test func `a batch inserts values that differ behind the end of a key`() throws {
    let context = try open()
    let long = String(repeating: "long ", count: 100)
    func insert(_ ends: String...) throws {
      try context.execute(
        BatchInsertRequest(entityName: "Book", objects: ends.map { ["slug": long + $0] }))
    }
    try insert("a", "b")
    try insert("c", "d")
    #expect(try slugs(context) == ["a", "b", "c", "d"].map { long + $0 })
    for end in ["a", "d"] {
      let error = #expect(throws: PersistenceError.self) { try insert("e", end) }
      #expect(error?.code == .managedObjectConstraintMerge)
      let number = end == "a" ? 1 : 4
      #expect(error?.constraintConflicts.first?.databaseObjectID?.description == "Book/p\(number)")
    }
    #expect(throws: PersistenceError.self) { try insert("e", "f", "e") }
    // Object trump writes the new values over the stored object with the same text.
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.execute(
      BatchInsertRequest(entityName: "Book", objects: [["slug": long + "c", "note": "over"]]))
    let changed = try context.found("Book", Key("note") == "over").objects
    #expect(try changed.map { try $0.value(forKey: "slug") as? String } == [long + "c"])
    #expect(try slugs(context).count == 4)
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `texts that differ in the case of a letter are different values`() throws {
    let context = try open()
    let long = String(repeating: "long ", count: 100)
    var expected = ["slug", "Slug", "SLUG", "é", "É", "ß", "ẞ", long + "a", long + "A"]
    // Among unsaved objects, beside stored ones, and in a batch.
    for slug in expected { try context.add("Book", ["slug": slug]) }
    try context.save()
    for slug in ["stored", "Stored"] {
      try context.add("Film", ["slug": slug])
      try context.save()
    }
    let batch = ["batch", "Batch", "STORED"]
    try context.execute(
      BatchInsertRequest(entityName: "Film", objects: batch.map { ["slug": $0] }))
    expected += ["stored", "Stored"] + batch
    #expect(try slugs(context) == expected.sorted())
    #expect(try StoreFacts(context).findings == [])
    for slug in ["Slug", "É", long + "A", "Batch"] {
      try context.add("Film", ["slug": slug])
      #expect(
        failure(context)?.constraintConflicts.map(\.values) == [
          ["slug": .attribute(.string(slug))]
        ])
      context.rollback()
    }
  }

  @Test func `a value that another context has saved meanwhile is a conflict`() throws {
    let context = try open()
    let other = SmallGallery.sibling(of: context)
    #expect(try slugs(context) == [])
    try other.add("Book", ["slug": "a"])
    try other.save()
    try context.add("Book", ["slug": "a", "note": "mine"])
    #expect(failure(context)?.code == .managedObjectConstraintMerge)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    other.refreshAllObjects()
    #expect(
      try other.found("Book").objects.map { try $0.value(forKey: "note") as? String } == ["mine"])
  }

  @Test func `a unique value is found by the index of its constraint`() throws {
    let context = try open()
    for number in 0..<200 { try context.add("Book", ["slug": "slug \(number)"]) }
    try context.save()
    let found = try context.found("Item", Key("slug") == "slug 7")
    #expect(found.plan == "index Item.slug, 1 candidates")
    #expect(found.objects.count == 1)
  }

  // MARK: Policies

  /// A store with one book, and an unsaved one of the same slug.
  private func scene(_ policy: MergePolicy) throws -> (
    context: ManagedObjectContext, stored: ManagedObject, new: ManagedObject
  ) {
    let context = try open(policy)
    let (one, other) = (
      try context.add("Owner", ["name": "one"]), try context.add("Owner", ["name": "other"])
    )
    let stored = try context.add(
      "Book", ["slug": "a", "note": "stored", "rating": 5, "shelf": 1, "owner": one])
    try context.add("Page", ["book": stored])
    try context.save()
    let new = try context.add("Book", ["slug": "a", "note": "new", "place": 2, "owner": other])
    try context.add("Page", ["book": new])
    try other.setValue(new, forKey: "favourite")
    return (context, stored, new)
  }

  @Test func `object trump writes a new object over the stored one, which keeps its ID`() throws {
    let (context, stored, new) = try scene(.mergeByPropertyObjectTrump)
    let id = stored.objectID
    try context.save()
    #expect(new.managedObjectContext === context && new.objectID == stored.objectID)
    let books = try context.found("Book").objects
    #expect(books == [stored] && stored.objectID == id)
    #expect(try stored.value(forKey: "note") as? String == "new")
    #expect(try stored.value(forKey: "place") as? Int == 2)
    // What the new one was not given stays as it was.
    #expect(try stored.value(forKey: "rating") as? Int == 5)
    #expect(try stored.value(forKey: "shelf") as? Int == 1)
    let owner = try #require(try stored.value(forKey: "owner") as? ManagedObject)
    #expect(try owner.value(forKey: "name") as? String == "other")
    #expect(try owner.value(forKey: "favourite") as? ManagedObject == stored)
    #expect((try stored.value(forKey: "pages") as? Set<ManagedObject>)?.count == 2)
    #expect(!context.hasChanges)
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `a new object with nothing that the stored one has not leaves it as it is`() throws {
    let model = try ManagedObjectModel {
      Entity("Node") {
        Attribute("slug", .string, default: "same")
        Relationship("others", toMany: "Node")
        UniquenessConstraint("slug")
      }
    }
    let context = try IndexScene().open(model)
    context.mergePolicy = .mergeByPropertyObjectTrump
    let (stored, other) = (try context.insert("Node"), try context.insert("Node", ["slug": "b"]))
    try stored.setValue(Set([other]), forKey: "others")
    try context.save()
    try context.insert("Node", ["others": Set([other])])
    try context.save()
    #expect(try stored.value(forKey: "others") as? Set<ManagedObject> == [other])
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Node")) == 2)
    #expect(!context.hasChanges)
  }

  @Test(arguments: [
    MergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType,
  ])
  func `store trump and rollback drop the new object`(_ type: MergePolicyType) throws {
    let (context, stored, new) = try scene(MergePolicy(merge: type))
    try context.save()
    #expect(new.managedObjectContext === context && new.objectID == stored.objectID)
    #expect(try context.found("Book").objects == [stored])
    #expect(try stored.value(forKey: "note") as? String == "stored")
    // What led to the new one leads to the stored one, which keeps what it led to.
    #expect((try stored.value(forKey: "pages") as? Set<ManagedObject>)?.count == 2)
    #expect(try context.found("Page").objects.count == 2)
    let (one, other) = (
      try #require(try context.found("Owner", Key("name") == "one").objects.first),
      try #require(try context.found("Owner", Key("name") == "other").objects.first)
    )
    #expect(try stored.value(forKey: "owner") as? ManagedObject == one)
    #expect(try other.value(forKey: "favourite") as? ManagedObject == stored)
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `overwrite deletes the stored object by its delete rules`() throws {
    let (context, stored, new) = try scene(.overwrite)
    try context.save()
    #expect(stored.managedObjectContext == nil && !new.objectID.isTemporaryID)
    #expect(try context.found("Book").objects == [new])
    #expect(try new.value(forKey: "rating") as? Int == 3)
    #expect(try context.found("Page").objects.count == 1)
    #expect(try StoreFacts(context).findings == [])
  }

  @Test(arguments: MergePolicyType.allCases.dropFirst())
  func `a changed object keeps another's value, or gets its own back`(_ type: MergePolicyType)
    throws
  {
    let context = try open(MergePolicy(merge: type))
    let objects = try ["a", "b"].map { try context.add("Book", ["slug": $0, "note": $0]) }
    try context.save()
    try objects[1].setValue("a", forKey: "slug")
    try objects[1].setValue("changed", forKey: "note")
    try context.save()
    let notes = try context.found("Book").objects.map { try $0.value(forKey: "note") as? String }
    switch type {
    case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType:
      #expect(try slugs(context) == ["a"] && notes == ["changed"])
    case .mergeByPropertyStoreTrumpMergePolicyType:
      #expect(try slugs(context) == ["a", "b"] && notes == ["a", "changed"])
    default:
      #expect(try slugs(context) == ["a", "b"] && notes == ["a", "b"])
    }
    #expect(try StoreFacts(context).findings == [])
  }

  @Test(arguments: MergePolicyType.allCases.dropFirst())
  func `of new objects one stays`(_ type: MergePolicyType) throws {
    let context = try open(MergePolicy(merge: type))
    for note in ["1", "2", "3"] { try context.add("Book", ["slug": "a", "note": note]) }
    try context.save()
    let isLast = [.mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType]
      .contains(type)
    let notes = try context.found("Book").objects.map { try $0.value(forKey: "note") as? String }
    #expect(notes == [isLast ? "3" : "1"])
  }

  private final class Renaming: MergePolicy {
    var reports: [ConstraintConflict.Report] = []
    var isIdle = false

    override func resolve(constraintConflicts list: [ConstraintConflict]) throws {
      for conflict in list {
        reports.append(conflict.report)
        #expect(conflict.databaseSnapshot?["note"] as? String == "stored")
        #expect(conflict.constraintValues["slug"] as? String == "a")
        if isIdle { continue }
        for object in conflict.conflictingObjects { try object.setValue("b", forKey: "slug") }
      }
    }
  }

  @Test func `a policy of one's own may give other values, and must do something`() throws {
    let policy = Renaming(merge: .errorMergePolicyType)
    let (context, _, new) = try scene(policy)
    policy.isIdle = true
    #expect(failure(context)?.code == .managedObjectConstraintMerge)
    #expect(context.insertedObjects.contains(new))
    policy.isIdle = false
    try context.save()
    #expect(policy.reports.count == 2)
    #expect(try slugs(context) == ["a", "b"])
  }

  // MARK: Constraints that come later

  private static func plain(unique: Bool, _ more: Bool = false) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Work") {
        Attribute("slug", .string)
        if more { Attribute("rating", .integer16) }
        if unique { UniquenessConstraint("slug") }
      }
    }
  }

  @Test func `a constraint is added to a store whose texts differ in their case`() throws {
    let scene = IndexScene()
    var context = try scene.open(try Self.plain(unique: false))
    for slug in ["a", "A", "straße", "STRASSE"] { try context.add("Work", ["slug": slug]) }
    try context.save()
    try scene.close(context)
    context = try scene.open(try Self.plain(unique: true))
    #expect(try StoreFacts(context).findings == [])
    #expect(try context.found("Work").objects.count == 4)
    try scene.close(context)
  }

  @Test func `a constraint is added when a store is opened, unless objects break it`() throws {
    let scene = IndexScene()
    var context = try scene.open(try Self.plain(unique: false))
    for slug in ["a", "b", "a", "c"] { try context.add("Work", ["slug": slug]) }
    try context.save()
    try scene.close(context)
    do {
      _ = try scene.open(try Self.plain(unique: true))
      Issue.record("opened in spite of duplicates")
    } catch let error as PersistenceError {
      #expect(error.code == .migrationConstraintViolation)
      #expect(error.message.contains("Work/p1 and Work/p3 have the same slug"), "\(error)")
    }
    #expect(try scene.trees() == [])
    context = try scene.open(try Self.plain(unique: false))
    context.delete(try context.found("Work", Key("slug") == "a").objects[0])
    try context.save()
    try scene.close(context)
    context = try scene.open(try Self.plain(unique: true))
    #expect(try StoreFacts(context).findings == [])
    try context.add("Work", ["slug": "c"])
    #expect(failure(context)?.code == .managedObjectConstraintMerge)
    try scene.close(context)
    #expect(try scene.trees() == ["indexes/1 3"])
  }

  @Test func `a migration to a constraint that objects break fails and names two of them`() throws {
    let scene = IndexScene()
    let versions = try #require(
      VersionedModel(versions: [
        .init("old", try Self.plain(unique: false)),
        .init("new", try Self.plain(unique: true, true)),
      ]))
    let context = try scene.open(try #require(versions.endingAt("old")))
    let works = try ["a", "b", "b"].map { try context.add("Work", ["slug": $0]) }
    try context.save()
    try scene.close(context)
    do {
      _ = try scene.open(versions, .migrating)
      Issue.record("migrated in spite of duplicates")
    } catch let error as PersistenceError {
      #expect(error.code == .migrationConstraintViolation)
      #expect(error.message.contains("Work/p2 and Work/p3 have the same slug"), "\(error)")
    }
    let again = try scene.open(try #require(versions.endingAt("old")))
    again.delete(try again.existingObject(with: works[2].objectID))
    try again.save()
    try scene.close(again)
    let new = try scene.open(versions, .migrating)
    let report = try #require(
      new.persistentStoreCoordinator?.persistentStores.first?.migrationReport)
    #expect(
      report.plan.indexes.map { "\($0.action) \($0.kind) \($0.name)" } == [
        "rebuilt uniquenessConstraint slug"
      ])
    #expect(try StoreFacts(new).findings == [])
  }

  // MARK: At random

  @Test func `a save fails exactly when two objects would share values`() throws {
    for seed in 0..<Amount.of(debug: 8, release: 40, exhaustive: 400) {
      var generator = SeededGenerator(seed: UInt64(seed))
      let context = try open()
      let long = String(repeating: "x", count: 250)
      let values = ["a", "b", "é", "e\u{301}", long + "1", long + "2", long + "1\u{0}"]
      for round in 0..<12 {
        var objects = try context.found("Item").objects
        for _ in 0...generator.below(3) {
          switch generator.below(objects.isEmpty ? 1 : 4) {
          case 0: objects.append(try context.add(["Book", "Film"][generator.below(2)], [:]))
          case 1: context.delete(objects.remove(at: generator.below(objects.count)))
          default: break
          }
          if let object = objects.randomElement(using: &generator) {
            let value = generator.below(9) == 0 ? nil : values[generator.below(values.count)]
            try object.setValue(value, forKey: "slug")
          }
        }
        let all = try objects.compactMap { try $0.value(forKey: "slug") as? String }
        let isUnique = Set(all).count == all.count
        let error = failure(context)
        #expect((error == nil) == isUnique, "seed \(seed), round \(round): \(all)")
        if let error { #expect(error.code == .managedObjectConstraintMerge) }
        if error != nil { context.rollback() }
        #expect(try StoreFacts(context).findings == [], "seed \(seed), round \(round)")
      }
    }
  }
}
