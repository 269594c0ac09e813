import Foundation
import QuireCoreData
import Testing

/// What a store of a program's own is asked, and what its answers do.
@Suite struct DictionaryStoreTests {
  private let server = DictionaryStore.Server()

  private func fill(_ context: NSManagedObjectContext) throws -> Artist {
    try server.fill(context)
  }

  private func works(_ format: String? = nil, _ argument: Any? = nil) -> NSFetchRequest<Artwork> {
    Gallery.works(format, argument)
  }

  // MARK: Fetches

  @Test func `a fetch asks once, and faults ask for their rows when they are used`() throws {
    _ = try fill(try server.context())
    let context = try server.context()
    _ = server.takeCalls()
    let found = try context.fetch(works())
    #expect(server.takeCalls() == ["fetch"] && found.allSatisfy(\.isFault))
    #expect(found.map(\.title) == ["Self-portrait", "Fuji", "Wave"])
    #expect(server.takeCalls().filter { $0 == "values" }.count == 3)
    #expect(found.map(\.year) == [1839, 1832, 1831] && server.takeCalls() == [])
    let artist = try #require(found[0].artist)
    #expect(artist === found[1].artist && artist.works == Set(found))
    #expect(artist.name == "Hokusai" && artist.favorites == [])
  }

  @Test func `the store gets the entity, typed predicates, the order and the limit`() throws {
    let context = try server.context()
    _ = try fill(context)
    let request = works()
    request.predicate = NSPredicate(format: "year > %d AND NOT title IN %@", 1831, ["a", "b"])
    request.fetchLimit = 1
    request.fetchOffset = 1
    #expect(try context.fetch(request).map(\.title) == ["Fuji"])
    let fetch = try #require(server.lastFetch)
    #expect(
      fetch.entity
        === context.persistentStoreCoordinator?.managedObjectModel
        .entitiesByName["Artwork"])
    #expect(fetch.includesSubentities && fetch.fetchLimit == 2 && fetch.fetchOffset == 0)
    #expect(fetch.sortDescriptors == request.sortDescriptors)
    let compound = try #require(fetch.predicate as? NSCompoundPredicate)
    #expect(compound.compoundPredicateType == .and)
    let year = try #require(compound.subpredicates.first as? NSComparisonPredicate)
    #expect(year.leftExpression.expressionType == .keyPath && year.leftExpression.keyPath == "year")
    #expect(year.predicateOperatorType == .greaterThan)
    #expect(year.rightExpression.expressionType == .constantValue)
    #expect(year.rightExpression.constantValue as? Int == 1831)
    let not = try #require(compound.subpredicates.last as? NSCompoundPredicate)
    let title = try #require(not.subpredicates.first as? NSComparisonPredicate)
    #expect(title.predicateOperatorType == .in)
    #expect(title.rightExpression.constantValue as? [String] == ["a", "b"])
    let painting = NSFetchRequest<Artwork>(entityName: "Artwork")
    painting.includesSubentities = false
    _ = try context.fetch(painting)
    #expect(server.lastFetch?.includesSubentities == false)
  }

  @Test func `an object in a predicate reaches the store as its ID`() throws {
    let context = try server.context()
    let artist = try fill(context)
    // Rows of this store have lists of IDs.
    let request = works("ANY artist == %@", artist)
    #expect(try context.fetch(request).count == 3)
    let comparison = try #require(server.lastFetch?.predicate as? NSComparisonPredicate)
    #expect(comparison.rightExpression.constantValue as? NSManagedObjectID == artist.objectID)
  }

  @Test func `IDs, counts and dictionaries are found as in any store`() throws {
    let context = try server.context()
    _ = try fill(context)
    #expect(try context.count(for: works("year > %d", 1831)) == 2)
    #expect(server.takeCalls() == ["count"])
    let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Artwork")
    ids.resultType = .managedObjectIDResultType
    ids.predicate = NSPredicate(format: "title == 'Fuji'")
    #expect(
      try context.fetch(ids).map { context.object(with: $0).value(forKey: "year") as? Int }
        == [1832])
    let number = NSFetchRequest<NSNumber>(entityName: "Artwork")
    number.resultType = .countResultType
    #expect(try context.fetch(number) == [3])
    let sum = NSExpressionDescription()
    sum.name = "sum"
    sum.expression = NSExpression(
      forFunction: "sum:", arguments: [NSExpression(forKeyPath: "year")])
    let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Artwork")
    dictionaries.resultType = .dictionaryResultType
    dictionaries.propertiesToFetch = [sum]
    #expect(try context.fetch(dictionaries).first?["sum"] as? Int == 5502)
    dictionaries.propertiesToFetch = ["title", "year"]
    dictionaries.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    dictionaries.fetchLimit = 2
    #expect(
      try context.fetch(dictionaries).map { $0["title"] as? String }
        == ["Fuji", "Self-portrait"])
  }

  @Test func `unsaved changes count in a fetch, and the store is not asked about them`() throws {
    let context = try server.context()
    let artist = try fill(context)
    let fuji = try #require(artist.works.first { $0.title == "Fuji" })
    fuji.year = 1900
    context.delete(try #require(artist.works.first { $0.title == "Wave" }))
    Gallery.artwork("New", 1850, in: context)
    #expect(try context.fetch(works("year > %d", 1840)).map(\.title) == ["Fuji", "New"])
    #expect(try context.count(for: works()) == 3)
  }

  // MARK: The store itself

  @Test func `a store is told when it was added and removed, and is the object of its class`()
    throws
  {
    let coordinator = try server.coordinator()
    let store = try #require(coordinator.persistentStores.first as? DictionaryStore)
    #expect(server.isOpen && store.type == DictionaryStore.storeType && !store.isReadOnly)
    #expect(store.identifier == server.metadata[NSStoreUUIDKey] as? String)
    #expect(store.configurationName == "PF_DEFAULT_CONFIGURATION_NAME")
    #expect(store.persistentStoreCoordinator === coordinator)
    try coordinator.remove(store)
    #expect(!server.isOpen && coordinator.persistentStores.isEmpty)
  }

  @Test func `metadata of the application reach the store with a save`() throws {
    let coordinator = try server.coordinator()
    let store = try #require(coordinator.persistentStores.first)
    var metadata = coordinator.metadata(for: store)
    #expect(metadata[NSStoreModelVersionHashesKey] != nil)
    metadata["Owner"] = "Ada"
    coordinator.setMetadata(metadata, for: store)
    #expect(coordinator.metadata(for: store)["Owner"] as? String == "Ada")
    #expect(server.metadata["Owner"] == nil)
    try Gallery.context(of: coordinator).save()
    #expect(server.metadata["Owner"] as? String == "Ada")
    #expect(server.lastSave?.insertedObjects == nil)
    // The hashes are there now: a store of another version is refused.
    let other = NSPersistentStoreCoordinator(managedObjectModel: LedgerModel.version1())
    let error = #expect(throws: NSError.self) {
      try other.addPersistentStore(
        ofType: DictionaryStore.storeType, configurationName: nil, at: nil,
        options: [DictionaryStore.serverOption: server])
    }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
  }

  @Test func `the store knows which objects contexts use`() throws {
    let artist = try fill(try server.context())
    let id = artist.objectID
    let coordinator = try server.coordinator()
    let (first, second) = (Gallery.context(of: coordinator), Gallery.context(of: coordinator))
    _ = try first.existingObject(with: id)
    let before = server.usedIDs[id] ?? 0
    let held = try second.existingObject(with: id)
    #expect(server.usedIDs[id] == before + 1)
    _ = try first.fetch(works())
    withExtendedLifetime(held) {}
    #expect(server.usedIDs[id] == before)
    do {
      let third = Gallery.context(of: coordinator)
      #expect(try third.existingObject(with: id).value(forKey: "name") as? String == "Hokusai")
      #expect(server.usedIDs[id] == before + 1)
    }
    #expect(server.usedIDs[id] == before)
  }

  @Test func `a store that is added again serves the objects of before`() throws {
    let coordinator = try server.coordinator()
    let context = Gallery.context(of: coordinator)
    let artist = try fill(context)
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    let error = #expect(throws: NSError.self) { try context.fetch(works()) }
    #expect(error?.code == NSPersistentStoreOperationError)
    try coordinator.addPersistentStore(
      ofType: DictionaryStore.storeType, configurationName: nil, at: nil,
      options: [DictionaryStore.serverOption: server])
    #expect(try context.fetch(works()).count == 3)
    #expect(artist.name == "Hokusai" && artist.works.count == 3)
    artist.name = "Iitsu"
    try context.save()
    #expect(server.rows["Artist"]?.values.first?["name"] as? String == "Iitsu")
  }

  @Test func `a description and the registered types name the store`() throws {
    NSPersistentStoreCoordinator.registerStoreClass(
      DictionaryStore.self, type: NSPersistentStore.StoreType(rawValue: DictionaryStore.storeType))
    let types = NSPersistentStoreCoordinator.registeredStoreTypes
    #expect(types[DictionaryStore.storeType] == DictionaryStore.self && types["Other"] == nil)
    #expect(types[NSSQLiteStoreType] != nil)
    let container = NSPersistentContainer(name: "Gallery", managedObjectModel: Gallery.model())
    let description = NSPersistentStoreDescription()
    description.type = DictionaryStore.storeType
    description.setOption(server, forKey: DictionaryStore.serverOption)
    description.isReadOnly = true
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    #expect(failure == nil)
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    #expect(store is DictionaryStore && store.isReadOnly)
    let context = Gallery.context(of: container.persistentStoreCoordinator)
    Gallery.artwork("Wave", 1831, in: context)
    let error = #expect(throws: NSError.self) { try context.save() }
    #expect(error?.code == NSPersistentStoreSaveError)
  }
}
