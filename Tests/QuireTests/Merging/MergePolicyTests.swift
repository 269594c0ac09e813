import Quire
import Testing

@Suite(.serialized) struct MergePolicyTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  /// Does what a test says, and keeps what it was told.
  private final class OwnPolicy: MergePolicy {
    var calls: [[MergeConflict.Report]] = []
    let body: (OwnPolicy, [MergeConflict]) throws -> Void

    init(
      _ type: MergePolicyType = .mergeByPropertyObjectTrumpMergePolicyType,
      _ body: @escaping (OwnPolicy, [MergeConflict]) throws -> Void
    ) {
      self.body = body
      super.init(merge: type)
    }

    override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
      calls.append(list.map(\.report))
      try body(self, list)
    }

    func resolveByType(_ list: [MergeConflict]) throws {
      try super.resolve(optimisticLockingConflicts: list)
    }
  }

  private struct Refusal: Error {}

  private func withPair(
    _ home: GotchaHome, _ policy: MergePolicy,
    _ body: (MergeScene, _ there: Artist, _ here: Artist) throws -> Void
  ) throws {
    try home.withContext { context in
      let artist = try #require(try context.insert("Artist", ["name": "a"]) as? Artist)
      artist.born = 1
      try context.save()
      let scene = try MergeScene(context, policy)
      try body(scene, artist, try scene.same(artist))
    }
  }

  @Test func `constants have Core Data's names and numbers`() {
    #expect(MergePolicyType.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
    let policies: [MergePolicy] = [
      .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]
    #expect(policies.map(\.mergeType.rawValue) == [0, 1, 2, 3, 4])
    #expect(
      [
        ErrorMergePolicy, MergeByPropertyStoreTrumpMergePolicy,
        MergeByPropertyObjectTrumpMergePolicy, OverwriteMergePolicy, RollbackMergePolicy,
      ].map(\.mergeType.rawValue) == [0, 1, 2, 3, 4])
    #expect(ManagedObjectContext().mergePolicy.mergeType == .errorMergePolicyType)
  }

  @Test(arguments: GotchaHome.allCases)
  func `a conflict shows what was fetched, what the store has, and what is here`(
    _ home: GotchaHome
  ) throws {
    let policy = OwnPolicy { policy, list in
      let conflict = try #require(list.first)
      #expect(list.count == 1)
      #expect(conflict.objectSnapshot["name"] as? String == "a")
      #expect(conflict.objectSnapshot["born"] as? Int == 1)
      #expect(conflict.persistedSnapshot?["name"] as? String == "there")
      #expect(conflict.persistedSnapshot?["spouse"] is ManagedObjectID)
      #expect(conflict.cachedSnapshot?.count == conflict.persistedSnapshot?.count)
      #expect((conflict.oldVersionNumber, conflict.newVersionNumber) == (1, 2))
      #expect(try conflict.sourceObject.value(forKey: "name") as? String == "here")
      try policy.resolveByType(list)
      #expect(try conflict.sourceObject.value(forKey: "name") as? String == "here")
      #expect(try conflict.sourceObject.value(forKey: "spouse") != nil)
    }
    try withPair(home, policy) { scene, there, here in
      there.name = "there"
      there.spouse = Artist(context: scene.there)
      here.name = "here"
      try scene.save()
      #expect(policy.calls.map { $0.map(\.changedProperties) } == [[["name"]]])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a policy may add up what both have counted`(_ home: GotchaHome) throws {
    for isAfter in [true, false] {
      let policy = OwnPolicy { policy, list in
        for conflict in list {
          let object = conflict.sourceObject
          let mine = try #require(try object.value(forKey: "born") as? Int)
          let old = try #require(conflict.objectSnapshot["born"] as? Int)
          let stored = try #require(conflict.persistedSnapshot?["born"] as? Int)
          if isAfter { try policy.resolveByType([conflict]) }
          try object.setValue(stored + mine - old, forKey: "born")
        }
      }
      try withPair(home, policy) { scene, there, here in
        there.born = 11
        there.name = "there"
        here.born = 101
        try scene.save()
        #expect(try scene.stored(there, "born") as? Int == 111)
        #expect(here.born == 111 && here.name == "there")
      }
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a value set by a merge policy wins even if it equals the fetched one`(_ home: GotchaHome)
    throws
  {
    let policy = OwnPolicy { _, list in
      for conflict in list {
        try conflict.sourceObject.setValue(conflict.objectSnapshot["born"], forKey: "born")
      }
    }
    try withPair(home, policy) { scene, there, here in
      there.born = 2
      here.name = "here"
      try scene.save()
      #expect(try scene.stored(there, "born") as? Int == 1)
      #expect(try scene.stored(there, "name") as? String == "here")
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a policy that throws leaves context and store as they were`(_ home: GotchaHome) throws {
    let policy = OwnPolicy { policy, list in
      try policy.resolveByType(list)
      for conflict in list { try conflict.sourceObject.setValue("policy", forKey: "name") }
      try list[0].sourceObject.managedObjectContext?.insert("Artist", ["name": "policy"])
      throw Refusal()
    }
    try withPair(home, policy) { scene, there, here in
      let artwork = Artwork(context: scene.here)
      artwork.artist = here
      here.name = "here"
      let doomed = try #require(try scene.there.insert("Artist", ["name": "doomed"]) as? Artist)
      try scene.there.save()
      let sameDoomed = try scene.same(doomed)
      scene.here.delete(sameDoomed)
      there.name = "there"
      scene.there.delete(doomed)
      try scene.there.save()
      #expect(throws: Refusal.self) { try scene.here.save() }
      #expect(policy.calls.count == 1)
      #expect(here.name == "here" && here.artworks == [artwork] && artwork.artist === here)
      #expect(scene.here.insertedObjects == [artwork] && artwork.isInserted)
      #expect(scene.here.updatedObjects == [here] && scene.here.deletedObjects == [sameDoomed])
      #expect(here.changedValues().keys.sorted() == ["artworks", "name"])
      #expect(try scene.stored(there, "name") as? String == "there")
      #expect(try StoreFacts(scene.here).findings == [])
      // All of it can be saved when somebody decides otherwise, and nobody holds the store.
      scene.here.mergePolicy = .mergeByPropertyObjectTrump
      try scene.save()
      #expect(try scene.stored(there, "name") as? String == "here")
      #expect(try scene.storedNames(there, "artworks", "title").count == 1)
      #expect(try scene.fresh().all(Artist.self).count == 1)
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a value set by a merge policy is validated before it is saved`(_ home: GotchaHome) throws {
    let policy = OwnPolicy { policy, list in
      try policy.resolveByType(list)
      try list[0].sourceObject.setValue(nil, forKey: "name")
    }
    try withPair(home, policy) { scene, there, here in
      there.born = 2
      here.name = "here"
      try scene.there.save()
      #expect {
        try scene.here.save()
      } throws: {
        code(of: $0) == .validationMissingMandatoryProperty
      }
      #expect(here.name == "here" && here.born == 1 && here.hasChanges)
      #expect(try scene.stored(there, "name") as? String == "a")
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `a policy that saves another context is told that it cannot`(_ home: GotchaHome) throws {
    var other: ManagedObjectContext?
    let policy = OwnPolicy { _, _ in
      try other?.insert("Artist")
      try other?.save()
    }
    try withPair(home, policy) { scene, there, here in
      other = try scene.fresh()
      there.born = 2
      here.name = "here"
      try scene.there.save()
      #expect { try scene.here.save() } throws: { code(of: $0) == .persistentStoreSave }
      scene.here.mergePolicy = .overwrite
      try scene.save()
    }
    other = nil
  }

  @Test(arguments: GotchaHome.allCases)
  func `a policy may treat each conflict by another policy`(_ home: GotchaHome) throws {
    let policy = OwnPolicy { _, list in
      for (index, conflict) in list.enumerated() {
        let policy: MergePolicy = index == 0 ? .rollback : index == 1 ? .overwrite : .error
        if index < 2 { try policy.resolve(optimisticLockingConflicts: [conflict]) }
      }
    }
    try home.withContext { context in
      let all = try ["a", "b", "c"].map { try context.insert("Artist", ["name": $0, "born": 1]) }
      try context.save()
      let scene = try MergeScene(context, policy)
      let same = try all.map(scene.same)
      for object in all { try object.setValue(2, forKey: "born") }
      for object in same { try object.setValue("here", forKey: "name") }
      try scene.save()
      #expect(try all.map { try scene.stored($0, "name") as? String } == ["a", "here", "here"])
      #expect(try all.map { try scene.stored($0, "born") as? Int } == [2, 1, 2])
    }
  }

  @Test(arguments: GotchaHome.allCases)
  func `an object that is watched is in conflict although it is not changed here`(
    _ home: GotchaHome
  ) throws {
    try withPair(home, .error) { scene, there, here in
      scene.here.detectConflicts(for: here)
      try scene.here.insert("Tag", ["word": "rests on the artist"])
      there.name = "there"
      try scene.there.save()
      let error = #expect(throws: PersistenceError.self) { try scene.here.save() }
      #expect(error?.conflicts.map(\.objectID) == [there.objectID])
      #expect(error?.conflicts.map(\.changedProperties) == [[]])
      scene.here.mergePolicy = .mergeByPropertyObjectTrump
      try scene.here.save()
      #expect(here.name == "there")
      // Only the next save.
      there.name = "again"
      try scene.there.save()
      scene.here.mergePolicy = .error
      try scene.here.insert("Tag", ["word": "another"])
      try scene.here.save()
      // One that is gone does not stay in the way.
      scene.here.refresh(here, mergeChanges: false)
      #expect(here.name == "again")
      scene.here.detectConflicts(for: here)
      scene.there.delete(there)
      try scene.there.save()
      try scene.here.insert("Tag", ["word": "last"])
      #expect { try scene.here.save() } throws: { code(of: $0) == .managedObjectMerge }
      scene.here.mergePolicy = .rollback
      try scene.here.save()
    }
  }

  @Test func `a save that has lost all its changes writes nothing`() throws {
    try withPair(.memory, .rollback) { scene, there, here in
      there.name = "there"
      here.name = "here"
      try scene.save()
      #expect(here.name == "there" && !here.hasChanges)
      here.born = 5
      try scene.here.save()
      #expect(try scene.stored(there, "born") as? Int == 5)
    }
  }

  @Test func `rows that were never read are merged when they are changed`() throws {
    try withPair(.memory, .overwrite) { scene, there, _ in
      let late = try scene.fresh()
      late.mergePolicy = .overwrite
      let fault = try #require(late.object(with: there.objectID))
      #expect(fault.isFault)
      late.delete(fault)
      there.name = "there"
      try scene.there.save()
      try late.save()
      #expect(try scene.fresh().all(Artist.self).isEmpty)
    }
  }
}
