import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Derived attributes that read derived attributes: of their object, and along a chain of objects.
@Suite struct DerivedOrderTests {
  private static func stored(
    _ key: String, of object: ManagedObject
  ) throws -> Any? {
    let context = SmallGallery.sibling(of: try #require(object.managedObjectContext))
    return try context.existingObject(with: object.objectID).value(forKey: key)
  }

  /// Whichever of them comes first by name. It was nil, or a save behind.
  @Test(arguments: GotchaHome.allCases)
  func `an attribute derived from another derived attribute is saved with it`(
    _ home: GotchaHome
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Attribute("after", .integer64, derivedFrom: "length:(plain) * 10")
        Attribute("plain", .string, derivedFrom: "canonical:(name)")
        Attribute("z", .integer64, derivedFrom: "after + 1")
      }
    }
    try home.withContext(model, classes: []) { context in
      let artist = try context.insert(
        "Artist", ["name": "\u{C9}lise", "plain": "nobody", "after": 7])
      try context.save()
      #expect(try artist.value(forKey: "after") as? Int == 50)
      #expect(try Self.stored("after", of: artist) as? Int == 50)
      #expect(try Self.stored("z", of: artist) as? Int == 51)
      try artist.setValue("Ana", forKey: "name")
      try artist.setValue(99, forKey: "after")
      try context.save()
      #expect(try Self.stored("plain", of: artist) as? String == "ana")
      #expect(try Self.stored("after", of: artist) as? Int == 30)
      #expect(try Self.stored("z", of: artist) as? Int == 31)
    }
  }

  @Test(arguments: GotchaHome.own)
  func `a value derived from another object's derived value follows what that is made of`(
    _ home: GotchaHome
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("name", .string)
        Attribute("plain", .string, derivedFrom: "canonical:(name)")
        Relationship("works", toMany: "Work", inverse: "artist")
        Relationship("group", toOne: "Group", inverse: "artists")
      }
      Entity("Work") {
        Attribute("artistName", .string, derivedFrom: "artist.plain")
        Relationship("artist", toOne: "Artist", inverse: "works")
      }
      Entity("Group") {
        Attribute(
          "anas", .integer64, derivedFrom: "SUBQUERY(artists, $a, $a.plain == 'ana').@count")
        Relationship("artists", toMany: "Artist", inverse: "group")
      }
    }
    try home.withContext(model, classes: []) { context in
      let group = try context.insert("Group")
      let artist = try context.insert("Artist", ["name": "\u{C9}lise", "group": group])
      let work = try context.insert("Work", ["artist": artist])
      try context.save()
      #expect(try Self.stored("artistName", of: work) as? String == "elise")
      #expect(try Self.stored("anas", of: group) as? Int == 0)
      try artist.setValue("Ana", forKey: "name")
      try context.save()
      #expect(try Self.stored("artistName", of: work) as? String == "ana")
      #expect(try Self.stored("anas", of: group) as? Int == 1)
    }
  }

  @Test(arguments: GotchaHome.own)
  func `attributes derived in steps from a count of members follow the members`(_ home: GotchaHome)
    throws
  {
    let model = try ManagedObjectModel {
      Entity("Artist") {
        Attribute("a", .string, derivedFrom: "TERNARY(busy == YES, 'busy', 'free')")
        Attribute("busy", .boolean, derivedFrom: "TERNARY(workCount > 1, YES, NO)")
        Attribute("workCount", .integer64, derivedFrom: "works.@count")
        Relationship("works", toMany: "Work", inverse: "artist")
      }
      Entity("Work") {
        Attribute("isOfBusyArtist", .boolean, derivedFrom: "artist.busy")
        Relationship("artist", toOne: "Artist", inverse: "works")
      }
    }
    try home.withContext(model, classes: []) { context in
      let artist = try context.insert("Artist")
      let first = try context.insert("Work", ["artist": artist])
      try context.save()
      #expect(try Self.stored("busy", of: artist) as? Bool == false)
      #expect(try Self.stored("isOfBusyArtist", of: first) as? Bool == false)
      let second = try context.insert("Work", ["artist": artist])
      try context.save()
      #expect(try Self.stored("busy", of: artist) as? Bool == true)
      #expect(try Self.stored("a", of: artist) as? String == "busy")
      #expect(try Self.stored("isOfBusyArtist", of: first) as? Bool == true)
      context.delete(second)
      try context.save()
      #expect(try Self.stored("a", of: artist) as? String == "free")
      #expect(try Self.stored("isOfBusyArtist", of: first) as? Bool == false)
    }
  }

  private static let folders = try! ManagedObjectModel {
    Entity("Folder") {
      Attribute("bytes", .integer64, default: 1)
      Attribute("size", .integer64, derivedFrom: "bytes + folders.@sum.size")
      Attribute("depth", .integer64, derivedFrom: "TERNARY(parent == nil, 1, parent.depth + 1)")
      Relationship("parent", toOne: "Folder", inverse: "folders")
      Relationship("folders", toMany: "Folder", inverse: "parent", deleteRule: .cascade)
    }
  }

  /// They were given up after sixteen steps.
  @Test(arguments: GotchaHome.own, [false, true])
  func `values reach the ends of a chain, however long`(
    _ home: GotchaHome, isRootFirst: Bool
  ) throws {
    try home.withContext(Self.folders, classes: []) { context in
      let count = 150
      let chain = try (0..<count).map { _ in try context.insert("Folder") }
      for (parent, child) in zip(chain, chain.dropFirst()) {
        let (parent, child) = isRootFirst ? (parent, child) : (child, parent)
        try child.setValue(parent, forKey: "parent")
      }
      try context.save()
      let root = try #require(isRootFirst ? chain.first : chain.last)
      let leaf = try #require(isRootFirst ? chain.last : chain.first)
      #expect(try Self.stored("size", of: root) as? Int == count)
      #expect(try Self.stored("depth", of: leaf) as? Int == count)
      try leaf.setValue(1000, forKey: "bytes")
      try context.save()
      #expect(try Self.stored("size", of: root) as? Int == count + 999)
      try chain[count / 2].setValue(nil, forKey: "parent")
      try context.save()
      let rest = isRootFirst ? count / 2 : count - count / 2 - 1
      #expect(try Self.stored("size", of: root) as? Int == rest)
      #expect(try Self.stored("depth", of: leaf) as? Int == count - rest)
    }
  }

  @Test func `values that never come to rest are an error of the save, which can be mended`() throws
  {
    let model = try ManagedObjectModel {
      Entity("Node") {
        Attribute("x", .integer64, derivedFrom: "TERNARY(next == nil, 0, next.x + 1)")
        Relationship("next", toOne: "Node", inverse: "former")
        Relationship("former", toOne: "Node", inverse: "next")
      }
    }
    let context = try ManagedObjectContext.stubbed(model)
    let (a, b) = (try context.insert("Node"), try context.insert("Node"))
    try a.setValue(b, forKey: "next")
    try context.save()
    #expect(try Self.stored("x", of: a) as? Int == 1)
    try b.setValue(a, forKey: "next")
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .invalidExpression && error?.entityName == "Node")
    #expect(error?.message.contains("x of Node is derived from objects that lead back") == true)
    try b.setValue(nil, forKey: "next")
    try context.save()
    #expect(try Self.stored("x", of: a) as? Int == 1)
  }

  @Test(arguments: [false, true])
  func `a migration works out what is derived from derived attributes`(isDeferred: Bool) throws {
    func model(isDerived: Bool) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        Entity("Artist") {
          Attribute("name", .string)
          if isDerived {
            Attribute("a", .integer64, derivedFrom: "b * 10")
            Attribute("b", .integer64, derivedFrom: "TERNARY(workCount > 2, length:(plain), 0)")
            Attribute("plain", .string, derivedFrom: "canonical:(name)")
            Attribute("workCount", .integer64, derivedFrom: "works.@count")
          }
          Relationship("works", toMany: "Work", inverse: "artist")
        }
        Entity("Work") { Relationship("artist", toOne: "Artist", inverse: "works") }
      }
    }
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      let former = PersistentStoreCoordinator(managedObjectModel: try model(isDerived: false))
      let store = try former.addPersistentStore(type: .quire, at: url)
      let context = GotchaHome.context(of: former)
      let artist = try context.insert("Artist", ["name": "\u{C9}lise"])
      for _ in 0..<3 { try context.insert("Work", ["artist": artist]) }
      try context.save()
      try former.remove(store)

      let versions = try #require(
        try VersionedModel(
          versions: [.init("1", model(isDerived: false)), .init("2", model(isDerived: true))]))
      let coordinator = PersistentStoreCoordinator(versionedModel: versions)
      var options = PersistentStoreOptions.migrating
      options.defersLightweightMigration = isDeferred
      let migrated = try coordinator.addPersistentStore(type: .quire, at: url, options: options)
      #expect(try GotchaHome.context(of: coordinator).values(of: "a", "Artist") == ["50"])
      if isDeferred { try coordinator.finishDeferredLightweightMigration() }
      #expect(try GotchaHome.context(of: coordinator).values(of: "a", "Artist") == ["50"])
      try coordinator.remove(migrated)
    }
  }
}
