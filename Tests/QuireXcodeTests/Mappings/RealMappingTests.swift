import Foundation
import Quire
import QuireModel
import QuireSimulation
import QuireXcode
import Testing

/// The application's policy is not part of the data. The mapping says that it is at work on `Post`,
/// and that `Color`, which has no source, gets nothing from its own mapping; the models say that a
/// post's `hexColor` gives way to a required relationship `color` to a `Color` with a `hex` and a
/// `colorID`. So the policy must make the colours.
///
/// What that leaves open was chosen: each post gets a colour of its own (the store of version 3 has
/// as many colours as posts), and `colorID` is a new UUID as text (as it is there).
private final class Post2ToPost3MigrationPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let color = try EntityDescription.insertNewObject(
      forEntityName: "Color", into: manager.destinationContext)
    try color.setValue(UUID().uuidString, forKey: "colorID")
    try color.setValue(try sInstance.value(forKey: "hexColor"), forKey: "hex")
    let posts = try manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    try posts.first?.setValue(color, forKey: "color")
  }

  /// The mapping's own relationship would have nothing to say; the one that is set stays.
  override func createRelationships(
    forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {}
}

/// The mapping models and stores of a real application, with which it shows how to migrate step by
/// step. They are not part of the repository: the suite is skipped where they are not.
@Suite(.enabled(if: RealData.isPresent, Comment(rawValue: RealData.absence)))
struct RealMappingTests {
  /// What a post has, in any version.
  private struct Post: Hashable {
    var date: Date?
    var postID: String?
    var hex: String?
  }

  private func mappingURL(_ name: String) throws -> URL {
    try RealData.url("wibosco-migration/mappings/\(name).xcmappingmodel")
  }

  private func models() throws -> [ManagedObjectModel] {
    try RealStore.posts[0].history().versions.map(\.model)
  }

  private func imported(_ real: RealStore, _ folder: TemporaryFolder) throws -> URL {
    let url = folder.file("posts.quire")
    _ = try CoreDataImport(of: try real.url(), in: try real.history()).write(to: url)
    return url
  }

  private func posts(
    _ url: URL, _ model: ManagedObjectModel, hex path: String
  ) throws -> [Post] {
    try withStore(model, url) { context in
      try context.fetch(FetchRequest<ManagedObject>(entityName: "Post")).map { post in
        Post(
          date: try post.value(forKey: "date") as? Date,
          postID: try post.value(forKey: "postID") as? String,
          hex: try post.value(forKeyPath: path) as? String)
      }
    }
  }

  /// Migrates a store from one version to the next, as the application does.
  private func migrate(_ url: URL, from version: Int) throws {
    let models = try models()
    let (source, destination) = (models[version - 1], models[version])
    let name = ["Migration1to2", "Migration2to3"][version - 1]
    let mapping = try MappingModel(
      contentsOf: try mappingURL(name), sourceModel: source, destinationModel: destination,
      migrationPolicies: [Post2ToPost3MigrationPolicy.self])
    let manager = MigrationManager(sourceModel: source, destinationModel: destination)
    try manager.migrateStore(from: url, mapping: mapping, to: url)
    #expect(try StoreInspection(of: url).findings == [])
  }

  /// Opens a store of version 3 with version 4: the last step is inferred.
  private func migrateByInference(_ url: URL) throws {
    let coordinator = PersistentStoreCoordinator(
      versionedModel: try RealStore.posts[0].history())
    let store = try coordinator.addPersistentStore(type: .quire, at: url, options: .migrating)
    #expect(store.migrationReport != nil)
    try coordinator.remove(store)
  }

  /// Colours are as many as posts, each with an identity, and related both ways.
  private func checkColors(_ url: URL, _ model: ManagedObjectModel, count: Int) throws {
    try withStore(model, url) { context in
      let posts = try context.fetch(FetchRequest<ManagedObject>(entityName: "Post"))
      let colors = try context.fetch(FetchRequest<ManagedObject>(entityName: "Color"))
      #expect(posts.count == count && colors.count == count)
      for post in posts {
        let color = try #require(try post.value(forKey: "color") as? ManagedObject)
        #expect(try color.value(forKey: "post") as? ManagedObject === post)
      }
      for color in colors {
        let post = try #require(try color.value(forKey: "post") as? ManagedObject)
        #expect(try post.value(forKey: "color") as? ManagedObject === color)
      }
      let identities = try colors.compactMap { try $0.value(forKey: "colorID") as? String }
      #expect(identities.allSatisfy { UUID(uuidString: $0) != nil })
      #expect(Set(identities).count == count)
      if model.entity(named: "Post")?.attribute(named: "hide") != nil {
        #expect(try posts.allSatisfy { try $0.value(forKey: "hide") as? Bool == false })
      }
    }
  }

  @Test func `the documents say what they say`() throws {
    let models = try models()
    let first = try XcodeMappingModel(
      contentsOf: try mappingURL("Migration1to2"), sourceModel: models[0],
      destinationModel: models[1])
    #expect(first.notes == [])
    #expect(first.sourceModelPath?.hasSuffix("CoreDataMigration_Example.xcdatamodel") == true)
    #expect(first.mappingModel.entityMappings.map(\.name) == ["PostToPost"])
    let post = try #require(first.mappingModel.entityMappings.first)
    #expect(post.mappingType == .transformEntityMappingType)
    var formats: [String: String] = [:]
    for property in post.attributeMappings {
      guard case .expression(let expression)? = property.valueExpression else { continue }
      formats[property.name] = expression.description
    }
    // The first is an archive in the document, the others are generated.
    #expect(
      formats == [
        "hexColor": "$source.color", "date": "$source.date", "postID": "$source.postID",
      ])

    let second = try XcodeMappingModel(
      contentsOf: try mappingURL("Migration2to3"), sourceModel: models[1],
      destinationModel: models[2])
    let mappings = second.mappingModel.entityMappings
    #expect(mappings.map(\.name) == ["Color", "PostToPost"])
    #expect(mappings.map(\.mappingType) == [.addEntityMappingType, .customEntityMappingType])
    #expect(
      mappings[1].entityMigrationPolicyClassName
        == "CoreDataMigration_Example.Post2ToPost3MigrationPolicy")
    #expect(mappings[1].relationshipMappings.map(\.name) == ["color"])
  }

  @Test func `each mapping is found by its models alone`() throws {
    let models = try models()
    let folders = [try RealData.url("wibosco-migration")]
    for (source, destination) in [(0, 1), (1, 2), (2, 3), (0, 2), (1, 0)] {
      let found = try MappingModel(
        from: folders, forSourceModel: models[source], destinationModel: models[destination])
      let count = [0: 1, 1: 2][source == destination - 1 ? source : -1]
      #expect(found?.entityMappings.count == count)
    }
  }

  @Test func `posts of version 1 arrive in version 4 with their colours`() throws {
    let (folder, models) = (try TemporaryFolder(), try models())
    let url = try imported(RealStore.posts[0], folder)
    let before = try posts(url, models[0], hex: "color")
    #expect(before.count == 1_001 && before.allSatisfy { $0.hex?.count == 6 })
    try migrate(url, from: 1)
    #expect(try posts(url, models[1], hex: "hexColor") == before)
    try migrate(url, from: 2)
    #expect(try posts(url, models[2], hex: "color.hex") == before)
    try checkColors(url, models[2], count: 1_001)
    try migrateByInference(url)
    #expect(try posts(url, models[3], hex: "color.hex") == before)
    try checkColors(url, models[3], count: 1_001)
  }

  @Test(
    .enabled(if: Amount.of(debug: false, release: true), "thousands of posts, in release alone"))
  func `posts of version 2 arrive in version 4 with their colours`() throws {
    let (folder, models) = (try TemporaryFolder(), try models())
    let url = try imported(RealStore.posts[1], folder)
    let before = try posts(url, models[1], hex: "hexColor")
    #expect(before.count == 5_979)
    try migrate(url, from: 2)
    try migrateByInference(url)
    #expect(try posts(url, models[3], hex: "color.hex") == before)
    try checkColors(url, models[3], count: 5_979)
  }

  @Test(
    .enabled(if: Amount.of(debug: false, release: true), "thousands of posts, in release alone"))
  func `posts of version 3 arrive in version 4 with their colours`() throws {
    let (folder, models) = (try TemporaryFolder(), try models())
    let url = try imported(RealStore.posts[2], folder)
    let before = try posts(url, models[2], hex: "color.hex")
    #expect(before.count == 7_995)
    try migrateByInference(url)
    #expect(try posts(url, models[3], hex: "color.hex") == before)
    try checkColors(url, models[3], count: 7_995)
  }

  @Test func `without its policy the mapping is not carried out`() throws {
    let (folder, models) = (try TemporaryFolder(), try models())
    let url = try imported(RealStore.posts[1], folder)
    let before = try Data(contentsOf: url)
    let mapping = try MappingModel(
      contentsOf: try mappingURL("Migration2to3"), sourceModel: models[1],
      destinationModel: models[2])
    let manager = MigrationManager(sourceModel: models[1], destinationModel: models[2])
    do {
      try manager.migrateStore(from: url, mapping: mapping, to: url)
      Issue.record("no error")
    } catch let error as PersistenceError {
      #expect(error.code == .entityMigrationPolicy)
      #expect(error.message.contains("Post2ToPost3MigrationPolicy"))
    }
    #expect(try Data(contentsOf: url) == before)
  }
}
