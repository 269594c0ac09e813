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
}
