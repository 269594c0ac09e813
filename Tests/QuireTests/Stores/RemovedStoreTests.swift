import Quire
import Testing

/// What is left of a store's objects when the store is removed from its coordinator.
@Suite struct RemovedStoreTests {
  typealias Scene = SeveralStoresScene

  /// How much a context has to do with the objects of a store when that goes.
  enum Acquaintance: CaseIterable {
    case held, changed, deleted, undone, followed, merging, pinned, child, related
  }

  @Test(arguments: Acquaintance.allCases)
  func `a save of other stores' objects does not fail for what is gone`(
    _ acquaintance: Acquaintance
  ) throws {
    try Scene.with { scene in
      let (hilma, wassily) = try scene.artists()
      let work = try scene.insertSecond("Work", ["title": "Yellow"])
      try work.setValue(wassily, forKey: "artist")
      try scene.context.save()
      var context = scene.context
      var kept: [Any] = []
      switch acquaintance {
      case .held: break
      case .changed: try wassily.setValue("lost", forKey: "name")
      case .deleted: context.delete(wassily)
      case .undone:
        context.undoManager = UndoManager()
        try wassily.setValue("lost", forKey: "name")
        context.processPendingChanges()
      case .followed:
        var request = FetchRequest<ManagedObject>(entityName: "Artist")
        request.sortDescriptors = [FetchSortDescriptor(key: "name")]
        let controller = FetchedResultsController(
          fetchRequest: request, managedObjectContext: context)
        let delegate = SilentDelegate()
        controller.delegate = delegate
        try controller.performFetch()
        try wassily.setValue("lost", forKey: "name")
        context.processPendingChanges()
        kept = [controller, delegate]
      case .merging:
        context.automaticallyMergesChangesFromParent = true
        let sibling = scene.sibling()
        try sibling.existingObject(with: wassily.objectID).setValue("theirs", forKey: "name")
        try sibling.save()
      case .pinned: try context.setQueryGeneration(from: .current)
      case .child:
        context = scene.context.newChildContext()
        let mine = try context.existingObject(with: wassily.objectID)
        try mine.setValue("lost", forKey: "name")
        kept = [mine]
      case .related:
        try wassily.setValue([ManagedObject](), forKey: "works")
      }
      try scene.coordinator.remove(scene.second)
      let mine = try context.existingObject(with: hilma.objectID)
      try mine.setValue("kept", forKey: "name")
      try context.save()
      try mine.setValue("again", forKey: "name")
      try context.save()
      #expect(context.hasChanges == false)
      withExtendedLifetime((kept, work)) {}
    }
  }

  /// A list that was drawn once more after its store had gone read a name, and the next save, of
  /// something else, failed with 134070.
  @Test func `a typed property of what is gone is empty, and says why to whoever asks`() throws {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: SmallGallery.model, classes: SmallGallery.classes)
    let first = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let second = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = GotchaHome.context(of: coordinator)
    let (kept, gone) = (
      SmallGallery.Artist(context: context), SmallGallery.Artist(context: context)
    )
    context.assign(gone, to: second)
    try context.save()
    try coordinator.remove(second)
    context.processPendingChanges()
    kept.name = "kept"
    #expect(gone.name == "" && gone.artworks.isEmpty && gone.spouse == nil)
    #expect(gone.isInaccessible && !kept.isInaccessible)
    try context.save()
    #expect { try gone.value(forKey: "name") } throws: { code(of: $0) == .persistentStoreOperation }
    gone.name = "lost"
    #expect { try context.save() } throws: { code(of: $0) == .persistentStoreOperation }
    context.shouldDeleteInaccessibleFaults = false
    #expect(gone.name == "")
    #expect { try context.save() } throws: { code(of: $0) == .persistentStoreOperation }
    try context.save()
    try coordinator.remove(first)
  }
}

private final class SilentDelegate: FetchedResultsControllerDelegate {
  typealias Result = ManagedObject
}
