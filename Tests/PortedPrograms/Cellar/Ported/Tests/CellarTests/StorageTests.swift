import Foundation
import QuireCoreData
import XCTest

@testable import Cellar

final class StorageTests: XCTestCase {
  func testSettingsAreKeptByName() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).sqlite")
    defer { try? FileManager.default.removeItem(at: url) }
    do {
      let settings = try SettingsStore(url: url)
      settings[text: "currency"] = "EUR"
      settings[number: "scale"] = 1.5
      settings[flag: "isOpen"] = true
      settings[text: "currency"] = "CHF"
      settings.move("currency", toGroup: "Money")
      settings.move("scale", toGroup: "money")
      XCTAssertEqual(settings.names(), ["currency", "isOpen", "scale"])
      XCTAssertEqual(settings.groups(), ["Money": 2])
    }
    let again = try SettingsStore(url: url)
    XCTAssertEqual(again[text: "currency"], "CHF")
    XCTAssertEqual(again[number: "scale"], 1.5)
    XCTAssertTrue(again[flag: "isOpen"])
    XCTAssertNil(again[text: "nothing"])
    let memory = try SettingsStore(url: nil)
    memory[flag: "isOpen"] = true
    XCTAssertEqual(memory.names(), ["isOpen"])
  }

  func testHistoryIsReadOnce() async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).sqlite")
    defer { try? FileManager.default.removeItem(at: url) }
    let cellar = try await Cellar(.file(url))
    let reader = HistoryReader(cellar.container)
    await reader.skip()
    let wine = try await cellar.addRedWine("Rioja")
    try await cellar.update(Wine.self, wine) { $0.producer = "Muga" }
    let entries = try await reader.entries(by: "cellar")
    XCTAssertEqual(entries.map(\.kind), [.inserted, .updated])
    XCTAssertEqual(entries.map(\.identifier), [wine, wine])
    XCTAssertEqual(entries.last?.keys, ["producer"])
    let more = try await reader.entries()
    XCTAssertEqual(more, [])
  }

  func testIdentifiersAreFoundByTheirAddress() async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).sqlite")
    defer { try? FileManager.default.removeItem(at: url) }
    let cellar = try await Cellar(.file(url))
    let wine = try await cellar.addRedWine("Rioja")
    let address = wine.uriRepresentation()
    let coordinator = cellar.container.persistentStoreCoordinator
    XCTAssertEqual(coordinator.managedObjectID(forURIRepresentation: address), wine)
    XCTAssertEqual(address.scheme, "x-coredata")
    _ = Log.shared.take()
    let bottle = try await cellar.add(1, of: wine, vintage: 2000)
    try await cellar.delete([bottle])
    XCTAssertEqual(Log.shared.take().count, 1)
    do {
      try await cellar.delete([wine, bottle])
      XCTFail("a bottle was deleted twice")
    } catch let error as NSError {
      XCTAssertEqual(error.code, NSManagedObjectReferentialIntegrityError)
    }
  }

  @MainActor
  func testInitialisersCanBeCalledOnTypes() async throws {
    let cellar = try await Cellar(.memory)
    let context = cellar.container.viewContext
    let types: [Wine.Type] = [RedWine.self, SparklingWine.self]
    for type in types {
      let wine = type.init(entity: type.entity(), insertInto: context)
      wine.name = type.entity().name!
    }
    XCTAssertEqual(try Wine.all(in: context).map(\.name), ["RedWine", "SparklingWine"])
    let sorted = try Wine.all(in: context).sorted(
      by: [NSSortDescriptor(key: "name", ascending: false)])
    XCTAssertEqual(sorted.map(\.title), ["SparklingWine", "RedWine (red)"])
    let object = try XCTUnwrap(sorted.first)
    object.setValue("House", forKeyPath: "producer")
    XCTAssertEqual(object.value(forKey: "title") as? String, "House SparklingWine")
  }
}
