import Foundation
import Quire
import QuireSimulation
import Testing

@Suite struct WhenAFileIsDamagedGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  /// A copy of the gallery in which four bytes of page 14 are changed, and one in which none is.
  private func damagedGallery() throws -> Shell {
    let shell = try Shell(in: try TemporaryFolder())
    try shell.runSilently("cp 'Fixtures/Gallery/Gallery 2.0.quire' gallery.quire")
    try shell.runSilently("cp gallery.quire backup.quire")
    try shell.damage("gallery.quire", page: 14)
    return shell
  }

  @Test func `the commands of the page print what it shows`() throws {
    let (shell, page) = (try damagedGallery(), try Page.guide("when-a-file-is-damaged"))
    try page.run("quire doctor gallery.quire", in: shell)
    try page.run("quire salvage gallery.quire --to saved.quire", in: shell)
    try page.run("quire restore backup.quire --to gallery.quire", in: shell)
  }

  private func open(_ url: URL) throws -> PersistentContainer {
    let model = try PersistentStoreCoordinator.managedObjectModel(storedAt: url)
    let container = PersistentContainer(name: "Gallery", managedObjectModel: model)
    try container.loadPersistentStore(at: url)
    return container
  }

  @Test func `an error names the page`() throws {
    let shell = try damagedGallery()
    let container = try open(shell.folder.url.appending(path: "gallery.quire"))
    let context = container.newBackgroundContext()
    do {
      let artworks = try context.fetch(FetchRequest<ManagedObject>(entityName: "Artwork"))
      print(artworks.count)
    } catch {
      print(error)
    }
    print(try context.count(for: FetchRequest<ManagedObject>(entityName: "Show")), "shows")
    #expect(
      printed.take() == """
        page 14 is damaged: its checksum is wrong
        8 shows
        """)
    try container.close()
  }

  @Test func `salvage writes the readable objects of a damaged store to a new store`() throws {
    let shell = try damagedGallery()
    let url = shell.folder.url.appending(path: "gallery.quire")
    let new = shell.folder.url.appending(path: "saved.quire")
    let report = try StoreSalvage(of: url).write(to: new)
    print(report.isComplete, report.keptCount, "kept,", report.lostCount, "lost")
    #expect(
      printed.take() == """
        false 171 kept, 4 lost
        """)
    #expect(try StoreInspection(of: new).isSound)
  }
}
