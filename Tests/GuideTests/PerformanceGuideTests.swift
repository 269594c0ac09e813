import Foundation
import Quire
import QuireSimulation
import QuireTesting
import Testing

@Suite struct PerformanceGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  final class Book: ManagedObject {
    @Managed(.indexed) var year: Int = 0
    @Managed var price: Double = 0
  }

  @Test func `a request says what it reads`() throws {
    let context = try ManagedObjectContext.stubbed(for: Book.self)
    let rows = (0..<1000).lazy.map {
      ["year": 1800 + $0 / 5, "price": Double($0 / 5)] as [String: Any]
    }
    try context.execute(BatchInsertRequest(entityName: "Book", objects: rows))
    print(try Book.where { $0.year == 1968 }.explain(in: context))
    print(try Book.where { $0.price == 168 }.explain(in: context))
    #expect(
      printed.take() == """
        Book where year == 1968
          index Book.byYear where year == 1968: 5 rows, about 5 expected
          filter on rows: year == 1968
          5 rows read, about 5 expected; 5 match, about 5 expected
          a count reads keys alone
        5 objects
        Book where price == 168.0
          all rows of Book: 1000 rows, about 1000 expected
          filter on rows: price == 168.0
          1000 rows read, about 1000 expected; 5 match, about 1000 expected
        5 objects
        """)
  }

  @Test func `durability is an option of the store`() throws {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(name: "Library", for: Book.self)
    let url = folder.url.appending(path: "library.quire")
    var options = PersistentStoreOptions.migrating
    options.durability = .ordered
    try container.loadPersistentStore(at: url, options: options)
    try container.writeAndWait { context in Book(context: context).year = 1968 }
    try container.close()
    #expect(folder.names == ["library.quire"])
  }

  @Test func `the commands of the page print what it shows`() throws {
    let shell = try Shell(in: try TemporaryFolder())
    try shell.runSilently("cp 'Fixtures/Gallery/Gallery 2.0.quire' gallery.quire")
    try Page.guide("performance").run("quire stat gallery.quire", in: shell)
  }
}
