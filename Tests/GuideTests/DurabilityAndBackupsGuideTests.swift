import Foundation
import Quire
import QuireSimulation
import Testing

@Suite struct DurabilityAndBackupsGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  final class Book: ManagedObject {
    @Managed var title: String = ""
  }

  private let folder = try! TemporaryFolder()
  private var url: URL { folder.url.appending(path: "library.quire") }

  private func open() throws -> PersistentContainer {
    let container = try PersistentContainer(name: "Library", for: Book.self)
    var options = PersistentStoreOptions.migrating
    options.durability = .full
    try container.loadPersistentStore(at: url, options: options)
    return container
  }

  private func print(filesIn folder: TemporaryFolder) { print(folder.names) }

  @Test func `a closed store is one file`() throws {
    let container = try open()
    let folder = folder.url
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
    }
    try container.writeAndWait { context in Book(context: context).title = "Kindred" }
    print(try files())
    try container.close()
    print(try files())
    #expect(
      printed.take() == """
        ["library.quire", "library.quire-log", "library.quire-owner"]
        ["library.quire"]
        """)
  }

  @Test func `a backup is made and restored`() async throws {
    let container = try open()
    let folder = folder.url
    let backup = folder.appending(path: "library-monday.quire")
    try await container.write { context in Book(context: context).title = "Kindred" }
    try await container.backUp(to: backup)
    try await container.write { context in Book(context: context).title = "Beowulf" }
    print(try await container.read { context in try context.count(Book.self) })
    #expect(
      printed.take() == """
        2
        """)
    try container.close()
    try PersistentStoreCoordinator.restorePersistentStore(at: url, fromBackupAt: backup)
    try container.loadPersistentStore(at: url)
    print(try await container.read { context in try context.count(Book.self) })
    #expect(
      printed.take() == """
        1
        """)
    let copy = folder.appending(path: "library-copy.quire")
    var own = PersistentStoreOptions()
    own.storeUUID = UUID()
    try container.persistentStoreCoordinator.replacePersistentStore(
      at: copy, destinationOptions: own, withPersistentStoreFrom: url)
    #expect(try StoreSummary(of: copy).identifier != StoreSummary(of: url).identifier)
    for file in [backup, copy] {
      let inspection = try StoreInspection(of: file)
      print(inspection.isSound, inspection.objectCount)
    }
    #expect(
      printed.take() == """
        true 1
        true 1
        """)
    try container.close()
  }

  @Test func `commits are shipped, and moments restored`() async throws {
    let container = try open()
    let folder = folder.url
    try await container.write { context in Book(context: context).title = "Kindred" }
    let shipped = folder.appending(path: "shipped")
    let shipping = try StoreShipping(of: url, to: shipped)
    try shipping.ship()
    try await container.write { context in Book(context: context).title = "Beowulf" }
    let second = try shipping.ship()
    try await container.write { context in Book(context: context).title = "Utopia" }
    try shipping.ship()
    for moment in [StoreShipping.Moment.commit(second.commit), .date(second.date), .newest] {
      let early = folder.appending(path: "library-early.quire")
      try StoreShipping.restore(moment, from: shipped, to: early)
      print(try StoreInspection(of: early).objectCount)
      try FileManager.default.removeItem(at: early)
    }
    #expect(
      printed.take() == """
        2
        2
        3
        """)
    try container.close()
  }

  @Test func `the commands of the page print what it shows`() throws {
    let shell = try Shell(in: try TemporaryFolder())
    try shell.runSilently("cp 'Fixtures/Gallery/Gallery 2.0.quire' gallery.quire")
    try Page.guide("durability-and-backups").run(
      "quire backup gallery.quire --to monday.quire", in: shell)
    try Page.guide("durability-and-backups").run(
      "quire ship gallery.quire --to shipped --once", in: shell)
  }
}
