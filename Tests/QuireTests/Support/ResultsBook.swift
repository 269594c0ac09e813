import Quire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Albums and songs, for results with sections.
enum Jukebox {
  static let model = try! ManagedObjectModel {
    Entity("Album") {
      Attribute("name", .string)
      Relationship("songs", toMany: "Song", inverse: "album")
    }
    Entity("Song") {
      Attribute("genre", .string)
      Attribute("rank", .integer32, optional: false, default: 0)
      Attribute("note", .string)
      Attribute("mood", .string, transient: true)
      Relationship("album", toOne: "Album", inverse: "songs")
    }
    Entity("Hit", parent: "Song")
  }

  final class Song: ManagedObject {
    @Managed var genre: String?
    @Managed var rank: Int
    @Managed var note: String?
    @Managed var mood: String?
    @Managed var album: ManagedObject?
  }

  static func songs(_ keys: String...) -> FetchRequest<Song> {
    var request = FetchRequest<Song>(entityName: "Song")
    request.sortDescriptors = keys.map { FetchSortDescriptor(key: $0) }
    return request
  }

  static func context(_ home: GotchaHome = .memory) throws -> ManagedObjectContext {
    if home == .elsewhere {
      return GotchaHome.context(
        of: try RowServer().coordinator(.plain, model, classes: [Song.self]))
    }
    return try .stubbed(model, classes: [Song.self])
  }
}

extension ManagedObjectContext {
  @discardableResult
  func addSong(_ genre: String?, _ rank: Int, _ note: String? = nil) -> Jukebox.Song {
    let song = Jukebox.Song(context: self)
    song.genre = genre
    song.rank = rank
    song.note = note
    return song
  }
}

/// A delegate that keeps a list by nothing but what it is told, and writes down what that was.
final class ResultsBook: FetchedResultsControllerDelegate {
  typealias Result = Jukebox.Song

  private(set) var sections: [(name: String, songs: [Result])] = []
  private(set) var objectIDs: [ManagedObjectID] = []
  private(set) var snapshot: FetchedResultsSnapshot?
  /// What was told that cannot be.
  private(set) var failures: [String] = []
  private var lines: [String] = []
  private var isChanging = false
  private var deletedSections: [Int] = []
  private var insertedSections: [(Int, String)] = []
  private var gone: [(IndexPath, Result)] = []
  private var come: [(IndexPath, Result)] = []
  /// Called when a set of changes was told, before that is written down.
  var onChange: (() -> Void)?

  init(_ controller: FetchedResultsController<Result>) {
    take(controller)
    controller.delegate = self
  }

  /// Begins with what the controller has.
  func take(_ controller: FetchedResultsController<Result>) {
    sections = (controller.sections ?? []).map { ($0.name, $0.objects) }
    objectIDs = (controller.fetchedObjects ?? []).map(\.objectID)
    snapshot = nil
  }

  func takeLines() -> [String] {
    defer { lines = [] }
    return lines
  }

  private func name(_ song: Result) -> String { "\(song.rank)" }

  private func check(_ isRight: Bool, _ failure: @autoclosure () -> String) {
    if !isRight { failures.append(failure()) }
  }

  func controllerWillChangeContent(_ controller: FetchedResultsController<Result>) {
    check(!isChanging, "begins twice")
    isChanging = true
    let shown = (controller.sections ?? []).map(\.objects)
    check(shown == sections.map(\.songs), "has other objects before the change")
  }

  func controller(
    _ controller: FetchedResultsController<Result>,
    didChange section: FetchedResultsSectionInfo<Result>, atSectionIndex index: Int,
    for type: FetchedResultsChangeType
  ) {
    check(isChanging && gone.isEmpty && come.isEmpty, "a section comes late")
    switch type {
    case .delete:
      lines.append("section \(section.name) goes from \(index)")
      check(sections[index].name == section.name, "\(section.name) is not section \(index)")
      deletedSections.append(index)
    case .insert:
      lines.append("section \(section.name) comes to \(index)")
      let now = controller.sections?[index].name
      check(now == section.name, "\(section.name) will not be section \(index)")
      insertedSections.append((index, section.name))
    case .move, .update: failures.append("a section is told as \(type)")
    }
  }

  func controller(
    _ controller: FetchedResultsController<Result>, didChange object: Result, at old: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath new: IndexPath?
  ) {
    check(isChanging, "an object changes outside of a change")
    func path(_ path: IndexPath?) -> String { path.map { "\($0[0])/\($0[1])" } ?? "-" }
    lines.append("\(type) \(name(object)) \(path(old)) \(path(new))")
    check((old == nil) == (type == .insert) && (new == nil) == (type == .delete), "\(lines)")
    if let old {
      check(sections[old.section].songs[old.item] === object, "\(name(object)) was elsewhere")
      if type != .update { gone.append((old, object)) }
    }
    if let new {
      check((try? controller.object(at: new)) === object, "\(name(object)) is elsewhere")
      if type != .update { come.append((new, object)) }
    }
  }

  func controller(
    _ controller: FetchedResultsController<Result>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>
  ) {
    check(!difference.isEmpty, "a difference is empty")
    guard let applied = objectIDs.applying(difference) else {
      return failures.append("a difference is of another list")
    }
    objectIDs = applied
  }

  func controller(
    _ controller: FetchedResultsController<Result>,
    didChangeContentWith snapshot: FetchedResultsSnapshot
  ) {
    self.snapshot = snapshot
    check(snapshot.sectionNames == (controller.sections ?? []).map(\.name), "other sections")
    check(snapshot.objectIDs == objectIDs, "the snapshot is not what the difference makes")
  }

  func controllerDidChangeContent(_ controller: FetchedResultsController<Result>) {
    check(isChanging, "ends without a beginning")
    onChange?()
    for (path, _) in gone.sorted(by: { $0.0 > $1.0 }) {
      sections[path.section].songs.remove(at: path.item)
    }
    for index in deletedSections.sorted(by: >) {
      check(sections[index].songs.isEmpty, "a section goes with objects")
      sections.remove(at: index)
    }
    for (index, name) in insertedSections { sections.insert((name, []), at: index) }
    for (path, song) in come.sorted(by: { $0.0 < $1.0 }) {
      sections[path.section].songs.insert(song, at: path.item)
    }
    (deletedSections, insertedSections, gone, come) = ([], [], [], [])
    isChanging = false
    for (mine, theirs) in zip(sections, controller.sections ?? []) {
      check(mine.name == theirs.name && mine.songs == theirs.objects, "not what was told")
    }
    check(sections.count == controller.sections?.count, "other sections than were told")
  }
}

/// What suites about controllers begin with.
protocol JukeboxSuite {}

extension JukeboxSuite {
  func controller(
    _ context: ManagedObjectContext, _ keys: String..., section: String? = nil
  ) -> FetchedResultsController<Jukebox.Song> {
    var request = Jukebox.songs()
    request.sortDescriptors = keys.map { FetchSortDescriptor(key: $0) }
    return FetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: section,
      cacheName: "songs")
  }

  func filled(_ songs: [(String?, Int)]) throws -> ManagedObjectContext {
    let context = try Jukebox.context()
    for (genre, rank) in songs { context.addSong(genre, rank) }
    try context.save()
    return context
  }
}
