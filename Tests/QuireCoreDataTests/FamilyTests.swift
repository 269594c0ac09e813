import Foundation
import QuireCoreData
import Testing

/// Parents and children, as programs with several contexts see them.
@Suite struct FamilyTests {
  private func contexts() throws -> (
    parent: NSManagedObjectContext, child: NSManagedObjectContext, sibling: NSManagedObjectContext
  ) {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"),
      options: [NSPersistentHistoryTrackingKey: true])
    let contexts = (0..<3).map { _ in
      NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    }
    contexts[0].persistentStoreCoordinator = coordinator
    contexts[1].parent = contexts[0]
    contexts[2].parent = contexts[0]
    return (contexts[0], contexts[1], contexts[2])
  }

  /// A child that nothing used was told with its next use.
  @Test func `a child that merges automatically is told at once`() async throws {
    let (parent, child, sibling) = try contexts()
    for context in [child, sibling] { context.automaticallyMergesChangesFromParent = true }
    let id = try parent.performAndWait {
      let book = Library.book("Emma", in: parent)
      try parent.save()
      return book.objectID
    }
    let held = child.performAndWait {
      let book = child.object(with: id) as? Book
      #expect(book?.title == "Emma")
      return book
    }
    let seen = Seen(.NSManagedObjectContextObjectsDidChange, of: child)
    try parent.performAndWait {
      (parent.object(with: id) as? Book)?.title = "Dune"
      try parent.save()
    }
    for _ in 0..<500 where seen.all.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    #expect(seen.all.count == 1)
    try sibling.performAndWait {
      (sibling.object(with: id) as? Book)?.title = "Ulysses"
      try sibling.save()
    }
    for _ in 0..<500 where seen.all.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
    #expect(seen.all.count == 2)
    child.performAndWait { #expect(held?.title == "Ulysses") }
  }

  @Test func `a batch of a child has the author and the name of the root`() throws {
    let (parent, child, _) = try contexts()
    try child.performAndWait {
      (parent.transactionAuthor, parent.name) = ("me", "root")
      (child.transactionAuthor, child.name) = ("nobody", "child")
      _ = try child.execute(NSBatchInsertRequest(entityName: "Book", objects: [["title": "Emma"]]))
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
      let history = try parent.execute(request) as? NSPersistentHistoryResult
      let transactions = history?.result as? [NSPersistentHistoryTransaction]
      #expect(transactions?.map(\.author) == ["me"])
      #expect(transactions?.map(\.contextName) == ["root"])
    }
  }

  @Test func `transient values go up with a child's save`() throws {
    let (car, plate, speed) = (
      NSEntityDescription(), NSAttributeDescription(), NSAttributeDescription()
    )
    (plate.name, plate.attributeType) = ("plate", .stringAttributeType)
    (speed.name, speed.attributeType, speed.isTransient) = ("speed", .stringAttributeType, true)
    car.name = "Car"
    car.properties = [plate, speed]
    let model = NSManagedObjectModel()
    model.entities = [car]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let parent = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    parent.persistentStoreCoordinator = coordinator
    let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    child.parent = parent
    let object = NSEntityDescription.insertNewObject(forEntityName: "Car", into: child)
    object.setValuesForKeys(["plate": "M 1", "speed": "50"])
    try child.save()
    let above = parent.object(with: object.objectID)
    #expect(above.value(forKey: "speed") as? String == "50")
    try parent.save()
    object.setValuesForKeys(["plate": "M 2", "speed": "60"])
    try child.save()
    #expect(above.value(forKey: "speed") as? String == "60" && parent.hasChanges)
    try parent.save()
    object.setValue("70", forKey: "speed")
    try child.save()
    #expect(above.value(forKey: "speed") as? String == "70")
  }
}
