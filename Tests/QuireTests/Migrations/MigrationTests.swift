import Quire
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store of one model, and how it looks after its migration to another.
struct MigrationTrial {
  let check: MigrationCheck
  let context: ManagedObjectContext

  /// - Parameter fill: puts objects of the old model into a context.
  static func run<Result>(
    from old: ManagedObjectModel, to new: ManagedObjectModel,
    _ fill: (ManagedObjectContext) throws -> Void,
    then look: (MigrationTrial) throws -> Result
  ) throws -> Result {
    try withTemporaryFolder { folder in
      let fixture = folder.appending(path: "fixture.quire")
      let versions = try versioned(old, new)
      do {
        let coordinator = PersistentStoreCoordinator(
          versionedModel: try #require(versions.endingAt("old")))
        try coordinator.addPersistentStore(type: .quire, at: fixture)
        let context = GotchaHome.context(of: coordinator)
        try fill(context)
        try context.save()
      }
      let migrated = folder.appending(path: "migrated")
      try FileManager.default.createDirectory(at: migrated, withIntermediateDirectories: true)
      let check = try MigrationCheck(of: fixture, to: versions, in: migrated)
      try DeferredTrial(fixture, versions, folder).expectTheSame(as: check.store)
      let coordinator = PersistentStoreCoordinator(versionedModel: versions)
      try coordinator.addPersistentStore(type: .quire, at: check.store)
      let context = GotchaHome.context(of: coordinator)
      #expect(check.failures == [])
      return try look(MigrationTrial(check: check, context: context))
    }
  }

  static func versioned(
    _ old: ManagedObjectModel, _ new: ManagedObjectModel
  ) throws -> VersionedModel {
    try #require(VersionedModel(versions: [.init("old", old), .init("new", new)]))
  }

  func all(_ entity: String) throws -> [ManagedObject] {
    try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
  }

  func action(_ entity: String) -> MigrationPlan.Action? {
    check.plan?.entities.first { $0.name == entity }?.action
  }
}

private func insert(
  _ entity: String, _ values: [String: Any], _ context: ManagedObjectContext
) throws -> ManagedObject {
  let object = try EntityDescription.insertNewObject(forEntityName: entity, into: context)
  for (key, value) in values { try object.setValue(value, forKey: key) }
  return object
}

@Suite struct MigrationTests {
  private func model(@ModelBuilder _ entities: () -> [any ModelMember]) throws -> ManagedObjectModel
  {
    try ManagedObjectModel(ModelDeclaration(entities))
  }

  @Test(arguments: [false, true])
  func `members whose way back is transient stay`(_ isOrdered: Bool) throws {
    func model(isNew: Bool) throws -> ManagedObjectModel {
      try self.model {
        Entity("Folder") {
          Attribute("number", .integer32)
          if isNew { Attribute("rating", .integer32, default: 3) }
          Relationship("pages", toMany: "Page", inverse: "folder", ordered: isOrdered)
        }
        Entity("Page") {
          Attribute("number", .integer32)
          if isNew { Attribute("rating", .integer32, default: 3) }
          Relationship("folder", toOne: "Folder", inverse: "pages", transient: true)
        }
      }
    }
    try MigrationTrial.run(
      from: try model(isNew: false), to: try model(isNew: true)
    ) { context in
      let folders = try (0..<2).map { try insert("Folder", ["number": $0], context) }
      for number in 0..<6 {
        let page = try insert("Page", ["number": number], context)
        try folders[number % 2].addToRelationship(page, forKey: "pages")
      }
    } then: { trial in
      for folder in try trial.all("Folder") {
        let number = try #require(try folder.value(forKey: "number") as? Int)
        let value = try folder.value(forKey: "pages")
        let pages = value as? [ManagedObject] ?? Array(value as? Set<ManagedObject> ?? [])
        let numbers = try pages.map { try #require(try $0.value(forKey: "number") as? Int) }
        #expect((isOrdered ? numbers : numbers.sorted()) == [number, number + 2, number + 4])
      }
    }
  }

  @Test func `an added attribute has its default or nothing, a removed one is gone`() throws {
    let old = try model {
      Entity("A") {
        Attribute("kept", .string)
        Attribute("gone", .string)
      }
    }
    let new = try model {
      Entity("A") {
        Attribute("kept", .string)
        Attribute("required", .integer16, optional: false, default: 3)
        Attribute("optional", .string)
      }
    }
    try MigrationTrial.run(from: old, to: new) {
      for number in 0..<300 { _ = try insert("A", ["kept": "\(number)", "gone": "x"], $0) }
    } then: { trial in
      let objects = try trial.all("A")
      let kept = try objects.map { try $0.value(forKey: "kept") as? String }
      #expect(kept == (0..<300).map { "\($0)" })
      let required = try objects.map { try $0.value(forKey: "required") as? Int }
      #expect(required.allSatisfy { $0 == 3 })
      let optional = try objects.map { try $0.value(forKey: "optional") }
      #expect(optional.allSatisfy { $0 == nil })
      #expect(trial.action("A") == .rewritten)
    }
  }

  @Test func `an unchanged entity is kept when others are rewritten`() throws {
    let old = try model {
      Entity("Same") {
        Attribute("x", .string)
        Relationship("others", toMany: "Other", inverse: "same")
      }
      Entity("Other") { Relationship("same", toOne: "Same", inverse: "others") }
      Entity("Changed") { Attribute("y", .string) }
    }
    let new = try model {
      Entity("Same") {
        Attribute("x", .string)
        Relationship("others", toMany: "Other", inverse: "same")
      }
      Entity("Other") { Relationship("same", toOne: "Same", inverse: "others") }
      Entity("Changed") {
        Attribute("y", .string)
        Attribute("z", .integer64, default: 1)
      }
    }
    try MigrationTrial.run(from: old, to: new) {
      let same = try insert("Same", ["x": "x"], $0)
      _ = try insert("Other", ["same": same], $0)
      _ = try insert("Changed", ["y": "y"], $0)
    } then: { trial in
      #expect(trial.action("Same") == .kept && trial.action("Other") == .kept)
      #expect(trial.action("Changed") == .rewritten)
      #expect(trial.check.plan?.relationships.isEmpty == true)
    }
  }

  @Test
  func `renamed entities, attributes and relationships keep everything, and no row is written`()
    throws
  {
    let old = try model {
      Entity("Collection") {
        Attribute("title", .string)
        Relationship("works", toMany: "Work", inverse: "collection")
      }
      Entity("Work") { Relationship("collection", toOne: "Collection", inverse: "works") }
    }
    let new = try model {
      Entity("Album", renamedFrom: "Collection") {
        Attribute("name", .string, renamedFrom: "title")
        Relationship("artworks", toMany: "Work", inverse: "album", renamedFrom: "works")
      }
      Entity("Work") {
        Relationship("album", toOne: "Album", inverse: "artworks", renamedFrom: "collection")
      }
    }
    try MigrationTrial.run(from: old, to: new) {
      let collection = try insert("Collection", ["title": "Blue"], $0)
      for _ in 0..<3 { _ = try insert("Work", ["collection": collection], $0) }
    } then: { trial in
      let album = try #require(try trial.all("Album").first)
      #expect(try album.value(forKey: "name") as? String == "Blue")
      #expect((try album.value(forKey: "artworks") as? Set<ManagedObject>)?.count == 3)
      #expect(trial.action("Album") == .kept && trial.action("Work") == .kept)
    }
  }

  @Test func `an optional attribute that became required gets its default where it had nothing`()
    throws
  {
    let old = try model { Entity("A") { Attribute("slug", .string) } }
    let new = try model {
      Entity("A") { Attribute("slug", .string, optional: false, default: "unknown") }
    }
    try MigrationTrial.run(from: old, to: new) {
      _ = try insert("A", ["slug": "one"], $0)
      _ = try insert("A", [:], $0)
    } then: { trial in
      let slugs = try trial.all("A").map { try $0.value(forKey: "slug") as? String }
      #expect(slugs == ["one", "unknown"])
    }
  }

  @Test func `a required attribute that became optional needs no rewriting`() throws {
    let old = try model { Entity("A") { Attribute("x", .boolean, optional: false, default: true) } }
    let new = try model { Entity("A") { Attribute("x", .boolean) } }
    try MigrationTrial.run(from: old, to: new) {
      _ = try insert("A", [:], $0)
    } then: {
      #expect($0.action("A") == .kept)
    }
  }

  @Test func `a to-one becomes a many-to-many, seen from both sides`() throws {
    let old = try model {
      Entity("Artist") { Relationship("works", toMany: "Work", inverse: "artist") }
      Entity("Work") { Relationship("artist", toOne: "Artist", inverse: "works") }
    }
    let new = try model {
      Entity("Artist") { Relationship("works", toMany: "Work", inverse: "artists") }
      Entity("Work") {
        Relationship("artists", toMany: "Artist", inverse: "works", renamedFrom: "artist")
      }
    }
    try MigrationTrial.run(from: old, to: new) {
      let artists = [try insert("Artist", [:], $0), try insert("Artist", [:], $0)]
      for number in 0..<5 { _ = try insert("Work", ["artist": artists[number % 2]], $0) }
      _ = try insert("Work", [:], $0)
    } then: { trial in
      let counts = try trial.all("Artist").map {
        (try $0.value(forKey: "works") as? Set<ManagedObject>)?.count
      }
      #expect(counts == [3, 2])
      let artists = try trial.all("Work").map {
        (try $0.value(forKey: "artists") as? Set<ManagedObject>)?.count
      }
      #expect(artists == [1, 1, 1, 1, 1, 0])
    }
  }

  @Test func `a relationship whose destination became another entity starts empty`() throws {
    let old = try model {
      Entity("Artist") { Relationship("cover", toOne: "Work") }
      Entity("Work")
      Entity("Image")
    }
    let new = try model {
      Entity("Artist") { Relationship("cover", toOne: "Image") }
      Entity("Work")
      Entity("Image")
    }
    try MigrationTrial.run(from: old, to: new) {
      _ = try insert("Artist", ["cover": try insert("Work", [:], $0)], $0)
    } then: { trial in
      let cover = try trial.all("Artist").first?.value(forKey: "cover")
      #expect(cover == nil)
    }
  }

  @Test func `a relationship narrowed to a subentity keeps what fits`() throws {
    let old = try model {
      Entity("Show") { Relationship("images", toMany: "Image") }
      Entity("Image")
      Entity("Shot", parent: "Image")
    }
    let new = try model {
      Entity("Show") { Relationship("images", toMany: "Shot") }
      Entity("Image")
      Entity("Shot", parent: "Image")
    }
    try MigrationTrial.run(from: old, to: new) {
      let images = [try insert("Image", [:], $0), try insert("Shot", [:], $0)]
      _ = try insert("Show", ["images": images], $0)
    } then: { trial in
      let images = try trial.all("Show").first?.value(forKey: "images") as? Set<ManagedObject>
      #expect(images?.map(\.entity.name) == ["Shot"])
    }
  }

  @Test func `an inverse that is new is filled, one that is dropped leaves the other side alone`()
    throws
  {
    let old = try model {
      Entity("A") { Relationship("bs", toMany: "B") }
      Entity("B") { Relationship("c", toOne: "C", inverse: "bs") }
      Entity("C") { Relationship("bs", toMany: "B", inverse: "c") }
    }
    let new = try model {
      Entity("A") { Relationship("bs", toMany: "B", inverse: "a") }
      Entity("B") {
        Relationship("c", toOne: "C")
        Relationship("a", toOne: "A", inverse: "bs")
      }
      Entity("C")
    }
    try MigrationTrial.run(from: old, to: new) {
      let bs = [try insert("B", [:], $0), try insert("B", [:], $0)]
      _ = try insert("A", ["bs": bs], $0)
      _ = try insert("C", ["bs": bs], $0)
    } then: { trial in
      let owners = try trial.all("B").map { try $0.value(forKey: "a") }
      #expect(owners.count == 2 && owners.allSatisfy { $0 != nil })
      let cs = try trial.all("B").map { try $0.value(forKey: "c") }
      #expect(cs.count == 2 && cs.allSatisfy { $0 != nil })
    }
  }

  @Test func `an unordered relationship becomes ordered and back, with all its links`() throws {
    func version(ordered: Bool) throws -> ManagedObjectModel {
      try model {
        Entity("A") { Relationship("bs", toMany: "B", inverse: "as", ordered: ordered) }
        Entity("B") { Relationship("as", toMany: "A", inverse: "bs") }
      }
    }
    for isOrdered in [false, true] {
      try MigrationTrial.run(
        from: version(ordered: isOrdered), to: version(ordered: !isOrdered)
      ) {
        let bs = try (0..<4).map { [context = $0] _ in try insert("B", [:], context) }
        _ = try insert("A", ["bs": bs], $0)
        _ = try insert("A", ["bs": [bs[2], bs[1]]], $0)
      } then: { trial in
        let counts = try trial.all("B").map {
          (try $0.value(forKey: "as") as? Set<ManagedObject>)?.count
        }
        #expect(counts == [1, 2, 2, 1])
      }
    }
  }

  @Test func `entities get a parent, and share keys from then on`() throws {
    let old = try model {
      Entity("Contract") {
        Attribute("title", .string)
        Attribute("value", .decimal)
      }
      Entity("Letter") { Attribute("title", .string) }
    }
    let new = try model {
      Entity("Document", abstract: true) { Attribute("title", .string) }
      Entity("Contract", parent: "Document") { Attribute("value", .decimal) }
      Entity("Letter", parent: "Document")
      Entity("Folder") { Relationship("documents", toMany: "Document") }
    }
    try MigrationTrial.run(from: old, to: new) {
      for number in 0..<3 { _ = try insert("Contract", ["title": "c\(number)"], $0) }
      _ = try insert("Letter", ["title": "l"], $0)
    } then: { trial in
      #expect(try trial.all("Document").count == 4)
      #expect(trial.action("Contract") == .kept && trial.action("Letter") == .kept)
      let letter = try insert("Letter", [:], trial.context)
      try trial.context.save()
      #expect(letter.objectID.uriRepresentation().lastPathComponent == "p4")
      let folder = try insert("Folder", ["documents": try trial.all("Document")], trial.context)
      try trial.context.save()
      #expect((try folder.value(forKey: "documents") as? Set<ManagedObject>)?.count == 5)
    }
  }

  @Test func `an entity that goes takes its objects and all links to them along`() throws {
    let entities = [
      Entity("Image") { Relationship("works", toMany: "Work", inverse: "images") },
      Entity("Photo", parent: "Image"),
      Entity("Scan", parent: "Image"),
      Entity("Work") {
        Relationship("image", toOne: "Image")
        Relationship("images", toMany: "Image", inverse: "works")
      },
    ]
    let full = try ManagedObjectModel(entities: entities)
    let new = try ManagedObjectModel(entities: entities.filter { $0.name != "Scan" })
    try MigrationTrial.run(from: full, to: new) {
      let photo = try insert("Photo", [:], $0)
      let scan = try insert("Scan", [:], $0)
      _ = try insert("Work", ["image": photo, "images": [photo, scan]], $0)
      _ = try insert("Work", ["image": scan, "images": [scan]], $0)
    } then: { trial in
      let works = try trial.all("Work")
      let images = try works.map { try $0.value(forKey: "image") }
      #expect(images[0] != nil && images[1] == nil)
      #expect((try works[0].value(forKey: "images") as? Set<ManagedObject>)?.count == 1)
      #expect((try works[1].value(forKey: "images") as? Set<ManagedObject>)?.isEmpty == true)
      #expect(trial.check.plan?.entities(.removed).map(\.name) == ["Scan"])
    }
  }

  // MARK: Refusals

  private func refusal(
    _ old: ManagedObjectModel, _ new: ManagedObjectModel, objects: Int
  ) throws -> PersistenceError? {
    do {
      try MigrationTrial.run(from: old, to: new) { context in
        for _ in 0..<objects {
          _ = try insert(old.entities[0].name, [:], context)
        }
      } then: { _ in
      }
      return nil
    } catch let error as PersistenceError {
      return error
    }
  }

  @Test func `a change that cannot be inferred is refused, even without objects`() throws {
    let text = try model { Entity("A") { Attribute("x", .string) } }
    let number = try model { Entity("A") { Attribute("x", .integer64) } }
    let error = try #require(try refusal(text, number, objects: 1))
    #expect(error.code == .inferredMappingModel)
    #expect(error.message.contains("A.x"))
    let many = try model { Entity("A") { Relationship("as", toMany: "A") } }
    let one = try model { Entity("A") { Relationship("as", toOne: "A") } }
    #expect(try refusal(many, one, objects: 0)?.code == .inferredMappingModel)
  }

  @Test func `a required attribute without a default is an error only where there are objects`()
    throws
  {
    let old = try model { Entity("Note") { Attribute("x", .string) } }
    let new = try model {
      Entity("Note") {
        Attribute("x", .string)
        Attribute("body", .string, optional: false)
      }
    }
    let error = try #require(try refusal(old, new, objects: 1))
    #expect(error.code == .migration)
    #expect(error.message.contains("Note.body"))
    #expect(try refusal(old, new, objects: 0) == nil)
  }

  @Test func `a read-only store that needs migration is a clear error`() throws {
    let old = try model { Entity("A") { Attribute("x", .string) } }
    let new = try model { Entity("A") { Attribute("y", .string) } }
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let versions = try MigrationTrial.versioned(old, new)
      _ = try PersistentStoreCoordinator(
        versionedModel: try #require(versions.endingAt("old"))
      ).addPersistentStore(type: .quire, at: url)
      let bytes = try Data(contentsOf: url)
      var options = PersistentStoreOptions.migrating
      options.isReadOnly = true
      #expect {
        try PersistentStoreCoordinator(versionedModel: versions)
          .addPersistentStore(type: .quire, at: url, options: options)
      } throws: { code(of: $0) == .migration }
      let plan = try #require(try MigrationPlan.plan(forStoreAt: url, to: versions))
      #expect(plan.entities.map(\.action) == [.kept])
      #expect(try Data(contentsOf: url) == bytes)
    }
  }

  // Two coordinators of one process share an open file. One that still has the old model must not
  // write rows of it into the migrated store.
  @Test func `a coordinator whose store was migrated by another can neither read nor save`() throws
  {
    let old = try model { Entity("A") { Attribute("x", .string) } }
    let new = try model {
      Entity("A") {
        Attribute("x", .string)
        Attribute("y", .integer64, default: 1)
      }
    }
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "store.quire")
      let versions = try MigrationTrial.versioned(old, new)
      func open(_ versions: VersionedModel) throws -> ManagedObjectContext {
        let coordinator = PersistentStoreCoordinator(versionedModel: versions)
        try coordinator.addPersistentStore(type: .quire, at: url, options: .migrating)
        return GotchaHome.context(of: coordinator)
      }
      let context = try open(try #require(versions.endingAt("old")))
      let object = try insert("A", ["x": "before"], context)
      try context.save()
      let migrated = try open(versions)
      try object.setValue("after", forKey: "x")
      #expect { try context.save() } throws: {
        code(of: $0) == .persistentStoreIncompatibleVersionHash
      }
      #expect { try context.fetch(FetchRequest<ManagedObject>(entityName: "A")) } throws: {
        code(of: $0) == .persistentStoreIncompatibleVersionHash
      }
      let found = try migrated.fetch(FetchRequest<ManagedObject>(entityName: "A"))
      #expect(try found.first?.value(forKey: "x") as? String == "before")
      #expect(try StoreFacts(migrated).findings == [])
    }
  }
}
