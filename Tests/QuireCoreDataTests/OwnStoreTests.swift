import Foundation
import QuireCoreData
import Testing

/// A store that answers what a test tells it to.
private final class ScriptedStore: NSIncrementalStore {
  final class Script {
    var fetch: (ScriptedStore) -> Any = { _ in [Any]() }
    var values: [String: Any] = [:]
    var relationship: ((ScriptedStore) -> Any)?
    var ids: (ScriptedStore, [NSManagedObject]) -> [NSManagedObjectID] = { store, objects in
      objects.map { store.id(UUID(), $0.entity.name!) }
    }
    var identifier = "the scripted store"
  }

  private var script: Script { options!["Script"] as! Script }

  func id(_ reference: Any, _ name: String) -> NSManagedObjectID {
    let model = persistentStoreCoordinator!.managedObjectModel
    return newObjectID(for: model.entitiesByName[name]!, referenceObject: reference)
  }

  override func loadMetadata() throws { metadata = [NSStoreUUIDKey: script.identifier] }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    request is NSSaveChangesRequest ? NSNull() : script.fetch(self)
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    NSIncrementalStoreNode(objectID: objectID, withValues: script.values, version: 1)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription,
    forObjectWith objectID: NSManagedObjectID, with context: NSManagedObjectContext?
  ) throws -> Any {
    try script.relationship?(self)
      ?? super.newValue(forRelationship: relationship, forObjectWith: objectID, with: context)
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    script.ids(self, array)
  }
}

/// Nothing is overridden.
private final class EmptyStore: NSIncrementalStore {}

/// Answers of all kinds, right and wrong ones.
@Suite struct OwnStoreTests {
  private let script = ScriptedStore.Script()

  private func context() throws -> NSManagedObjectContext {
    Gallery.context(
      of: try Gallery.coordinator(ScriptedStore.self, "Scripted", options: ["Script": script]))
  }

  private let works = NSFetchRequest<Artwork>(entityName: "Artwork")

  private func message(
    _ sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) -> String {
    let error = #expect(throws: NSError.self, sourceLocation: sourceLocation, performing: body)
    #expect(error?.code == NSPersistentStoreOperationError, sourceLocation: sourceLocation)
    return error?.localizedDescription ?? ""
  }

  // MARK: Right answers

  @Test func `texts, numbers of all sizes and UUIDs are references, and come back`() throws {
    let context = try context()
    let store = try #require(
      context.persistentStoreCoordinator?.persistentStores.first as? ScriptedStore)
    var ids: Set<NSManagedObjectID> = []
    let references: [AnyHashable] = [
      "", "a", "b", "7", "ä", 7, 0, -7, Int.max, UInt64.max, 1 << 47, 1 << 47 - 1, 7.5, UUID(),
    ]
    for reference in references {
      let id = store.id(reference.base, "Artist")
      #expect(ids.insert(id).inserted, "\(reference)")
      #expect(store.id(reference.base, "Artist") == id)
      let back = store.referenceObject(for: id)
      #expect(back as? AnyHashable == reference || "\(back)" == "\(reference)", "\(reference)")
    }
    #expect(store.id(7, "Artist") != store.id(7, "Artwork"))
    #expect(store.id(NSNumber(value: 7), "Artist") == store.id(7, "Artist"))
    #expect(store.id("a" as NSString, "Artist") == store.id("a", "Artist"))
    let later = try self.context()
    let other = try #require(
      later.persistentStoreCoordinator?.persistentStores.first as? ScriptedStore)
    #expect(
      other.id("a", "Artist").uriRepresentation() == store.id("a", "Artist").uriRepresentation())
  }

  @Test func `arrays, sets and ordered sets of IDs or objects are answers`() throws {
    let context = try context()
    works.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true)]
    for answer: ([NSManagedObjectID]) -> Any in [
      { $0 }, { $0.map { context.object(with: $0) } }, { NSArray(array: $0) }, { NSSet(array: $0) },
      { Set($0) }, { NSOrderedSet(array: $0) },
    ] {
      script.fetch = { store in answer([1, 2].map { store.id($0, "Artwork") }) }
      #expect(try context.fetch(works).count == 2)
      #expect(try context.count(for: works) == 2)
    }
    script.fetch = { _ in NSNumber(value: 5) }
    #expect(try context.count(for: works) == 5)
    script.fetch = { store in (1...3).map { store.id($0, "Artwork") } }
    works.fetchLimit = 2
    #expect(try context.fetch(works).count == 2)
  }

  @Test func `values are numbers, texts and NSNull in any form`() throws {
    let context = try context()
    script.values = [
      "title": NSString(string: "Wave"), "year": NSNumber(value: 1831.0), "price": 12,
      "isSold": NSNumber(value: 1), "artist": NSNull(), "unknown": 5, "subjects": [1],
    ]
    script.fetch = { store in [store.id("x", "Artwork")] }
    let wave = try #require(context.fetch(works).first)
    #expect(wave.title == "Wave" && wave.year == 1831 && wave.price == 12 && wave.isSold)
    #expect(wave.artist == nil)
    script.values = ["title": NSNull()]
    context.refreshAllObjects()
    #expect(wave.title == nil && wave.year == 0)
  }

  @Test func `without an override members are found by the rows that lead back`() throws {
    let context = try context()
    script.fetch = { store in
      // The second is no member: the store does not look at predicates, and says that it did.
      [store.id("wave", "Artwork")]
    }
    let artist = Artist(context: context)
    artist.name = "Hokusai"
    try context.save()
    script.values = ["artist": artist.objectID]
    let wave = try #require(context.fetch(works).first)
    #expect(wave.artist === artist && artist.works == [wave])
  }

  @Test func `undo brings a removed object back, which is saved again`() throws {
    let context = try context()
    context.undoManager = UndoManager()
    script.relationship = { _ in [Any]() }
    script.values = ["name": "Hokusai"]
    let artist = Artist(context: context)
    artist.name = "Hokusai"
    try context.save()
    let id = artist.objectID
    context.delete(artist)
    try context.save()
    #expect(context.registeredObject(for: id) == nil)
    context.undo()
    #expect(artist.name == "Hokusai" && artist.isInserted && artist.objectID == id)
    try context.save()
    #expect(!artist.hasChanges && artist.objectID == id)
  }

  @Test func `a store of its own and Quire's are in one coordinator, each with its entities`()
    throws
  {
    NSPersistentStoreCoordinator.registerStoreClass(ScriptedStore.self, forStoreType: "Scripted")
    let model = Gallery.model()
    let local = try #require(model.entitiesByName["Note"])
    model.setEntities([local], forConfigurationName: "Local")
    model.setEntities(model.entities.filter { $0 != local }, forConfigurationName: "Remote")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let url = try #require(URL(string: "https://example.com/gallery"))
    let remote = try coordinator.addPersistentStore(
      ofType: "Scripted", configurationName: "Remote", at: url, options: ["Script": script])
    let memory = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: "Local", at: nil)
    #expect(coordinator.persistentStores == [remote, memory] && remote != memory)
    #expect(remote.configurationName == "Remote" && coordinator.persistentStore(for: url) == remote)
    let context = Gallery.context(of: coordinator)
    let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
    note.setValue("new", forKey: "text")
    Artist(context: context).name = "Hokusai"
    try context.save()
    let notes = NSFetchRequest<NSManagedObject>(entityName: "Note")
    #expect(try context.count(for: notes) == 1)
    works.affectedStores = [remote]
    #expect(try context.fetch(works).isEmpty)
  }

  @Test func `a coordinator that ends lets go of its store`() throws {
    weak var store: NSPersistentStore?
    do {
      let context = try context()
      store = context.persistentStoreCoordinator?.persistentStores.first
      #expect(store != nil)
      Artist(context: context).name = "Hokusai"
      try context.save()
    }
    #expect(store == nil)
  }

  // MARK: Wrong answers

  @Test func `an answer that contradicts the model is an error that says what it is`() throws {
    let context = try context()
    script.fetch = { _ in "none" }
    #expect(message { _ = try context.fetch(works) }.contains("String for a fetch of Artwork"))
    script.fetch = { _ in ["none"] }
    #expect(message { _ = try context.fetch(works) }.contains("not with an ID"))
    script.fetch = { store in [store.id(1, "Artist")] }
    #expect(message { _ = try context.fetch(works) }.contains("Artist/p1"))
    script.fetch = { store in [store.id(1, "Artwork"), store.id(1, "Artwork")] }
    #expect(message { _ = try context.fetch(works) }.contains("twice"))
    script.fetch = { _ in [Gallery.artwork("new", 1, in: context)] }
    #expect(message { _ = try context.fetch(works) }.contains("no permanent ID"))
    context.reset()
    script.fetch = { store in [store.id(1, "Artwork")] }
    let wave = try #require(context.fetch(works).first)
    for (name, value) in [("title", 5), ("year", "1831"), ("artist", "Hokusai")] as [(String, Any)]
    {
      script.values = [name: value]
      context.refreshAllObjects()
      #expect(message { _ = try context.existingObject(with: wave.objectID) }.contains(name))
    }
    script.values = ["title": "Wave"]
    context.refreshAllObjects()
    script.relationship = { store in store.id(1, "Subject") }
    #expect(message { _ = try context.existingObject(with: wave.objectID) }.contains("artist"))
  }

  @Test func `IDs that do not fit the new objects are an error of the save`() throws {
    let context = try context()
    let artist = Artist(context: context)
    script.ids = { _, _ in [] }
    #expect(message { try context.save() }.contains("1 IDs, and gave 0"))
    script.ids = { store, _ in [store.id(1, "Artwork")] }
    #expect(message { try context.save() }.contains("of another object"))
    script.ids = { _, objects in objects.map(\.objectID) }
    #expect(message { try context.save() }.contains("no permanent ID"))
    script.ids = { store, _ in [store.id(1, "Artist")] }
    try context.save()
    let second = Artist(context: context)
    #expect(message { try context.save() }.contains("of another object"))
    context.delete(second)
    #expect(artist.objectID.uriRepresentation().lastPathComponent == "p1")
  }

  @Test func `a missing override is an error that names the store class and the method`() throws {
    let message = message { _ = try Gallery.coordinator(EmptyStore.self, "Empty") }
    #expect(message.contains("EmptyStore") && message.contains("loadMetadata()"))
    let url = URL(fileURLWithPath: "/none")
    #expect(throws: NSError.self) {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: "Empty", at: url)
    }
    NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Empty")
    let error = #expect(throws: NSError.self) {
      try NSPersistentStoreCoordinator(managedObjectModel: Gallery.model()).addPersistentStore(
        ofType: "Empty", configurationName: nil, at: nil)
    }
    #expect(error?.localizedDescription.contains("Empty") == true)
  }
}
