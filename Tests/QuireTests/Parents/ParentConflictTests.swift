import Quire
import Testing

/// Saves to a parent that meet something: a deletion there, or a store that does not answer.
@Suite struct ParentConflictTests {
  typealias Artist = SmallGallery.Artist
  typealias Artwork = SmallGallery.Artwork

  /// Asks somebody what to do, and remembers what it was asked about.
  private final class Asking: MergePolicy {
    var reports: [MergeConflict.Report] = []
    var answer: ([MergeConflict]) throws -> Void = { _ in }

    override func resolve(optimisticLockingConflicts list: [MergeConflict]) throws {
      reports += list.map(\.report)
      try answer(list)
      try super.resolve(optimisticLockingConflicts: list)
    }
  }

  private struct Refusal: Error {}

  /// A policy of one's own was not asked: what its type says was done.
  @Test(arguments: GotchaHome.allCases)
  func `a policy of one's own is asked about what the parent has deleted`(
    _ home: GotchaHome
  ) throws {
    try home.withContext { parent in
      let artist = try #require(try parent.insert("Artist", ["name": "a", "born": 1]) as? Artist)
      try parent.save()
      let child = parent.newChildContext()
      let own = try #require(try child.existingObject(with: artist.objectID) as? Artist)
      own.name = "too late"
      try child.insert("Artist", ["name": "other"])
      parent.delete(artist)
      let policy = Asking(merge: .mergeByPropertyObjectTrumpMergePolicyType)
      child.mergePolicy = policy
      policy.answer = { _ in throw Refusal() }
      #expect(throws: Refusal.self) { try child.save() }
      #expect(own.name == "too late" && own.isUpdated && parent.insertedObjects.isEmpty)
      // What it has changed is taken back with the refusal.
      policy.answer = { list in
        child.delete(list[0].sourceObject)
        own.born = 2
        throw Refusal()
      }
      #expect(throws: Refusal.self) { try child.save() }
      #expect(own.name == "too late" && own.born == 1 && own.isUpdated)
      #expect(child.insertedObjects.count == 1 && child.deletedObjects.isEmpty)
      // Whom it leaves alone, the deletion wins over.
      policy.reports = []
      policy.answer = { list in try child.insert("Artist", ["name": "instead"]) }
      try child.save()
      #expect(policy.reports.map(\.objectID) == [artist.objectID])
      #expect(policy.reports.map(\.newVersion) == [0])
      #expect(policy.reports.map(\.changedProperties) == [["name"]])
      #expect(!child.hasChanges && own.managedObjectContext === child)
      #expect(try parent.values(of: "name", "Artist", sortedBy: "name") == ["instead", "other"])
      try parent.save()
      #expect(try StoreFacts(parent).findings == [])
    }
  }

  /// Reading the parent's objects failed in the middle; what could be undone there was forgotten.
  @Test func `a save that the parent cannot take leaves what can be undone there`() throws {
    let server = RowServer()
    let coordinator = try server.coordinator(
      .plain, SmallGallery.model, classes: SmallGallery.classes)
    let parent = GotchaHome.context(of: coordinator)
    let undoManager = UndoManager()
    let artists = try ["a", "b", "c"].map { try parent.insert("Artist", ["name": $0]) }
    let artwork = try #require(try parent.insert("Artwork", ["artist": artists[0]]) as? Artwork)
    try parent.save()
    parent.undoManager = undoManager
    // One can be made again, and one undone: a deletion that was saved.
    parent.delete(artists[2])
    try parent.save()
    try artists[1].setValue("B", forKey: "name")
    parent.processPendingChanges()
    parent.undo()
    try #require(undoManager.canUndo && undoManager.canRedo && !parent.hasChanges)
    let child = parent.newChildContext()
    let own = try #require(try child.existingObject(with: artwork.objectID) as? Artwork)
    own.artist = try #require(try child.existingObject(with: artists[1].objectID) as? Artist)
    own.title = "moved"
    child.delete(try child.insert("Artist"))
    var failures = 0
    for number in 1...20 {
      parent.refreshAllObjects()
      server.refuse(call: number)
      do {
        try child.save()
        break
      } catch {
        failures += 1
        server.refuse(call: nil)
        #expect(!parent.hasChanges && child.hasChanges)
        #expect(undoManager.canUndo && undoManager.canRedo && undoManager.groupingLevel == 0)
      }
    }
    server.refuse(call: nil)
    #expect(failures > 0 && failures < 20)
    #expect(artwork.artist === artists[1] && artwork.title == "moved")
    parent.undo()
    #expect(artwork.artist === artists[0] && artwork.title != "moved" && !parent.hasChanges)
    parent.undo()
    #expect(parent.insertedObjects == [artists[2]])
    parent.redo()
    parent.redo()
    #expect(!parent.insertedObjects.contains(artists[2]) && artwork.title == "moved")
    try parent.save()
  }
}
