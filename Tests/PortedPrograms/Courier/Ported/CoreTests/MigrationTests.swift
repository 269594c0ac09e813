import Foundation
import QuireCoreData
import XCTest

@testable import CourierCore

final class MigrationTests: XCTestCase {
  private var folder: URL!
  private var url: URL { folder.appendingPathComponent("courier.sqlite") }

  override func setUpWithError() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDown() {
    try? FileManager.default.removeItem(at: folder)
  }

  /// A store of the first version, with a context that is given to a block.
  private func makeFirstVersion(_ fill: (NSManagedObjectContext) -> Void) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: ModelVersion.one.model)
    let store = try coordinator.addStore(at: url, options: [:])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      fill(context)
      try context.save()
    }
    try coordinator.remove(store)
  }

  private func insert(
    _ code: String, _ customer: String?, _ phone: String?, _ state: String?, stops: [String],
    into context: NSManagedObjectContext
  ) {
    let parcel = NSEntityDescription.insertNewObject(forEntityName: "Parcel", into: context)
    parcel.setValuesForKeys(["code": code, "weight": 1.5])
    parcel.setValue(customer, forKey: "customerName")
    parcel.setValue(phone, forKey: "customerPhone")
    parcel.setValue(state, forKey: "state")
    let route = parcel.mutableOrderedSetValue(forKey: "stops")
    for address in stops {
      let stop = NSManagedObject(
        entity: NSEntityDescription.entity(forEntityName: "Stop", in: context)!,
        insertInto: context)
      stop.setValue(address, forKey: "address")
      route.add(stop)
    }
  }

  func testNamesBecomeCustomers() throws {
    try makeFirstVersion { context in
      insert("AB100", "Ada", nil, "delivered", stops: ["Dock"], into: context)
      insert("AB200", "Ada", "123", nil, stops: ["Dock", "Hill"], into: context)
      insert("AB300", "Bob", nil, "on the way", stops: [], into: context)
      insert("AB400", nil, nil, "done", stops: [], into: context)
    }
    let migrator = Migrator()
    XCTAssertTrue(migrator.requiresMigration(at: url, toVersion: .current))
    nonisolated(unsafe) var made: Any?
    let token = NotificationCenter.default.addObserver(
      forName: .courierDidCreateCustomers, object: nil, queue: nil
    ) { made = $0.userInfo?["count"] }
    defer { NotificationCenter.default.removeObserver(token) }
    let store = try Store(url: url, migrator: migrator)
    XCTAssertFalse(migrator.requiresMigration(at: url, toVersion: .current))
    XCTAssertEqual(migrator.log.count, 2)
    XCTAssertEqual(made as? Int, 2)
    let context = store.container.viewContext
    let request = NSFetchRequest<Customer>(entityName: "Customer")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let customers = try context.fetch(request)
    XCTAssertEqual(customers.map(\.name), ["Ada", "Bob"])
    XCTAssertEqual(customers[0].phone, "123")
    XCTAssertEqual(Set(customers[0].parcels.map(\.code)), ["AB100", "AB200"])
    XCTAssertEqual(customers[0].totalWeight, 3)
    let parcels: NSFetchRequest<Parcel> = Parcel.fetchRequest()
    parcels.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
    let all = try context.fetch(parcels)
    XCTAssertEqual(all.map(\.state), [.delivered, .waiting, .loaded, .delivered])
    XCTAssertEqual(all.map { $0.route.count }, [1, 2, 0, 0])
  }

  func testManyParcelsShareTheirCustomers() throws {
    try makeFirstVersion { context in
      for index in 0..<1_200 {
        insert("AB\(1000 + index)", "Customer \(index % 7)", nil, nil, stops: [], into: context)
      }
    }
    let store = try Store(url: url)
    let request = NSFetchRequest<Customer>(entityName: "Customer")
    XCTAssertEqual(try store.container.viewContext.count(for: request), 7)
    request.predicate = NSPredicate(format: "parcels.@count > 171")
    XCTAssertEqual(try store.container.viewContext.count(for: request), 3)
  }

  func testAMigrationThatIsNotValidLeavesTheStore() throws {
    try makeFirstVersion { context in
      insert("AB100", "Ada", nil, nil, stops: [""], into: context)
    }
    let migrator = Migrator()
    XCTAssertThrowsError(try migrator.migrateStore(at: url, toVersion: .current)) { error in
      XCTAssertEqual((error as NSError).domain, "CourierMigration")
    }
    XCTAssertTrue(migrator.requiresMigration(at: url, toVersion: .current))
    let metadata = NSPersistentStoreCoordinator.metadata(at: url)!
    XCTAssertEqual(ModelVersion.compatible(withMetadata: metadata), .one)
    XCTAssertEqual(migrator.log.count, 1)
  }

  func testVersions() throws {
    XCTAssertNil(ModelVersion.current.next())
    XCTAssertFalse(Migrator().requiresMigration(at: url, toVersion: .one))
    for version in ModelVersion.allCases {
      XCTAssertNotNil(version.model.entitiesByName["Parcel"], version.rawValue)
    }
    XCTAssertEqual(ParcelState(legacyName: "On the way"), .loaded)
  }
}
