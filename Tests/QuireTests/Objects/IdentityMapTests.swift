import Quire
import QuireSimulation
import QuireTesting
import Testing

/// Which object stands for which row, as objects come and go in any order.
struct IdentityMapTests {
  private static let count = 3_000

  /// A context of a store with artworks in it, and their IDs.
  private func scene() throws -> (context: ManagedObjectContext, ids: [ManagedObjectID]) {
    let writer = try SmallGallery.context()
    for index in 0..<Self.count {
      SmallGallery.Artwork(context: writer).title = "artwork \(index)"
      // Keys with gaps, and of two entities.
      if index % 7 == 0 { SmallGallery.Artist(context: writer).name = "artist \(index)" }
    }
    try writer.save()
    for artwork in try writer.all(SmallGallery.Artwork.self)
    where artwork.title?.hasSuffix("9") ?? false {
      writer.delete(artwork)
    }
    try writer.save()
    let context = SmallGallery.sibling(of: writer)
    return (context, try writer.all(SmallGallery.Artwork.self).map(\.objectID))
  }

  @Test(arguments: Amount.of(debug: [1], release: [1, 2, 3, 4]) as [UInt64])
  func `whoever comes and goes, each row has the one object that somebody holds`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let (context, ids) = try scene()
    try #require(ids.count > 1_000)
    var held: [ManagedObjectID: ManagedObject] = [:]
    for _ in 0..<Amount.of(debug: 8_000, release: 20_000) {
      // Runs and single ones.
      let start = Int.random(in: 0..<ids.count, using: &random)
      let length = Bool.random(using: &random) ? 1 : Int.random(in: 1...40, using: &random)
      let run = ids[start..<min(ids.count, start + length)]
      if Bool.random(using: &random) {
        for id in run {
          let object = try #require(context.object(with: id))
          if let other = held[id] { #expect(object === other) }
          #expect(object.objectID == id)
          held[id] = object
        }
      } else {
        for id in run { held[id] = nil }
      }
      if held.count > 400 { held = [:] }
    }
    #expect(context.registeredObjects == Set(held.values))
    for id in ids { #expect(context.registeredObject(for: id) === held[id]) }
  }

  @Test func `a fetch returns the objects that are there and makes the others`() throws {
    let (context, ids) = try scene()
    let held = ids.enumerated().filter { $0.offset % 3 == 0 }.map {
      context.object(with: $0.element)
    }
    let fetched = try context.all(SmallGallery.Artwork.self)
    #expect(fetched.map(\.objectID) == ids)
    for (index, object) in held.enumerated() { #expect(fetched[3 * index] === object) }
    // An optimiser lets go of what is not used any more.
    withExtendedLifetime((held, fetched)) {
      #expect(context.registeredObjects.count == ids.count)
    }
  }

  @Test func `objects outlive the fetch's array, their context and each other`() throws {
    var scene: (context: ManagedObjectContext, ids: [ManagedObjectID])? = try scene()
    var kept: [SmallGallery.Artwork] = []
    var titles: [String?] = []
    do {
      let all = try #require(try scene?.context.all(SmallGallery.Artwork.self))
      for index in stride(from: 5, to: all.count, by: 97) {
        kept.append(all[index])
        titles.append(all[index].title)
      }
    }
    #expect(scene?.context.registeredObjects.count == kept.count)
    #expect(kept.map(\.title) == titles)
    scene = nil
    #expect(kept.map(\.title) == titles)
    while !kept.isEmpty {
      kept.removeFirst()
      titles.removeFirst()
      #expect(kept.map(\.title) == titles)
    }
  }

  @Test func `a context that goes clears the changes of all that are held`() throws {
    weak var other: SmallGallery.Artist?
    var kept: [SmallGallery.Artwork] = []
    do {
      let (context, _) = try scene()
      kept = Array(try context.all(SmallGallery.Artwork.self).prefix(20))
      let artist = try #require(try context.all(SmallGallery.Artist.self).first)
      kept[7].artist = artist
      other = artist
      #expect(other != nil)
    }
    #expect(other == nil)
    #expect(kept.allSatisfy { $0.managedObjectContext == nil })
  }
}
