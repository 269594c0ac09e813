import Quire
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

private typealias Artist = SmallGallery.Artist
private typealias Artwork = SmallGallery.Artwork
private typealias Show = SmallGallery.Show

@Suite struct IncrementalStoreSaveTests {
  /// One artist, as two contexts of one coordinator see it.
  private struct Pair {
    let server = RowServer()
    let context: ManagedObjectContext
    let sibling: ManagedObjectContext
    let first: Artist
    let second: Artist

    init() throws {
      context = try server.context()
      first = Artist(context: context)
      first.name = "Hokusai"
      try context.save()
      sibling = SmallGallery.sibling(of: context)
      second = try #require(try sibling.existingObject(with: first.objectID) as? Artist)
    }
  }

  @Test func `a save says what has changed, and from which version`() throws {
    let server = RowServer()
    let context = try server.context()
    context.transactionAuthor = "me"
    let artist = Artist(context: context)
    artist.name = "Hokusai"
    let show = Show(context: context)
    show.artists = [artist]
    let tag = try context.insert("Tag", ["word": "blue"])
    try context.save()
    var save = try #require(server.now.lastSave)
    #expect(save.inserted.count == 3 && save.updated.isEmpty && save.author == "me")
    let showKey = try #require(IncrementalStoreKey(show.objectID))
    let artistKey = try #require(IncrementalStoreKey(artist.objectID))
    #expect(
      save.inserted.first { $0.node.key == showKey }?.members["artists"]?.order == [artistKey])
    #expect(
      save.inserted.first { $0.node.key == artistKey }?.members["shows"]?.added == [showKey])

    let artwork = Artwork(context: context)
    artwork.artist = artist
    try artwork.setValue(Set([tag]), forKey: "tags")
    try context.save()
    save = try #require(server.now.lastSave)
    #expect(save.inserted.map(\.node.destinations) == [["artist": artistKey]])
    // Of the artist nothing is written: the artwork's row says it all.
    #expect(save.unchanged.map(\.key) == [artistKey] && save.unchanged.map(\.version) == [nil])
    #expect(save.updated.map(\.changedProperties) == [["artworks"]])
    #expect(save.updated.first?.node.key == IncrementalStoreKey(tag.objectID))
    #expect(save.updated.first?.formerVersion == 1 && save.updated.first?.node.version == 2)

    artist.born = 1760
    context.delete(artwork)
    context.delete(show)
    try context.save()
    save = try #require(server.now.lastSave)
    let update = try #require(save.updated.first { $0.node.key == artistKey })
    #expect(update.changedProperties == ["born", "shows"])
    #expect(update.node.values == ["born": .integer(1760), "name": .string("Hokusai")])
    #expect(update.members["shows"]?.removed == [showKey])
    #expect(Set(save.deleted.map(\.key.entityName)) == ["Show", "Artwork"])
    #expect(server.now.findings(SmallGallery.model).isEmpty)
    try context.save()
    #expect(server.now.calls(.save) == 3)
  }

  @Test func `two contexts that change one object are in conflict`() throws {
    let pair = try Pair()
    let (server, context, sibling, first, second) = (
      pair.server, pair.context, pair.sibling, pair.first, pair.second
    )
    first.name = "mine"
    try context.save()
    second.name = "theirs"
    do {
      try sibling.save()
      Issue.record("the save should have failed")
    } catch let error as PersistenceError {
      #expect(error.code == .managedObjectMerge)
      #expect(error.conflicts.map(\.newVersion) == [2])
    }
    #expect(server.now.calls(.save) == 2 && second.name == "theirs")
    sibling.mergePolicy = .mergeByPropertyObjectTrump
    second.born = 1760
    try sibling.save()
    #expect(server.now.record("Artist", "name", "theirs")?.node.version == 3)
  }

  @Test(arguments: [
    MergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .errorMergePolicyType,
  ])
  func `somebody who is faster than a save is found by the store, and the policy is asked`(
    _ type: MergePolicyType
  ) throws {
    let pair = try Pair()
    let (server, context, first) = (pair.server, pair.context, pair.first)
    let key = try #require(IncrementalStoreKey(first.objectID))
    context.mergePolicy = MergePolicy(merge: type)
    first.name = "mine"
    server.edit { state in
      state.interference = { records in
        records[key]?.node.values["born"] = .integer(1760)
        records[key]?.node.version = 2
      }
    }
    if type == .errorMergePolicyType {
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .managedObjectMerge && error?.conflicts.count == 1)
      #expect(first.name == "mine" && first.hasChanges)
      return
    }
    try context.save()
    #expect(first.born == 1760 && first.name == "mine" && !context.hasChanges)
    #expect(server.now.records[key]?.node.version == 3)
    #expect(server.now.records[key]?.node.values["born"] == .integer(1760))
  }

  @Test func `nobody is left without an owner that somebody else has deleted`() throws {
    let pair = try Pair()
    let (server, context, sibling, first, second) = (
      pair.server, pair.context, pair.sibling, pair.first, pair.second
    )
    context.delete(first)
    try context.save()
    let artwork = Artwork(context: sibling)
    artwork.artist = second
    let error = #expect(throws: PersistenceError.self) { try sibling.save() }
    #expect(error?.code == .managedObjectMerge)
    #expect(server.now.records.isEmpty)
  }

  @Test func `an owner with new members is not deleted over them`() throws {
    let pair = try Pair()
    let (server, context, sibling, first, second) = (
      pair.server, pair.context, pair.sibling, pair.first, pair.second
    )
    #expect(second.artworks.isEmpty)
    sibling.delete(second)
    sibling.processPendingChanges()
    Artwork(context: context).artist = first
    try context.save()
    let error = #expect(throws: PersistenceError.self) { try sibling.save() }
    #expect(error?.code == .managedObjectMerge)
    #expect(server.now.records.count == 2)
    sibling.mergePolicy = .mergeByPropertyObjectTrump
    try sibling.save()
    #expect(server.now.records.isEmpty)
  }

  @Test func `an object that others rest on is compared when that is asked for`() throws {
    let pair = try Pair()
    let (server, context, sibling, first, second) = (
      pair.server, pair.context, pair.sibling, pair.first, pair.second
    )
    #expect(second.name == "Hokusai")
    sibling.detectConflicts(for: second)
    let show = Show(context: sibling)
    show.name = "new"
    first.name = "changed"
    try context.save()
    #expect(throws: PersistenceError.self) { try sibling.save() }
    #expect(server.now.records.count == 1)
    sibling.refresh(second, mergeChanges: true)
    #expect(second.name == "changed")
    try sibling.save()
    #expect(server.now.lastSave?.unchanged.map(\.version) == [2])
  }

  @Test func `other contexts merge what was saved`() throws {
    let pair = try Pair()
    let (context, sibling, first, second) = (pair.context, pair.sibling, pair.first, pair.second)
    sibling.automaticallyMergesChangesFromParent = true
    #expect(second.name == "Hokusai" && second.artworks.isEmpty)
    first.name = "changed"
    Artwork(context: context).artist = first
    try context.save()
    sibling.processPendingChanges()
    #expect(second.name == "changed" && second.artworks.count == 1)
    context.delete(first)
    try context.save()
    sibling.processPendingChanges()
    #expect(second.managedObjectContext == nil)
  }

  @Test func `a saved deletion is undone in its former place`() throws {
    let pair = try Pair()
    let (server, context, first) = (pair.server, pair.context, pair.first)
    context.undoManager = UndoManager()
    let id = first.objectID
    context.delete(first)
    try context.save()
    #expect(server.now.records.isEmpty)
    context.undo()
    try context.save()
    #expect(first.objectID == id)
    #expect(server.now.records.keys.map { $0 } == [try #require(IncrementalStoreKey(id))])
  }

  @Test func `a child reads and saves through its parent`() throws {
    let pair = try Pair()
    let (server, context, first) = (pair.server, pair.context, pair.first)
    first.born = 1760
    let child = ManagedObjectContext(parent: context)
    let artist = try #require(try child.named("Hokusai"))
    #expect(artist.born == 1760 && artist.artworks.isEmpty)
    artist.name = "Katsushika"
    Artwork(context: child).artist = artist
    #expect(try child.all(Artwork.self).count == 1)
    try child.save()
    #expect(first.name == "Katsushika" && first.artworks.count == 1)
    #expect(server.now.records.count == 1)
    try context.save()
    #expect(server.now.records.count == 2)
    #expect(try child.all(Artwork.self).first?.artist === artist)
  }

  @Test func `a child's change of what somebody else has changed is a conflict`() throws {
    let pair = try Pair()
    let (context, sibling, first, second) = (pair.context, pair.sibling, pair.first, pair.second)
    let child = ManagedObjectContext(parent: context)
    context.refresh(first, mergeChanges: false)
    let artist = try #require(try child.existingObject(with: first.objectID) as? Artist)
    #expect(artist.name == "Hokusai")
    second.name = "changed"
    try sibling.save()
    artist.name = "mine"
    context.refresh(first, mergeChanges: false)
    try child.save()
    #expect(throws: PersistenceError.self) { try context.save() }
  }

  @Test func `an object shows the values that the store returns for its saved row`() throws {
    let server = RowServer()
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    try coordinator.registerStoreClass(forStoreType: RowStore.type) { place in
      VersioningStore(rows: RowStore(server: server, model: place.model))
    }
    try coordinator.addPersistentStore(type: RowStore.type, at: nil)
    let context = GotchaHome.context(of: coordinator)
    let artist = Artist(context: context)
    artist.name = "hokusai"
    try context.save()
    #expect(artist.name == "HOKUSAI" && artist.version == 100)
    server.restartCounting()
    artist.born = 1760
    try context.save()
    #expect(artist.version == 200)
    #expect(artist.name == "HOKUSAI" && artist.born == 1760)
  }
}

/// Counts versions by hundreds, and writes names in capitals.
private struct VersioningStore: IncrementalStore {
  let rows: RowStore

  func loadMetadata() throws -> IncrementalStoreMetadata { try rows.loadMetadata() }
  func execute(_ request: IncrementalStoreFetch) throws -> IncrementalStoreAnswer {
    try rows.execute(request)
  }
  func newValues(forObjectsWith keys: [IncrementalStoreKey]) throws -> [IncrementalStoreNode] {
    try rows.newValues(forObjectsWith: keys)
  }
  func obtainPermanentIDs(for entityNames: [String]) throws -> [Int64] {
    try rows.obtainPermanentIDs(for: entityNames)
  }
  func execute(_ request: IncrementalStoreSave) throws -> [IncrementalStoreNode] {
    _ = try rows.execute(request)
    var changed: [IncrementalStoreNode] = []
    rows.server.edit { state in
      for var node in request.inserted.map(\.node) + request.updated.map(\.node) {
        node.version = (node.version / 100 + 1) * 100
        if case .string(let name)? = node.values["name"] {
          node.values["name"] = .string(name.uppercased())
        }
        state.records[node.key]?.node = node
      }
      changed = state.records.values.map(\.node)
    }
    return changed
  }
}
