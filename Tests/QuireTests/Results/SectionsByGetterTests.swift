import Quire
import QuireModel
import QuireTesting
import Testing

/// Names of sections that a getter of the class works out, which Core Data calls by its name.
@Suite struct `Sections by a getter` {
  private final class Track: ManagedObject {
    @Managed var title: String = ""
    @Managed var album: Album?
    var initial: String { String(title.prefix(1)) }
    var volume: Int? { title.isEmpty ? nil : title.count }
  }

  /// As ``Track``, and answers by name.
  private final class Album: ManagedObject {
    @Managed var title: String = ""
    var initial: String { String(title.prefix(1)) }
    private(set) var notes: [String: String] = [:]

    override func value(forUndefinedKey key: String) throws -> Any? {
      if key == "initial" { return initial }
      return try notes[key] ?? super.value(forUndefinedKey: key)
    }

    override func setValue(_ value: Any?, forUndefinedKey key: String) throws {
      guard key.hasPrefix("note") else { return try super.setValue(value, forUndefinedKey: key) }
      notes[key] = value as? String
    }
  }

  private func context() throws -> ManagedObjectContext {
    let container = try PersistentContainer(name: "Sections", for: Track.self, Album.self)
    try container.loadPersistentStore(at: nil)
    let context = container.newBackgroundContext()
    let albums = ["Blue", "Kid A"].map { title in
      let album = Album(context: context)
      album.title = title
      return album
    }
    for (index, title) in ["Amber", "Anna", "Bella"].enumerated() {
      let track = Track(context: context)
      track.title = title
      track.album = albums[index / 2]
    }
    try context.save()
    return context
  }

  private func sections<Result>(
    _ controller: FetchedResultsController<Result>
  ) throws -> [String] {
    try controller.performFetch()
    return try #require(controller.sections).map { "\($0.name):\($0.numberOfObjects)" }
  }

  @Test func `a key path of the class is a function, and what is absent the empty name`() throws {
    let context = try context()
    let byInitial = FetchedResultsController(
      fetchRequest: Track.sorted(by: \.title), managedObjectContext: context,
      sectionName: \.initial)
    #expect(try sections(byInitial) == ["A:2", "B:1"])
    let none = FetchedResultsController(
      fetchRequest: Track.sorted(by: \.title), managedObjectContext: context,
      sectionName: { _ in nil })
    #expect(try sections(none) == [":3"])
  }

  @Test func `the class is asked for a name that the model does not have`() throws {
    let context = try context()
    let albums = FetchedResultsController(
      fetchRequest: Album.sorted(by: \.title), managedObjectContext: context,
      sectionNameKeyPath: "initial")
    #expect(try sections(albums) == ["B:1", "K:1"])
    // Without an order as well: no fetch can sort by it.
    let unsorted = FetchedResultsController(
      fetchRequest: FetchRequest<Album>(), managedObjectContext: context,
      sectionNameKeyPath: "initial")
    #expect(try sections(unsorted) == ["B:1", "K:1"])
    // Behind a relationship.
    let tracks = FetchedResultsController(
      fetchRequest: Track.sorted(by: \.title), managedObjectContext: context,
      sectionNameKeyPath: "album.initial")
    #expect(try sections(tracks) == ["B:2", "K:1"])
  }

  @Test func `a getter that cannot be called is an error that says what to write`() throws {
    let context = try context()
    let controller = FetchedResultsController(
      fetchRequest: Track.sorted(by: \.title), managedObjectContext: context,
      sectionNameKeyPath: "initial")
    let error = persistenceError { try controller.performFetch() }
    #expect(error?.code == .undefinedKey)
    #expect(
      error?.message.contains(#"sectionName: \Track.initial"#) == true, "\(error as Any)")
    // Objects without a class of their own have no getters.
    let model = try ManagedObjectModel { Entity("Thing") { Attribute("n", .integer64) } }
    let plain = FetchedResultsController(
      fetchRequest: FetchRequest<ManagedObject>(entityName: "Thing"),
      managedObjectContext: try .stubbed(model), sectionNameKeyPath: "initial")
    #expect(persistenceError { try plain.performFetch() }?.code == .undefinedKey)
  }

  @Test func `names that the model does not have are the class's to read and to write`() throws {
    let context = try context()
    let album = try #require(try context.fetch(Album.sorted(by: \.title)).first)
    #expect(try album.value(forKey: "initial") as? String == "B")
    try album.setValue("first", forKey: "note1")
    #expect(try album.value(forKey: "note1") as? String == "first")
    for key in ["nothing", "other"] {
      #expect(persistenceError { _ = try album.value(forKey: key) }?.code == .undefinedKey)
      #expect(persistenceError { try album.setValue(1, forKey: key) }?.code == .undefinedKey)
    }
  }

  // MARK: Transient attributes

  private final class Event: ManagedObject {
    @Managed var day: Int = 0
    // The model has a transient attribute of this name.
    var section: String { "day \(day)" }
  }

  private final class FilledEvent: ManagedObject {
    @Managed var day: Int = 0
    override func awakeFromFetch() { try? setPrimitiveValue("day \(day)", forKey: "section") }
  }

  private func events<Kind: ManagedObject>(
    _ type: Kind.Type, _ name: String
  ) throws -> FetchedResultsController<Kind> {
    let model = try ManagedObjectModel {
      Entity(name) {
        Attribute("day", .integer64, optional: false, default: 0)
        Attribute("section", .string, transient: true)
      }
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model, classes: [type])
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    for day in [1, 1, 2] { try Kind(context: context).setValue(day, forKey: "day") }
    try context.save()
    context.reset()
    var request = FetchRequest<Kind>(entityName: name)
    request.sortDescriptors = [FetchSortDescriptor(key: "day")]
    return FetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "section")
  }

  @Test func `a transient attribute that a getter would work out is no section without a name`()
    throws
  {
    let controller = try events(Event.self, "Event")
    let error = persistenceError { try controller.performFetch() }
    #expect(error?.code == .undefinedKey && error?.key == "section")
    #expect(error?.message.contains(#"sectionName: \Event.section"#) == true, "\(error as Any)")
    #expect(try sections(events(FilledEvent.self, "FilledEvent")) == ["day 1:2", "day 2:1"])
  }
}
