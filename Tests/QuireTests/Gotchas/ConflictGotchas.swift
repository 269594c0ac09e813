import Quire
import Testing

/// Where object stores go wrong with conflicts. The numbers are those of `docs/core-data.md`.
@Suite(.serialized) struct ConflictGotchas {
  typealias Artist = SmallGallery.Artist

  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `24 – a merge by property compares with what was fetched, not with the store`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { context in
      let artist = try #require(try context.insert("Artist", ["name": "a"]) as? Artist)
      artist.born = 1
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let same = try scene.same(artist)
      artist.born = 2
      // Set to what was fetched: no change, though it differs from what the store will have.
      same.born = 1
      same.name = "b"
      try scene.save()
      let isDropped = policy == .rollback
      #expect(try scene.stored(artist, "name") as? String == (isDropped ? "a" : "b"))
      #expect(try scene.stored(artist, "born") as? Int == (policy == .overwrite ? 1 : 2))
      #expect(same.born == (policy == .overwrite ? 1 : 2))
    }
  }

  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `25 – object trump means that memory wins, property by property`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { context in
      let artist = try #require(try context.insert("Artist", ["name": "a"]) as? Artist)
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let same = try scene.same(artist)
      artist.name = "there"
      same.name = "here"
      try scene.save()
      let winner = policy.isForMemory ? "here" : "there"
      #expect(try scene.stored(artist, "name") as? String == winner)
      #expect(same.name == winner && !same.hasChanges)
    }
  }

  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `26 – an object that was deleted underneath stays deleted, its change is dropped`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { context in
      let artist = try #require(try context.insert("Artist", ["name": "a"]) as? Artist)
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let same = try scene.same(artist)
      let other = try scene.here.insert("Tag", ["word": "saved all the same"])
      context.delete(artist)
      same.name = "too late"
      try scene.save()
      #expect(try scene.fresh().all(Artist.self).isEmpty)
      #expect(try scene.stored(other, "word") as? String == "saved all the same")
      #expect(!same.hasChanges && same.objectID == artist.objectID)
      #expect(try same.value(forKey: "name") == nil)
      #expect(throws: PersistenceError.self) {
        try scene.here.existingObject(with: same.objectID)
      }
    }
  }

  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `26 – an object deleted here and changed there goes if memory wins, else comes back`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { context in
      let artist = try #require(try context.insert("Artist", ["name": "a"]) as? Artist)
      try context.insert("Artwork", ["title": "whole", "artist": artist])
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let same = try scene.same(artist)
      artist.name = "b"
      scene.here.delete(same)
      try scene.save()
      let names = try scene.fresh().values(of: "name", "Artist")
      #expect(names == (policy.isForMemory ? [] : ["b"]))
      if policy.isForMemory {
        // With it what its delete rule takes along.
        #expect(try scene.fresh().all(SmallGallery.Artwork.self).isEmpty)
      } else {
        #expect(try scene.storedNames(artist, "artworks", "title") == ["whole"])
        #expect(same.managedObjectContext === scene.here && !same.isDeleted && same.name == "b")
      }
    }
  }

  @Test(arguments: GotchaHome.own)
  func `31 – a constraint of a parent spans its subentities`(_ home: GotchaHome) throws {
    let model = try ManagedObjectModel {
      Entity("Work") {
        Attribute("slug", .string)
        UniquenessConstraint("slug")
      }
      Entity("Print", parent: "Work")
      Entity("Etching", parent: "Print") { Attribute("plates", .integer16) }
      Entity("Essay") { Attribute("slug", .string) }
    }
    try home.withContext(model, classes: []) { context in
      for entity in ["Print", "Essay"] { try context.insert(entity, ["slug": "a"]) }
      try context.save()
      for entity in ["Work", "Print", "Etching"] {
        let second = try context.insert(entity, ["slug": "a"])
        let error = #expect(throws: PersistenceError.self) { try context.save() }
        #expect(error?.code == .managedObjectConstraintMerge)
        try second.setValue("b \(entity)", forKey: "slug")
        try context.save()
      }
      // Another root shares nothing.
      try context.insert("Essay", ["slug": "a"])
      try context.save()
    }
  }
}
