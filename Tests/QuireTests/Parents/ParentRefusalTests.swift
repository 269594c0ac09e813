import Quire
import Testing

/// Saves to a parent that fail: nothing has happened on either side, and they succeed when what was
/// in the way is gone.
@Suite struct ParentRefusalTests {
  typealias Artist = SmallGallery.Artist

  /// What a context has that is unsaved, and what it shows of it.
  private struct Picture: Equatable {
    let inserted: Set<ManagedObject>
    let updated: Set<ManagedObject>
    let deleted: Set<ManagedObject>
    let lines: [String]
    let canUndo: Bool
    let canRedo: Bool

    init(_ context: ManagedObjectContext) throws {
      inserted = context.insertedObjects
      updated = context.updatedObjects
      deleted = context.deletedObjects
      lines = try inserted.union(updated).map { object in
        try object.entity.properties.map { property in
          let value = try object.value(forKey: property.name)
          let members = (value as? Set<ManagedObject>)?.map { "\($0.objectID)" }.sorted()
          return "\(property.name)=\(members.map { "\($0)" } ?? "\(value ?? "nil")")"
        }.joined(separator: " ")
      }.sorted()
      canUndo = context.undoManager?.canUndo ?? false
      canRedo = context.undoManager?.canRedo ?? false
    }
  }

  /// What the parent had deleted was given up, though nothing was saved.
  @Test(arguments: GotchaHome.allCases, MergingPolicy.allCases)
  func `a save that fails after its policy was asked has dropped nothing`(
    _ home: GotchaHome, _ policy: MergingPolicy
  ) throws {
    try home.withContext { parent in
      let artist = try #require(try parent.insert("Artist", ["name": "a"]) as? Artist)
      try parent.save()
      let child = parent.newChildContext()
      child.mergePolicy = policy.policy
      child.undoManager = UndoManager()
      let own = try #require(try child.existingObject(with: artist.objectID) as? Artist)
      own.name = "b"
      // It has no word, and needs one.
      let tag = try child.insert("Tag")
      child.processPendingChanges()
      parent.delete(artist)
      parent.processPendingChanges()
      let before = (try Picture(child), try Picture(parent))
      let error = #expect(throws: PersistenceError.self) { try child.save() }
      #expect(error?.code == .validationMissingMandatoryProperty)
      #expect(own.name == "b" && own.isUpdated && tag.isInserted)
      #expect(try Picture(child) == before.0)
      #expect(try Picture(parent) == before.1)
      try tag.setValue("word", forKey: "word")
      try child.save()
      #expect(!child.hasChanges && parent.deletedObjects == [artist])
      #expect(try parent.values(of: "word", "Tag") == ["word"])
      try parent.save()
      #expect(try StoreFacts(parent).findings == [])
    }
  }
}
