import Foundation
import QuireCoreData
import XCTest

@testable import Cellar

final class CellarTests: XCTestCase {
  private func makeCellar() async throws -> Cellar { try await Cellar(.memory) }

  func testBottlesAreCountedByTheStore() async throws {
    let cellar = try await makeCellar()
    let rioja = try await cellar.addRedWine("Rioja", producer: "Muga", tannin: 0.7)
    let bottle = try await cellar.add(6, of: rioja, vintage: 2015, barcode: "1", price: 12.5)
    try await cellar.add(3, of: rioja, vintage: 2016)
    let total = try await cellar.total()
    XCTAssertEqual(total, 9)
    XCTAssertFalse(bottle.isTemporaryID)
    let left = try await cellar.update(Bottle.self, bottle) { bottle in
      try bottle.drink(2)
      return Int(bottle.quantity)
    }
    XCTAssertEqual(left, 4)
    do {
      try await cellar.update(Bottle.self, bottle) { try $0.drink(5) }
      XCTFail("more was drunk than there is")
    } catch { XCTAssertEqual(error as? CellarError, .empty(bottle)) }
    let title = try await cellar.update(Wine.self, rioja) { wine in
      "\(wine.title) \(wine.bottleCount)"
    }
    XCTAssertEqual(title, "Muga Rioja (red) 7")
  }

  func testUpsertsByBarcode() async throws {
    let cellar = try await makeCellar()
    let rioja = try await cellar.addRedWine("Rioja")
    try await cellar.add(6, of: rioja, vintage: 2015, barcode: "1")
    try await cellar.add(2, of: rioja, vintage: 2015, barcode: "1")
    let total = try await cellar.total()
    XCTAssertEqual(total, 2)
  }

  func testNotesAreAveraged() async throws {
    let cellar = try await makeCellar()
    let rioja = try await cellar.addRedWine("Rioja")
    let bottle = try await cellar.add(1, of: rioja, vintage: 2015)
    try await cellar.rate(bottle, stars: 5, text: "plum")
    try await cellar.rate(bottle, stars: 2, text: "cork")
    let stars = try await cellar.read { context in
      Bottle.object(bottle, in: context)?.averageStars
    }
    XCTAssertEqual(stars, 3.5)
    do {
      try await cellar.rate(bottle, stars: 9, text: "")
      XCTFail("nine stars were given")
    } catch let error as NSError {
      XCTAssertEqual(error.code, NSValidationNumberTooLargeError)
    }
  }

  func testSavesAreTold() async throws {
    let cellar = try await makeCellar()
    var iterator = cellar.changes.stream().makeAsyncIterator()
    let wine = try await cellar.addRedWine("Rioja")
    let first = await iterator.next()
    XCTAssertEqual(first, ChangeSet(inserted: [wine]))
    try await cellar.update(Wine.self, wine) { $0.producer = "Muga" }
    let second = await iterator.next()
    XCTAssertEqual(second?.updated, [wine])
    XCTAssertEqual(second?.entityNames(), ["RedWine"])
    try await cellar.delete([wine])
    let third = await iterator.next()
    XCTAssertTrue(third?.contains(wine) ?? false)
    XCTAssertFalse(third?.isEmpty ?? true)
    do {
      try await cellar.update(Wine.self, wine) { _ in }
      XCTFail("a deleted wine was found")
    } catch { XCTAssertEqual(error as? CellarError, .notFound(wine)) }
  }

  func testObjectsOfAnotherTypeAreRefused() async throws {
    let cellar = try await makeCellar()
    let wine = try await cellar.addRedWine("Rioja")
    do {
      try await cellar.update(SparklingWine.self, wine) { _ in }
      XCTFail("red wine is not sparkling")
    } catch { XCTAssertEqual(error as? CellarError, .wrongType(expected: "SparklingWine")) }
  }

  func testDocuments() async throws {
    let cellar = try await makeCellar()
    let document = CellarDocument(wines: [
      .init(
        kind: "RedWine", name: "Rioja", producer: "Muga",
        bottles: [
          .init(
            vintage: 2015, quantity: 6, barcode: "1", price: 12.5, shelf: "A", notes: ["plum"]),
          .init(
            vintage: 2016, quantity: 1, barcode: nil, price: nil, shelf: "A", notes: []),
        ]),
      .init(kind: "SparklingWine", name: "Sekt", producer: nil, bottles: []),
    ])
    try await cellar.load(document)
    let written = try await cellar.document()
    XCTAssertEqual(written, document)
    await cellar.forget()
    do {
      try await cellar.load(CellarDocument(wines: [.init(kind: "Wine", name: "", bottles: [])]))
      XCTFail("the entity is abstract")
    } catch { XCTAssertEqual(error as? CellarError, .wrongType(expected: "Wine")) }
  }

  func testRepositories() async throws {
    let cellar = try await makeCellar()
    let shelves = Repository<ShelfValue>(cellar)
    var shelf = try await shelves.save(ShelfValue(label: "B 10", slots: 4))
    _ = try await shelves.save(ShelfValue(label: "B 9", slots: 4))
    shelf.slots = 20
    let saved = try await shelves.save(shelf)
    XCTAssertEqual(saved, shelf)
    let labels = try await shelves.all().map(\.label)
    XCTAssertEqual(labels, ["B 9", "B 10"])
    let large = try await shelves.all(matching: NSPredicate(format: "slots > %d", 10))
    XCTAssertEqual(large, [shelf])
    try await shelves.delete(shelf)
    let count = try await shelves.count()
    XCTAssertEqual(count, 1)
    do {
      _ = try await shelves.save(ShelfValue(label: "C", slots: 0))
      XCTFail("a shelf without slots")
    } catch { XCTAssertEqual(error as? CellarError, .invalid(key: "slots")) }
  }
}

final class QueryTests: XCTestCase {
  private func fill(_ cellar: Cellar) async throws {
    for (index, name) in ["Rioja", "Barolo", "Chianti"].enumerated() {
      let wine = try await cellar.addRedWine(name, producer: index == 0 ? nil : "House")
      for vintage in 2010..<2013 + index {
        try await cellar.add(index + 1, of: wine, vintage: vintage, price: Decimal(vintage))
      }
    }
  }

  func testQueriesAreValues() async throws {
    let cellar = try await Cellar(.memory)
    try await fill(cellar)
    let names = try await cellar.read { context in
      try Wine.query().where("producer == %@", "House").fetch(in: context).map(\.name)
    }
    XCTAssertEqual(names, ["Barolo", "Chianti"])
    let vintages = try await cellar.read { context in
      let query = Bottle.query().where("wine.name BEGINSWITH[c] %@", "c").where(
        "vintage > %d", 2010)
      let some = try query.limited(to: 2, from: 1).fetch(in: context).map(\.vintage)
      let count = try query.count(in: context)
      let all = try query.identifiers(in: context)
      return (some, count, all.count, try query.first(in: context)?.vintage)
    }
    XCTAssertEqual(vintages.0, [2012, 2013])
    XCTAssertEqual(vintages.1, 4)
    XCTAssertEqual(vintages.2, 4)
    XCTAssertEqual(vintages.3, 2011)
  }

  func testKeyPathsAndValues() async throws {
    let cellar = try await Cellar(.memory)
    try await fill(cellar)
    let rows = try await cellar.read { context in
      try Bottle.query().matching(\.vintage, 2012).sorted(by: \.quantity, ascending: false)
        .values(of: ["quantity", "vintage"], in: context)
        .map { "\($0["vintage"]!): \($0["quantity"]!)" }
    }
    XCTAssertEqual(rows, ["2012: 3", "2012: 2", "2012: 1"])
    let sparkling = try await cellar.read { context in
      try SparklingWine.all(in: context).count
    }
    XCTAssertEqual(sparkling, 0)
    XCTAssertEqual(Shelf.entityName, "Shelf")
    XCTAssertEqual(RedWine.entityName, "RedWine")
  }

  @MainActor
  func testListsAreLive() async throws {
    let cellar = try await Cellar(.memory)
    let context = cellar.container.viewContext
    let wine = SparklingWine(name: "Sekt", in: context)
    let bottle = Bottle(of: wine, vintage: 2020, in: context)
    try context.saveToStore()
    let list = LiveList(
      Bottle.query().sorted(by: \.vintage), in: context, sectionedBy: "vintage")
    var snapshots: [ListSnapshot] = []
    list.onChange = { snapshots.append($0) }
    try list.start()
    XCTAssertEqual(list.snapshot.sections.map(\.name), ["2020"])
    _ = Bottle(of: wine, vintage: 2021, in: context)
    context.processPendingChanges()
    XCTAssertEqual(list.snapshot.count, 2)
    bottle.quantity = 9
    context.processPendingChanges()
    XCTAssertEqual(list.snapshot.changed, [bottle.objectID])
    XCTAssertEqual(list.snapshot[IndexPath(item: 0, section: 0)], bottle.objectID)
    XCTAssertEqual(list.objects.map(\.age), [bottle.age, bottle.age - 1])
    XCTAssertEqual(list.object(at: IndexPath(item: 0, section: 0)), bottle)
    XCTAssertEqual(snapshots.count, 3)
    XCTAssertEqual(bottle.differences(), [Difference(key: "quantity", old: "1", new: "9")])
  }

  @MainActor
  func testCopiesHaveWhatBelongsToThem() async throws {
    let cellar = try await Cellar(.memory)
    let context = cellar.container.viewContext
    let wine = RedWine(name: "Rioja", in: context)
    let bottle = Bottle(of: wine, vintage: 2020, barcode: "1", in: context)
    bottle.addToNotes(context.insert(Note.self) { $0.text = "plum" })
    try context.saveToStore()
    let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    child.parent = context
    var copier = Copier(into: child, skipping: ["barcode"])
    let copy = copier.copy(child.object(with: bottle.objectID) as! Bottle)
    XCTAssertNil(copy.barcode)
    XCTAssertEqual(copy.notes?.map(\.text), ["plum"])
    XCTAssertEqual(copy.wine.name, "Rioja")
    try child.saveToStore()
    XCTAssertEqual(try Bottle.query().count(in: context), 2)
    XCTAssertEqual(wine.bottles.identifiers.count, 2)
    let plum = NSPredicate(format: "ANY notes.text == 'plum'")
    XCTAssertEqual(Array(wine.bottles).filtered(by: plum).count, 2)
    XCTAssertEqual(try Note.query().deleteAll(in: context), 2)
    XCTAssertEqual([bottle.objectID].objects(Bottle.self, in: context), [bottle])
  }

  @MainActor
  func testShelvesKeepTheirOrder() async throws {
    let cellar = try await Cellar(.memory)
    let context = cellar.container.viewContext
    let wine = SparklingWine(name: "Sekt", in: context)
    let shelf = Shelf(context: context)
    shelf.label = "A"
    for vintage in [2001, 2002, 2003] {
      shelf.place(Bottle(of: wine, vintage: vintage, in: context), at: 0)
    }
    let vintages = (shelf.bottles?.array as? [Bottle])?.map(\.vintage)
    XCTAssertEqual(vintages, [2003, 2002, 2001])
    XCTAssertEqual(shelf.freeSlots, 9)
    wine.pressure = -1
    XCTAssertThrowsError(try context.save()) { error in
      XCTAssertEqual(error as? CellarError, .invalid(key: "pressure"))
    }
    wine.pressure = 6.5
    try context.save()
    XCTAssertEqual(wine.value(forKey: "searchName") as? String, "sekt")
  }
}
