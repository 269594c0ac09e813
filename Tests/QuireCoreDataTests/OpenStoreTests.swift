import Foundation
import QuireCoreData
import QuireSimulation
import Testing

/// Libraries reset their stack by destroying the store that it has open. That was error 134070, "in
/// use by process …", which was the program itself.
@Suite final class OpenStoreTests {
  private let folder: TemporaryFolder
  private var url: URL { folder.url.appendingPathComponent("library.store") }

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ url: URL, books: [String], in coordinator: NSPersistentStoreCoordinator? = nil
  ) throws -> NSManagedObjectContext {
    let coordinator =
      coordinator ?? NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    for title in books { Library.book(title, in: context) }
    try context.save()
    return context
  }

  private func titles(_ context: NSManagedObjectContext) throws -> [String] {
    let request = NSFetchRequest<Book>(entityName: "Book")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    return try context.fetch(request).compactMap(\.title)
  }

  @Test func `a store that a coordinator has open is destroyed, and can be added again`() throws {
    let context = try open(url, books: ["Emma", "Dune"])
    let coordinator = try #require(context.persistentStoreCoordinator)
    let removals = Seen(.NSPersistentStoreCoordinatorStoresDidChange, of: coordinator)
    context.reset()
    try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
    #expect(removals.all.count == 1 && coordinator.persistentStores.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: url.path))
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 0)
  }

  @Test func `a store that another coordinator has open is destroyed`() throws {
    let context = try open(url, books: ["Emma"])
    try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
      .destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
    #expect(context.persistentStoreCoordinator?.persistentStores.isEmpty == true)
    #expect(try titles(open(url, books: ["Dune"])) == ["Dune"])
  }

  @Test func `a store that is open is replaced, but not by itself`() throws {
    let copy = folder.url.appendingPathComponent("copy.store")
    let context = try open(url, books: ["Emma"])
    let other = try open(copy, books: ["Dune"])
    let coordinator = try #require(context.persistentStoreCoordinator)
    #expect(throws: NSError.self) {
      try coordinator.replacePersistentStore(
        at: url, withPersistentStoreFrom: url, ofType: NSSQLiteStoreType)
    }
    #expect(try titles(context) == ["Emma"])
    context.reset()
    try coordinator.replacePersistentStore(
      at: url, withPersistentStoreFrom: copy, ofType: NSSQLiteStoreType)
    #expect(coordinator.persistentStores.isEmpty)
    try other.persistentStoreCoordinator.map {
      for store in $0.persistentStores { try $0.remove(store) }
    }
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    #expect(try titles(context) == ["Dune"])
  }

  @Test func `a store in a folder that does not exist is not destroyed in silence`() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    let nowhere = folder.url.appendingPathComponent("none/library.store")
    let error = #expect(throws: NSError.self) {
      try coordinator.destroyPersistentStore(at: nowhere, ofType: NSSQLiteStoreType)
    }
    #expect(error?.code == NSPersistentStoreOperationError)
    try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
  }

  @Test func `a description without a URL is a store in memory`() throws {
    let description = NSPersistentStoreDescription()
    #expect(description.url == URL(fileURLWithPath: "/dev/null"))
    let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
    container.persistentStoreDescriptions = [description]
    var errors: [(any Error)?] = []
    container.loadPersistentStores { _, error in errors.append(error) }
    #expect(errors.count == 1 && errors[0] == nil)
  }

  /// The folder of a container that has chosen none.
  final class Container: NSPersistentContainer, @unchecked Sendable {
    nonisolated(unsafe) static var folder = URL(fileURLWithPath: "/")
    override class func defaultDirectoryURL() -> URL { folder }
  }

  @Test func `the default folder is made when the store is loaded, and no other`() throws {
    Container.folder = folder.url.appendingPathComponent("share/app")
    let container = Container(name: "Library", managedObjectModel: Library.model())
    container.loadPersistentStores { _, error in #expect(error == nil) }
    #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    let elsewhere = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
    elsewhere.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: folder.url.appendingPathComponent("none/library.store"))
    ]
    elsewhere.loadPersistentStores { _, error in #expect(error != nil) }
  }

  @Test func `options that are none of Core Data's are kept, and wrong values are errors`() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    let options = ["com.example.option": "x", "NSPersistentStoreUbiquitousContentNameKey": "y"]
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    #expect(store.options as? [String: String] == options)
    #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
        options: [NSReadOnlyPersistentStoreOption: "yes"])
    }
  }

  @Test func `a save elsewhere is told with Core Data's keys`() throws {
    let options = [NSPersistentHistoryTrackingKey: true]
    let (first, second) = (
      NSPersistentStoreCoordinator(managedObjectModel: Library.model()),
      NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    )
    for coordinator in [first, second] {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    }
    let seen = Seen(.NSPersistentStoreRemoteChange, of: second)
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.persistentStoreCoordinator = first
    Library.book("Emma", in: context)
    try context.save()
    let userInfo = try #require(seen.all.first?.userInfo)
    #expect(userInfo[NSStoreUUIDKey] as? String == second.persistentStores[0].identifier)
    #expect(userInfo[NSPersistentStoreURLKey] as? URL == url)
    #expect(userInfo[NSPersistentHistoryTokenKey] is NSPersistentHistoryToken)
    #expect(NSPersistentStoreURLKey == "storeURL")
  }
}
