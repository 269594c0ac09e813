import Foundation
import Observation
import Quire
import QuireTesting
import Synchronization
import Testing

/// The examples in the comments of the types that people meet first, compiled and run.
///
/// What an example prints is compared with what its comment shows.
@Suite struct ExampleTests {
  final class Artist: ManagedObject {
    @Managed var name: String
    @Managed var artworks: Set<Artwork>
  }

  final class Artwork: ManagedObject {
    @Managed var title: String
    @Managed var price: Double
    @Managed var artist: Artist?
  }

  private static let model = try! ManagedObjectModel {
    Entity("Artist") {
      Attribute("name", .string, optional: false)
      Relationship("artworks", toMany: "Artwork", inverse: "artist", deleteRule: .cascade)
    }
    Entity("Artwork") {
      Attribute("title", .string, default: "Untitled")
      Attribute("price", .double, default: 0)
      Relationship("artist", toOne: "Artist", inverse: "artworks")
      FetchIndex("byPrice", on: "price")
    }
  }

  /// A container with a store in a folder that is removed when the container goes.
  private func withContainer(_ body: (PersistentContainer) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let container = PersistentContainer(
        name: "Gallery", managedObjectModel: Self.model, classes: [Artist.self, Artwork.self])
      try container.loadPersistentStore(at: folder.appending(path: "gallery.quire"))
      try body(container)
      try container.close()
    }
  }

  private func withContext(_ body: (ManagedObjectContext) throws -> Void) throws {
    try withContainer { try body($0.newBackgroundContext()) }
  }

  private func addWorks(to context: ManagedObjectContext) throws {
    let hokusai = Artist(context: context)
    hokusai.name = "Katsushika Hokusai"
    for (title, price) in [("The Great Wave", 1600.0), ("Red Fuji", 900), ("View 10", 80)] {
      let artwork = Artwork(context: context)
      artwork.title = title
      artwork.price = price
      artwork.artist = hokusai
    }
    try context.save()
  }

  // MARK: Examples

  @Test func `a model`() throws {
    let printed = try printing { print in
      let model = try ManagedObjectModel {
        Entity("Artist") { Attribute("name", .string, optional: false) }
        Entity("Artwork") {
          Attribute("title", .string, default: "Untitled")
          Attribute("price", .double, default: 0)
        }
      }
      for entity in model.entities {
        print(entity.name, entity.attributes.map(\.name))
      }
      do {
        _ = try ManagedObjectModel {
          Entity("Artwork") { Relationship("artist", toOne: "Artits") }
        }
      } catch {
        print(error)
      }
    }
    try expect(printed, "ManagedObjectModel", "QuireModel/Models/ManagedObjectModel")
  }

  @Test func `an entity`() throws {
    let printed = try printing { print in
      let model = try ManagedObjectModel {
        Entity("Person", abstract: true) { Attribute("name", .string, optional: false) }
        Entity("Artist", parent: "Person") { Attribute("born", .integer16) }
      }
      if let artist = model.entity(named: "Artist") {
        print(artist.attributes.map(\.name), artist.parent?.name ?? "no parent")
      }
    }
    try expect(printed, "Entity", "QuireModel/Models/Entity")
  }

  @Test func `an attribute`() throws {
    let printed = try printing { print in
      let model = try ManagedObjectModel {
        Entity("Artwork") {
          Attribute("title", .string, optional: false, default: "Untitled", length: 1...200)
          Attribute("year", .integer16, range: 1400...2100)
        }
      }
      let context = try ManagedObjectContext.stubbed(model)
      let artwork = try EntityDescription.insertNewObject(forEntityName: "Artwork", into: context)
      print(try artwork.value(forKey: "title") ?? "nothing")
      try artwork.setValue(1066, forKey: "year")
      do {
        try context.save()
      } catch let error as PersistenceError {
        print(error.code.rawValue, error.message)
      }
    }
    try expect(printed, "AttributeDescription", "QuireModel/Models/AttributeDescription")
  }

  @Test func `a relationship`() throws {
    try withContext { context in
      let printed = try printing { print in
        let hokusai = Artist(context: context)
        hokusai.name = "Katsushika Hokusai"
        let wave = Artwork(context: context)
        wave.artist = hokusai
        print(hokusai.artworks.count)
        try context.save()

        context.delete(hokusai)
        try context.save()
        print(try context.count(for: FetchRequest<Artwork>()))
      }
      try expect(printed, "RelationshipDescription", "QuireModel/Models/RelationshipDescription")
    }
  }

  @Test func `an index`() throws {
    try withContext { context in
      try addWorks(to: context)
      let printed = try printing { print in
        var request = FetchRequest<Artwork>()
        request.predicate = Key("price") > 1_000
        let explanation = try request.explain(in: context)
        print(explanation.searches[0].source.kind)
      }
      try expect(printed, "FetchIndexDescription", "QuireModel/Models/FetchIndexDescription")
    }
  }

  @Test func `a predicate`() throws {
    try withContext { context in
      try addWorks(to: context)
      let printed = try printing { print in
        var request = FetchRequest<Artwork>()
        request.predicate = try FetchPredicate(
          format: "title BEGINSWITH %@ AND price < %@", "The", 2_000)
        print(try context.fetch(request).map(\.title))

        let dear = Key("price") > 1_000 && Key("artist") != nil
        print(dear)
        print(try context.fetch(FetchRequest<Artwork>()).filtered(using: dear).map(\.title))
      }
      try expect(printed, "FetchPredicate", "QuireModel/Predicates/FetchPredicate")
    }
  }

  @Test func `a key`() throws {
    try withContext { context in
      try addWorks(to: context)
      let printed = try printing { print in
        var request = FetchRequest<Artist>()
        request.predicate = Key("artworks.price").sum > 2_000 && Key("artworks").count == 3
        print(try context.fetch(request).map(\.name))
        request.predicate = Key("artworks.title").any == "Red Fuji"
        print(try context.count(for: request))
      }
      try expect(printed, "Key", "QuireModel/Predicates/Key")
    }
  }

  @Test func `a sort descriptor`() throws {
    let printed = try printing { print in
      let titles = ["View 10", "View 9", "view 2"]
      let model = try ManagedObjectModel { Entity("Artwork") { Attribute("title", .string) } }
      let context = try ManagedObjectContext.stubbed(model)
      for title in titles {
        let artwork = try EntityDescription.insertNewObject(forEntityName: "Artwork", into: context)
        try artwork.setValue(title, forKey: "title")
      }
      var request = FetchRequest<ManagedObject>(entityName: "Artwork")
      for options in [[], .natural] as [FetchComparisonOptions] {
        request.sortDescriptors = [FetchSortDescriptor(key: "title", options: options)]
        let all = try context.fetch(request)
        let found = try all.map { try $0.value(forKey: "title") as? String ?? "" }
        print(found.joined(separator: ", "))
      }
    }
    try expect(printed, "FetchSortDescriptor", "QuireModel/Predicates/FetchSortDescriptor")
  }

  @Test func `a fetch`() throws {
    try withContext { context in
      try addWorks(to: context)
      let printed = try printing { print in
        var request = FetchRequest<Artwork>()
        request.predicate = Key("artist.name") == "Katsushika Hokusai"
        request.sortDescriptors = [FetchSortDescriptor(key: "price", ascending: false)]
        request.fetchLimit = 2
        for artwork in try context.fetch(request) {
          print(artwork.title, artwork.price)
        }
      }
      try expect(printed, "FetchRequest", "Quire/Queries/FetchRequest")
    }
  }

  @Test func `a coordinator`() throws {
    try withTemporaryFolder { folder in
      let model = Self.model
      let printed = try printing { print in
        let coordinator = PersistentStoreCoordinator(
          managedObjectModel: model, classes: [Artist.self, Artwork.self])
        try coordinator.addPersistentStore(
          type: .quire, at: folder.appending(path: "gallery.quire"))
        let context = ManagedObjectContext()
        context.persistentStoreCoordinator = coordinator
        Artist(context: context).name = "Katsushika Hokusai"
        try context.save()
        print(coordinator.persistentStores.count, try context.count(for: FetchRequest<Artist>()))
      }
      try expect(
        printed, "PersistentStoreCoordinator", "Quire/Stores/PersistentStoreCoordinator")
    }
  }

  @Test func `an object's ID`() throws {
    try withContainer { container in
      let context = container.newBackgroundContext()
      let printed = try printing { print in
        let wave = Artwork(context: context)
        wave.title = "The Great Wave"
        print(wave.objectID.isTemporaryID)
        try context.save()
        print(wave.objectID.isTemporaryID)

        let other = container.newBackgroundContext()
        let same = try other.existingObject(with: wave.objectID) as? Artwork
        print(same?.title ?? "not there")
      }
      try expect(printed, "ManagedObjectID", "Quire/ManagedObjectID")
    }
  }

  @Test func `an error`() throws {
    try withContext { context in
      let printed = try printing { print in
        let artist = Artist(context: context)
        do {
          try context.save()
        } catch let error as PersistenceError {
          print(error.code == .validationMissingMandatoryProperty, error.key ?? "")
        }
        artist.name = "Katsushika Hokusai"
        try context.save()
        print(context.hasChanges)
      }
      try expect(printed, "PersistenceError", "Quire/PersistenceError")
    }
  }

  @Test func `a controller of results`() throws {
    try withContext { context in
      try addWorks(to: context)
      let printed = try printing { print in
        var request = FetchRequest<Artwork>()
        request.sortDescriptors = [FetchSortDescriptor(key: "title")]
        let controller = FetchedResultsController(
          fetchRequest: request, managedObjectContext: context)
        let list = List()
        controller.delegate = list
        try controller.performFetch()

        Artwork(context: context).title = "Storm"
        context.processPendingChanges()
        print(list.lines)
      }
      try expect(
        printed, "FetchedResultsController", "Quire/Results/FetchedResultsController")
    }
  }

  @Test @MainActor func `a query that is observed`() throws {
    try withContext { context in
      let wave = Artwork(context: context)
      wave.title = "The Great Wave"
      try context.save()
      let printed = Mutex<[String]>([])
      @Sendable func print(_ item: Any) { printed.withLock { $0.append("\(item)") } }
      let query = LiveQuery(Artwork.sorted(by: \.title), in: context)
      withObservationTracking {
        print(query.objects.map(\.title))
      } onChange: {
        print("to be read again")
      }
      Artwork(context: context).title = "Almond Blossom"
      context.processPendingChanges()
      print(query.objects.map(\.title))
      try expect(printed.withLock { $0 }, "LiveQuery", "Quire/Results/LiveQuery")
    }
  }

  final class List: FetchedResultsControllerDelegate {
    var lines: [String] = []

    func controller(
      _ controller: FetchedResultsController<Artwork>, didChange object: Artwork,
      at indexPath: IndexPath?, for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      lines.append("\(type) \(object.title) at \(newIndexPath?.item ?? -1)")
    }
  }

  @Test func `an insertion of many`() throws {
    try withContext { context in
      let printed = try printing { print in
        let prints = (1...10_000).lazy.map {
          ["title": "Print \($0)", "price": Double($0)] as [String: Any]
        }
        let result = try context.execute(
          BatchInsertRequest(entityName: "Artwork", objects: prints))
        print(result.count, try context.count(for: FetchRequest<Artwork>()))
      }
      try expect(printed, "BatchInsertRequest", "Quire/Batches/BatchInsertRequest")
    }
  }

  @Test func `a change of many`() throws {
    try withContext { context in
      try addWorks(to: context)
      let printed = try printing { print in
        let raise = BatchUpdateRequest(
          entityName: "Artwork", predicate: Key("price") < 1_000,
          propertiesToUpdate: ["price": try FetchExpression(format: "price * 2")])
        print(try context.execute(raise).count)

        var request = FetchRequest<Artwork>()
        request.sortDescriptors = [FetchSortDescriptor(key: "price")]
        print(try context.fetch(request).map(\.price))
      }
      try expect(printed, "BatchUpdateRequest", "Quire/Batches/BatchUpdateRequest")
    }
  }

  @Test func `a history`() throws {
    try withTemporaryFolder { folder in
      let container = PersistentContainer(
        name: "Gallery", managedObjectModel: Self.model, classes: [Artist.self, Artwork.self])
      var options = PersistentStoreOptions()
      options.tracksHistory = true
      try container.loadPersistentStore(
        at: folder.appending(path: "gallery.quire"), options: options)
      let context = container.newBackgroundContext()
      let printed = try printing { print in
        context.transactionAuthor = "import"
        Artwork(context: context).title = "The Great Wave"
        try context.save()

        let lastToken: PersistentHistoryToken? = nil
        let request = PersistentHistoryChangeRequest.fetchHistory(after: lastToken)
        for transaction in try context.execute(request).transactions {
          for change in transaction.changes ?? [] {
            print(transaction.author ?? "", change.changeType, change.changedObjectID.entity.name)
          }
        }
      }
      try container.close()
      try expect(
        printed, "PersistentHistoryChangeRequest",
        "Quire/Stores/History/PersistentHistoryChangeRequest")
    }
  }

  @Test func `versions of a model`() throws {
    try withTemporaryFolder { folder in
      let url = folder.appending(path: "gallery.quire")
      let printed = try printing { print in
        let first = try ManagedObjectModel { Entity("Artwork") { Attribute("name", .string) } }
        let second = try ManagedObjectModel {
          Entity("Artwork") {
            Attribute("title", .string, renamedFrom: "name")
            Attribute("price", .double, default: 0)
          }
        }
        let old = PersistentContainer(name: "Gallery", managedObjectModel: first)
        try old.loadPersistentStore(at: url)
        let context = old.newBackgroundContext()
        let wave = try EntityDescription.insertNewObject(forEntityName: "Artwork", into: context)
        try wave.setValue("The Great Wave", forKey: "name")
        try context.save()
        try old.close()

        guard
          let model = VersionedModel(
            versions: [.init("Gallery 1", first), .init("Gallery 2", second)])
        else { return }
        let new = PersistentContainer(name: "Gallery", versionedModel: model)
        try new.loadPersistentStore(at: url)
        let request = FetchRequest<ManagedObject>(entityName: "Artwork")
        for artwork in try new.newBackgroundContext().fetch(request) {
          print(try artwork.value(forKey: "title") ?? "", try artwork.value(forKey: "price") ?? "")
        }
        try new.close()
      }
      try expect(printed, "VersionedModel", "QuireModel/Models/VersionedModel")
    }
  }

  @Test func `a migration by a mapping`() throws {
    try withTemporaryFolder { folder in
      let (oldURL, newURL) = (folder.appending(path: "old"), folder.appending(path: "new"))
      let printed = try printing { print in
        let source = try ManagedObjectModel {
          Entity("Artist") {
            Attribute("first", .string); Attribute("last", .string)
          }
        }
        let destination = try ManagedObjectModel { Entity("Artist") { Attribute("name", .string) } }
        let old = PersistentContainer(name: "Old", managedObjectModel: source)
        try old.loadPersistentStore(at: oldURL)
        let context = old.newBackgroundContext()
        let artist = try EntityDescription.insertNewObject(forEntityName: "Artist", into: context)
        try artist.setValue("Katsushika", forKey: "first")
        try artist.setValue("Hokusai", forKey: "last")
        try context.save()
        try old.close()

        var mapping = EntityMapping(from: "Artist", to: "Artist", .transformEntityMappingType)
        mapping.attributeMappings = [
          PropertyMapping(
            "name",
            valueExpression: .closure { arguments in
              let first = try arguments.source?.value(forKey: "first") as? String ?? ""
              let last = try arguments.source?.value(forKey: "last") as? String ?? ""
              return "\(first) \(last)"
            })
        ]
        let manager = MigrationManager(sourceModel: source, destinationModel: destination)
        try manager.migrateStore(
          from: oldURL, type: .quire, mapping: MappingModel(entityMappings: [mapping]),
          to: newURL, type: .quire)

        let new = PersistentContainer(name: "New", managedObjectModel: destination)
        try new.loadPersistentStore(at: newURL)
        let request = FetchRequest<ManagedObject>(entityName: "Artist")
        for artist in try new.newBackgroundContext().fetch(request) {
          print(try artist.value(forKey: "name") ?? "")
        }
        try new.close()
      }
      try expect(printed, "MigrationManager", "Quire/Migration/Manager/MigrationManager")
    }
  }

  @Test func `fixtures`() throws {
    try withTemporaryFolder { folder in
      let printed = try printing { print in
        let first = try ManagedObjectModel { Entity("Artwork") { Attribute("title", .string) } }
        let second = try ManagedObjectModel {
          Entity("Artwork") {
            Attribute("title", .string)
            Attribute("price", .double, default: 0)
          }
        }
        guard let model = VersionedModel(versions: [.init("1", first), .init("2", second)]),
          let shipped = model.endingAt("1")
        else { return }
        let fixtures = MigrationFixtures(in: folder)
        try fixtures.record(shipped) { context in
          let wave = try EntityDescription.insertNewObject(forEntityName: "Artwork", into: context)
          try wave.setValue("The Great Wave", forKey: "title")
        }
        try fixtures.check(migratingTo: model, budget: .seconds(5)) { fixture, context in
          let request = FetchRequest<ManagedObject>(entityName: "Artwork")
          print(fixture.name, try context.count(for: request))
        }
      }
      try expect(printed, "MigrationFixtures", "QuireTesting/MigrationFixtures")
    }
  }

  // MARK: Comparing

  /// What a body prints, a line for each call.
  private func printing(
    _ body: (_ print: (Any...) -> Void) throws -> Void
  ) throws -> [String] {
    var lines: [String] = []
    func print(_ items: Any...) {
      lines.append(items.map { "\($0)" }.joined(separator: " "))
    }
    try body(print)
    return lines
  }

  /// Compares the example in the comment of a type with this file, and with what was printed.
  ///
  /// The example follows the heading "Example": Swift between the first fences, and what it prints
  /// between the next ones.
  private func expect(_ printed: [String], _ type: String, _ path: String) throws {
    let file = URL(filePath: #filePath)
    let root = file.deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    func lines(_ url: URL) throws -> [String] {
      try String(contentsOf: url, encoding: .utf8).split(
        separator: "\n", omittingEmptySubsequences: false
      ).map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let source = try lines(root.appending(path: "Sources/\(path).swift"))
    let place = try #require(
      source.firstIndex { line in
        ["struct", "class", "enum"].contains { line.contains("\($0) \(type)") }
          && (line.contains("public ") || line.contains("open "))
      }, "\(type) is not in \(path)")
    let comment = source[..<place].reversed().prefix { $0.hasPrefix("///") || $0.hasPrefix("@") }
      .reversed().filter { !$0.hasPrefix("@") }.map { $0.dropFirst(3).drop { $0 == " " } }
    let parts = comment.drop { $0 != "## Example" }.split(omittingEmptySubsequences: false) {
      $0.hasPrefix("```")
    }
    try #require(parts.count >= 5, "\(type) has no example")
    let tested = Set(try lines(file))
    for line in parts[1] { #expect(tested.contains(String(line)), "\(type): \(line)") }
    #expect(parts[3].map(String.init) == printed, "\(type)")
  }
}
