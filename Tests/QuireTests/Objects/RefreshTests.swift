import Quire
import QuireSimulation
import Testing

// Refreshing one object drops its unsaved changes. A change of a relationship is one fact that two
// objects show: dropped on one side alone, it was saved by the other, and the store's two sides
// disagreed.
@Suite struct RefreshTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork
  typealias Show = SmallGallery.Show
  typealias Room = SmallGallery.Room

  private func tag(_ word: String, in context: ManagedObjectContext) throws -> ManagedObject {
    let tag = try EntityDescription.insertNewObject(forEntityName: "Tag", into: context)
    try tag.setValue(word, forKey: "word")
    return tag
  }

  @Test func `dropping a change of a many-to-many drops both sides of it`() throws {
    let context = try SmallGallery.context()
    let artwork = Artwork(context: context)
    let (kept, added) = (try tag("kept", in: context), try tag("added", in: context))
    try artwork.setValue(Set([kept]), forKey: "tags")
    try context.save()
    try artwork.setValue(Set([added]), forKey: "tags")
    context.refresh(artwork, mergeChanges: false)
    #expect(artwork.isFault && !artwork.hasChanges)
    #expect(try artwork.value(forKey: "tags") as? Set<ManagedObject> == [kept])
    #expect(try added.value(forKey: "artworks") as? Set<ManagedObject> == [])
    #expect(try kept.value(forKey: "artworks") as? Set<ManagedObject> == [artwork])
    try context.save()
    #expect(try StoreFacts(context).findings == [])
    #expect(try artwork.value(forKey: "tags") as? Set<ManagedObject> == [kept])
  }

  @Test func `dropping a marriage brings the former partners together again`() throws {
    let context = try SmallGallery.context()
    let people = (0..<4).map { _ in Artist(context: context) }
    people[0].spouse = people[1]
    people[2].spouse = people[3]
    try context.save()
    people[0].spouse = people[2]
    context.refresh(people[0], mergeChanges: false)
    #expect(people[0].spouse === people[1] && people[1].spouse === people[0])
    #expect(people[2].spouse === people[3] && people[3].spouse === people[2])
    #expect(people.allSatisfy { !$0.hasPersistentChangedValues })
    try context.save()
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `a member returns to its owner when a refresh drops the change that took it`() throws {
    let context = try SmallGallery.context()
    let (one, two) = (Artist(context: context), Artist(context: context))
    let artwork = Artwork(context: context)
    artwork.artist = one
    try context.save()
    two.artworks = [artwork]
    context.refresh(two, mergeChanges: false)
    #expect(artwork.artist === one && one.artworks == [artwork] && two.artworks.isEmpty)
    artwork.artist = two
    context.refresh(artwork, mergeChanges: false)
    #expect(artwork.artist === one && one.artworks == [artwork] && two.artworks.isEmpty)
    try context.save()
    #expect([one, two, artwork].map(\.version) == [1, 1, 1], "nothing was written")
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `dropped changes of an order leave both orders as they were`() throws {
    let context = try SmallGallery.context()
    let shows = (0..<2).map { _ in Show(context: context) }
    let artists = (0..<3).map { _ in Artist(context: context) }
    shows[0].artists = [artists[2], artists[0], artists[1]]
    try context.save()
    shows[1].artists = [artists[0]]
    shows[0].artists = [artists[1]]
    context.refresh(shows[0], mergeChanges: false)
    #expect(shows[0].artists == [artists[2], artists[0], artists[1]])
    #expect(artists[2].shows == [shows[0]] && artists[0].shows == Set(shows))
    artists[2].shows = []
    context.refresh(artists[2], mergeChanges: false)
    #expect(shows[0].artists == [artists[2], artists[0], artists[1]], "at its old place")
    try context.save()
    #expect(shows[0].version == 1)
    #expect(try StoreFacts(context).findings == [])
  }

  @Test func `an object whose partner is deleted stays without it`() throws {
    let context = try SmallGallery.context()
    let (one, two) = (Artist(context: context), Artist(context: context))
    one.spouse = two
    one.name = "one"
    try context.save()
    one.name = "changed"
    context.delete(two)
    context.processPendingChanges()
    context.refresh(one, mergeChanges: false)
    #expect(one.name == "one" && one.spouse == nil)
    try context.save()
    #expect(one.spouse == nil)
    #expect(try StoreFacts(context).findings == [])
  }

  private static let links: [(entity: String, relationship: String, destination: String)] = [
    ("Artist", "artworks", "Artwork"), ("Artist", "spouse", "Artist"),
    ("Artist", "shows", "Show"), ("Artwork", "artist", "Artist"), ("Artwork", "tags", "Tag"),
    ("Artwork", "frame", "Frame"), ("Frame", "artwork", "Artwork"), ("Tag", "artworks", "Artwork"),
    ("Show", "artists", "Artist"), ("Show", "rooms", "Room"), ("Room", "show", "Show"),
  ]

  @Test(arguments: 1...Amount.of(debug: 3, release: 8, exhaustive: 200) as ClosedRange<UInt64>)
  func `both sides of every relationship agree, whatever is dropped`(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let context = try SmallGallery.context()
    var objects: [String: [ManagedObject]] = [:]
    for (name, count) in [("Artist", 4), ("Artwork", 5), ("Frame", 3), ("Tag", 3), ("Show", 3)] {
      objects[name] = try (0..<count).map { _ in
        try EntityDescription.insertNewObject(forEntityName: name, into: context)
      }
    }
    for tag in objects["Tag"]! { try tag.setValue("word", forKey: "word") }
    objects["Room"] = try (0..<4).map { number in
      let room = try EntityDescription.insertNewObject(forEntityName: "Room", into: context)
      try room.setValue(objects["Show"]![number % 3], forKey: "show")
      return room
    }
    try context.save()
    var saves = 0
    for step in 0..<Amount.of(sampled: 200, exhaustive: 600) {
      switch generator.below(10) {
      case 0..<6:
        let link = Self.links[generator.below(Self.links.count)]
        let owners = objects[link.entity]!, others = objects[link.destination]!
        let owner = owners[generator.below(owners.count)]
        let relationship = try #require(owner.entity.relationship(named: link.relationship))
        if relationship.isToMany {
          let count = generator.below(others.count + 1)
          let members = Array(others.shuffled(using: &generator).prefix(count))
          try owner.setValue(members, forKey: link.relationship)
        } else {
          let other = others[generator.below(others.count)]
          try owner.setValue(generator.below(4) == 0 ? nil : other, forKey: link.relationship)
        }
      case 6..<9:
        let all = objects.keys.sorted().flatMap { objects[$0]! }
        context.refresh(all[generator.below(all.count)], mergeChanges: false)
      default:
        do {
          try context.save()
          saves += 1
        } catch { context.rollback() }
        #expect(try StoreFacts(context).findings == [], "seed \(seed), step \(step)")
      }
      try expectAgreement(objects.values.flatMap { $0 }, "seed \(seed), step \(step)")
    }
    #expect(saves > 0)
  }

  private func expectAgreement(_ objects: [ManagedObject], _ place: String) throws {
    func destinations(_ object: ManagedObject, _ name: String) throws -> [ManagedObject] {
      switch try object.value(forKey: name) {
      case let set as Set<ManagedObject>: Array(set)
      case let list as [ManagedObject]: list
      case let one as ManagedObject: [one]
      default: []
      }
    }
    for object in objects {
      for relationship in object.entity.relationships {
        guard let inverse = relationship.inverse else { continue }
        for other in try destinations(object, relationship.name) {
          let name = "\(object.entity.name).\(relationship.name)"
          #expect(try destinations(other, inverse).contains(object), "\(place): \(name)")
        }
      }
    }
  }
}
