import Quire
import QuireSimulation
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a controller is asked to show.
enum JukeboxRequest: CaseIterable {
  case plain, sections, filtered, limited, throughRelationship, numbers, function, subset

  var controller: (ManagedObjectContext) throws -> FetchedResultsController<Jukebox.Song> {
    { context in
      var request = Jukebox.songs("genre", "rank")
      var path: String? = "genre"
      switch self {
      case .plain: path = nil
      case .sections: break
      case .filtered: request.predicate = try FetchPredicate(format: "rank > 2 AND genre != 'g1'")
      case .limited:
        request.fetchLimit = 4
        request.fetchOffset = 2
      case .throughRelationship:
        request = Jukebox.songs("album.name", "rank")
        request.predicate = try FetchPredicate(format: "album == nil OR album.name != 'a3'")
        path = "album.name"
      case .numbers:
        request = Jukebox.songs("rank", "note")
        path = "rank"
      case .function:
        return FetchedResultsController(
          fetchRequest: Jukebox.songs("rank"), managedObjectContext: context,
          sectionName: { $0.rank < 5 ? "low" : "high" })
      case .subset: request.includesSubentities = false
      }
      return FetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: path)
    }
  }
}

/// A context with a controller, and another context of the same store.
private final class ResultsMachine {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let context: ManagedObjectContext
  private let other: ManagedObjectContext
  private let controller: FetchedResultsController<Jukebox.Song>
  private let book: ResultsBook
  private let isSplit: Bool
  /// How often something was told.
  private(set) var lineCount = 0

  init(_ kind: JukeboxRequest, _ home: GotchaHome, isChild: Bool) throws {
    let root = try Jukebox.context(home)
    for number in 0..<3 { try root.insert("Album", ["name": "a\(number)"]) }
    for number in 0..<6 {
      root.addSong("g\(number % 3)", number).album =
        try root.fetch(FetchRequest<ManagedObject>(entityName: "Album"))[number % 3]
    }
    try root.save()
    root.mergePolicy = .mergeByPropertyObjectTrump
    if isChild {
      context = root.newChildContext()
      other = root
    } else {
      context = root
      other = SmallGallery.sibling(of: root)
      other.mergePolicy = .mergeByPropertyObjectTrump
      other.automaticallyMergesChangesFromParent = true
    }
    context.automaticallyMergesChangesFromParent = true
    context.mergePolicy = .mergeByPropertyObjectTrump
    context.undoManager = UndoManager()
    controller = try kind.controller(context)
    isSplit = kind == .function
    try controller.performFetch()
    book = ResultsBook(controller)
  }

  func run(_ operations: [ResultsOperation]) throws {
    for (index, operation) in operations.enumerated() {
      try apply(operation, in: context)
      switch operation {
      case .process, .save, .rollback, .undo, .redo, .refreshAll, .reset, .fetch, .other:
        try check("after operation \(index), \(operation)")
      default: continue
      }
    }
    try context.save()
    try check("at the end")
  }

  private func pick<Object: ManagedObject>(
    _ number: Int, _ request: FetchRequest<Object>, _ context: ManagedObjectContext
  ) throws -> Object? {
    let all = try context.fetch(request)
    return all.isEmpty ? nil : all[number % all.count]
  }

  private func song(_ number: Int, _ context: ManagedObjectContext) throws -> Jukebox.Song? {
    try pick(number, FetchRequest<Jukebox.Song>(entityName: "Song"), context)
  }

  private func album(_ number: Int, _ context: ManagedObjectContext) throws -> ManagedObject? {
    try pick(number, FetchRequest<ManagedObject>(entityName: "Album"), context)
  }

  private func apply(_ operation: ResultsOperation, in context: ManagedObjectContext) throws {
    switch operation {
    case .insert(let genre, let rank, let isHit):
      let song = try context.insert(isHit ? "Hit" : "Song", ["rank": rank])
      if let genre { try song.setValue("g\(genre)", forKey: "genre") }
    case .delete(let number): try song(number, context).map(context.delete)
    case .genre(let number, let genre): try song(number, context)?.genre = genre.map { "g\($0)" }
    case .rank(let number, let rank): try song(number, context)?.rank = rank
    case .note(let number, let note): try song(number, context)?.note = "\(note)"
    case .mood(let number, let mood): try song(number, context)?.mood = "\(mood)"
    case .album(let number, let to):
      try song(number, context)?.album = try to.flatMap { try album($0, context) }
    case .rename(let number, let name):
      try album(number, context)?.setValue("a\(name)", forKey: "name")
    case .refresh(let number, let merge):
      if let song = try song(number, context) { context.refresh(song, mergeChanges: merge) }
    case .process: context.processPendingChanges()
    case .save: try context.save()
    case .rollback: context.rollback()
    case .undo: if context.undoManager?.canUndo ?? false { try context.undoManager?.undo() }
    case .redo: if context.undoManager?.canRedo ?? false { try context.undoManager?.redo() }
    case .refreshAll: context.refreshAllObjects()
    case .reset:
      context.reset()
      try controller.performFetch()
      book.take(controller)
    case .other(let operation):
      try apply(operation, in: other)
      try other.save()
    case .fetch: _ = try context.fetch(FetchRequest<Jukebox.Song>(entityName: "Song"))
    }
  }

  /// What was told, applied to what was there before, is what a fetch finds now.
  private func check(_ place: String) throws {
    context.processPendingChanges()
    lineCount += book.takeLines().count
    func require(_ isRight: Bool, _ what: String) throws {
      if !isRight { throw Failure(description: "\(place): \(what)") }
    }
    try require(book.failures.isEmpty, book.failures.joined(separator: "; "))
    let found = try context.fetch(controller.fetchRequest)
    try require(book.sections.flatMap(\.songs) == found, "the list is not what a fetch finds")
    try require(book.objectIDs == found.map(\.objectID), "the IDs are not what a fetch finds")
    var sections: [(String, [Jukebox.Song])] = []
    for song in found {
      let name = try name(of: song)
      if sections.last?.0 == name {
        sections[sections.count - 1].1.append(song)
      } else {
        sections.append((name, [song]))
      }
    }
    let kept = book.sections.filter {
      !$0.songs.isEmpty || controller.sectionNameKeyPath != nil || isSplit
    }
    try require(
      kept.map(\.name) == sections.map(\.0) && kept.map(\.songs) == sections.map(\.1),
      "the sections are \(kept.map(\.name)) and should be \(sections.map(\.0))")
  }

  private func name(of song: Jukebox.Song) throws -> String {
    if let path = controller.sectionNameKeyPath {
      return try song.value(forKeyPath: path).map { "\($0)" } ?? ""
    }
    return isSplit ? song.rank < 5 ? "low" : "high" : ""
  }
}

@Suite struct RandomResultsTests {
  private static let seeds = Seeds.upTo(Amount.of(debug: 1, release: 7, exhaustive: 2_000))

  @Test(arguments: JukeboxRequest.allCases, [GotchaHome.memory, .elsewhere])
  func `reported changes, applied to the former list, give the list of a fetch`(
    _ kind: JukeboxRequest, _ home: GotchaHome
  ) throws {
    for isChild in [false, true] {
      var lineCount = 0
      func failure(of operations: [ResultsOperation]) -> String? {
        do {
          let machine = try ResultsMachine(kind, home, isChild: isChild)
          try machine.run(operations)
          lineCount += machine.lineCount
          return nil
        } catch {
          return "\(error)"
        }
      }
      for seed in Self.seeds {
        let count = Amount.of(debug: 25, release: 50)
        let operations = ResultsOperation.sequence(seed: seed, count: count)
        guard let message = failure(of: operations) else { continue }
        var shrinker = OperationShrinker(operations) { failure(of: $0) != nil }
        shrinker.shrink()
        Issue.record(
          """
          seed \(seed), \(kind), \(home), \(isChild ? "child" : "root"): \(message)
          \(failure(of: shrinker.operations) ?? "nothing, now")
          \(shrinker.operations.map { "\($0)" }.joined(separator: "\n"))
          """)
        return
      }
      #expect(lineCount > Amount.of(debug: 3, release: 10))
    }
  }
}
