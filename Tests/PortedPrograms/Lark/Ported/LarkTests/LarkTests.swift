import Foundation
import QuireCoreData
import XCTest

@testable import Lark

class LarkTestCase: XCTestCase {
  var folder: URL!
  var stack: CoreDataStack!

  override func setUp() {
    super.setUp()
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    stack = try! CoreDataStack(storeURL: folder.appendingPathComponent("Lark.sqlite"))
  }

  override func tearDown() {
    stack = nil
    try? FileManager.default.removeItem(at: folder)
    super.tearDown()
  }

  func makeSpecies(_ code: String, _ name: String) -> Species {
    return Species.findOrCreate(code: code, commonName: name, in: stack.mainContext)
  }

  @discardableResult
  func makeSighting(
    _ code: String, _ name: String, count: Int, on date: String, at place: Place? = nil
  ) -> Sighting {
    return Sighting.insert(
      into: stack.mainContext, species: makeSpecies(code, name), place: place, count: count,
      seenAt: RecordMapper.formatter.date(from: date + "T09:00:00Z")!)
  }

  func makePlace(_ name: String) -> Place {
    let place = Place(context: stack.mainContext)
    place.name = name
    return place
  }
}

final class ListTests: LarkTestCase {
  private func rows(_ list: UITableViewController) -> [String] {
    return (0..<list.numberOfSections(in: list.tableView)).flatMap { section in
      (0..<list.tableView(list.tableView, numberOfRowsInSection: section)).map { row in
        let indexPath = IndexPath(row: row, section: section)
        let cell = list.tableView(list.tableView, cellForRowAt: indexPath)
        let title = list.tableView(list.tableView, titleForHeaderInSection: section) ?? ""
        return "\(title): \(cell.textLabel!.text!) \(cell.detailTextLabel!.text ?? "")"
      }
    }
  }

  func testSightingsAreSectionedByMonth() throws {
    makeSighting("EURROB", "Robin", count: 2, on: "2024-05-03")
    makeSighting("COMSWI", "Swift", count: 30, on: "2024-06-11", at: makePlace("Quay"))
    makeSighting("EURROB", "Robin", count: 1, on: "2024-06-01")
    try stack.saveAndWait()
    let list = SightingsViewController()
    list.stack = stack
    list.viewDidLoad()
    XCTAssertEqual(
      rows(list),
      [
        "June 2024: Swift 30 at Quay •", "June 2024: Robin 1 at somewhere •",
        "May 2024: Robin 2 at somewhere •",
      ])
    makeSighting("EURROB", "Robin", count: 9, on: "2024-07-01")
    stack.mainContext.processPendingChanges()
    XCTAssertEqual(rows(list).first, "July 2024: Robin 9 at somewhere •")
    list.search("swi")
    XCTAssertEqual(rows(list), ["June 2024: Swift 30 at Quay •"])
  }

  func testAPlaceIsFollowed() throws {
    let quay = makePlace("Quay")
    makeSighting("COMSWI", "Swift", count: 30, on: "2024-06-11", at: quay)
    makeSighting("EURROB", "Robin", count: 1, on: "2024-06-01")
    try stack.saveAndWait()
    let list = SightingsViewController()
    list.stack = stack
    list.viewDidLoad()
    list.place = quay
    XCTAssertEqual(rows(list).count, 1)
    quay.name = "Old Quay"
    stack.mainContext.processPendingChanges()
    XCTAssertEqual(list.heading, "Old Quay")
  }

  func testSpeciesMoveBetweenInitials() throws {
    _ = makeSpecies("EURROB", "Robin")
    _ = makeSpecies("COMSWI", "swift")
    _ = makeSpecies("REDKIT", "Red Kite")
    try stack.saveAndWait()
    let list = SpeciesViewController()
    list.stack = stack
    list.viewDidLoad()
    XCTAssertEqual(
      rows(list).map { $0.trimmingCharacters(in: .whitespaces) },
      [
        "R: Red Kite", "R: Robin", "S: swift",
      ])
    Species.find(code: "EURROB", in: stack.mainContext)!.commonName = "Thrush"
    stack.mainContext.processPendingChanges()
    XCTAssertEqual(list.sectionIndexTitles(), ["R", "S", "T"])
    XCTAssertEqual(list.changes, ["> Thrush"])
    list.toggleFavorite(at: IndexPath(row: 0, section: 0))
    list.onlyFavorites = true
    XCTAssertEqual(rows(list).count, 1)
  }
}

final class EditorTests: LarkTestCase {
  func testCancelledEditsLeaveNothing() throws {
    let sighting = makeSighting("EURROB", "Robin", count: 2, on: "2024-05-03")
    try stack.saveAndWait()
    let editor = SightingEditor(stack: stack, sighting: sighting)
    editor.sighting.count = 7
    XCTAssertEqual(editor.changedKeys(), ["count"])
    XCTAssertEqual(editor.previousCount(), 2)
    editor.cancel()
    XCTAssertEqual(sighting.count, 2)
  }

  func testWhatIsMissingIsNamed() throws {
    let editor = SightingEditor(stack: stack, sighting: nil)
    XCTAssertThrowsError(try editor.save()) { error in
      XCTAssertEqual(error as? SightingEditor.EditorError, .missing("species"))
    }
    _ = makeSpecies("EURROB", "Robin")
    editor.choose(speciesCode: "EURROB")
    XCTAssertThrowsError(try editor.setRating(9))
    try editor.setRating(4)
    editor.setPlace(named: "Quay", latitude: 1, longitude: 2)
    try editor.save()
    let saved = Sighting.fetch(in: stack.mainContext)
    XCTAssertEqual(saved.map { $0.rating?.intValue }, [4])
    XCTAssertEqual(saved.first?.place?.coordinateText, "1.000, 2.000")
    XCTAssertFalse(saved[0].objectID.isTemporaryID)
  }

  func testChecklistsKeepTheirOrder() throws {
    let one = makeSighting("EURROB", "Robin", count: 1, on: "2024-05-03")
    let two = makeSighting("COMSWI", "Swift", count: 2, on: "2024-05-04")
    try stack.saveAndWait()
    for sighting in [one, two] {
      let editor = SightingEditor(stack: stack, sighting: sighting)
      editor.addToChecklist(titled: "May")
      if sighting === two { editor.moveInChecklist(to: 0) }
      try editor.save()
    }
    let counts = (one.checklist?.sightings?.array as? [Sighting])?.map { $0.count }
    XCTAssertEqual(counts, [2, 1])
  }

  func testUndo() throws {
    let sighting = makeSighting("EURROB", "Robin", count: 2, on: "2024-05-03")
    try stack.saveAndWait()
    let editor = SightingEditor(stack: stack, sighting: sighting)
    XCTAssertFalse(editor.canUndo)
    editor.sighting.count = 3
    XCTAssertTrue(editor.canUndo)
    editor.undo()
    XCTAssertEqual(editor.sighting.count, 2)
  }

  func testPhotosAreMovedAndDeletedWithTheirSighting() throws {
    let sighting = makeSighting("EURROB", "Robin", count: 2, on: "2024-05-03")
    sighting.addPhoto(Data([1]), caption: "a")
    sighting.addPhoto(Data([2]), caption: "b")
    sighting.movePhoto(from: 1, to: 0)
    try stack.saveAndWait()
    XCTAssertEqual(sighting.allPhotos.map { $0.caption }, ["b", "a"])
    stack.mainContext.delete(sighting)
    try stack.saveAndWait()
    XCTAssertEqual(try stack.mainContext.count(for: Photo.fetchRequest()), 0)
  }
}

final class SyncTests: LarkTestCase {
  func testRecordsFillObjectsByUserInfo() throws {
    let mapper = RecordMapper(context: stack.mainContext)
    let entity = mapper.entity(forEndpoint: "taxonomy")!
    let record: [String: Any] = [
      "species_code": "EURROB", "common_name": "Robin", "scientific_name": "Erithacus rubecula",
      "isFavorite": true,
    ]
    let species = try mapper.apply(record, to: entity) as! Species
    XCTAssertEqual(species.scientificName, "Erithacus rubecula")
    XCTAssertFalse(species.isFavorite)
    try stack.saveAndWait()
    try mapper.apply(["species_code": "EURROB", "common_name": "European Robin"], to: entity)
    XCTAssertEqual(
      mapper.apply(changedKeysOf: species) as? [String: String],
      [
        "common_name": "European Robin"
      ])
    let place = try mapper.apply(
      ["id": "p1", "name": "Quay", "lat": 51.5, "lng": 1], to: Place.entity())
    XCTAssertEqual(place.value(forKey: "longitude") as? Double, 1)
    XCTAssertThrowsError(try mapper.apply(["name": "?"], to: Place.entity()))
  }

  func testTheTaxonomyIsImportedByBatches() throws {
    let json = """
      [{"code": "A", "name": "Avocet", "family": "Waders"}, {"code": "B", "name": "Bittern"},
       {"code": "C", "name": "Curlew", "scientific": "Numenius arquata"}]
      """
    let importer = SpeciesImporter(stack: stack)
    let done = expectation(description: "import")
    importer.importTaxonomy(from: Data(json.utf8)) { result in
      XCTAssertEqual(try? result.get(), 3)
      done.fulfill()
    }
    wait(for: [done], timeout: 10)
    let all = Species.fetch(in: stack.mainContext) {
      $0.sortDescriptors = [NSSortDescriptor(key: "sortOrder", ascending: false)]
    }
    XCTAssertEqual(all.map { $0.abbreviation }, ["C", "B", "A"])
    XCTAssertNil(all[1].family)
    makeSighting("A", "Avocet", count: 4, on: "2024-05-03")
    try stack.saveAndWait()
    XCTAssertEqual(try importer.deleteUnseenSpecies(), 2)
    XCTAssertEqual(Species.count(in: stack.mainContext), 1)
    XCTAssertEqual(try importer.markAllRead(before: Date()), 1)
    XCTAssertEqual(Statistics(context: stack.mainContext).unreadCount(), 0)
  }

  func testMarkedSightingsAreDeletedLater() throws {
    let sighting = makeSighting("A", "Avocet", count: 4, on: "2024-05-03")
    try stack.saveAndWait()
    sighting.markForLocalDeletion()
    XCTAssertTrue(sighting.hasChangedForDelayedDeletion)
    try stack.saveAndWait()
    let context = stack.newImportContext()
    XCTAssertEqual(try context.batchDeleteObjectsMarkedForLocalDeletion(), 0)
    let later = Date(timeIntervalSinceNow: 600)
    XCTAssertEqual(try context.batchDeleteObjectsMarkedForLocalDeletion(before: later), 1)
  }

  func testHistoryOfOthersIsMerged() throws {
    let defaults = UserDefaults(suiteName: "lark-\(UUID().uuidString)")!
    let tracker = PersistentHistoryTracker(stack: stack, folder: folder, defaults: defaults)
    let species = makeSpecies("A", "Avocet")
    try stack.saveAndWait()
    let other = stack.newImportContext()
    other.performAndWait {
      Species.find(code: "A", in: other)!.family = "Waders"
      try! other.save()
    }
    tracker.processNow()
    XCTAssertEqual(tracker.mergedTransactionCount, 1)
    let counts = defaults.dictionary(forKey: "changes") as? [String: Int]
    XCTAssertEqual(counts?["Species.family"], 1)
    stack.rootContext.performAndWait {}
    stack.mainContext.refresh(species, mergeChanges: true)
    XCTAssertEqual(species.family, "Waders")
    let again = PersistentHistoryTracker(stack: stack, folder: folder, defaults: defaults)
    again.processNow()
    XCTAssertEqual(again.mergedTransactionCount, 0)
  }
}

final class StatisticsTests: LarkTestCase {
  func testFigures() throws {
    let quay = makePlace("Quay")
    makeSighting("COMSWI", "Swift", count: 30, on: "2024-06-11", at: quay)
    makeSighting("EURROB", "Robin", count: 1, on: "2024-06-01", at: quay)
    makeSighting("EURROB", "Robin", count: 2, on: "2024-05-01", at: makePlace("Wood"))
    try stack.saveAndWait()
    let statistics = Statistics(context: stack.mainContext)
    XCTAssertEqual(
      try statistics.bySpecies(),
      [
        Statistics.Row(name: "Swift", sightings: 1, birds: 30),
        Statistics.Row(name: "Robin", sightings: 2, birds: 3),
      ])
    XCTAssertEqual(try statistics.birdsTotal(), 33)
    XCTAssertEqual(try statistics.bestPlaces(minimum: 10), ["Quay: 30"])
    XCTAssertEqual(try statistics.sightings(ofSpecies: "EURROB").count, 2)
    Species.find(code: "EURROB", in: stack.mainContext)?.isFavorite = true
    XCTAssertEqual(try statistics.favorites().map { $0.code }, ["EURROB"])
  }

  func testIdentifiersAndFirst() throws {
    makeSighting("COMSWI", "Swift", count: 30, on: "2024-06-11")
    try stack.saveAndWait()
    let context = stack.mainContext
    XCTAssertEqual(try context.identifiers(of: Sighting.sortedFetchRequest).count, 1)
    XCTAssertNotNil(try context.first(Sighting.sortedFetchRequest))
    let child = stack.newChildContext()
    let species = Species.fetch(in: context)
    XCTAssertEqual(species.remap(to: child).map { $0.code }, ["COMSWI"])
    XCTAssertEqual(child.objects(for: species).map { $0.commonName }, ["Swift"])
    context.setMetadata("1", for: "cursor")
    XCTAssertNil(stack.mainContext.metadata(for: "nothing"))
  }

  func testRecentSightingsComeLater() throws {
    makeSighting("COMSWI", "Swift", count: 30, on: "2024-06-11")
    try stack.saveAndWait()
    let done = expectation(description: "recent")
    try Statistics(context: stack.mainContext).loadRecent { sightings in
      XCTAssertEqual(sightings.map { $0.count }, [30])
      done.fulfill()
    }
    wait(for: [done], timeout: 10)
  }

  func testAFavoriteCannotBeDeleted() throws {
    let species = makeSpecies("EURROB", "Robin")
    species.isFavorite = true
    try stack.saveAndWait()
    stack.mainContext.delete(species)
    XCTAssertThrowsError(try stack.mainContext.save())
    XCTAssertFalse(stack.mainContext.saveOrRollback())
    XCTAssertFalse(species.isDeleted)
  }
}
