import Quire
import Testing

/// Relationships that two contexts have changed: what both sides are after a merge.
@Suite(.serialized) struct MergedRelationshipTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork
  typealias Show = SmallGallery.Show
  typealias Room = SmallGallery.Room

  private func artists(_ names: String..., in context: ManagedObjectContext) throws -> [Artist] {
    try names.map { try #require(try context.insert("Artist", ["name": $0]) as? Artist) }
  }

  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `a to-one relationship that both have changed leads where the winner says`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { context in
      let owners = try artists("a", "b", "c", in: context)
      let artwork = Artwork(context: context)
      artwork.artist = owners[0]
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let same = try scene.same(artwork)
      let sameOwners = try owners.map(scene.same)
      artwork.artist = owners[1]
      same.artist = sameOwners[2]
      try scene.save()
      let winner = policy.isForMemory ? 2 : 1
      for index in 0..<3 {
        let count = try scene.storedNames(owners[index], "artworks", "title").count
        #expect(count == (index == winner ? 1 : 0))
        #expect(sameOwners[index].artworks == (index == winner ? [same] : []))
      }
      #expect(same.artist === sameOwners[winner])
    }
  }

  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `of two marriages with one artist one is left, and both sides know of it`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { context in
      let pair = try artists("a", "b", "c", in: context)
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let same = try pair.map(scene.same)
      pair[0].spouse = pair[1]
      same[1].spouse = same[2]
      try scene.save()
      #expect(same[0].spouse === (policy.isForMemory ? nil : same[1]))
      #expect(same[1].spouse === (policy.isForMemory ? same[2] : same[0]))
      #expect(same[2].spouse === (policy.isForMemory ? same[1] : nil))
      #expect(try scene.storedNames(pair[0], "shows") == [])
    }
  }

  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `who was left for another artist knows of it, though nothing of them was changed here`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { context in
      let three = try artists("a", "b", "c", in: context)
      three[0].spouse = three[1]
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let same = try three.map(scene.same)
      #expect(same[1].spouse === same[0] && same[2].spouse == nil)
      three[0].spouse = three[2]
      three[0].born = 1861
      try context.save()
      same[0].born = 1862
      try scene.save()
      // The whole object is written over, also what was not changed.
      let (left, right) = policy == .overwrite ? (2, 1) : (1, 2)
      #expect(same[0].spouse === same[right])
      #expect(same[left].spouse == nil)
      #expect(same[right].spouse === same[0])
    }
  }

  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `a set that both have changed has what either has added, and not what either has removed`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { context in
      let tags = try ["a", "b", "c", "d", "e"].map { try context.insert("Tag", ["word": $0]) }
      let artwork = try context.insert("Artwork", ["tags": Set(tags[0...2])])
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let (same, sameTags) = (try scene.same(artwork), try tags.map(scene.same))
      try artwork.setValue(Set([tags[1], tags[2], tags[3]]), forKey: "tags")
      try same.setValue(Set([sameTags[0], sameTags[1], sameTags[4]]), forKey: "tags")
      try scene.save()
      let expected = ["b", "d", "e"]
      #expect(try scene.storedNames(artwork, "tags", "word") == expected)
      let shown = try #require(try same.value(forKey: "tags") as? Set<ManagedObject>)
      #expect(try shown.map { "\(try $0.value(forKey: "word")!)" }.sorted() == expected)
    }
  }

  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `an order that both have changed is the winner's, with the members of both`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { context in
      let all = try artists("a", "b", "c", "d", in: context)
      let show = Show(context: context)
      show.artists = [all[0], all[1]]
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let (same, sameAll) = (try scene.same(show), try all.map(scene.same))
      show.artists = [all[0], all[2], all[1]]
      same.artists = [sameAll[1], sameAll[0], sameAll[3]]
      try scene.save()
      let expected: [String] =
        switch policy {
        case .objectTrump, .overwrite: ["b", "a", "c", "d"]
        case .storeTrump: ["a", "c", "b", "d"]
        case .rollback: ["a", "c", "b"]
        }
      #expect(try scene.storedNames(show, "artists") == expected)
      #expect(same.artists.map(\.name) == expected)
    }
  }

  /// Those that came were put in the order of their places in the store, which nobody sees.
  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `members that come to an order that others have changed stand to each other as here`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { context in
      let (rooms, shows) = try rooms(4, in: context)
      shows[1].rooms = [rooms[2], rooms[3]]
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let sameRooms = try rooms.map(scene.same)
      let same = try scene.same(shows[1])
      shows[1].rooms = [rooms[3], rooms[2]]
      same.rooms = [2, 3, 1, 0].map { sameRooms[$0] }
      try scene.save()
      let expected = policy.isForMemory ? ["2", "3", "1", "0"] : ["3", "2", "1", "0"]
      #expect(try scene.storedNames(shows[1], "rooms", "number") == expected)
      #expect(same.rooms.map { "\($0.number)" } == expected)
    }
  }

  // A store of another make has no snapshot, where the order as it was here would still be read.
  @Test(arguments: GotchaHome.own)
  func `members that are brought back to an order stand to each other as here`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { context in
      let (rooms, shows) = try rooms(4, in: context)
      shows[0].rooms = [rooms[3], rooms[1], rooms[2], rooms[0]]
      try context.save()
      let scene = try MergeScene(context, .overwrite)
      let (same, sameRooms) = (try scene.same(shows[0]), try rooms.map(scene.same))
      for room in sameRooms[0...2] { room.number += 10 }
      shows[1].rooms = [rooms[0], rooms[1], rooms[2]]
      for room in rooms[0...2] { room.number += 20 }
      try scene.save()
      #expect(same.rooms.map(\.number) == [3, 11, 12, 10])
      #expect(try scene.storedNames(shows[0], "rooms", "number") == ["3", "11", "12", "10"])
    }
  }

  private func rooms(_ count: Int, in context: ManagedObjectContext) throws -> ([Room], [Show]) {
    let shows = (0..<2).map { _ in Show(context: context) }
    let rooms = (0..<count).map { number in
      let room = Room(context: context)
      room.number = number
      room.show = shows[0]
      return room
    }
    try context.save()
    return (rooms, shows)
  }

  // A store of another make has no snapshot: its delete rule sees the members that have come.
  @Test(arguments: GotchaHome.own, MergingPolicy.allCases)
  func `members that came to an owner deleted here go with it, or keep it`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { context in
      let artist = try artists("a", in: context)[0]
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let same = try scene.same(artist)
      try context.insert("Artwork", ["title": "new", "artist": artist])
      scene.here.delete(same)
      try scene.save()
      let titles = try scene.fresh().values(of: "title", "Artwork", "artist.name == 'a'")
      #expect(titles == (policy.isForMemory ? [] : ["new"]))
      #expect(try scene.fresh().all(Artist.self).count == (policy.isForMemory ? 0 : 1))
      #expect(try scene.fresh().all(Artwork.self).count == (policy.isForMemory ? 0 : 1))
    }
  }

  @Test(arguments: [DeleteRule.nullify, .cascade], MergingPolicy.allCases)
  func `a deletion overwrites no value of a member that came there`(
    _ rule: DeleteRule, _ policy: MergingPolicy
  ) throws {
    let model = try ManagedObjectModel {
      Entity("Node") {
        Attribute("number", .integer64)
        Relationship("owner", toOne: "Node", inverse: "members")
        Relationship("members", toMany: "Node", inverse: "owner", deleteRule: rule)
        Relationship("front", toOne: "Node", inverse: "back", deleteRule: rule)
        Relationship("back", toOne: "Node", inverse: "front")
      }
    }
    for key in ["owner", "back"] {
      let context = try ManagedObjectContext.stubbed(model)
      let (owner, member) = (try context.insert("Node"), try context.insert("Node", ["number": 1]))
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let sameOwner = try scene.same(owner)
      // Read before the other save.
      let sameMember = try scene.same(member)
      #expect(sameMember.objectID == member.objectID)
      try member.setValue(owner, forKey: key)
      try member.setValue(2, forKey: "number")
      scene.here.delete(sameOwner)
      try scene.save()
      let left = try scene.fresh().fetch(FetchRequest<ManagedObject>(entityName: "Node"))
      let numbers = try left.map { try $0.value(forKey: "number") as? Int }
      switch (policy.isForMemory, rule) {
      case (true, .cascade): #expect(numbers == [])
      case (true, _): #expect(numbers == [2], "\(key)")
      case (false, _): #expect(Set(numbers) == [nil, 2], "\(key)")
      }
    }
  }

  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `a relationship to an object that is gone is dropped`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { context in
      let all = try artists("a", "b", in: context)
      let (lookalike, show) = (Artwork(context: context), Show(context: context))
      try context.save()
      let scene = try MergeScene(context, policy.policy)
      let (same, sameShow) = (try all.map(scene.same), try scene.same(show))
      let artwork = Artwork(context: scene.here)
      artwork.artist = same[0]
      artwork.lookalike = try scene.same(lookalike)
      artwork.title = "kept"
      sameShow.artists = same
      context.delete(all[0])
      context.delete(lookalike)
      try scene.save()
      #expect(artwork.artist == nil && artwork.lookalike == nil)
      #expect(try scene.stored(artwork, "title") as? String == "kept")
      #expect(try scene.storedNames(show, "artists") == ["b"])
    }
  }

  @Test func `an unchanged object that a merge changes is read anew before`() throws {
    let context = try SmallGallery.context()
    let all = try artists("a", "b", "c", in: context)
    try context.save()
    let scene = try MergeScene(context, .mergeByPropertyObjectTrump)
    let same = try all.map(scene.same)
    // Unchanged here, married there, and to lose its spouse by the merge.
    all[2].spouse = all[1]
    same[0].spouse = same[1]
    try scene.save()
    #expect(same[0].spouse === same[1] && same[1].spouse === same[0] && same[2].spouse == nil)
    let fresh = try scene.fresh()
    #expect(try fresh.named("c")?.spouse == nil)
    #expect(try fresh.named("b")?.spouse?.name == "a")
  }
}
