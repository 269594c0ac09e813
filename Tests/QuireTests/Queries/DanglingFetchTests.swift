import Quire
import Testing

/// Fetches by relationships of which nobody is told when their destination is deleted.
///
/// A fetch finds what a save would leave. Where an object had no changes of its own, its row was
/// asked, and led to what was deleted and not saved. Asked whether there is a destination, its
/// bytes were looked at, and led to what was gone.
@Suite struct DanglingFetchTests {
  private static let model = try! ManagedObjectModel {
    Entity("Thing") {
      FetchIndex("byPointer", on: "pointer")
      Attribute("number", .integer32)
      Relationship("pointer", toOne: "Thing")
      Relationship("bag", toMany: "Thing")
      Relationship("cover", toOne: "Thing", inverse: "covered")
      Relationship("covered", toOne: "Thing", inverse: "cover", deleteRule: .noAction)
    }
  }

  private func numbers(_ format: String, _ context: ManagedObjectContext) throws -> [String] {
    try context.values(of: "number", "Thing", format, sortedBy: "number")
  }

  @Test(arguments: GotchaHome.allCases, [false, true])
  func `a fetch by a relationship does not see what is deleted, before the save as after it`(
    _ home: GotchaHome, _ isChild: Bool
  ) throws {
    try home.withContext(Self.model, classes: []) { parent in
      let things = try (0..<3).map { try parent.insert("Thing", ["number": $0]) }
      try things[0].setValue(things[2], forKey: "pointer")
      try things[0].setValue(Set([things[2]]), forKey: "bag")
      try things[0].setValue(things[2], forKey: "cover")
      try things[1].setValue(things[0], forKey: "pointer")
      try parent.save()
      let context = isChild ? parent.newChildContext() : parent
      #expect(try numbers("pointer == nil", context) == ["2"])
      #expect(try numbers("cover != nil", context) == ["0"])
      let gone = try context.existingObject(with: things[2].objectID)
      context.delete(gone)
      context.processPendingChanges()
      #expect(context.updatedObjects.isEmpty)
      for isSaved in [false, true] {
        if isSaved { try context.save() }
        for reader in isSaved ? [context, parent] : [context] {
          #expect(try numbers("pointer == nil", reader) == ["0"], "\(isSaved)")
          #expect(try numbers("pointer != nil", reader) == ["1"], "\(isSaved)")
          #expect(try numbers("cover != nil", reader) == [], "\(isSaved)")
          #expect(try numbers("cover == nil", reader) == ["0", "1"], "\(isSaved)")
          #expect(try numbers("bag.@count == 0", reader) == ["0", "1"], "\(isSaved)")
        }
      }
    }
  }

  @Test func `a controller sees it, too`() throws {
    try GotchaHome.memory.withContext(Self.model, classes: []) { context in
      let things = try (0..<2).map { try context.insert("Thing", ["number": $0]) }
      try things[0].setValue(things[1], forKey: "pointer")
      try context.save()
      var request = FetchRequest<ManagedObject>(entityName: "Thing")
      request.predicate = try FetchPredicate(format: "pointer == nil")
      request.sortDescriptors = [FetchSortDescriptor(key: "number")]
      let controller = FetchedResultsController(
        fetchRequest: request, managedObjectContext: context)
      let listener = Listener()
      controller.delegate = listener
      try controller.performFetch()
      #expect(controller.fetchedObjects == [things[1]])
      context.delete(things[1])
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [things[0]])
      withExtendedLifetime(listener) {}
    }
  }

  private final class Listener: FetchedResultsControllerDelegate {
    typealias Result = ManagedObject
  }
}
