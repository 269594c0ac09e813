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

  /// What a policy had changed before it threw was taken back, and could be undone all the same;
  /// what could be made again was forgotten.
  @Test(arguments: GotchaHome.allCases, [false, true])
  func `a policy that throws leaves what can be undone and made again`(
    _ home: GotchaHome, _ isChild: Bool
  ) throws {
    try home.withContext { parent in
      let artist = try #require(try parent.insert("Artist", ["name": "a", "born": 1]) as? Artist)
      try parent.save()
      let context = isChild ? parent.newChildContext() : SmallGallery.sibling(of: parent)
      let undoManager = UndoManager()
      context.undoManager = undoManager
      let own = try #require(try context.existingObject(with: artist.objectID) as? Artist)
      own.name = "b"
      context.processPendingChanges()
      own.name = "c"
      context.undo()
      try #require(own.name == "b" && undoManager.canUndo && undoManager.canRedo)
      if isChild {
        parent.delete(artist)
      } else {
        artist.name = "other"
        try parent.save()
      }
      let policy = Asking(merge: .mergeByPropertyObjectTrumpMergePolicyType)
      policy.answer = { list in
        own.born = 2
        try context.insert("Artist")
        context.delete(own)
        context.processPendingChanges()
        throw Refusal()
      }
      context.mergePolicy = policy
      #expect(throws: Refusal.self) { try context.save() }
      #expect(own.name == "b" && own.born == 1 && own.isUpdated && context.insertedObjects.isEmpty)
      #expect(undoManager.canUndo && undoManager.canRedo && undoManager.groupingLevel == 0)
      context.redo()
      #expect(own.name == "c" && own.born == 1)
      context.undo()
      context.undo()
      #expect(own.name == "a" && !undoManager.canUndo && !context.hasChanges)
    }
  }
}
