import Quire
import QuireTesting
import Testing

/// What sequences of random operations have found in which two contexts change relationships.
@Suite struct LockstepMeetingFindTests {
  typealias Artist = SmallGallery.Artist

  /// A fetch found an object without any values: it was among the changed ones, and another context
  /// had deleted it.
  @Test(
    arguments: GotchaHome.allCases, [(false, false), (false, true), (true, false), (true, true)])
  func `an object that is gone when it is refreshed is found by no fetch`(
    _ home: GotchaHome, _ flags: (isChanged: Bool, isAlone: Bool)
  ) throws {
    let (isChanged, isAlone) = flags
    try home.withTwoContexts { one, two in
      let artist = try #require(try one.insert("Artist", ["name": "a"]) as? Artist)
      try one.save()
      artist.name = isChanged ? "b" : "a"
      try #require(one.updatedObjects == [artist])
      two.delete(try two.existingObject(with: artist.objectID))
      try two.save()
      if isAlone { one.refresh(artist, mergeChanges: true) } else { one.refreshAllObjects() }
      #expect(try one.fetch(FetchRequest<Artist>()).isEmpty)
      #expect(try one.count(for: FetchRequest<Artist>()) == 0)
      #expect(one.hasChanges == isChanged)
      if isChanged {
        #expect(throws: PersistenceError.self) { try one.save() }
        one.mergePolicy = .mergeByPropertyObjectTrump
      }
      try one.save()
      #expect(!one.hasChanges)
      #expect(try one.fetch(FetchRequest<Artist>()).isEmpty)
    }
  }

  /// Keys of new objects count from 1 in every process, and those of stored ones in every store: a
  /// child took one for the other. Seen where both are low, as where nothing was made before.
  @Test func `a parent's new object has no members of a stored one in a child`() async {
    await #expect(processExitsWith: .success) {
      try GotchaHome.memory.withTwoContexts { one, two in
        let new = (0..<4).map { _ in SmallGallery.Artwork(context: one) }
        let tag = try two.insert("Tag", ["word": "a"])
        for _ in 0..<12 { try two.insert("Artwork", ["tags": Set([tag])]) }
        try two.save()
        let child = one.newChildContext()
        for object in new {
          let same = try #require(child.object(with: object.objectID))
          #expect(try same.value(forKey: "tags") as? Set<ManagedObject> == [])
          let grandchild = child.newChildContext()
          let third = try #require(grandchild.object(with: object.objectID))
          #expect(try third.objectIDs(forRelationshipNamed: "tags") == [])
        }
      }
    }
  }
}
