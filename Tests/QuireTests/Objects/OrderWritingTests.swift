import Quire
import QuireModel
import QuireSimulation
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a save writes of an ordered relationship that has changed.
@Suite struct OrderWritingTests {
  private static let path = "/folder/store.quire"
  private static let model = try! ManagedObjectModel {
    Entity("Album") {
      Attribute("name", .string)
      Relationship("photos", toMany: "Photo", inverse: "albums", ordered: true)
    }
    Entity("Photo") {
      Attribute("number", .integer32)
      Relationship("albums", toMany: "Album", inverse: "photos")
    }
  }

  private func open(_ files: MemoryFileSystem) throws -> ManagedObjectContext {
    try TestStore.open(VersionedModel(Self.model), at: URL(filePath: Self.path), in: files)
  }

  private func album(_ context: ManagedObjectContext) throws -> ManagedObject {
    try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Album")).first)
  }

  private func photos(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    var request = FetchRequest<ManagedObject>(entityName: "Photo")
    request.sortDescriptors = [FetchSortDescriptor(key: "number")]
    return try context.fetch(request)
  }

  private func make(_ count: Int, in files: MemoryFileSystem) throws {
    let context = try open(files)
    let photos = try (0..<count).map { try context.insert("Photo", ["number": $0]) }
    let album = try context.insert("Album")
    try album.setValue(photos, forKey: "photos")
    try context.save()
    try TestStore.close(context)
  }

  /// The leaves of the relationship's order, and how many of them the newest commit wrote.
  private func leaves(_ files: MemoryFileSystem) throws -> (all: Int, written: Int) {
    let anatomy = try StoreAnatomy(of: Self.path, in: files)
    let pages = try (0..<anatomy.pageCount).map { try anatomy.summary(of: $0) }
    // The other tree of links, those of Photo.albums, has the second number.
    let order = pages.filter { $0.tree == "links/1" && $0.type == "index leaf" }
    let newest = pages.map(\.commit.rawValue).max() ?? 0
    return (order.count, order.count { $0.commit.rawValue == newest })
  }

  // All links of the album were removed and written again.
  @Test func `a member that comes to the end, or leaves, writes its place alone`() throws {
    let files = MemoryFileSystem()
    try make(2_000, in: files)
    for change in 0..<3 {
      let context = try open(files)
      let album = try album(context)
      let members = try album.mutableOrderedSetValue(forKey: "photos")
      switch change {
      case 0: try members.add(context.insert("Photo", ["number": 2_000]))
      case 1: try members.remove(photos(context)[1_000])
      default: try members.moveObjects(at: [500], to: 501)
      }
      try context.save()
      try TestStore.close(context)
      let (all, written) = try leaves(files)
      #expect(all > 5 && written <= 2, "change \(change): \(written) of \(all)")
    }
  }

  // All links of the list were written at each such save: the new member's link was at the end when
  // its order was looked at, and the others had no room in front of them.
  @Test func `a member that comes to the front writes its place alone, once there is room`() throws
  {
    let files = MemoryFileSystem()
    try make(2_000, in: files)
    let context = try open(files)
    let album = try album(context)
    for number in 2_000..<2_010 {
      let new = try context.insert("Photo", ["number": number])
      try album.insertIntoRelationship(new, at: 0, forKey: "photos")
      try context.save()
    }
    try TestStore.close(context)
    let (all, written) = try leaves(files)
    #expect(all > 5 && written <= 2, "\(written) of \(all)")
    let again = try open(files)
    let shown = try #require(
      try self.album(again).value(forKey: "photos") as? [ManagedObject])
    #expect(
      try shown.map { try $0.value(forKey: "number") as? Int }
        == Array((2_000..<2_010).reversed()) + Array(0..<2_000))
    try TestStore.close(again)
  }

  @Test func `an order that is changed over and over is what was made of it`() throws {
    for seed: UInt64 in 1...Amount.of(debug: 2, release: 20, exhaustive: 200) {
      var random = SeededGenerator(seed: seed)
      let files = MemoryFileSystem()
      try make(12, in: files)
      var expected = Array(0..<12)
      for step in 0..<Amount.of(debug: 12, release: 40) {
        let context = try open(files)
        let (album, photos) = (try album(context), try photos(context))
        let others = photos.indices.filter { !expected.contains($0) }
        switch random.below(5) {
        case 0 where !others.isEmpty:
          let place = random.below(expected.count + 1)
          expected.insert(others[random.below(others.count)], at: place)
        case 1 where !expected.isEmpty: expected.remove(at: random.below(expected.count))
        case 2 where !expected.isEmpty:
          let moved = expected.remove(at: random.below(expected.count))
          expected.insert(moved, at: random.below(expected.count + 1))
        case 3: expected.append(contentsOf: others)
        default: expected.shuffle(using: &random)
        }
        try album.setValue(expected.map { photos[$0] }, forKey: "photos")
        try context.save()
        try TestStore.close(context)
        let again = try open(files)
        let shown = try #require(
          try self.album(again).value(forKey: "photos") as? [ManagedObject])
        #expect(
          try shown.map { try $0.value(forKey: "number") as? Int } == expected,
          "seed \(seed), step \(step)")
        #expect(try StoreFacts(again).findings == [], "seed \(seed), step \(step)")
        try TestStore.close(again)
      }
    }
  }
}
