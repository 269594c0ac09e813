import Foundation
import QuireCoreData
import Testing

// The longer examples of `docs/core-data-names.md`, which `CoreDataNamesPageTests` looks for here.

final class NoteStore: NSIncrementalStore {
  private var rows: [Int: [String: Any]] = [:]
  private var versions: [Int: UInt64] = [:]

  override func loadMetadata() throws {
    metadata = [
      NSStoreUUIDKey: "5E3C1A52-0B7B-4E0F-9C0B-6E4E2C1D7A11", NSStoreTypeKey: "NoteStore",
    ]
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    if let save = request as? NSSaveChangesRequest {
      for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
        let number = referenceObject(for: object.objectID) as! Int
        rows[number] = object.dictionaryWithValues(forKeys: ["text", "isDone"])
        versions[number, default: 0] += 1
      }
      for object in save.deletedObjects ?? [] {
        rows[referenceObject(for: object.objectID) as! Int] = nil
      }
      return [Any]()
    }
    let fetch = request as! NSFetchRequest<NSFetchRequestResult>
    let found = rows.filter { fetch.predicate?.evaluate(with: $0.value) ?? true }
    let sorted =
      NSArray(array: found.map { $0.value.merging(["number": $0.key]) { $1 } })
      .sortedArray(using: fetch.sortDescriptors ?? []) as! [[String: Any]]
    if fetch.resultType == .countResultType { return [NSNumber(value: sorted.count)] }
    return sorted.prefix(fetch.fetchLimit == 0 ? .max : fetch.fetchLimit).map {
      context!.object(with: newObjectID(for: fetch.entity!, referenceObject: $0["number"]!))
    }
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    let number = referenceObject(for: objectID) as! Int
    guard let row = rows[number], let version = versions[number] else {
      throw NSError(domain: NSCocoaErrorDomain, code: NSManagedObjectReferentialIntegrityError)
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: row, version: version)
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    let first = (versions.keys.max() ?? 0) + 1
    for number in first..<first + array.count { versions[number] = 0 }
    return zip(array, first...).map { newObjectID(for: $0.entity, referenceObject: $1) }
  }
}

/// The classes of UIKit in the page's example, with what it uses of them.
struct NSDiffableDataSourceSnapshot<Section: Hashable, Item: Hashable> {
  var sections: [Section] = []
  var items: [[Item]] = []
  var reconfigured: Set<Item> = []

  mutating func appendSections(_ new: [Section]) {
    sections += new
    items += new.map { _ in [] }
  }

  mutating func appendItems(_ new: [Item]) { items[items.count - 1] += new }
  mutating func reconfigureItems(_ changed: [Item]) { reconfigured = Set(changed) }
  func indexOfItem(_ item: Item) -> Int? { items.joined().firstIndexOffset(of: item) }
}

extension Sequence where Element: Equatable {
  fileprivate func firstIndexOffset(of element: Element) -> Int? {
    enumerated().first { $0.element == element }?.offset
  }
}

final class BookDataSource {
  var shown: [NSDiffableDataSourceSnapshot<String, NSManagedObjectID>] = []
  func apply(_ snapshot: NSDiffableDataSourceSnapshot<String, NSManagedObjectID>) {
    shown.append(snapshot)
  }
}

final class BookList: NSFetchedResultsControllerDelegate {
  let dataSource = BookDataSource()
  private var changed: Set<NSManagedObjectID> = []

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    guard type == .update || type == .move else { return }
    changed.insert((anObject as! NSManagedObject).objectID)
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {
    show(controller)
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    if !changed.isEmpty { show(controller) }
  }

  private func show(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    var snapshot = NSDiffableDataSourceSnapshot<String, NSManagedObjectID>()
    for section in controller.sections ?? [] {
      snapshot.appendSections([section.name])
      snapshot.appendItems((section.objects as! [NSManagedObject]).map(\.objectID))
    }
    snapshot.reconfigureItems(Array(changed.filter { snapshot.indexOfItem($0) != nil }))
    changed = []
    dataSource.apply(snapshot)
  }
}

@Suite struct CoreDataNamesPageExampleTests {
  private func model() -> NSManagedObjectModel {
    let note = NSEntityDescription()
    note.name = "Note"
    note.properties = [("text", .string), ("isDone", .boolean)].map {
      (name: String, type: NSAttributeDescription.AttributeType) in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.type = type
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [note]
    return model
  }

  @Test func `the store of the page keeps, finds and removes notes`() throws {
    let container = NSPersistentContainer(name: "Notes", managedObjectModel: model())

    NSPersistentStoreCoordinator.registerStoreClass(NoteStore.self, forStoreType: "NoteStore")
    let description = NSPersistentStoreDescription()
    description.type = "NoteStore"
    container.persistentStoreDescriptions = [description]

    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    #expect(failure == nil)
    let first = Gallery.context(of: container.persistentStoreCoordinator)
    let second = Gallery.context(of: container.persistentStoreCoordinator)
    for text in ["Tea", "Rice", "Salt"] {
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: first)
      note.setValuesForKeys(["text": text, "isDone": text == "Rice"])
    }
    try first.save()
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
    #expect(
      try second.fetch(request).map { $0.value(forKey: "text") as? String }
        == ["Rice", "Salt", "Tea"])
    request.predicate = NSPredicate(format: "isDone == YES")
    #expect(try second.count(for: request) == 1)
    let rice = try #require(second.fetch(request).first)
    rice.setValue(false, forKey: "isDone")
    try second.save()
    second.delete(rice)
    try second.save()
    request.predicate = nil
    request.fetchLimit = 1
    #expect(try first.fetch(request).map { $0.value(forKey: "text") as? String } == ["Salt"])
    request.fetchLimit = 0
    #expect(try first.count(for: request) == 2)
  }

  @Test func `the list of the page shows what the controller has`() throws {
    let context = Library.context()
    Library.book("Emma", pages: 1, in: context)
    try context.save()
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "pages",
      cacheName: nil)
    let list = BookList()
    controller.delegate = list
    try controller.performFetch()
    let typee = Library.book("Typee", pages: 2, in: context)
    context.processPendingChanges()
    #expect(list.dataSource.shown.last?.sections == ["1", "2"])
    #expect(list.dataSource.shown.last?.items.last == [typee.objectID])
    let temporary = typee.objectID
    try context.save()
    #expect(typee.objectID != temporary)
    #expect(list.dataSource.shown.last?.items.last == [typee.objectID])
    typee.title = "Omoo"
    context.processPendingChanges()
    #expect(list.dataSource.shown.last?.reconfigured == [typee.objectID])
    #expect(list.dataSource.shown.last?.sections == ["1", "2"])
    context.delete(typee)
    context.processPendingChanges()
    #expect(list.dataSource.shown.last?.sections == ["1"])
    #expect(list.dataSource.shown.last?.reconfigured == [])
  }
}
