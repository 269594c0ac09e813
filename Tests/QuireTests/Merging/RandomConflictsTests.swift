import Quire
import QuireSimulation
import QuireStorage
import QuireTesting
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Contexts of one store that change the same few objects, each in its own time.
///
/// What must hold whoever wins: no increment that was saved is lost, none is counted that was not,
/// and after every save both sides of every relationship agree.
private struct Contest {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork
  typealias Show = SmallGallery.Show

  /// A context, what it holds, and what it has added to counters since its last save.
  final class Player {
    let context: ManagedObjectContext
    var held: [ManagedObject] = []
    var pending: [String: Int] = [:]
    init(_ context: ManagedObjectContext) { self.context = context }
  }

  var generator: SeededGenerator
  let players: [Player]
  var counters: [String: Int] = [:]
  var saves = 0
  var conflicts = 0
  var refusals = 0

  init(seed: UInt64, in first: ManagedObjectContext) throws {
    generator = SeededGenerator(seed: seed)
    for number in 0..<5 {
      let artist = Artist(context: first)
      artist.name = "artist \(number)"
      artist.born = 0
      for _ in 0..<3 { Artwork(context: first).artist = artist }
      counters[artist.name] = 0
      let tag = try EntityDescription.insertNewObject(forEntityName: "Tag", into: first)
      try tag.setValue("tag \(number)", forKey: "word")
      if number < 3 { Show(context: first).name = "show \(number)" }
    }
    try first.save()
    players = [first, SmallGallery.sibling(of: first), SmallGallery.sibling(of: first)].map(
      Player.init)
  }

  mutating func random<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[generator.below(elements.count)]
  }

  /// An object of the entity, as the player sees it; often one that it has held for long.
  mutating func any<Object: ManagedObject>(
    _ type: Object.Type, _ player: Player
  ) throws -> Object? {
    let old = player.held.compactMap { $0 as? Object }.filter {
      $0.managedObjectContext === player.context && !$0.isDeleted
    }
    if generator.below(2) == 0, let object = random(old) { return object }
    let found = random(try player.context.all(type))
    if let found, generator.below(2) == 0 { player.held.append(found) }
    return found
  }

  mutating func step() throws {
    let player = players[generator.below(players.count)]
    switch generator.below(20) {
    case 0..<5:
      guard let artist = try any(Artist.self, player) else { return }
      artist.born = (artist.born ?? 0) + 1
      player.pending[artist.name, default: 0] += 1
    case 5..<8:
      try any(Artwork.self, player)?.artist = try any(Artist.self, player)
    case 8:
      try any(Artist.self, player)?.spouse = try any(Artist.self, player)
    case 9, 10:
      guard let show = try any(Show.self, player) else { return }
      var artists = try player.context.all(Artist.self)
      artists.shuffle(using: &generator)
      show.artists = Array(artists.prefix(generator.below(6)))
    case 11, 12:
      guard let artwork = try any(Artwork.self, player) else { return }
      let tags = try player.context.fetch(FetchRequest<ManagedObject>(entityName: "Tag"))
        .filter { _ in generator.below(2) == 0 }
      try artwork.setValue(Set(tags), forKey: "tags")
    case 13:
      let artwork = Artwork(context: player.context)
      artwork.artist = try any(Artist.self, player)
      artwork.lookalike = try any(Artwork.self, player)
    case 14:
      if let artwork = try any(Artwork.self, player) { player.context.delete(artwork) }
    case 15:
      player.held = []
    default:
      try save(player)
    }
  }

  mutating func save(_ player: Player) throws {
    do {
      try player.context.save()
      saves += 1
      for (name, count) in player.pending { counters[name, default: 0] += count }
      player.pending = [:]
      #expect(try StoreFacts(player.context).findings == [])
    } catch let error as PersistenceError {
      if error.code == .managedObjectMerge {
        conflicts += 1
        #expect(!error.conflicts.isEmpty)
      } else {
        // More than four artists in a show.
        refusals += 1
        #expect(error.code.rawValue < 1700, "\(error)")
      }
      player.context.rollback()
      player.pending = [:]
      if generator.below(4) > 0 { player.context.refreshAllObjects() }
      if generator.below(4) == 0 { player.held = [] }
    }
  }

  func compareCounters() throws {
    let fresh = SmallGallery.sibling(of: players[0].context)
    for artist in try fresh.all(Artist.self) {
      #expect(artist.born.map(Int.init) == counters[artist.name], "\(artist.name)")
      #expect(artist.spouse == nil || artist.spouse?.spouse === artist)
      for artwork in artist.artworks { #expect(artwork.artist === artist) }
      for show in artist.shows { #expect(show.artists.contains(artist)) }
    }
  }
}

@Suite struct RandomConflictsTests {
  private static let seeds: [UInt64] = Array(1...Amount.of(debug: 1, release: 4, exhaustive: 100))

  private func run(_ seed: UInt64, at url: URL?) throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try coordinator.addPersistentStore(type: url == nil ? .inMemory : .quire, at: url)
    try run(seed, coordinator)
  }

  private func run(_ seed: UInt64, _ coordinator: PersistentStoreCoordinator) throws {
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    var contest = try Contest(seed: seed, in: context)
    let count = Amount.of(debug: 240, release: 600)
    for number in 0..<count {
      try contest.step()
      if number.isMultiple(of: 100) { try contest.compareCounters() }
    }
    try contest.compareCounters()
    print(
      "seed \(seed): \(contest.saves) saves, \(contest.conflicts) conflicts, "
        + "\(contest.refusals) refused")
    #expect(contest.saves > count / 30 && contest.conflicts > count / 120)
  }

  @Test(arguments: seeds)
  func `whoever wins a conflict, nothing that was saved is lost`(_ seed: UInt64) throws {
    try run(seed, at: nil)
    try withTemporaryFolder { try run(seed, at: $0.appending(path: "store")) }
  }

  @Test(arguments: seeds)
  func `nothing is lost in a store of another make either`(_ seed: UInt64) throws {
    try run(seed, RowServer().coordinator())
  }
}
