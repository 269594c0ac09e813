import Foundation
import Quire
import QuireSimulation
import QuireXcode
import Testing

@Suite struct BringingACoreDataStoreGuideTests {
  let printed = Printout()
  func print(_ items: Any...) { printed.add(items) }

  final class Customer: ManagedObject {
    @Managed(renamedFrom: "name") var fullName: String?
    @Managed(inverse: \Order.customer, deleteRule: .cascade) var orders: Set<Order>
  }
  final class Order: ManagedObject {
    @Managed var date: Date?
    @Managed var isPaid: Bool = false
    @Managed var total: Double? = 0
    @Managed var customer: Customer?
  }

  /// A folder with the model and the file of the page.
  private func shop() throws -> Shell {
    let shell = try Shell(in: try TemporaryFolder())
    let files = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Shop")
    for name in ["Shop.sqlite", "Shop.xcdatamodeld"] {
      try FileManager.default.copyItem(
        at: files.appending(path: name), to: shell.folder.url.appending(path: name))
    }
    return shell
  }

  @Test func `the commands of the page print what it shows`() throws {
    let (shell, page) = (try shop(), try Page.guide("bringing-a-core-data-store"))
    try page.run("quire models Shop.xcdatamodeld", in: shell)
    try page.run("quire import Shop.sqlite --model Shop.xcdatamodeld --to shop.quire", in: shell)
    try page.run("quire generate Shop.xcdatamodeld --to Classes", in: shell)
  }

  @Test func `a program imports and opens the store`() throws {
    let shell = try shop()
    let folder = shell.folder.url
    let source = folder.appending(path: "Shop.sqlite")
    let store = folder.appending(path: "shop.quire")
    if !FileManager.default.fileExists(atPath: store.path()) {
      let model = try VersionedModel(contentsOf: folder.appending(path: "Shop.xcdatamodeld"))
      let report = try CoreDataImport(of: source, in: model).write(to: store)
      print(report.version, report.isComplete)
    }
    let container = try PersistentContainer(name: "Shop", for: Customer.self, Order.self)
    try container.loadPersistentStore(at: store)
    let context = container.newBackgroundContext()
    for customer in try context.fetch(Customer.sorted(by: \.fullName)) {
      let total = try context.sum(\Order.total, where: Key("customer") == customer)
      print(customer.fullName ?? "", customer.orders.count, "orders,", total)
    }
    #expect(
      printed.take() == """
        Shop true
        Ada 2 orders, 32.5
        Grace 1 orders, 7.25
        """)
    try container.close()
  }
}
