import Quire
import QuireSimulation
import QuireStorage
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

private func place(_ elements: String...) -> Attribute {
  var attribute = Attribute("place", .composite)
  attribute.elements = elements.map { Attribute($0, .integer64) }
  return attribute
}

/// A change of a model, and a store that shows what becomes of it.
struct SingleChange: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let old: ManagedObjectModel
  let new: ManagedObjectModel
  let fill: @Sendable (ManagedObjectContext) throws -> Void

  init(
    _ name: String, @ModelBuilder from old: () -> [any ModelMember],
    @ModelBuilder to new: () -> [any ModelMember],
    fill: @escaping @Sendable (ManagedObjectContext) throws -> Void
  ) {
    testDescription = name
    self.old = try! ManagedObjectModel(ModelDeclaration(old))
    self.new = try! ManagedObjectModel(ModelDeclaration(new))
    self.fill = fill
  }

  static let all: [SingleChange] = [
    SingleChange("renamed") {
      Entity("Collection") {
        Attribute("title", .string)
        Relationship("works", toMany: "Work", inverse: "collection")
      }
      Entity("Work") { Relationship("collection", toOne: "Collection", inverse: "works") }
    } to: {
      Entity("Album", renamedFrom: "Collection") {
        Attribute("name", .string, renamedFrom: "title")
        Relationship("artworks", toMany: "Work", inverse: "album", renamedFrom: "works")
      }
      Entity("Work") {
        Relationship("album", toOne: "Album", inverse: "artworks", renamedFrom: "collection")
      }
    } fill: {
      for title in ["Blue", "Red"] {
        let collection = try TestStore.insert("Collection", ["title": title], $0)
        for _ in 0..<3 { _ = try TestStore.insert("Work", ["collection": collection], $0) }
      }
    },
    SingleChange("attributes that come, go and become required") {
      Entity("A") {
        Attribute("kept", .string)
        Attribute("gone", .string)
        Attribute("slug", .string)
        Attribute("loose", .boolean, optional: false, default: true)
        Attribute("date", .date)
        Attribute("id", .uuid)
        Attribute("price", .decimal)
        Attribute("bytes", .binaryData)
      }
    } to: {
      Entity("A") {
        Attribute("kept", .string)
        Attribute("slug", .string, optional: false, default: "unknown")
        Attribute("added", .integer16, optional: false, default: 3)
        Attribute("empty", .string)
        Attribute("loose", .boolean)
        Attribute("date", .date)
        Attribute("id", .uuid)
        Attribute("price", .decimal)
        Attribute("bytes", .binaryData)
      }
    } fill: { context in
      for number in 0..<40 {
        let object = try TestStore.insert("A", ["kept": "\(number)", "gone": "x"], context)
        if number.isMultiple(of: 2) { try object.setValue("s\(number)", forKey: "slug") }
        if number.isMultiple(of: 3) {
          try object.setValue(Date(timeIntervalSince1970: 1.5), forKey: "date")
          try object.setValue(UUID(), forKey: "id")
          try object.setValue(Decimal(string: "1.25"), forKey: "price")
          try object.setValue(Data([1, 2, 3]), forKey: "bytes")
        }
      }
    },
    SingleChange("an attribute that was a keyword of the expression language") {
      Entity("A") { Attribute("nil", .string) }
    } to: {
      Entity("A") { Attribute("nil", .string, optional: false, default: "none") }
    } fill: {
      _ = try TestStore.insert("A", ["nil": "me"], $0)
      _ = try TestStore.insert("A", [:], $0)
    },
    SingleChange("to-one to to-many") {
      Entity("Artist") { Relationship("works", toMany: "Work", inverse: "artist") }
      Entity("Work") { Relationship("artist", toOne: "Artist", inverse: "works") }
    } to: {
      Entity("Artist") { Relationship("works", toMany: "Work", inverse: "artists") }
      Entity("Work") {
        Relationship("artists", toMany: "Artist", inverse: "works", renamedFrom: "artist")
      }
    } fill: { context in
      let artists = try (0..<2).map { _ in try TestStore.insert("Artist", [:], context) }
      for number in 0..<5 {
        _ = try TestStore.insert("Work", ["artist": artists[number % 2]], context)
      }
      _ = try TestStore.insert("Work", [:], context)
    },
    SingleChange("another destination") {
      Entity("Artist") { Relationship("cover", toOne: "Work") }
      Entity("Work")
      Entity("Image")
    } to: {
      Entity("Artist") { Relationship("cover", toOne: "Image") }
      Entity("Work")
      Entity("Image")
    } fill: {
      _ = try TestStore.insert("Artist", ["cover": try TestStore.insert("Work", [:], $0)], $0)
    },
    SingleChange("a destination narrowed to a subentity") {
      Entity("Show") { Relationship("images", toMany: "Image") }
      Entity("Image")
      Entity("Shot", parent: "Image")
    } to: {
      Entity("Show") { Relationship("images", toMany: "Shot") }
      Entity("Image")
      Entity("Shot", parent: "Image")
    } fill: {
      let images = [
        try TestStore.insert("Image", [:], $0), try TestStore.insert("Shot", [:], $0),
      ]
      _ = try TestStore.insert("Show", ["images": images], $0)
    },
    SingleChange("inverses that come and go") {
      Entity("A") { Relationship("bs", toMany: "B") }
      Entity("B") { Relationship("c", toOne: "C", inverse: "bs") }
      Entity("C") { Relationship("bs", toMany: "B", inverse: "c") }
    } to: {
      Entity("A") { Relationship("bs", toMany: "B", inverse: "a") }
      Entity("B") {
        Relationship("c", toOne: "C")
        Relationship("a", toOne: "A", inverse: "bs")
      }
      Entity("C")
    } fill: { context in
      let bs = try (0..<4).map { _ in try TestStore.insert("B", [:], context) }
      _ = try TestStore.insert("A", ["bs": [bs[0], bs[1]]], context)
      // Two objects list one: the first keeps it.
      _ = try TestStore.insert("A", ["bs": [bs[1], bs[2]]], context)
      _ = try TestStore.insert("C", ["bs": bs], context)
    },
    SingleChange("two relationships that became each other's inverse") {
      Entity("A") { Relationship("bs", toMany: "B", ordered: true) }
      Entity("B") { Relationship("a", toOne: "A") }
    } to: {
      Entity("A") { Relationship("bs", toMany: "B", inverse: "a", ordered: true) }
      Entity("B") { Relationship("a", toOne: "A", inverse: "bs") }
    } fill: { context in
      let bs = try (0..<4).map { _ in try TestStore.insert("B", [:], context) }
      let first = try TestStore.insert("A", ["bs": [bs[3], bs[1]]], context)
      let second = try TestStore.insert("A", ["bs": [bs[1], bs[2]]], context)
      try bs[0].setValue(first, forKey: "a")
      try bs[2].setValue(first, forKey: "a")
      try bs[3].setValue(second, forKey: "a")
    },
    SingleChange("two to-one relationships that became each other's inverse") {
      Entity("A") { Relationship("b", toOne: "B") }
      Entity("B") { Relationship("a", toOne: "A") }
    } to: {
      Entity("A") { Relationship("b", toOne: "B", inverse: "a") }
      Entity("B") { Relationship("a", toOne: "A", inverse: "b") }
    } fill: { context in
      let bs = try (0..<2).map { _ in try TestStore.insert("B", [:], context) }
      let first = try TestStore.insert("A", ["b": bs[1]], context)
      _ = try TestStore.insert("A", ["b": bs[1]], context)
      _ = try TestStore.insert("A", ["b": bs[0]], context)
      try bs[0].setValue(first, forKey: "a")
    },
    SingleChange("unordered to ordered, on both sides") {
      Entity("A") { Relationship("bs", toMany: "B", inverse: "as") }
      Entity("B") { Relationship("as", toMany: "A", inverse: "bs") }
    } to: {
      Entity("A") { Relationship("bs", toMany: "B", inverse: "as", ordered: true) }
      Entity("B") { Relationship("as", toMany: "A", inverse: "bs") }
    } fill: { context in
      let bs = try (0..<4).map { _ in try TestStore.insert("B", [:], context) }
      _ = try TestStore.insert("A", ["bs": bs], context)
      _ = try TestStore.insert("A", ["bs": [bs[2], bs[1]]], context)
    },
    SingleChange("ordered on both sides, and a new attribute") {
      Entity("A") { Relationship("bs", toMany: "B", inverse: "as", ordered: true) }
      Entity("B") { Relationship("as", toMany: "A", inverse: "bs", ordered: true) }
    } to: {
      Entity("A") {
        Attribute("x", .integer64, default: 1)
        Relationship("bs", toMany: "B", inverse: "as", ordered: true)
      }
      Entity("B") { Relationship("as", toMany: "A", inverse: "bs", ordered: true) }
    } fill: { context in
      let bs = try (0..<4).map { _ in try TestStore.insert("B", [:], context) }
      let last = try TestStore.insert("A", [:], context)
      _ = try TestStore.insert("A", ["bs": [bs[3], bs[0], bs[2]]], context)
      try last.setValue([bs[2], bs[3]], forKey: "bs")
      let all = try #require(try bs[3].value(forKey: "as") as? [ManagedObject])
      try bs[3].setValue(Array(all.reversed()), forKey: "as")
    },
    SingleChange("a new parent") {
      Entity("Contract") {
        Attribute("title", .string)
        Attribute("value", .decimal)
      }
      Entity("Letter") { Attribute("title", .string) }
    } to: {
      Entity("Document", abstract: true) { Attribute("title", .string) }
      Entity("Contract", parent: "Document") { Attribute("value", .decimal) }
      Entity("Letter", parent: "Document")
      Entity("Folder") { Relationship("documents", toMany: "Document") }
    } fill: { context in
      for number in 0..<3 { _ = try TestStore.insert("Contract", ["title": "c\(number)"], context) }
      _ = try TestStore.insert("Letter", ["title": "l"], context)
    },
    SingleChange("an entity that goes") {
      Entity("Image") { Relationship("works", toMany: "Work", inverse: "images") }
      Entity("Photo", parent: "Image")
      Entity("Scan", parent: "Image")
      Entity("Work") {
        Relationship("image", toOne: "Image")
        Relationship("images", toMany: "Image", inverse: "works")
      }
    } to: {
      Entity("Image") { Relationship("works", toMany: "Work", inverse: "images") }
      Entity("Photo", parent: "Image")
      Entity("Work") {
        Relationship("image", toOne: "Image")
        Relationship("images", toMany: "Image", inverse: "works")
      }
    } fill: {
      let photo = try TestStore.insert("Photo", [:], $0)
      let scan = try TestStore.insert("Scan", [:], $0)
      _ = try TestStore.insert("Work", ["image": photo, "images": [photo, scan]], $0)
      _ = try TestStore.insert("Work", ["image": scan, "images": [scan]], $0)
    },
    SingleChange("a composite, and a new attribute") {
      Entity("A") {
        place("x", "y")
      }
    } to: {
      Entity("A") {
        place("x", "y")
        Attribute("z", .integer64, default: 1)
      }
    } fill: {
      _ = try TestStore.insert("A", ["place": ["x": 1]], $0)
    },
  ]
}

@Suite struct `Inferred mappings written out` {
  private func versions(_ change: SingleChange) throws -> VersionedModel {
    try MigrationTrial.versioned(change.old, change.new)
  }

  @Test(arguments: SingleChange.all)
  func `a manager makes the same of a store as opening it does`(change: SingleChange) throws {
    let model = try versions(change)
    let files = try TestStore.files(model, at: "old", change.fill)
    let opened = try TestStore.open(model, .migrating, in: SimulatedDisk(files))
    let expected = try StoreLines.lines(opened)
    let mapping = try MappingModel.inferredMappingModel(
      forSourceModel: change.old, destinationModel: change.new)
    #expect(mapping.matches(source: change.old, destination: change.new))
    let path = TestStore.url.path(percentEncoded: false)
    for usesRows in [true, false] {
      for destination in [path, "/other.quire"] {
        let disk = SimulatedDisk(files)
        let manager = MigrationManager(sourceModel: change.old, destinationModel: change.new)
        manager.usesStoreSpecificMigrationManager = usesRows
        try manager.migrateStore(from: path, to: destination, mapping, uuid: nil, in: disk)
        #expect(manager.migrationProgress == 1)
        let context = try TestStore.open(
          VersionedModel(change.new), at: URL(filePath: destination), in: disk)
        #expect(try StoreLines.lines(context) == expected, "rows: \(usesRows), \(destination)")
        if usesRows { #expect(try StoreLines.keys(context) == StoreLines.keys(opened)) }
        #expect(try StoreFacts(context).findings == [])
        let history = try #require(context.openStore?.migrationHistory)
        #expect(history.map(\.destinationChecksum) == [change.new.versionChecksum])
        #expect(history.map(\.sourceVersion) == ["old"])
        #expect(
          disk.files.keys.allSatisfy { !$0.contains("-part") && !$0.contains("-migrating") })
      }
    }
  }

  @Test func `each entity and property has a mapping that says what becomes of it`() throws {
    let old = try ManagedObjectModel {
      Entity("Same") { Attribute("x", .string) }
      Entity("Before") {
        Attribute("x", .string)
        Relationship("same", toOne: "Same")
      }
      Entity("Gone")
    }
    let new = try ManagedObjectModel {
      Entity("Same") { Attribute("x", .string) }
      Entity("After", renamedFrom: "Before") {
        Attribute("y", .string, renamedFrom: "x")
        Attribute("z", .string, default: "z")
        Relationship("same", toOne: "Same")
      }
      Entity("New")
    }
    let mapping = try MappingModel.inferredMappingModel(
      forSourceModel: old, destinationModel: new)
    let byName = mapping.entityMappingsByName
    #expect(
      byName.mapValues(\.mappingType) == [
        "SameToSame": .copyEntityMappingType, "BeforeToAfter": .transformEntityMappingType,
        "New": .addEntityMappingType, "Gone": .removeEntityMappingType,
      ])
    let after = try #require(byName["BeforeToAfter"])
    #expect(after.sourceEntityVersionHash == old.entity(named: "Before")?.versionHash)
    #expect(after.destinationEntityVersionHash == new.entity(named: "After")?.versionHash)
    #expect(after.attributeMappings.map(\.name) == ["y", "z"])
    guard case .source("x")? = after.attributeMappings[0].valueExpression,
      case .relationship("same")? = after.relationshipMappings[0].valueExpression
    else {
      Issue.record("\(after)")
      return
    }
    #expect(after.attributeMappings[1].valueExpression == nil)
  }

  @Test func `an edit is carried out`() throws {
    let change = SingleChange.all[0]
    let model = try versions(change)
    let files = try TestStore.files(model, at: "old", change.fill)
    var mapping = try MappingModel.inferredMappingModel(
      forSourceModel: change.old, destinationModel: change.new)
    let index = try #require(
      mapping.entityMappings.firstIndex { $0.destinationEntityName == "Album" })
    mapping.entityMappings[index].attributeMappings = [
      PropertyMapping("name") { "\(try $0.source?.value(forKey: "title") ?? "")!" }
    ]
    let disk = SimulatedDisk(files)
    let manager = MigrationManager(sourceModel: change.old, destinationModel: change.new)
    let path = TestStore.url.path(percentEncoded: false)
    try manager.migrateStore(from: path, to: path, mapping, uuid: nil, in: disk)
    let context = try TestStore.open(VersionedModel(change.new), in: disk)
    let albums = try context.fetch(FetchRequest<ManagedObject>(entityName: "Album"))
    #expect(try albums.map { try $0.value(forKey: "name") as? String } == ["Blue!", "Red!"])
    #expect(
      try albums.map { (try $0.value(forKey: "artworks") as? Set<ManagedObject>)?.count } == [3, 3])
    withExtendedLifetime(context) {}
  }

  @Test func `elements that a composite has no longer are left behind`() throws {
    let old = try ManagedObjectModel {
      Entity("A") {
        place("x", "y")
      }
    }
    let new = try ManagedObjectModel {
      Entity("A") {
        place("x", "z")
      }
    }
    let disk = SimulatedDisk(
      try TestStore.files(MigrationTrial.versioned(old, new), at: "old") {
        _ = try TestStore.insert("A", ["place": ["x": 1, "y": 2]], $0)
      })
    let manager = MigrationManager(sourceModel: old, destinationModel: new)
    manager.usesStoreSpecificMigrationManager = false
    let path = TestStore.url.path(percentEncoded: false)
    try manager.migrateStore(
      from: path, to: path,
      MappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new), uuid: nil,
      in: disk)
    let lines = try StoreLines.lines(TestStore.open(VersionedModel(new), in: disk))
    #expect(lines == ["A#0 place=[\"x\": 1]"])
  }

  @Test func `changes that cannot be inferred are an error that lists all of them`() throws {
    let old = try ManagedObjectModel {
      Entity("A") {
        Attribute("x", .string)
        Attribute("y", .string)
      }
    }
    let new = try ManagedObjectModel {
      Entity("A") {
        Attribute("x", .integer64)
        Attribute("y", .date)
      }
    }
    let error = #expect(throws: PersistenceError.self) {
      try MappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    }
    #expect(error?.code == .inferredMappingModel)
    #expect(error?.message.contains("A.x") == true && error?.message.contains("A.y") == true)
  }

  @Test func `the relationship selector of Xcode's mapping models finds successors in any mapping`()
    throws
  {
    let change = try #require(
      SingleChange.all.first { $0.testDescription == "an entity that goes" })
    let model = try versions(change)
    let files = try TestStore.files(model, at: "old", change.fill)
    var mapping = try MappingModel.inferredMappingModel(
      forSourceModel: change.old, destinationModel: change.new)
    let index = try #require(
      mapping.entityMappings.firstIndex { $0.destinationEntityName == "Work" })
    for (place, name) in ["image", "images"].enumerated() {
      mapping.entityMappings[index].relationshipMappings[place] = PropertyMapping(
        name,
        valueExpression: .expression(
          try FetchExpression(
            format: """
              FUNCTION($manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:", \
              "\(name)", $source.\(name))
              """)))
    }
    let disk = SimulatedDisk(files)
    let manager = MigrationManager(sourceModel: change.old, destinationModel: change.new)
    let path = TestStore.url.path(percentEncoded: false)
    try manager.migrateStore(from: path, to: path, mapping, uuid: nil, in: disk)
    let expected = try StoreLines.lines(
      TestStore.open(model, .migrating, in: SimulatedDisk(files)))
    #expect(
      try StoreLines.lines(TestStore.open(VersionedModel(change.new), in: disk)) == expected)
  }
}
