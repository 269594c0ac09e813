import QuireCoreData
import XCTest

@testable import CourierCore

final class SyncTests: XCTestCase {
  private var folder: URL!
  private var store: Store!
  private var engine: SyncEngine!

  override func setUpWithError() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    store = try Store(url: folder.appendingPathComponent("courier.sqlite"))
    engine = SyncEngine(store: store)
  }

  override func tearDown() {
    (engine, store) = (nil, nil)
    try? FileManager.default.removeItem(at: folder)
  }

  private func parcel(_ code: String) throws -> Parcel? {
    let request = Parcel.fetchRequest() as NSFetchRequest<Parcel>
    request.predicate = NSPredicate(format: "code == %@", code)
    return try store.container.viewContext.fetch(request).first
  }

  func testUpsertsKeepWhatIsNotSaid() throws {
    try engine.upsert([
      ParcelMessage(code: "AB100", customer: "Ada", grams: 10, price: 2.5, labels: ["a", "b"])
    ])
    try engine.upsert([ParcelMessage(code: "AB100", grams: 20, state: .loaded)])
    let parcel = try XCTUnwrap(self.parcel("AB100"))
    XCTAssertEqual(parcel.weightInGrams, 20)
    XCTAssertEqual(parcel.state, .loaded)
    XCTAssertEqual(parcel.labels, ["a", "b"])
    XCTAssertEqual(parcel.customer?.name, "Ada")
    XCTAssertEqual(store.conflicts, ["code = AB100: 1 objects"])
  }

  func testMergesAreCounted() throws {
    let first = try engine.merge([
      ParcelMessage(code: "AB100", customer: "Ada"), ParcelMessage(code: "AB200"),
      ParcelMessage(code: "bad"), ParcelMessage(code: "AB300", grams: 2_000_000),
    ])
    XCTAssertEqual(first.inserted, 2)
    XCTAssertEqual(first.rejected.count, 2)
    XCTAssertTrue(first.rejected[0].hasPrefix("bad: code"), first.rejected[0])
    XCTAssertTrue(first.rejected[1].contains("weightInGrams"), first.rejected[1])
    let second = try engine.merge([ParcelMessage(code: "AB100"), ParcelMessage(code: "AB900")])
    XCTAssertEqual(second, SyncEngine.Summary(inserted: 1, updated: 1))
  }

  func testFeedsAreReadByLines() throws {
    let feed = Feed()
    let messages = [
      ParcelMessage(code: "AB100", customer: "Ada", grams: 3, stops: [StopMessage(address: "Hill")])
    ]
    XCTAssertEqual(try feed.messages(in: feed.text(of: messages) + "\n"), messages)
    XCTAssertThrowsError(try feed.messages(in: "\n{")) {
      XCTAssertEqual($0 as? CourierError, .unreadable(line: 2))
    }
    _ = try engine.merge(messages)
    XCTAssertEqual(
      try engine.outgoing(),
      [
        ParcelMessage(
          code: "AB100", customer: "Ada", grams: 3, stops: [StopMessage(address: "Hill")])
      ])
    XCTAssertEqual(try engine.outgoing(), [])
    XCTAssertEqual(try Cleanup(store: store).resetUploads(), 1)
    XCTAssertEqual(try engine.outgoing().count, 1)
  }

  func testParcelsAreDeliveredWhenAllStopsAreReached() throws {
    _ = try engine.merge([
      ParcelMessage(
        code: "AB100",
        stops: [StopMessage(address: "Dock", depot: "North"), StopMessage(address: "Hill")])
    ])
    let now = Date(timeIntervalSinceReferenceDate: 700_000_000)
    XCTAssertTrue(try engine.arrive(parcel: "AB100", at: "Dock", on: now))
    XCTAssertFalse(try engine.arrive(parcel: "AB100", at: "Moon", on: now))
    let reports = Reports(context: store.container.viewContext)
    XCTAssertEqual(try reports.waiting(at: "North").map(\.code), ["AB100"])
    XCTAssertEqual(try reports.lateStops(before: now), 1)
    XCTAssertTrue(try engine.arrive(parcel: "AB100", at: "Hill", on: now))
    XCTAssertEqual(try reports.states(), [.delivered: 1])
    XCTAssertEqual(try reports.waiting(at: "North"), [])
    _ = try engine.outgoing()
    let later = Date(timeIntervalSinceNow: 60)
    XCTAssertGreaterThan(try Cleanup(store: store).removeDelivered(before: later), 0)
    XCTAssertEqual(try reports.distinctAddresses(), [])
  }

  func testAStopThatIsMissingIsAnError() throws {
    _ = try engine.merge([ParcelMessage(code: "AB100", stops: [StopMessage(address: "Dock")])])
    XCTAssertThrowsError(
      try store.write { context in
        let request: NSFetchRequest<Parcel> = Parcel.fetchRequest()
        try context.fetch(request)[0].state = .delivered
      }
    ) { XCTAssertEqual($0 as? CourierError, .undeliveredStops(code: "AB100")) }
  }

  func testReports() throws {
    _ = try engine.merge([
      ParcelMessage(code: "AB100", customer: "Ada", grams: 10, price: 1.25),
      ParcelMessage(code: "AB200", customer: "Ada", grams: 30, price: 2.5),
      ParcelMessage(code: "AB300", customer: "Bob", grams: 5), ParcelMessage(code: "AB400"),
    ])
    let reports = Reports(context: store.container.viewContext)
    let rows = try reports.weightsByCustomer()
    XCTAssertEqual(rows.map { $0["customer.name"] as? String }, ["Ada", "Bob"])
    XCTAssertEqual(rows.map { $0["count"] as? Int }, [2, 1])
    XCTAssertEqual(rows.map { $0["average"] as? Double }, [20, 5])
    XCTAssertEqual(rows.map { $0["heaviest"] as? Double }, [30, 5])
    XCTAssertEqual(try reports.turnover(), 3.75)
    try Cleanup(store: store).raisePrices(byPercent: 100)
    XCTAssertEqual(try reports.turnover(), 7.5)
    XCTAssertEqual(Reports.price(grams: 500, perKilogram: 3), 1.5)
    XCTAssertThrowsError(try engine.remove(customer: "Ada")) { error in
      XCTAssertEqual((error as NSError).code, NSValidationRelationshipDeniedDeleteError)
    }
  }

  func testDepotsHavePositions() throws {
    XCTAssertEqual(try Cleanup(store: store).loadDepots(["North", "South"], capacity: 7), 2)
    try store.write { context in
      let request = NSFetchRequest<Depot>(entityName: "Depot")
      for depot in try context.fetch(request) where depot.name == "North" {
        depot.position = Coordinate(latitude: 1.5, longitude: -2)
      }
    }
    let request = NSFetchRequest<Depot>(entityName: "Depot")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let depots = try store.container.viewContext.fetch(request)
    XCTAssertEqual(depots.map(\.capacity), [7, 7])
    XCTAssertEqual(depots[0].position, Coordinate(latitude: 1.5, longitude: -2))
    XCTAssertNil(depots[1].position)
  }

  func testHistory() throws {
    let (_, start) = try engine.history(after: nil)
    _ = try engine.merge([ParcelMessage(code: "AB100", grams: 1)])
    _ = try engine.merge([ParcelMessage(code: "AB100", grams: 2)])
    let (lines, token) = try engine.history(after: start)
    XCTAssertEqual(lines.first, "insert Parcel ")
    XCTAssertEqual(lines.last, "update Parcel version,weightInGrams")
    XCTAssertEqual(try engine.history(after: token).lines, [])
    XCTAssertTrue(try Cleanup(store: store).purgeHistory(before: Date()))
  }

  func testTwoWritersAreMerged() throws {
    _ = try engine.merge([ParcelMessage(code: "AB100", grams: 1)])
    let (one, two) = (store.newContext(), store.newContext())
    let request: NSFetchRequest<Parcel> = Parcel.fetchRequest()
    try one.performAndWait { try one.fetch(request)[0].weightInGrams = 5 }
    try two.performAndWait {
      try two.fetch(request)[0].labels = ["fragile"]
      try two.save()
    }
    try one.performAndWait { try one.save() }
    let parcel = try XCTUnwrap(self.parcel("AB100"))
    store.container.viewContext.refreshAllObjects()
    XCTAssertEqual(parcel.weightInGrams, 5)
    XCTAssertEqual(parcel.labels, ["fragile"])
    XCTAssertEqual(store.conflicts.count, 1)
  }
}
