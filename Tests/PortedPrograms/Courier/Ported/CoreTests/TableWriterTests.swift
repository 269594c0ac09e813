import Foundation
import QuireCoreData
import XCTest

@testable import CourierCore

final class TableWriterTests: XCTestCase {
  func testTablesHaveTheColumnsOfTheModel() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try Store(url: folder.appendingPathComponent("courier.sqlite"))
    _ = try SyncEngine(store: store).merge([
      ParcelMessage(
        code: "AB100", customer: "Ada, of Hill", grams: 10, price: 1.25, labels: ["a", "b"]),
      ParcelMessage(code: "AB200", grams: 0.5),
    ])
    let writer = TableWriter(context: store.container.viewContext)
    XCTAssertEqual(
      try writer.table(of: "Parcel"),
      """
      code,labels,price,state,uploadedAt,version,weightInGrams,customer
      AB100,"[""a"",""b""]",1.25,0,,0,10.0,Ada, of Hill
      AB200,,,0,,0,0.5,
      """)
    XCTAssertEqual(
      try writer.table(of: "Customer", where: "name BEGINSWITH 'A'"),
      "email,name,phone\n,\"Ada, of Hill\",")
    XCTAssertThrowsError(try writer.table(of: "Nobody"))
    let byType = TableWriter(context: store.container.viewContext, order: .byType)
    XCTAssertEqual(
      byType.columns(of: Depot.entity()).map(\.name), ["capacity", "name", "position"])
  }
}
