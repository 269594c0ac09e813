import Quire
import QuireSimulation
import Synchronization

/// Eight contexts of one store, each on a thread of its own, which do everything at once.
///
/// Each has an artist of its own, whose artworks nobody else touches, so that it knows what has to
/// be found. All use one tag, add rooms to one show and change one artist.
enum Crowd {
  private typealias Artist = SmallGallery.Artist

  private static let size = 8
  private static let roundCount = 30

  /// What all threads know.
  private final class Meeting: Sendable {
    let coordinator: PersistentStoreCoordinator
    let ids: [ManagedObjectID]
    let keepsHistory: Bool
    let arrived = Atomic(0)
    let roomCount = Atomic(0)
    let findings = Mutex<[String]>([])
    let titles = Mutex<Set<String>>([])
    let commits = Mutex<Set<UInt64>>([])

    init(
      _ coordinator: PersistentStoreCoordinator, _ ids: [ManagedObjectID], keepsHistory: Bool
    ) {
      self.coordinator = coordinator
      self.ids = ids
      self.keepsHistory = keepsHistory
    }

    func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
      if !condition { findings.withLock { [text = what()] in $0.append(text) } }
    }
  }

  /// - Returns: what was wrong.
  static func run(_ home: GotchaHome, seed: UInt64) throws -> [String] {
    var findings: [String] = []
    let server = RowServer()
    try withTemporaryFolder { folder in
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
      let store: PersistentStore
      switch home {
      case .memory:
        store = try coordinator.addPersistentStore(
          type: .inMemory, at: nil, options: [PersistentHistoryTrackingKey: true])
      case .file:
        store = try coordinator.addPersistentStore(
          type: .quire, at: folder.appending(path: "gallery.quire"),
          options: [PersistentHistoryTrackingKey: true])
      case .elsewhere:
        try server.register(with: coordinator)
        store = try coordinator.addPersistentStore(type: RowStore.type, at: nil)
      }
      let context = GotchaHome.context(of: coordinator)
      // The artists of all, the shared one, the tag, the show.
      var objects = (0...size).map { _ in Artist(context: context) as ManagedObject }
      objects.append(try context.insert("Tag", ["word": "all"]))
      objects.append(try context.insert("Show", ["name": "all"]))
      try context.save()
      let meeting = Meeting(
        coordinator, objects.map(\.objectID), keepsHistory: home != .elsewhere)
      let observation = coordinator.observeRemoteChanges { change in
        meeting.commits.withLock { _ = $0.insert(change.commitNumber) }
      }
      Threads.run(
        (0..<size).map { number in
          {
            do {
              try Member(number, seed, meeting).live(rounds: roundCount)
            } catch {
              meeting.expect(false, "\(number): \(error)")
              meeting.arrived.add(1, ordering: .sequentiallyConsistent)
            }
          }
        })
      observation.cancel()
      findings = meeting.findings.withLock { $0 }
      let fresh = GotchaHome.context(of: coordinator)
      let stored = try fresh.values(of: "title", "Artwork")
      if Set(stored) != meeting.titles.withLock({ $0 }) { findings.append("artworks \(stored)") }
      let show = try fresh.fetch(FetchRequest<SmallGallery.Show>()).first
      if show?.rooms.count != meeting.roomCount.load(ordering: .sequentiallyConsistent) {
        findings.append("\(show?.rooms.count ?? -1) rooms in the show")
      }
      if home == .elsewhere {
        findings += server.now.findings(SmallGallery.model)
        return try coordinator.remove(store)
      }
      let history = try fresh.history()
      let commits = meeting.commits.withLock { $0 }
      // The first save was before anybody listened.
      if history.count != commits.count + 1 {
        findings.append("\(history.count) transactions, \(commits.count) notices")
      }
      findings += try StoreFacts(fresh).findings
      try coordinator.remove(store)
    }
    return findings
  }

  /// One context and its thread.
  private final class Member {
    private let number: Int
    private let meeting: Meeting
    private let context: ManagedObjectContext
    private var generator: SeededGenerator
    private let (mine, shared): (Artist, Artist)
    private let (tag, show): (ManagedObject, ManagedObject)
    private var titles: Set<String> = []
    private var count = 0
    private var roomCount = 0
    private var token: PersistentHistoryToken?

    init(_ number: Int, _ seed: UInt64, _ meeting: Meeting) throws {
      (self.number, self.meeting) = (number, meeting)
      let context = GotchaHome.context(of: meeting.coordinator)
      context.mergePolicy = .mergeByPropertyObjectTrump
      context.automaticallyMergesChangesFromParent = number % 2 == 0
      if number % 3 == 0 { context.undoManager = UndoManager() }
      context.transactionAuthor = "\(number)"
      func object(_ place: Int) throws -> ManagedObject {
        try context.existingObject(with: meeting.ids[place])
      }
      mine = try object(number) as! Artist
      shared = try object(Crowd.size) as! Artist
      (tag, show) = (try object(Crowd.size + 1), try object(Crowd.size + 2))
      self.context = context
      generator = SeededGenerator(seed: seed << 8 | UInt64(number))
    }

    func live(rounds: Int) throws {
      for round in 1...rounds {
        for _ in 0...generator.below(4) { try act() }
        if round == rounds { mine.born = Int16(rounds) }
        try context.save()
      }
      meeting.titles.withLock { [titles] in $0.formUnion(titles) }
      meeting.roomCount.add(roomCount, ordering: .sequentiallyConsistent)
      meeting.arrived.add(1, ordering: .sequentiallyConsistent)
      while meeting.arrived.load(ordering: .sequentiallyConsistent) < Crowd.size {
        Threads.pause()
      }
      context.processPendingChanges()
      if !context.automaticallyMergesChangesFromParent { context.refreshAllObjects() }
      try look()
      for id in meeting.ids.prefix(Crowd.size) {
        let artist = try context.existingObject(with: id) as? Artist
        meeting.expect(artist?.born == Int16(rounds), "\(number): \(id) has not all rounds")
      }
    }

    private func insert(in context: ManagedObjectContext) throws -> String {
      count += 1
      let title = "\(number)-\(count)"
      let artwork = try context.insert("Artwork", ["title": title])
      let (mine, tag) = (context.object(with: mine.objectID), context.object(with: tag.objectID))
      try artwork.setValue(mine, forKey: "artist")
      if let tag, count % 2 == 0 { try artwork.addToRelationship(tag, forKey: "tags") }
      return title
    }

    private func act() throws {
      switch generator.below(12) {
      case 0..<4: titles.insert(try insert(in: context))
      case 4:
        guard let artwork = mine.artworks.randomElement(using: &generator) else { return }
        if let title = artwork.title { titles.remove(title) }
        context.delete(artwork)
      case 5: shared.born = Int16(generator.below(100))
      case 6:
        count += 1
        try context.insert("Room", ["number": number * 1000 + count, "show": show])
        roomCount += 1
      case 7: try takeFromChild()
      case 8: try changeTheirMind()
      case 9: context.refreshAllObjects()
      case 10 where meeting.keepsHistory:
        let transactions = try context.history(after: token)
        token = transactions.last?.token ?? token
        meeting.expect(transactions.allSatisfy { $0.changes?.isEmpty != true }, "no changes")
      default: try look()
      }
    }

    /// What nobody else changes is as it was left.
    private func look() throws {
      var request = FetchRequest<SmallGallery.Artwork>()
      request.predicate = Key("title").beginsWith("\(number)-")
      let found = Set(try context.fetch(request).compactMap(\.title))
      meeting.expect(found == titles, "\(number): found \(found), expected \(titles)")
      let related = Set(mine.artworks.compactMap(\.title))
      meeting.expect(related == titles, "\(number): has \(related), expected \(titles)")
    }

    private func takeFromChild() throws {
      let child = context.newChildContext()
      let title = try insert(in: child)
      if generator.below(4) == 0 { return }
      try child.save()
      titles.insert(title)
    }

    private func changeTheirMind() throws {
      guard let undoManager = context.undoManager else { return }
      context.processPendingChanges()
      undoManager.removeAllActions()
      let title = try insert(in: context)
      context.undo()
      guard generator.below(2) == 0 else { return }
      context.redo()
      titles.insert(title)
    }
  }
}
