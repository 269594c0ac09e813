import Quire
import QuireModel
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

private final class Track: ManagedObject {
  @Managed var title: String = ""
  @Managed(.indexed) var genre: String?
  @Managed var plays: Int = 0
  @Managed var note: String = ""
  @Managed(.indexed, derivedFrom: "canonical:(title)") var sortTitle: String?
  @Managed(derivedFrom: "covers.plays.@sum") var coverPlays: Int = 0
  @Managed(inverse: \Track.original) var covers: Set<Track>
  @Managed var original: Track?
}

/// Results that are brought up to date by the objects that have changed.
@Suite struct ResultUpdateTests {
  private enum Asked: CaseIterable {
    case all, filtered, sections, backwards, derived, derivedOfOthers

    var request: FetchRequest<Track> {
      switch self {
      case .all: Track.sorted(by: \.plays)
      case .filtered: Track.where { $0.plays > 3 && $0.genre != "g1" }.sorted(by: \.title)
      case .sections: Track.sorted(by: \.genre).sorted(by: \.plays)
      case .derived: Track.sorted(by: \.sortTitle).sorted(by: \.plays)
      case .derivedOfOthers: Track.sorted(by: \.coverPlays).sorted(by: \.plays)
      case .backwards: Track.sorted(by: \.plays, ascending: false).sorted(by: \.title)
      }
    }

    /// Whether no notice names all objects whose place changes, so that each save is a fetch.
    var isFetchedAnew: Bool { if case .derivedOfOthers = self { true } else { false } }

    var path: String? { if case .sections = self { "genre" } else { nil } }
  }

  /// Applies what it is told to what it has.
  private final class Book: FetchedResultsControllerDelegate {
    var ids: [ManagedObjectID] = []
    var snapshot: FetchedResultsSnapshot?

    func controller(
      _ controller: FetchedResultsController<Track>,
      didChangeContentWith difference: CollectionDifference<ManagedObjectID>
    ) {
      if let next = ids.applying(difference) {
        ids = next
      } else {
        Issue.record("the difference does not fit")
      }
    }

    func controller(
      _ controller: FetchedResultsController<Track>,
      didChangeContentWith snapshot: FetchedResultsSnapshot
    ) {
      self.snapshot = snapshot
    }
  }

  private func withContexts(
    _ home: GotchaHome, _ body: (ManagedObjectContext, ManagedObjectContext) throws -> Void
  ) throws {
    let model = try ManagedObjectModel(for: Track.self)
    try home.withContext(model, classes: [Track.self]) { context in
      let other = SmallGallery.sibling(of: context)
      for context in [context, other] {
        context.automaticallyMergesChangesFromParent = true
        context.mergePolicy = .mergeByPropertyObjectTrump
      }
      try body(context, other)
    }
  }

  @Test(arguments: Asked.allCases, [GotchaHome.memory, .file])
  private func `an update is what a fetch gives`(_ asked: Asked, _ home: GotchaHome) throws {
    // One begins with objects, one without.
    for seed in Amount.of(debug: 2...3, release: 1...20, exhaustive: 1...500) {
      try withContexts(home) { try walk(asked, seed, $0, $1) }
    }
  }

  private func walk(
    _ asked: Asked, _ seed: Int, _ context: ManagedObjectContext, _ other: ManagedObjectContext
  ) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    func text() -> String { "g\(random.below(4))" }
    for number in 0..<(seed % 3 == 0 ? 0 : Amount.of(debug: 80, release: 300)) {
      let track = Track(context: context)
      (track.title, track.plays) = ("t\(random.below(40))", random.below(20))
      track.genre = number % 7 == 0 ? nil : text()
    }
    try context.save()
    let controller = FetchedResultsController(
      fetchRequest: asked.request, managedObjectContext: context, sectionNameKeyPath: asked.path)
    let book = Book()
    controller.delegate = book
    try controller.performFetch()
    book.ids = controller.fetchedObjects?.map(\.objectID) ?? []
    for step in 0..<60 {
      let place = random.below(8) == 0 ? other : context
      for _ in 0...random.below(3) {
        let all = try place.fetch(Track.fetchRequest())
        let track = all.isEmpty ? nil : all[random.below(all.count)]
        switch random.below(9) {
        case 0:
          let new = Track(context: place)
          (new.title, new.plays, new.genre) = ("t\(random.below(40))", random.below(20), text())
        case 1: track.map(place.delete)
        case 2: track?.genre = random.below(5) == 0 ? nil : text()
        case 3, 4: track?.plays = random.below(20)
        case 5: track?.title = "t\(random.below(40))"
        case 6: track?.note = "\(random.below(9))"
        case 7: track.map { place.refresh($0, mergeChanges: random.below(2) == 0) }
        default: track?.original = all[random.below(all.count)]
        }
      }
      if place === other || random.below(4) == 0 { try place.save() }
      if random.below(12) == 0 { context.rollback() }
      context.processPendingChanges()
      let found = try context.fetch(asked.request)
      let label = "seed \(seed), step \(step)"
      #expect(controller.fetchedObjects == found, "\(label)")
      #expect(book.ids == found.map(\.objectID), "\(label)")
      let sections = controller.sections ?? []
      #expect(sections.flatMap(\.objects) == found, "\(label)")
      if asked.path != nil {
        #expect(sections.map(\.name) == Set(found.map { $0.genre ?? "" }).sorted(), "\(label)")
        #expect(
          sections.allSatisfy { section in
            section.objects.allSatisfy { ($0.genre ?? "") == section.name }
          }, "\(label)")
      }
      if let snapshot = book.snapshot {
        #expect(snapshot.objectIDs == found.map(\.objectID), "\(label)")
      }
    }
    // At first, and where a save of others came between.
    if !asked.isFetchedAnew { #expect(controller.fetchCount < 20, "seed \(seed)") }
  }

  @Test(arguments: [GotchaHome.memory, .file])
  private func `only the first result is fetched`(_ home: GotchaHome) throws {
    try withContexts(home) { try follow($0, $1) }
  }

  private func follow(_ context: ManagedObjectContext, _ other: ManagedObjectContext) throws {
    for number in 0..<2_000 { Track(context: context).plays = number }
    try context.save()
    let controller = FetchedResultsController(
      fetchRequest: Track.sorted(by: \.plays), managedObjectContext: context)
    let book = Book()
    controller.delegate = book
    try controller.performFetch()
    book.ids = controller.fetchedObjects?.map(\.objectID) ?? []

    let first = try #require(controller.fetchedObjects?.first)
    first.plays = 5_000
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.last === first)
    try context.save()
    let new = Track(context: context)
    new.plays = -1
    try context.save()
    #expect(controller.fetchedObjects?.first === new)
    #expect(!(book.ids.first?.isTemporaryID ?? true))
    context.delete(first)
    try context.save()
    // Merged from another context, whose objects this one has not seen.
    Track(context: other).plays = 500
    try other.save()
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.count == 2_001)
    let found = try context.fetch(Track.sorted(by: \.plays))
    #expect(controller.fetchedObjects == found)
    #expect(book.ids == found.map(\.objectID))
    #expect(controller.fetchCount == 1)

    // What nobody has merged may have changed anything: it is fetched.
    context.automaticallyMergesChangesFromParent = false
    Track(context: other).plays = 501
    try other.save()
    new.plays = 7
    context.processPendingChanges()
    #expect(controller.fetchedObjects?.count == 2_002)
    #expect(controller.fetchCount == 2)
  }

  @Test func `changes without a delegate are followed, and reported to the next delegate`() throws {
    try withContexts(.memory) { context, _ in
      let tracks = (0..<20).map { number in
        let track = Track(context: context)
        track.plays = number
        return track
      }
      try context.save()
      let controller = FetchedResultsController(
        fetchRequest: Track.sorted(by: \.plays), managedObjectContext: context)
      let book = Book()
      controller.delegate = book
      try controller.performFetch()
      book.ids = controller.fetchedObjects?.map(\.objectID) ?? []
      controller.delegate = nil
      tracks[3].plays = 100
      context.processPendingChanges()
      controller.delegate = book
      tracks[4].plays = 200
      context.processPendingChanges()
      let found = try context.fetch(Track.sorted(by: \.plays))
      #expect(controller.fetchedObjects == found)
      #expect(book.ids == found.map(\.objectID))

      // A delegate that goes away by itself.
      var other: Book? = Book()
      controller.delegate = other
      other = nil
      tracks[5].plays = 300
      context.processPendingChanges()
      book.ids = controller.fetchedObjects?.map(\.objectID) ?? []
      controller.delegate = book
      tracks[6].plays = 400
      context.processPendingChanges()
      let now = try context.fetch(Track.sorted(by: \.plays))
      #expect(controller.fetchedObjects == now)
      _ = other
    }
  }
}
