import Foundation
import Quire
import QuireSimulation
import QuireTesting
import QuireXcode
import Testing

// The first seed ("Testing Core Data Migrations"), on the stores it was written for, and on those
// of other applications: import, open with the current model, see that everything is there.
@Suite(.enabled(if: RealData.isPresent, Comment(rawValue: RealData.absence)))
struct RealImportTests {
  private func load(_ store: RealStore) throws -> VersionedModel {
    try store.history()
  }

  private func imported(_ store: RealStore, in folder: TemporaryFolder) throws -> URL {
    let url = folder.file("\(store.name).quire")
    _ = try CoreDataImport(of: try store.url(), in: try load(store)).write(to: url)
    return url
  }

  @Test(arguments: RealStore.sampled)
  func `an imported store is sound, and has the objects, links and identity of its source`(
    _ real: RealStore
  ) throws {
    let folder = try TemporaryFolder()
    let url = try imported(real, in: folder)
    #expect(try StoreInspection(of: url).findings == [])
    let summary = try StoreSummary(of: url)
    #expect(summary.identifier.uuidString == real.uuid)
    #expect(summary.versionName == real.version)
    let counts = summary.entities.filter { $0.objectCount > 0 }
    #expect(
      Dictionary(uniqueKeysWithValues: counts.map { ($0.name, $0.objectCount) })
        == real.objectCounts)
    let context = try open(url, try PersistentStoreCoordinator.managedObjectModel(storedAt: url))
    for (place, count) in real.linkCounts {
      let names = place.split(separator: ".").map(String.init)
      let links = try context.fetch(FetchRequest<ManagedObject>(entityName: names[0])).reduce(0) {
        let members = try $1.value(forKey: names[1])
        return $0 + ((members as? Set<ManagedObject>)?.count ?? (members as? [Any])?.count ?? 0)
      }
      #expect(links == count, "\(place)")
    }
  }

  private func open(_ url: URL, _ model: ManagedObjectModel) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .quire, at: url)
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Opens a fixture with the current model, migrating it: the seed's `ARContextWithVersionString`.
  private func folioContext(_ name: String, _ folder: TemporaryFolder) throws
    -> ManagedObjectContext
  {
    let real = try #require(RealStore.folio.first { $0.name == name })
    let coordinator = PersistentStoreCoordinator(versionedModel: try load(real))
    try coordinator.addPersistentStore(
      type: .sqlite, at: try imported(real, in: folder),
      options: [
        MigratePersistentStoresAutomaticallyOption: true,
        InferMappingModelAutomaticallyOption: true,
      ])
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test(arguments: [
    ("ArtsyPartner_1.3", 1), ("ArtsyPartner_1.3.5", 63), ("ArtsyPartner_1.4", 68),
    ("ArtsyPartner_1.6", 0), ("ArtsyPartner_2.0", 1), ("oss_stubbed_data", 27),
  ])
  func `Folio migrates from`(_ name: String, _ artworks: Int) throws {
    let context = try folioContext(name, TemporaryFolder())
    let count = try context.count(for: FetchRequest<ManagedObject>(entityName: "Artwork"))
    #expect(count == artworks)
  }

  @Test func `Folio's store of 1.4, which the seed calls 1.6, migrates and has artworks`() throws {
    let context = try folioContext("ArtsyPartner_1.4", TemporaryFolder())
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Artwork")) > 0)
  }

  @Test(
    arguments: Amount.some(
      of: RealStore.all.filter { $0.project != "wibosco-migration" }, oneIn: 2, at: 0))
  func `a real store migrates to the current version with every value and link`(
    _ real: RealStore
  ) throws {
    let folder = try TemporaryFolder()
    let migrated = folder.file("migrated")
    try FileManager.default.createDirectory(at: migrated, withIntermediateDirectories: true)
    let check = try MigrationCheck(
      of: try imported(real, in: folder), to: try load(real), in: migrated)
    #expect(check.failures == [])
    #expect(check.sourceVersion == real.version)
    #expect(check.plan?.destinationVersion == (try load(real).currentVersion.name))
  }

  @Test func `links of artworks to albums and artists survive fourteen versions`() throws {
    let context = try folioContext("ArtsyPartner_1.3.5", TemporaryFolder())
    let artworks = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artwork"))
    func count(_ key: String) throws -> Int {
      try artworks.reduce(0) {
        $0 + ((try $1.value(forKey: key) as? Set<ManagedObject>)?.count ?? 0)
      }
    }
    #expect(try count("collections") == 33)
    let artists = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artist"))
    let linked = try artists.reduce(0) {
      $0 + ((try $1.value(forKey: "artworks") as? Set<ManagedObject>)?.count ?? 0)
    }
    #expect(try count("artists") == linked && linked > 0)
    // Seen from both sides.
    for artist in artists {
      for artwork in try artist.value(forKey: "artworks") as? Set<ManagedObject> ?? [] {
        #expect(
          (try artwork.value(forKey: "artists") as? Set<ManagedObject>)?.contains(artist) == true)
      }
    }
  }

  @Test func `opening without the options is error 134100, an unknown source 134130`() throws {
    let folder = try TemporaryFolder()
    let real = RealStore.folio[1]
    let url = try imported(real, in: folder)
    let model = try load(real)
    func code(_ model: VersionedModel, _ options: PersistentStoreOptions) -> Int? {
      do {
        let coordinator = PersistentStoreCoordinator(versionedModel: model)
        try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        return nil
      } catch {
        return (error as? PersistenceError)?.code.rawValue
      }
    }
    #expect(code(model, [:]) == 134100)
    #expect(code(model, [MigratePersistentStoresAutomaticallyOption: true]) == 134140)
    let younger = try #require(
      VersionedModel(
        versions: model.versions.filter { $0.name != real.version },
        current: model.currentVersion.name))
    #expect(code(younger, .migrating) == 134130)
    #expect(code(model, .migrating) == nil)
    #expect(code(model, [:]) == nil, "the second open has nothing to migrate")
  }

  @Test func `the store's UUID and its objects' keys stay through import and migration`() throws {
    let folder = try TemporaryFolder()
    let real = RealStore.folio[2]
    let url = try imported(real, in: folder)
    let coordinator = PersistentStoreCoordinator(versionedModel: try load(real))
    let store = try coordinator.addPersistentStore(type: .quire, at: url, options: .migrating)
    #expect(store.identifier.uuidString == real.uuid)
    let context = ManagedObjectContext()
    context.persistentStoreCoordinator = coordinator
    let albums = try context.fetch(FetchRequest<ManagedObject>(entityName: "Album"))
    #expect(
      albums.map { $0.objectID.uriRepresentation().absoluteString }
        == (11...20).map { "x-coredata://\(real.uuid)/Album/p\($0)" })
    let new = try EntityDescription.insertNewObject(forEntityName: "Album", into: context)
    try new.setValue("new", forKey: "slug")
    try context.save()
    #expect(new.objectID.uriRepresentation().lastPathComponent == "p21")
  }

  @Test func `a source that fits no version leaves no file behind`() throws {
    let folder = try TemporaryFolder()
    let model = try load(RealStore.posts[0])
    #expect(throws: CoreDataStoreError.self) {
      try CoreDataImport(of: try RealStore.folio[0].url(), in: model)
    }
    let url = try imported(RealStore.folio[0], in: folder)
    let bytes = try Data(contentsOf: url)
    #expect(throws: PersistenceError.self) {
      try CoreDataImport(of: try RealStore.folio[1].url(), in: try load(RealStore.folio[1]))
        .write(to: url)
    }
    #expect(try Data(contentsOf: url) == bytes, "what was there is as it was")
  }
}
